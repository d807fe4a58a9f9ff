//! What lies between the bench and the drives: nothing, or planned faults.

use assay_device::identity::PcieLink;
use assay_device::session::DriveSession;
use assay_io::Target;

use crate::faulty::{Faults, Faulty};
use assay_stream::drives::{Between, Straight};

/// How the bench reaches the drives.
pub trait Wiring: Between {
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

impl Wiring for Straight {}

/// Faults before each drive, for all tests or for one of them.
#[derive(Clone, Debug)]
pub struct FaultyWiring {
    faults: Vec<Faults>,
    only: Option<&'static str>,
}

impl FaultyWiring {
    /// Faults, one set per drive, that strike in the test of this id; in all of them, counted through, if none is named.
    pub fn new(faults: &[Faults], only: Option<&'static str>) -> FaultyWiring {
        FaultyWiring {
            faults: faults.to_vec(),
            only,
        }
    }
}

impl Between for FaultyWiring {
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
            Some(faults) => Box::new(Faulty::new(target, faults.clone(), first_spare)),
            None => target,
        }
    }
}

impl Wiring for FaultyWiring {
    fn begin(&mut self, test: &'static str) {
        if let Some(only) = self.only {
            self.faults
                .iter()
                .for_each(|faults| faults.arm(test == only));
        }
    }

    fn lose_power(&mut self, drives: &mut [DriveSession]) -> bool {
        let volatile = !self.faults.is_empty() && self.faults.iter().all(Faults::lose_power);
        volatile || Straight.lose_power(drives)
    }
}
