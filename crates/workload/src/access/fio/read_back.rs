//! What a pass has written, in the order in which fio 3.33 reads it back: that of the writes where
//! a map or a sequential order lets none overlap another (`log_io_piece`).

use assay_units::{Nanos, Op};

use super::{FioAddresses, FioStep};

impl FioAddresses {
    /// The state at the begin of a pass gives the same I/Os once more.
    pub(super) fn keep_for_read_back(&mut self) {
        self.pass_start = None;
        if self.access.reads_back && self.has_order_of_writes() {
            self.pass_start = Some(Box::new(self.clone()));
        }
    }

    fn has_order_of_writes(&self) -> bool {
        let access = &self.access;
        // Rates make the direction of a mix depend on the time.
        let is_timed = access.mixes() && access.rates != [0; 3];
        let overlaps = match access.random {
            true => self.file.map.is_none() || access.run > 1 || access.random_percent != [100; 3],
            false => access.gap_bytes < 0 || access.zones.is_some(),
        };
        !is_timed && !overlaps && self.zones.is_none() && self.files() == 1
    }

    /// Whether [`FioAddresses::next_written`] knows the order.
    pub fn knows_written(&self) -> bool {
        self.pass_start.is_some()
    }

    /// The next write of the pass.
    pub fn next_written(&mut self) -> Option<(u64, u32)> {
        let issued: u64 = self.passes.issued.iter().sum();
        let start = self.pass_start.as_mut()?;
        while start.passes.issued.iter().sum::<u64>() < issued {
            match start.next(Nanos(u64::MAX)) {
                FioStep::Io(io) if io.op == Op::Write => {
                    return Some((io.offset_bytes, io.len_bytes));
                }
                FioStep::Io(_) => {}
                _ => break,
            }
        }
        None
    }

    pub fn reads_back(&mut self, len_bytes: u32) {
        self.passes.reads_back(len_bytes.into());
    }
}
