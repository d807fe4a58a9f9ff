//! A drive is identified and authorised once per run, and opened per job with the rights that it
//! needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::identity::{self, DriveInfo, DriveKind, PcieLink, Shrunk};
use crate::interlock::{self, WritePermit};
use crate::nvme::location;
use crate::nvme::placement::Placement;
use crate::nvme::probe::Probe;
use crate::spec::{DriveSpec, SpecKind};
use crate::telemetry_monitor::TelemetryMonitor;
use crate::telemetry_monitor::power_meter::PowerMeter;
use assay_io::drive_handle::DriveHandle;
use assay_io::{Nanos, Telemetry};
use assay_sim_host::SimTarget;
use assay_sim_host::host::NamedHost;
use assay_ssd::regenerate::Generator;
use assay_ssd::{HostChoice, InitialState};
use assay_units::endurance::EnduranceCounters;

mod condition;
mod erase;
mod error;
mod files;
mod power;
mod presence;
mod real;
mod simulated;
mod target_properties;

pub use condition::Purged;
pub use error::SessionError;
pub use real::PurgeHow;
use real::RealDrive;
pub use simulated::{link_speed, simulated_drive, simulated_info};
pub use target_properties::{PassthruSupport, TargetKind, TargetProperties, WriteZones};

/// Data before a run, as far as known without reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialContents {
    AsFound,
    Modelled(InitialState),
    Nothing,
}

pub enum OpenTarget {
    Null,
    Real {
        open: DriveHandle,
        telemetry: Arc<TelemetryMonitor>,
    },
    /// Keeps its state and its virtual time from job to job.
    Sim(Box<SimTarget>, InitialState),
}

/// Rights beside reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenMode {
    pub writes: bool,
    /// O_DIRECT: bypasses the page cache.
    pub direct: bool,
    /// NVMe commands through the generic character device.
    pub passthru: bool,
    /// Each zone of a zoned drive is written from its start on.
    pub in_zones: bool,
}

enum Kind {
    Null,
    Real(Box<RealDrive>),
    /// Several that are one address space.
    Files(Vec<DriveSession>),
    Sim(Box<SimTarget>, InitialState),
}

pub struct DriveSession {
    info: DriveInfo,
    kind: Kind,
    /// Default of a simulated drive.
    own_power_state: u8,
    simulated_probe: Option<Result<Box<Probe>, SessionError>>,
}

#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    pub destroy: Vec<String>,
    /// Real drives then need a permit when the session opens.
    pub will_write: bool,
    /// Simulated drives must store data for its verification.
    pub keep_data: bool,
    /// The run must have a single real drive.
    pub power_meter: Option<Arc<PowerMeter>>,
    /// Regenerates the pages that will be written, so that a simulated drive need not keep them
    /// whole.
    pub generator: Option<Arc<dyn Generator>>,
    /// The host of simulated drives that name none.
    pub host: HostChoice,
    /// It measures nothing: others may write to the drive meanwhile.
    pub only_looks: bool,
}

impl SessionOptions {
    /// Of a command that measures nothing.
    pub fn looking() -> SessionOptions {
        SessionOptions { only_looks: true, ..SessionOptions::default() }
    }
}

impl DriveSession {
    /// A real drive gets its permit here if `--destroy` names it, so that refusals precede any
    /// measurement.
    pub fn open(spec: &DriveSpec, options: &SessionOptions) -> Result<DriveSession, SessionError> {
        let (info, kind) = match spec.kind() {
            SpecKind::Null { size_bytes } => {
                let info = DriveInfo::new(DriveKind::Null, spec.text(), "null", *size_bytes);
                (info, Kind::Null)
            }
            SpecKind::Sim { profile, options: pairs } => {
                return simulated(spec.text(), profile, pairs, options);
            }
            SpecKind::Files(names) => files::open(spec.text(), names, options)?,
            SpecKind::Path(path) | SpecKind::NvmeGeneric(path) => {
                // A generic device is identified through the block device of its namespace.
                let generic = matches!(spec.kind(), SpecKind::NvmeGeneric(_));
                let beside = generic.then(|| location::block_beside(path)).flatten();
                let mut info = identity::identify(beside.as_deref().unwrap_or(path))?;
                info.spec = spec.text().to_owned();
                let mut drive = Box::<RealDrive>::default();
                drive.authorise(&info, options)?;
                drive.destroy.clone_from(&options.destroy);
                drive.meter.clone_from(&options.power_meter);
                (info, Kind::Real(drive))
            }
        };
        Ok(DriveSession { info, kind, own_power_state: 0, simulated_probe: None })
    }

    /// Applies `options` to a drive opened without write permission.
    pub fn authorise(&mut self, options: &SessionOptions) -> Result<(), SessionError> {
        match &mut self.kind {
            Kind::Real(drive) => {
                drive.authorise(&self.info, options)?;
                drive.destroy.clone_from(&options.destroy);
            }
            Kind::Files(files) => {
                for file in files {
                    file.authorise(options)?;
                }
            }
            Kind::Null | Kind::Sim(..) => {}
        }
        Ok(())
    }

