use super::axi::on;
use super::{Channel, Violation};
use crate::signals::{DriveInputs, DriveOutputs, Inputs, Outputs};

#[derive(Clone, Copy, Debug, Default)]
pub struct LiteSample {
    /// Valid, ready, address.
    pub aw: (u8, u8, u32),
    /// Valid, ready, data, strobes.
    pub w: (u8, u8, u32, u8),
    /// Valid, ready, response.
    pub b: (u8, u8, u8),
    /// Valid, ready, address.
    pub ar: (u8, u8, u32),
    /// Valid, ready, data, response.
    pub r: (u8, u8, u32, u8),
}

pub(super) fn registers(i: &Inputs, o: &Outputs) -> LiteSample {
    LiteSample {
        aw: (i.s_reg_aw_valid, o.s_reg_aw_ready, i.s_reg_aw_addr),
        w: (i.s_reg_w_valid, o.s_reg_w_ready, i.s_reg_w_data, i.s_reg_w_strb),
        b: (o.s_reg_b_valid, i.s_reg_b_ready, o.s_reg_b_resp),
        ar: (i.s_reg_ar_valid, o.s_reg_ar_ready, i.s_reg_ar_addr),
        r: (o.s_reg_r_valid, i.s_reg_r_ready, o.s_reg_r_data, o.s_reg_r_resp),
    }
}

pub(super) fn bar(i: &DriveInputs, o: &DriveOutputs) -> LiteSample {
    LiteSample {
        aw: (o.bar_aw_valid, i.bar_aw_ready, o.bar_aw_addr),
        w: (o.bar_w_valid, i.bar_w_ready, o.bar_w_data, o.bar_w_strb),
        b: (i.bar_b_valid, o.bar_b_ready, i.bar_b_resp),
        ar: (o.bar_ar_valid, i.bar_ar_ready, o.bar_ar_addr),
        r: (i.bar_r_valid, o.bar_r_ready, i.bar_r_data, i.bar_r_resp),
    }
}

#[derive(Debug)]
pub struct LiteMonitor {
    name: String,
    aw: Channel<u32>,
    w: Channel<(u32, u8)>,
    b: Channel<u8>,
    ar: Channel<u32>,
    r: Channel<(u32, u8)>,
    write_addresses: u32,
    write_data: u32,
    responses: u32,
    read_addresses: u32,
    read_data: u32,
}

impl LiteMonitor {
    pub fn new(name: String) -> LiteMonitor {
        LiteMonitor {
            name,
            aw: Channel::default(),
            w: Channel::default(),
            b: Channel::default(),
            ar: Channel::default(),
            r: Channel::default(),
            write_addresses: 0,
            write_data: 0,
            responses: 0,
            read_addresses: 0,
            read_data: 0,
        }
    }

    /// Fails with the first broken rule of this cycle.
    pub fn observe(&mut self, cycle: u64, sample: &LiteSample) -> Result<(), Violation> {
        let result = self.check(sample);
        result.map_err(|rule| self.violation(cycle, rule))
    }

    /// Fails when an access was not answered.
    pub fn check_idle(&self, cycle: u64) -> Result<(), Violation> {
        let writes = [self.write_addresses, self.write_data];
        if writes == [self.responses; 2] && self.read_addresses == self.read_data {
            return Ok(());
        }
        Err(self.violation(cycle, "an access without an answer".to_owned()))
    }

    fn violation(&self, cycle: u64, rule: String) -> Violation {
        Violation { cycle, interface: self.name.clone(), rule }
    }

    fn check(&mut self, sample: &LiteSample) -> Result<(), String> {
        // Answers first, because an answer may not come in the cycle of its request.
        let (valid, ready, response) = sample.b;
        let writes = self.write_addresses.min(self.write_data);
        if valid != 0 && self.responses == writes {
            return Err("b: response without a write".to_owned());
        }
        self.responses += u32::from(on("b", self.b.observe(valid, ready, response))?);
        let (valid, ready, data, response) = sample.r;
        if valid != 0 && self.read_data == self.read_addresses {
            return Err("r: data without a read".to_owned());
        }
        self.read_data += u32::from(on("r", self.r.observe(valid, ready, (data, response)))?);
        let (valid, ready, address) = sample.aw;
        self.write_addresses += u32::from(on("aw", self.aw.observe(valid, ready, address))?);
        let (valid, ready, data, strobes) = sample.w;
        self.write_data += u32::from(on("w", self.w.observe(valid, ready, (data, strobes)))?);
        let (valid, ready, address) = sample.ar;
        self.read_addresses += u32::from(on("ar", self.ar.observe(valid, ready, address))?);
        Ok(())
    }
}
