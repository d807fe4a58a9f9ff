//! Checks of the AXI rules on every interface of the core, in every cycle.
//!
//! # Rules
//! An offer stays, unchanged, until it is taken. A burst stays within 4 KiB; its last beat, and no
//! other, is marked. Every request gets one answer, with its identifier, and after it. Bytes of a
//! stream's beat begin at byte 0, and only the last beat of a packet may be partial.

mod axi;
mod lite;
mod stream;

pub use axi::{AxiMonitor, AxiSample};
pub use lite::{LiteMonitor, LiteSample};
pub use stream::{StreamMonitor, StreamSample};

use crate::config::Configuration;
use crate::signals::{Inputs, Outputs};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cycle {cycle}: {interface}: {rule}")]
pub struct Violation {
    pub cycle: u64,
    pub interface: String,
    pub rule: String,
}

/// Rule of one valid/ready channel: an offer stays, unchanged, until it is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Channel<P> {
    offered: Option<P>,
}

impl<P> Default for Channel<P> {
    fn default() -> Channel<P> {
        Channel { offered: None }
    }
}

impl<P: PartialEq + Copy> Channel<P> {
    /// `true` if there is a transfer in this cycle.
    #[inline]
    fn observe(&mut self, valid: u8, ready: u8, payload: P) -> Result<bool, &'static str> {
        if let Some(before) = self.offered.take() {
            if valid == 0 {
                return Err("valid fell before ready");
            }
            if before != payload {
                return Err("the payload changed before ready");
            }
        }
        if valid == 0 {
            return Ok(false);
        }
        if ready == 0 {
            self.offered = Some(payload);
        }
        Ok(ready != 0)
    }
}

#[derive(Debug)]
pub struct Monitors {
    beat_bytes: usize,
    registers: LiteMonitor,
    source: StreamMonitor,
    sink: StreamMonitor,
    memory: AxiMonitor,
    drives: Vec<(AxiMonitor, LiteMonitor)>,
}

impl Monitors {
    pub fn new(configuration: &Configuration) -> Monitors {
        let beat_bytes = configuration.beat_bytes();
        let drive = |drive| {
            let dev = AxiMonitor::new(format!("dev[{drive}]"), beat_bytes);
            (dev, LiteMonitor::new(format!("bar[{drive}]")))
        };
        Monitors {
            beat_bytes,
            registers: LiteMonitor::new("s_reg".to_owned()),
            source: StreamMonitor::new("s".to_owned(), beat_bytes),
            sink: StreamMonitor::new("m".to_owned(), beat_bytes),
            memory: AxiMonitor::new("mem".to_owned(), beat_bytes),
            drives: (0..configuration.drives).map(drive).collect(),
        }
    }

    /// Fails with the first broken rule of this cycle.
    pub fn observe(
        &mut self,
        cycle: u64,
        inputs: &Inputs,
        outputs: &Outputs,
    ) -> Result<(), Violation> {
        let beat = self.beat_bytes;
        self.registers.observe(cycle, &lite::registers(inputs, outputs))?;
        let sample = StreamSample {
            valid: inputs.s_valid,
            ready: outputs.s_ready,
            data: &inputs.s_data[..beat],
            keep: inputs.s_keep,
            last: inputs.s_last,
        };
        self.source.observe(cycle, &sample)?;
        let sample = StreamSample {
            valid: outputs.m_valid,
            ready: inputs.m_ready,
            data: &outputs.m_data[..beat],
            keep: outputs.m_keep,
            last: outputs.m_last,
        };
        self.sink.observe(cycle, &sample)?;
        self.memory.observe(cycle, &axi::memory(inputs, outputs, beat))?;
        let ports = inputs.drives.iter().zip(&outputs.drives);
        for ((dev, bar), (inputs, outputs)) in self.drives.iter_mut().zip(ports) {
            dev.observe(cycle, &axi::drive(inputs, outputs, beat))?;
            bar.observe(cycle, &lite::bar(inputs, outputs))?;
        }
        Ok(())
    }

    /// Fails with the first interface that has an open request.
    pub fn check_idle(&self, cycle: u64) -> Result<(), Violation> {
        self.registers.check_idle(cycle)?;
        self.memory.check_idle(cycle)?;
        for (dev, bar) in &self.drives {
            dev.check_idle(cycle)?;
            bar.check_idle(cycle)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "../tests/unit/monitor.rs"]
mod tests;
