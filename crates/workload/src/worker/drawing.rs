//! The next I/O of a worker, by assay's own order or by fio's.

use assay_io::Target;
use assay_units::{Nanos, Op};

use super::Worker;
use crate::access::AddressGenerator;
use crate::access::fio::{FioAddresses, FioStep};

#[derive(Debug)]
pub(super) enum Addresses {
    Own(AddressGenerator),
    Fio(Box<FioAddresses>),
}

impl Addresses {
    pub(super) fn drops_cache(&self) -> bool {
        matches!(self, Addresses::Fio(fio) if fio.drops_cache())
    }

    pub(super) fn begin_pass(&mut self) {
        if let Addresses::Fio(fio) = self {
            fio.begin_pass();
        }
    }

    /// An order of assay's own has no passes that begin by themselves.
    #[inline]
    pub(super) fn is_between_passes(&self) -> bool {
        matches!(self, Addresses::Fio(fio) if fio.is_between_passes())
    }
}

pub(super) enum Draw {
    Io((u64, u32, Op)),
    Due(Nanos),
    PassEnd,
    End,
}

impl Worker {
    /// The I/O that was held, or the next one.
    #[inline]
    pub(super) fn draw<T: Target>(&mut self, now: Nanos, target: &mut T) -> Draw {
        if let Some(held) = self.held.take() {
            return Draw::Io(held);
        }
        match &mut self.access {
            Addresses::Own(access) => {
                let write = match self.read_percent {
                    100 => false,
                    0 => true,
                    percent => self.choice.below(100) >= u64::from(percent),
                };
                let (offset_bytes, len_bytes) = access.next(write);
                let op = if write { self.write_op } else { Op::Read };
                Draw::Io((offset_bytes, len_bytes, op))
            }
            Addresses::Fio(fio) => match fio.next(now - self.start) {
                FioStep::Io(io) => {
                    if io.drops_cache {
                        self.drop_cached(target);
                    }
                    Draw::Io((io.offset_bytes, io.len_bytes, io.op))
                }
                FioStep::Due(due) => Draw::Due(self.start + due),
                FioStep::PassEnd => Draw::PassEnd,
                FioStep::End => Draw::End,
            },
        }
    }
}
