//! What lies between the bench and the drives: nothing, or planned faults.

use assay_device::identity::PcieLink;
use assay_device::session::DriveSession;
use assay_io::Target;

use crate::faulty::{Faults, FaultyTarget};
use assay_stream::drives::{PassThrough, TargetLayer};

/// How the bench reaches the drives.
pub trait TestSetup: TargetLayer {
    /// A test begins.
    fn begin(&mut self, _test: &'static str) {}

    /// Cut the power of all drives and give it back; false where that cannot be done.
    fn lose_power(&mut self, drives: &mut [DriveSession]) -> bool {
        let simulated = drives.iter().all(|drive| drive.info().simulated);
        simulated && drives.iter_mut().all(DriveSession::lose_power)
    }

    /// The drive's PCIe link as it is now.
    fn link(&mut self, drive: &DriveSession) -> Option<PcieLink> {
        drive.pcie()
    }
}

impl TestSetup for PassThrough {}

/// Faults before each drive, for all tests or for one of them.
#[derive(Clone, Debug)]
pub struct FaultInjection {
    faults: Vec<Faults>,
    only: Option<&'static str>,
}

impl FaultInjection {
    /// Faults, one set per drive, that strike in the test of this id; in all of them, counted through, if none is named.
    pub fn new(faults: &[Faults], only: Option<&'static str>) -> FaultInjection {
        FaultInjection {
            faults: faults.to_vec(),
            only,
        }
    }
}

impl TargetLayer for FaultInjection {
    fn spare_slots(&self) -> u32 {
        1
    }

    fn wrap<'t>(
        &mut self,
        drive: usize,
        target: Box<dyn Target + 't>,
        first_spare: u32,
    ) -> Box<dyn Target + 't> {
        match self.faults.get(drive) {
            Some(faults) => Box::new(FaultyTarget::new(target, faults.clone(), first_spare)),
            None => target,
        }
    }
}

impl TestSetup for FaultInjection {
    fn begin(&mut self, test: &'static str) {
        if let Some(only) = self.only {
            self.faults
                .iter()
                .for_each(|faults| faults.arm(test == only));
        }
    }

    fn lose_power(&mut self, drives: &mut [DriveSession]) -> bool {
        let volatile = !self.faults.is_empty() && self.faults.iter().all(Faults::lose_power);
        volatile || PassThrough.lose_power(drives)
    }
}
