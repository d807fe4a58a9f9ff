//! The host of the core's registers: one AXI4-Lite access at a time on `s_reg_*`.

use crate::signals::{Inputs, Outputs};

/// The data of a read (0 for a write), or the AXI response code.
pub type Answer = Result<u32, u8>;

#[derive(Debug)]
enum Access {
    Read { asked: bool },
    Write { address_sent: bool, data_sent: bool },
}

#[derive(Debug, Default)]
pub struct RegisterPort {
    access: Option<Access>,
    address: u32,
    data: u32,
    strobes: u8,
    answer: Option<Answer>,
}

impl RegisterPort {
    pub fn start_read(&mut self, address: u32) {
        self.start(Access::Read { asked: false }, address, 0);
    }

    pub fn start_write(&mut self, address: u32, data: u32) {
        self.start_write_bytes(address, data, 0xf);
    }

    /// Writes the bytes whose strobe is set.
    pub fn start_write_bytes(&mut self, address: u32, data: u32, strobes: u8) {
        let access = Access::Write { address_sent: false, data_sent: false };
        self.start(access, address, data);
        self.strobes = strobes;
    }

    fn start(&mut self, access: Access, address: u32, data: u32) {
        assert!(self.access.is_none(), "one access at a time");
        assert!(self.answer.is_none(), "the answer was taken");
        (self.access, self.address, self.data) = (Some(access), address, data);
    }

    /// The answer is returned once.
    pub fn take_answer(&mut self) -> Option<Answer> {
        self.answer.take()
    }

    pub fn is_busy(&self) -> bool {
        self.access.is_some()
    }

    /// Choose `s_reg_*` in this cycle.
    pub fn step(&mut self, outputs: &Outputs, inputs: &mut Inputs) {
        inputs.s_reg_ar_valid = 0;
        inputs.s_reg_aw_valid = 0;
        inputs.s_reg_w_valid = 0;
        inputs.s_reg_r_ready = 0;
        inputs.s_reg_b_ready = 0;
        let Some(access) = &mut self.access else {
            return;
        };
        match access {
            Access::Read { asked: false } => {
                inputs.s_reg_ar_valid = 1;
                inputs.s_reg_ar_addr = self.address;
                if outputs.s_reg_ar_ready != 0 {
                    *access = Access::Read { asked: true };
                }
            }
            Access::Read { asked: true } => {
                inputs.s_reg_r_ready = 1;
                if outputs.s_reg_r_valid != 0 {
                    self.answer = Some(answer(outputs.s_reg_r_resp, outputs.s_reg_r_data));
                    self.access = None;
                }
            }
            Access::Write { address_sent: true, data_sent: true } => {
                inputs.s_reg_b_ready = 1;
                if outputs.s_reg_b_valid != 0 {
                    self.answer = Some(answer(outputs.s_reg_b_resp, 0));
                    self.access = None;
                }
            }
            Access::Write { address_sent, data_sent } => {
                if !*address_sent {
                    inputs.s_reg_aw_valid = 1;
                    inputs.s_reg_aw_addr = self.address;
                    *address_sent = outputs.s_reg_aw_ready != 0;
                }
                if !*data_sent {
                    inputs.s_reg_w_valid = 1;
                    inputs.s_reg_w_data = self.data;
                    inputs.s_reg_w_strb = self.strobes;
                    *data_sent = outputs.s_reg_w_ready != 0;
                }
            }
        }
    }
}

fn answer(response: u8, data: u32) -> Answer {
    if response == 0 { Ok(data) } else { Err(response) }
}

#[cfg(test)]
#[path = "../tests/unit/register_port.rs"]
mod tests;
