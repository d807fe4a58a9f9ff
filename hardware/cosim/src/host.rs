//! The co-simulated core with simulated drives, as a [`StreamHost`]: what stream commands and test
//! bench call `rtl:`.
//!
//! # Drives
//! Named `rtl:sim:PROFILE[,key=value...]`. Several drives are striped by one core. Number of
//! drives, chunk size and bus width choose the model. The drives are connected for the life of the
//! host: opening and closing them has no effect.

use std::path::PathBuf;
use std::sync::Arc;

use assay_device::identity::{DriveInfo, PcieLink};
use assay_device::session::{SessionError, link_speed, simulated_drive, simulated_info};
use assay_device::spec::DriveSpec;
use assay_integrity::pattern::PatternPages;
use assay_integrity::planned_faults::Faults;
use assay_ssd::{DriveError, DriveOptions, Profile};
use assay_stream::status::StreamError;
use assay_stream::streamer::{StreamDrive, StreamHost, Streamer};
use assay_units::regenerate::PageGenerator;
use assay_units::text::format_size;

use crate::config::{CONFIGURATIONS, Configuration};
use crate::map;
use crate::model::{CoreModel, ModelError};
use crate::pcie_drive::planned_faults::PlannedFaults;
use crate::pcie_drive::{LinkEvent, LinkOptions, PcieDrive, PcieDriveOptions, PcieFault};
use crate::streamer::{CoreError, CoreStreamer};
use crate::world::{World, WorldError, WorldOptions};

/// Prefix of the name of a simulated drive behind the core.
pub const PREFIX: &str = "rtl:";

/// Duration of a power loss: the core sees the link down.
const POWER_OFF_CYCLES: u64 = 10_000;

#[derive(Debug, thiserror::Error)]
pub enum CoreHostError {
    #[error(
        "{name}: the co-simulated core has simulated drives only; name one as rtl:sim:PROFILE, \
         e.g. rtl:sim:mle-brief-960gb (`assay list` shows the profiles)"
    )]
    NotSimulated { name: String },
    #[error("{name}: the core is an NVMe host, and this is a Serial ATA drive")]
    NotNvme { name: String },
    /// Malformed name, unknown profile or option.
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(
        "there is no model of the core with {drives} drive(s), chunks of {} and a bus of \
         {data_width} bits; {}",
        format_size(u64::from(*.chunk_bytes)), configurations()
    )]
    Configuration {
        drives: usize,
        chunk_bytes: u32,
        /// Bits of the bus.
        data_width: u32,
    },
    #[error("{name}: {source}")]
    Drive {
        name: String,
        /// Reason.
        source: DriveError,
    },
    #[error(transparent)]
    Core(#[from] CoreError),
}

impl From<WorldError> for CoreHostError {
    fn from(error: WorldError) -> CoreHostError {
        CoreHostError::Core(error.into())
    }
}

/// The models of this build, and how to get the others.
fn configurations() -> String {
    let list = |built| {
        let some = CONFIGURATIONS.iter().filter(|one| one.is_built() == built);
        let text = |one: &Configuration| {
            let chunk = format_size(u64::from(one.chunk_bytes()));
            format!("{} x {chunk} at {} bits", one.drives, one.data_width)
        };
        some.map(text).collect::<Vec<_>>().join(", ")
    };
    let (built, others) = (list(true), list(false));
    let others = match others.as_str() {
        "" => String::new(),
        others => format!(
            "; built with `cargo build --release -p assay-cli --features all-configurations`: \
             {others}"
        ),
    };
    format!("this program has (drives x chunk): {built}{others}")
}

#[derive(Clone, Debug)]
pub struct CoreDrive {
    /// With `rtl:`.
    pub name: String,
    pub profile: Profile,
    pub options: DriveOptions,
}

