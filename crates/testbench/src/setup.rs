//! Layer between the bench and the drives: none, or fault injection.

use assay_device::identity::PcieLink;
use assay_device::session::DriveSession;
use assay_io::Target;

use crate::faulty::{Faults, FaultyTarget};
use assay_stream::drives::{PassThrough, TargetLayer};

/// Access of the bench to the drives.
pub trait TestSetup: TargetLayer {
    /// A test starts.
    fn begin(&mut self, _test: &'static str) {}

    /// Power-cycle all drives; false where this is not possible.
    fn lose_power(&mut self, drives: &mut [DriveSession]) -> bool {
        let simulated = drives.iter().all(|drive| drive.info().simulated);
        simulated && drives.iter_mut().all(DriveSession::lose_power)
    }

    /// Current PCIe link of the drive.
    fn link(&mut self, drive: &DriveSession) -> Option<PcieLink> {
        drive.pcie()
    }
}

impl TestSetup for PassThrough {}

/// Fault injection on each drive, in all tests or in one.
#[derive(Clone, Debug)]
pub struct FaultInjection {
    faults: Vec<Faults>,
    only: Option<&'static str>,
}

impl FaultInjection {
    /// One set of faults per drive, armed in the test of this id, or in all tests with continuous counting.
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
