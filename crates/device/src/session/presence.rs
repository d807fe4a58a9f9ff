use crate::open::open_drive;
use assay_io::sync::SyncTarget;
use assay_io::{Io, Target};
use assay_units::{DataClass, Nanos, Op};

use super::{DriveSession, Kind};

/// Timeout of Linux for an NVMe drive.
const READ_TIMEOUT: Nanos = Nanos::from_secs(30);

impl DriveSession {
    /// Reads the first, a middle and the last block: media errors in places, or a read-only drive,
    /// are not a removal. The page cache is bypassed where possible, because it serves removed
    /// drives. A drive that never completes I/Os blocks this call until the kernel's timeout.
    pub fn is_present(&mut self) -> bool {
        let block_bytes = self.info.min_io_bytes;
        let block = u64::from(block_bytes.max(1));
        let blocks = self.info.capacity_bytes / block;
        let offsets = [0, blocks / 2, blocks.saturating_sub(1)].map(|at| at * block);
        match &mut self.kind {
            Kind::Null => true,
            Kind::Files(files) => files.iter_mut().all(DriveSession::is_present),
            Kind::Sim(target, _) => {
                target.begin_job(1, 1, block_bytes).is_ok()
                    && can_read_any(target.as_mut(), &offsets, block_bytes)
            }
            Kind::Real(_) => {
                let open = open_drive(&self.info, self.info.direct_io, None);
                let target = open.ok().map(|open| SyncTarget::new(open, 1, block_bytes));
                target.is_some_and(|target| {
                    target.is_ok_and(|mut t| can_read_any(&mut t, &offsets, block_bytes))
                })
            }
        }
    }
}

fn can_read_any<T: Target>(target: &mut T, offsets: &[u64], len_bytes: u32) -> bool {
    offsets.iter().any(|&offset_bytes| {
        let io = Io {
            op: Op::Read,
            data: DataClass::Incompressible,
            slot: 0,
            len_bytes,
            offset_bytes,
            fua: false,
            priority: 0,
        };
        let until = target.now() + READ_TIMEOUT;
        let mut done = Vec::new();
        let submitted = target.submit(&[io]);
        let reaped = submitted.and_then(|()| target.reap(1, until, &mut done));
        reaped.is_ok() && done.iter().any(|completion| completion.moved(len_bytes))
    })
}

#[cfg(test)]
#[path = "../../tests/unit/session/presence.rs"]
mod tests;