impl CoreDrive {
    /// With `keep_data`, written data are kept. Fails unless it is a simulated NVMe drive.
    pub fn parse(name: &str, keep_data: bool) -> Result<CoreDrive, CoreHostError> {
        let not_simulated = || CoreHostError::NotSimulated { name: name.to_owned() };
        let inner = name.strip_prefix(PREFIX).ok_or_else(not_simulated)?;
        let spec = DriveSpec::parse(inner).map_err(SessionError::from)?;
        let found = simulated_drive(&spec, keep_data).ok_or_else(not_simulated)?;
        let (profile, options) = found?;
        if profile.link.sata.is_some() {
            return Err(CoreHostError::NotNvme { name: name.to_owned() });
        }
        Ok(CoreDrive { name: name.to_owned(), profile, options })
    }
}

#[derive(Clone, Debug)]
pub struct CoreHostOptions {
    /// 128, 256 or 512.
    pub data_width: u32,
    pub chunk_bytes: u32,
    /// Generator of pages, for drives that keep data in regenerable form.
    pub pages: Option<Arc<PatternPages>>,
    /// Planned faults of each drive; empty: none.
    pub faults: Vec<Faults>,
    /// Wave file of everything from the reset on.
    pub wave: Option<PathBuf>,
    /// Link of all drives; `None`: as in their profiles.
    pub link: Option<LinkOptions>,
    /// Back-pressure of the drives.
    pub back_pressure_percent: u8,
    /// Memory, stream and register ports.
    pub world: WorldOptions,
}

impl Default for CoreHostOptions {
    fn default() -> CoreHostOptions {
        CoreHostOptions {
            data_width: 128,
            chunk_bytes: assay_stream::range::DEFAULT_CHUNK_BYTES,
            pages: None,
            faults: Vec::new(),
            wave: None,
            link: None,
            back_pressure_percent: 0,
            world: WorldOptions::default(),
        }
    }
}

#[derive(Debug)]
pub struct CoreHost {
    core: CoreStreamer<PcieDrive>,
    drives: Vec<StreamDrive>,
    infos: Vec<DriveInfo>,
    pages: Option<Arc<PatternPages>>,
    faults: Vec<Faults>,
}

impl CoreHost {
    /// A core after the bring-up of its drives. Fails without a model, or when a bring-up fails.
    pub fn new(
        drives: Vec<CoreDrive>,
        options: &CoreHostOptions,
    ) -> Result<CoreHost, CoreHostError> {
        let configuration = configuration(drives.len(), options)?;
        let (mut pcie_drives, mut infos) = (Vec::new(), Vec::new());
        for (number, drive) in drives.iter().enumerate() {
            let mut pcie_drive = pcie_drive(number, drive, options, configuration.namespace)?;
            if let Some(faults) = options.faults.get(number) {
                pcie_drive.set_hook(Some(Box::new(PlannedFaults::new(faults.clone()))));
            }
            infos.push(simulated_info(
                &drive.name,
                &drive.profile.name,
                pcie_drive.controller().drive().identity(),
                &drive.profile.link,
            ));
            pcie_drives.push(pcie_drive);
        }
        let mut world = World::new(configuration, pcie_drives, &options.world)?;
        if let Some(path) = &options.wave {
            world.trace_start(path)?;
        }
        let names = drives.into_iter().map(|drive| drive.name).collect();
        let mut core = CoreStreamer::new(world, names)?;
        let drives = core.extents()?.into_iter().map(|extent| StreamDrive {
            extent,
            simulated: true,
            direct: true,
        });
        Ok(CoreHost {
            drives: drives.collect(),
            core,
            infos,
            pages: options.pages.clone(),
            faults: options.faults.clone(),
        })
    }

    pub fn configuration(&self) -> &Configuration {
        self.core.configuration()
    }

    pub fn infos(&self) -> &[DriveInfo] {
        &self.infos
    }

    pub fn core(&mut self) -> &mut CoreStreamer<PcieDrive> {
        &mut self.core
    }

    fn failed(&self, error: CoreError) -> StreamError {
        StreamError::Core { streamer: self.names(), source: Box::new(error) }
    }

