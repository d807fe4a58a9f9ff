//! A queue that loses the daemon of a host (Slurm: slurmd) starts the job again while the first
//! task still measures. The claims would make the first one end with its cell cut off, and two
//! tasks would disturb each other's figures; so a task takes this lock first. The kernel releases
//! it when the process ends, by whatever cause.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::{HostName, Serial};

#[derive(Debug)]
pub struct HostLock {
    _files: Vec<File>,
}

impl HostLock {
    /// `None` while another task holds the lock. A task of all drives excludes every other task of
    /// the host, a task of one drive (`serial`) those of all drives and those of the same drive.
    pub fn try_take(
        work: &Path,
        host: &HostName,
        serial: Option<&Serial>,
    ) -> io::Result<Option<HostLock>> {
        fs::create_dir_all(work)?;
        let mut wanted = vec![(format!("{host}.lock"), serial.is_none())];
        wanted.extend(serial.map(|serial| (format!("{host}.{}.lock", serial.key()), true)));
        let mut files = Vec::new();
        for (name, is_exclusive) in wanted {
            let file = assay_output::open_log(&work.join(name))?;
            let operation = match is_exclusive {
                true => FlockOperation::NonBlockingLockExclusive,
                false => FlockOperation::NonBlockingLockShared,
            };
            match flock(&file, operation) {
                Ok(()) => files.push(file),
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Some(HostLock { _files: files }))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/task_host_lock.rs"]
mod tests;