    pub fn info(&self) -> &DriveInfo {
        &self.info
    }

    /// Simulated and null drives always may.
    pub fn may_write(&self) -> bool {
        match &self.kind {
            Kind::Real(drive) => drive.permit.is_some(),
            Kind::Files(files) => files.iter().all(DriveSession::may_write),
            Kind::Null | Kind::Sim(..) => true,
        }
    }

    pub fn initial_contents(&self) -> InitialContents {
        match &self.kind {
            Kind::Null => InitialContents::Nothing,
            Kind::Real(_) | Kind::Files(_) => InitialContents::AsFound,
            Kind::Sim(_, state) => InitialContents::Modelled(*state),
        }
    }

    /// Without the placement handles, for which the drive must be asked.
    pub fn target_properties(&self) -> TargetProperties {
        TargetProperties {
            name: self.info.spec.clone(),
            capacity_bytes: self.info.capacity_bytes,
            files: self.info.files.clone(),
            min_io_bytes: self.info.min_io_bytes,
            placement_handles: 0,
            atomic: self.info.atomic_writes,
            kind: match self.info.kind {
                DriveKind::Block => TargetKind::Block {
                    io_poll: self.info.io_poll.unwrap_or(false),
                    passthru: self.passthru(),
                    zones: self.write_zones(),
                },
                DriveKind::File => TargetKind::File,
                DriveKind::Null => TargetKind::Null,
                DriveKind::Simulated => TargetKind::Simulated,
            },
        }
    }

    /// Placement identifiers that writes can have; 0 without Flexible Data Placement.
    pub fn placement_handles(&self) -> u16 {
        let placement = match &self.kind {
            Kind::Sim(target, _) => return target.placement_handles(),
            Kind::Null | Kind::Files(_) => return 0,
            Kind::Real(_) => self.probe(),
        };
        let placement = placement.and_then(|probe| probe.ok()?.placement.as_ref());
        placement.map_or(0, Placement::handles)
    }

    fn write_zones(&self) -> Option<WriteZones> {
        let zones = self.info.zones.filter(|zones| zones.host_managed)?;
        Some(WriteZones {
            zone_bytes: zones.zone_bytes,
            capacity_bytes: zones.capacity_bytes.unwrap_or(zones.zone_bytes),
            conventional_bytes: u64::from(zones.first_sequential) * zones.zone_bytes,
            most_at_once: [zones.max_open, zones.max_active].into_iter().flatten().min(),
        })
    }

    fn passthru(&self) -> PassthruSupport {
        let generic = self.info.nvme.as_ref().and_then(|p| p.generic.as_ref());
        let spec = DriveSpec::parse(&self.info.spec);
        let named = spec.is_ok_and(|spec| matches!(spec.kind(), SpecKind::NvmeGeneric(_)));
        match generic {
            Some(_) if named => PassthruSupport::Named,
            Some(_) if self.info.partition_of.is_none() => PassthruSupport::Possible,
            _ => PassthruSupport::No,
        }
    }

    /// Call [`DriveSession::release`] afterwards: a simulated drive keeps its state from job to
    /// job. Fails when the drive would be written without a permit.
    pub fn acquire(&mut self, mode: OpenMode) -> Result<OpenTarget, SessionError> {
        match std::mem::replace(&mut self.kind, Kind::Null) {
            Kind::Null => Ok(OpenTarget::Null),
            Kind::Sim(target, state) => Ok(OpenTarget::Sim(target, state)),
            Kind::Files(mut files) => {
                let opened = files::acquire(&self.info, &mut files, mode);
                self.kind = Kind::Files(files);
                opened
            }
            Kind::Real(mut drive) => {
                let opened = drive.open(&self.info, mode);
                self.kind = Kind::Real(drive);
                opened
            }
        }
    }

    /// Takes back what [`DriveSession::acquire`] returned.
    pub fn release(&mut self, target: OpenTarget) {
        if let OpenTarget::Sim(target, state) = target {
            self.kind = Kind::Sim(target, state);
        }
    }

    /// `None` of drives that are not simulated.
    pub fn telemetry(&mut self) -> Option<Telemetry> {
        match &mut self.kind {
            Kind::Sim(target, _) => assay_io::Target::telemetry(target.as_mut()),
            Kind::Null | Kind::Real(_) | Kind::Files(_) => None,
        }
    }

    pub fn block_cache(&self) -> Option<Telemetry> {
        match &self.kind {
            Kind::Sim(target, _) => target.block_cache(),
            Kind::Null | Kind::Real(_) | Kind::Files(_) => None,
        }
    }

    /// Read once; `None` for drives without NVMe. A second instance of a simulated drive is probed,
    /// because probing takes virtual time, which must not pass on the measured one.
    pub fn probe(&self) -> Option<Result<&Probe, &SessionError>> {
        match (&self.simulated_probe, &self.kind) {
            (Some(probe), _) => Some(probe.as_ref().map(AsRef::as_ref)),
            (None, Kind::Real(drive)) => drive.probe(&self.info),
            (None, Kind::Files(files)) => files.first()?.probe(),
            (None, _) => None,
        }
    }

