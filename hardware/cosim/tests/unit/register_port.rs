use super::*;

/// Registers behind AXI4-Lite, slow: each channel is ready every third cycle, at different cycles.
#[derive(Default)]
struct Slave {
    address: Option<u32>,
    data: Option<u32>,
    asked: Option<u32>,
    written: Vec<(u32, u32)>,
}

impl Slave {
    fn run(&mut self, port: &mut RegisterPort, response: u8) -> Answer {
        let (mut inputs, mut outputs) = (Inputs::ZERO, Outputs::ZERO);
        for cycle in 0..100 {
            outputs.s_reg_aw_ready = u8::from(cycle % 3 == 0);
            outputs.s_reg_w_ready = u8::from(cycle % 3 == 2);
            outputs.s_reg_ar_ready = u8::from(cycle % 3 == 1);
            let both = self.address.is_some() && self.data.is_some();
            outputs.s_reg_b_valid = u8::from(both);
            outputs.s_reg_r_valid = u8::from(self.asked.is_some());
            outputs.s_reg_r_data = self.asked.unwrap_or(0) + 1;
            (outputs.s_reg_b_resp, outputs.s_reg_r_resp) = (response, response);
            port.step(&outputs, &mut inputs);
            if inputs.s_reg_aw_valid != 0 && outputs.s_reg_aw_ready != 0 {
                self.address = Some(inputs.s_reg_aw_addr);
            }
            if inputs.s_reg_w_valid != 0 && outputs.s_reg_w_ready != 0 {
                assert_eq!(inputs.s_reg_w_strb, 0xf);
                self.data = Some(inputs.s_reg_w_data);
            }
            if inputs.s_reg_ar_valid != 0 && outputs.s_reg_ar_ready != 0 {
                self.asked = Some(inputs.s_reg_ar_addr);
            }
            if inputs.s_reg_b_ready != 0 && outputs.s_reg_b_valid != 0 {
                let written = self.address.take().zip(self.data.take());
                self.written.extend(written);
            }
            if inputs.s_reg_r_ready != 0 && outputs.s_reg_r_valid != 0 {
                self.asked = None;
            }
            if let Some(answer) = port.take_answer() {
                assert!(!port.is_busy());
                return answer;
            }
        }
        panic!("no answer");
    }
}

#[test]
fn accesses_reach_slow_registers_once() {
    let (mut port, mut slave) = (RegisterPort::default(), Slave::default());
    port.start_write(0x10, 77);
    assert_eq!(slave.run(&mut port, 0), Ok(0));
    port.start_read(0x20);
    assert_eq!(slave.run(&mut port, 0), Ok(0x21));
    assert_eq!(slave.written, [(0x10, 77)]);
    port.start_read(0x20);
    assert_eq!(slave.run(&mut port, 2), Err(2));
}
