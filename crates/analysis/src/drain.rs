//! Time to drain: from the first I/O of a cell to the completion of its last flush, because data in
//! a volatile cache are not drained. The amount is what the cell wrote, ramp excluded; a cell that
//! was interrupted, or had errors, drained nothing that could be compared.

use assay_store::model::CellResult;
use assay_store::read::{CellDrive, CellRecord, CellState};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drain {
    pub bytes: u64,
    /// Time until the last flush had completed.
    pub seconds: f64,
    /// Latency of the slowest flush; 0 without one.
    pub flush_s: f64,
}

impl Drain {
    pub fn mib_per_s(&self) -> f64 {
        self.bytes as f64 / assay_units::MIB as f64 / self.seconds
    }
}

/// `None` of a cell that is not finished, wrote nothing or had errors.
pub fn drain_of_cell(cell: &CellRecord, drive: &CellDrive) -> Option<Drain> {
    let result: &CellResult = drive.result.as_ref()?;
    let seconds = result.elapsed.as_secs_f64();
    let whole = cell.state == CellState::Finished && result.errors() == 0;
    (whole && result.write.bytes > 0 && seconds > 0.0).then(|| Drain {
        bytes: result.write.bytes,
        seconds,
        flush_s: result.flush.latency_ns.max as f64 / 1e9,
    })
}

#[cfg(test)]
#[path = "../tests/unit/drain.rs"]
mod tests;
