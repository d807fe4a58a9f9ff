//! AXI4-Lite slave behind `bar_*`: handshakes only.

use super::link::{BackPressure, Channel};
use crate::signals::{DriveInputs, DriveOutputs};

/// Response codes of AXI.
pub(super) const OKAY: u8 = 0;
pub(super) const DECERR: u8 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BarRequest {
    Write { address: u32, data: u32, strobes: u8 },
    Read { address: u32 },
}

/// `shown` while the response is on the port.
#[derive(Clone, Copy, Debug)]
struct Response {
    from_cycle: u64,
    data: u32,
    code: u8,
    shown: bool,
}

/// At most one write and one read at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct BarPort {
    address: Option<u32>,
    data: Option<(u32, u8)>,
    writes: bool,
    reads: bool,
    write_response: Option<Response>,
    read_response: Option<Response>,
}

impl BarPort {
    /// Sets the inputs; returns what the core asks for in this cycle.
    pub(super) fn step(
        &mut self,
        cycle: u64,
        random: &BackPressure,
        outputs: &DriveOutputs,
        inputs: &mut DriveInputs,
    ) -> [Option<BarRequest>; 2] {
        let takes = |is_idle: bool, channel| is_idle && random.allows(channel, cycle);
        let address_ready = takes(!self.writes && self.address.is_none(), Channel::BarWriteAddress);
        let data_ready = takes(!self.writes && self.data.is_none(), Channel::BarWriteData);
        let read_ready = takes(!self.reads, Channel::BarReadAddress);
        inputs.bar_aw_ready = u8::from(address_ready);
        inputs.bar_w_ready = u8::from(data_ready);
        inputs.bar_ar_ready = u8::from(read_ready);
        inputs.bar_b_valid = 0;
        inputs.bar_r_valid = 0;
        if let Some(response) = &mut self.write_response {
            response.shown |=
                response.from_cycle <= cycle && random.allows(Channel::BarWriteResponse, cycle);
            inputs.bar_b_valid = u8::from(response.shown);
            inputs.bar_b_resp = response.code;
            if response.shown && outputs.bar_b_ready != 0 {
                self.write_response = None;
                self.writes = false;
            }
        }
        if let Some(response) = &mut self.read_response {
            response.shown |=
                response.from_cycle <= cycle && random.allows(Channel::BarReadData, cycle);
            inputs.bar_r_valid = u8::from(response.shown);
            inputs.bar_r_data = response.data;
            inputs.bar_r_resp = response.code;
            if response.shown && outputs.bar_r_ready != 0 {
                self.read_response = None;
                self.reads = false;
            }
        }
        let mut requests = [None; 2];
        if address_ready && outputs.bar_aw_valid != 0 {
            self.address = Some(outputs.bar_aw_addr);
        }
        if data_ready && outputs.bar_w_valid != 0 {
            self.data = Some((outputs.bar_w_data, outputs.bar_w_strb));
        }
        if let (Some(address), Some((data, strobes))) = (self.address, self.data) {
            (self.address, self.data, self.writes) = (None, None, true);
            requests[0] = Some(BarRequest::Write { address, data, strobes });
        }
        if read_ready && outputs.bar_ar_valid != 0 {
            self.reads = true;
            let address = outputs.bar_ar_addr;
            requests[1] = Some(BarRequest::Read { address });
        }
        requests
    }

    /// Answers the write under way, if there is one.
    pub(super) fn end_write(&mut self, from_cycle: u64, code: u8) {
        if self.writes && self.write_response.is_none() {
            self.write_response = Some(Response { from_cycle, data: 0, code, shown: false });
        }
    }

    /// Answers the read under way, if there is one.
    pub(super) fn end_read(&mut self, from_cycle: u64, data: u32, code: u8) {
        if self.reads && self.read_response.is_none() {
            self.read_response = Some(Response { from_cycle, data, code, shown: false });
        }
    }

    /// First cycle in which the port changes without the core.
    pub(super) fn next_event_cycle(&self) -> Option<u64> {
        let responses = [self.write_response, self.read_response];
        responses.into_iter().flatten().map(|response| response.from_cycle).min()
    }

    pub(super) fn is_addressed(outputs: &DriveOutputs) -> bool {
        outputs.bar_aw_valid | outputs.bar_w_valid | outputs.bar_ar_valid != 0
    }
}
