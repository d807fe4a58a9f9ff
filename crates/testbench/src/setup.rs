use assay_device::session::DriveSession;
use assay_integrity::planned_faults::Faults;
use assay_stream::drives::{IoCalls, QueueOptions, SoftwareHost};

use crate::{BenchObserver, BenchOptions};

/// Bypasses the page cache if all drives support this.
pub fn software_host<S: AsRef<[DriveSession]> + AsMut<[DriveSession]>>(
    sessions: S,
    options: &BenchOptions,
    calls: IoCalls,
) -> SoftwareHost<S> {
    let mut drives = sessions.as_ref().iter();
    let queues = QueueOptions {
        writes: true,
        depth: options.depth,
        chunk_bytes: options.chunk_bytes,
        direct: drives.all(|drive| drive.info().direct_io),
        calls,
    };
    SoftwareHost::new(sessions, queues)
}

/// Arms faults in one test, and disarms them in all others.
#[derive(Clone, Debug)]
pub struct FaultsInTest {
    faults: Vec<Faults>,
    only: &'static str,
}

impl FaultsInTest {
    pub fn new(faults: &[Faults], only: &'static str) -> FaultsInTest {
        FaultsInTest { faults: faults.to_vec(), only }
    }
}

impl BenchObserver for FaultsInTest {
    fn began(&mut self, id: &'static str, _name: &'static str) {
        for faults in &self.faults {
            faults.arm(id == self.only);
        }
    }
}
