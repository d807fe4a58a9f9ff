//! Cores for the integration tests.
#![allow(dead_code, reason = "no test file uses all of it")]

pub mod slot;

use assay_cosim::config::Configuration;
use assay_cosim::pcie_drive::{LinkOptions, PcieDrive, PcieDriveOptions, unlimited_profile};
use assay_cosim::streamer::CoreStreamer;
use assay_cosim::world::{World, WorldError, WorldOptions};
use assay_ssd::{DriveOptions, Profile};
use assay_stream::range::StreamRange;
use slot::Slot;

/// What surrounds a core.
#[derive(Clone, Copy, Debug)]
pub struct Rough {
    /// Link of every drive.
    pub link: LinkOptions,
    /// Back-pressure of the drives, percent.
    pub percent: u8,
    /// PERST# reaches the drives.
    pub has_perst: bool,
    /// The root ports do hot resets.
    pub has_hot_reset: bool,
    /// The rest.
    pub world: WorldOptions,
}

impl Default for Rough {
    fn default() -> Rough {
        Rough {
            link: LinkOptions::new(3, 4),
            percent: 0,
            has_perst: true,
            has_hot_reset: true,
            world: WorldOptions::default(),
        }
    }
}

/// A core of a configuration with drives of this profile, or `None` if its model is not built.
pub fn core(name: &str, profile: Profile) -> Option<CoreStreamer<PcieDrive>> {
    core_in(name, profile, &Rough::default(), None)
}

/// With a fault of the drive.
pub fn faulty_core(name: &str, fault: &str) -> Option<CoreStreamer<PcieDrive>> {
    core_in(name, unlimited_profile(), &Rough::default(), Some(fault))
}

/// With drives without limits.
pub fn rough_core(name: &str, rough: &Rough) -> Option<CoreStreamer<PcieDrive>> {
    core_in(name, unlimited_profile(), rough, None)
}

/// With all of it.
pub fn core_in(
    name: &str,
    profile: Profile,
    rough: &Rough,
    fault: Option<&str>,
) -> Option<CoreStreamer<PcieDrive>> {
    let configuration = Configuration::named(name).expect("a configuration");
    let drive = |number| {
        let mut drive_options = DriveOptions { keep_data: true, ..DriveOptions::default() };
        if let Some(fault) = fault {
            drive_options.set("fault", fault).expect("a fault");
        }
        let mut pcie_drive = PcieDriveOptions::new(rough.link, configuration.data_width);
        pcie_drive.namespace = configuration.namespace;
        pcie_drive.seed = u64::from(number) + u64::from(rough.world.seed) * 4;
        pcie_drive.back_pressure_percent = rough.percent;
        pcie_drive.has_perst = rough.has_perst;
        pcie_drive.has_hot_reset = rough.has_hot_reset;
        PcieDrive::from_profile(profile.clone(), drive_options, pcie_drive).expect("a drive")
    };
    let drives = (0..configuration.drives).map(drive).collect();
    let world = built(World::new(configuration, drives, &rough.world))?;
    let names = (0..configuration.drives).map(|n| format!("drive {n}"));
    Some(CoreStreamer::new(world, names.collect()).expect("the register map"))
}

/// A core of a configuration with drives that can be made to fail.
pub fn slot_core(
    name: &str,
    profile: Profile,
    rough: &Rough,
    options: &DriveOptions,
) -> Option<CoreStreamer<Slot>> {
    let configuration = Configuration::named(name).expect("a configuration");
    let drive = |number| {
        let mut pcie_drive = PcieDriveOptions::new(rough.link, configuration.data_width);
        pcie_drive.namespace = configuration.namespace;
        pcie_drive.seed = u64::from(number) + u64::from(rough.world.seed) * 4;
        pcie_drive.back_pressure_percent = rough.percent;
        pcie_drive.has_perst = rough.has_perst;
        pcie_drive.has_hot_reset = rough.has_hot_reset;
        let (profile, options) = (profile.clone(), options.clone());
        let make = move || PcieDrive::from_profile(profile.clone(), options.clone(), pcie_drive);
        Slot::new(move || make().expect("a drive"))
    };
    let drives = (0..configuration.drives).map(drive).collect();
    let world = built(World::new(configuration, drives, &rough.world))?;
    let names = (0..configuration.drives).map(|n| format!("drive {n}"));
    Some(CoreStreamer::new(world, names.collect()).expect("the register map"))
}

/// The world, or `None` if its model is not built.
pub fn built<D>(world: Result<World<D>, WorldError>) -> Option<World<D>> {
    match world {
        Ok(world) => Some(world),
        Err(WorldError::Model(error)) => {
            let reason = error.skip_reason().unwrap_or_else(|| panic!("{error}"));
            println!("skipped: {reason}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Chunks of each drive, from the eighth on.
pub fn range(core: &CoreStreamer<PcieDrive>, chunks: u64) -> StreamRange {
    let configuration = core.configuration();
    let chunk = u64::from(configuration.chunk_bytes());
    StreamRange {
        first: 8 * chunk,
        last: (8 + chunks - 1) * chunk,
        chunk_bytes: configuration.chunk_bytes(),
        drives: configuration.drives,
    }
}