    /// Granularity and alignment at which a drive prefers to be written (NPWG, NPWA).
    pub fn write_unit_bytes(&self) -> Option<u64> {
        let preferred = self.probe()?.ok()?.preferred_writes(None)?;
        Some(preferred.granularity_bytes.max(preferred.alignment_bytes))
    }

    /// Origins of the counters of bytes written; `None` without them or where the probe fails.
    pub fn endurance(&self) -> Option<EnduranceCounters> {
        match &self.kind {
            Kind::Sim(target, _) => Some(target.endurance()),
            Kind::Real(drive) => Some(drive.probe(&self.info)?.ok()?.health.counters()),
            Kind::Null | Kind::Files(_) => None,
        }
    }

    /// `false` for drives that are not simulated.
    pub fn lose_power(&mut self) -> bool {
        let Kind::Sim(target, _) = &mut self.kind else {
            return false;
        };
        target.lose_power();
        true
    }

    pub fn pcie(&self) -> Option<PcieLink> {
        match (&self.kind, &self.info.path) {
            (Kind::Sim(target, _), _) => simulated::pcie_link(target.link()),
            (Kind::Real(_), Some(path)) => identity::identify(path).ok()?.pcie,
            (Kind::Files(files), _) => files.first()?.pcie(),
            _ => None,
        }
    }

    /// Virtual time of a simulated drive; no effect on others.
    pub fn idle(&mut self, span: Nanos) {
        if let Kind::Sim(target, _) = &mut self.kind {
            target.idle(span);
        }
    }
}

/// A permit exists for a real drive that `--destroy` names, or that will be written.
fn write_permit(
    info: &DriveInfo,
    options: &SessionOptions,
) -> Result<Option<WritePermit>, SessionError> {
    let requested = options.will_write || options.destroy.contains(&info.serial);
    let permit = requested.then(|| interlock::authorise(info, &options.destroy));
    Ok(permit.transpose()?)
}

/// Counts measured drives and the reference instances of their probes.
static SIMULATED_DRIVES: AtomicU64 = AtomicU64::new(0);

/// Each can take gigabytes and seconds.
pub fn simulated_drives_built() -> u64 {
    SIMULATED_DRIVES.load(Ordering::Relaxed)
}

fn simulated(
    spec: &str,
    profile_name: &str,
    pairs: &[(String, String)],
    session: &SessionOptions,
) -> Result<DriveSession, SessionError> {
    let is_of_cache = |(key, _): &&(String, String)| simulated::CACHE_KEYS.contains(&key.as_str());
    let own: Vec<_> = pairs.iter().filter(|pair| !is_of_cache(pair)).cloned().collect();
    // A cached disk keeps no data.
    let is_cached = own.len() < pairs.len();
    let keep_data = session.keep_data && !is_cached;
    let (profile, options) = simulated::settings(spec, profile_name, &own, keep_data)?;
    let profile_name = profile.name.clone();
    // The spreads are of the drive's own rates, not of those of a disk with a cache.
    let fit_spreads = match is_cached {
        true => Vec::new(),
        false => profile.fit.spreads(),
    };
    let host = NamedHost::new(options.host.unwrap_or(session.host), &profile.bench);
    let link_bytes_per_second = Some(profile.link_bytes_per_second());
    let shrunk = simulated::shrunk(spec, &profile, is_cached)?;
    let (state, own_power_state) = (options.state, options.power_state);
    // Before the drive is created: the tables of a large one take a gigabyte and should not exist
    // twice.
    let simulated_probe = match is_cached {
        true => None,
        false => simulated::probe(spec, &profile, &options),
    };
    SIMULATED_DRIVES.fetch_add(1, Ordering::Relaxed);
    let mut target = SimTarget::new(spec, profile, options)?.on_host(host.costs);
    let drive_bytes = target.identity().capacity_bytes;
    let cache = simulated::cached_disk(spec, pairs, drive_bytes)?;
    if let Some(cache) = &cache {
        target = target.in_front_of(cache.clone())?;
    }
    if let Some(generator) = &session.generator {
        target.set_generator(Arc::clone(generator));
    }
    let owned = |(kind, spread): (&str, f64)| (kind.to_owned(), spread);
    let mut info = DriveInfo {
        fit_spreads: fit_spreads.into_iter().map(owned).collect(),
        link_bytes_per_second,
        shrunk,
        host: Some(host),
        ..simulated_info(spec, &profile_name, target.identity(), target.link())
    };
    if let Some((_, size)) = pairs.iter().find(|(key, _)| key == "capacity") {
        info.name = format!("{}-{}", info.name, size.replace(' ', "").to_lowercase());
    }
    if let Some(Shrunk { times, .. }) = shrunk {
        info.name = format!("{}-shrink{times}", info.name);
    }
    let info = match &cache {
        Some(cache) => simulated::cached_info(cache, info),
        None => info,
    };
    Ok(DriveSession {
        info,
        kind: Kind::Sim(Box::new(target), state),
        own_power_state,
        simulated_probe,
    })
}