    /// All drives lose power and have it again; the core brings them up by itself.
    fn power_cycle(&mut self) -> Result<(), CoreError> {
        for (event, cycles) in
            [(LinkEvent::PowerLoss, POWER_OFF_CYCLES), (LinkEvent::Up, POWER_OFF_CYCLES)]
        {
            let world = self.core.world();
            let cycle = world.cycle();
            for drive in &mut world.drives {
                let event = event.clone();
                drive.add_fault(PcieFault::At { cycle, event });
            }
            world.run(cycles)?;
        }
        self.core.bring_up()
    }

    fn read_link(&mut self, drive: usize) -> Result<PcieLink, CoreError> {
        let address = map::drive_bank(drive) + map::LINK;
        let value = u64::from(self.core.world().read32(address)?);
        let is_up = map::LINK_UP.value_in(value) != 0;
        let most = self.infos[drive].pcie.as_ref();
        Ok(PcieLink {
            address: "simulated".to_owned(),
            speed: is_up.then(|| link_speed(map::LINK_SPEED.value_in(value) as u8)),
            width: is_up.then(|| map::LINK_WIDTH.value_in(value) as u32),
            max_speed: most.and_then(|link| link.max_speed.clone()),
            max_width: most.and_then(|link| link.max_width),
        })
    }
}

fn configuration(
    drives: usize,
    options: &CoreHostOptions,
) -> Result<&'static Configuration, CoreHostError> {
    // Without any model, its parameters do not matter.
    let missing = CoreModel::new(&CONFIGURATIONS[0], 0).map(drop);
    if let Err(error @ (ModelError::Missing { .. } | ModelError::Broken { .. })) = missing {
        return Err(WorldError::from(error).into());
    }
    let (chunk_bytes, data_width) = (options.chunk_bytes, options.data_width);
    let fits = |one: &&Configuration| {
        one.is_built()
            && (one.drives as usize, one.chunk_bytes(), one.data_width)
                == (drives, chunk_bytes, data_width)
    };
    let none = CoreHostError::Configuration { drives, chunk_bytes, data_width };
    CONFIGURATIONS.iter().find(fits).ok_or(none)
}

fn pcie_drive(
    number: usize,
    drive: &CoreDrive,
    options: &CoreHostOptions,
    namespace: u32,
) -> Result<PcieDrive, CoreHostError> {
    let link = options.link;
    let link = link.unwrap_or_else(|| LinkOptions::from_profile(&drive.profile.link));
    let pcie_drive = PcieDriveOptions {
        seed: u64::from(options.world.seed) * 4 + number as u64,
        back_pressure_percent: options.back_pressure_percent,
        namespace,
        ..PcieDriveOptions::new(link, options.data_width)
    };
    let made = PcieDrive::from_profile(drive.profile.clone(), drive.options.clone(), pcie_drive);
    let mut made =
        made.map_err(|source| CoreHostError::Drive { name: drive.name.clone(), source })?;
    if let Some(pages) = &options.pages {
        let pages: Arc<dyn PageGenerator> = pages.clone();
        made.drive_mut().set_generator(pages);
    }
    Ok(made)
}

impl StreamHost for CoreHost {
    fn drives(&self) -> &[StreamDrive] {
        &self.drives
    }

    fn streamer(&mut self) -> Result<Box<dyn Streamer + '_>, StreamError> {
        match self.core.bring_up() {
            Ok(()) => Ok(Box::new(&mut self.core)),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn close(&mut self) {}

    fn data_path(&self) -> String {
        let one = self.configuration();
        format!(
            "co-simulated core {} ({}-bit bus at 250 MHz); no bytes leave this program",
            one.name, one.data_width
        )
    }

    /// Planned faults lose their data; the next [`StreamHost::streamer`] reports a failed bring-up.
    fn lose_power(&mut self) -> bool {
        for faults in &self.faults {
            faults.lose_power();
        }
        self.power_cycle().is_ok()
    }

    fn link(&mut self, drive: usize) -> Option<PcieLink> {
        self.read_link(drive).ok()
    }

    fn pattern_pages(&self) -> Option<Arc<PatternPages>> {
        self.pages.clone()
    }
}

#[cfg(test)]
#[path = "../tests/unit/host.rs"]
mod tests;
