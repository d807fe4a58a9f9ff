use crate::identity::{AtomicWrites, DriveInfo, DriveKind, PcieLink, Shrunk};
use crate::nvme::probe::{self, ControllerContext, Probe};
use crate::nvme::registers::ControllerRegisters;
use crate::nvme::{AdminPort, CommandError, command_name};
use crate::spec::{DriveSpec, SpecKind};
use assay_io::TargetError;
use assay_nvme_ctrl::driver::{Driver, DriverError, InProcessTransport};
use assay_nvme_ctrl::{Controller, ControllerOptions, Unmapped};
use assay_nvme_spec::SubmissionEntry;
use assay_nvme_spec::register::{
    CAP, CC, CSTS, Capabilities, Configuration, ControllerStatus, VS, Version,
};
use assay_sim_host::block_cache::cached::{CacheMode, CachedDisk, DEFAULT_BLOCK_BYTES};
use assay_sim_host::block_cache::disk::DISK_7200;
use assay_sim_host::profile_file;
use assay_ssd::profile::LinkProfile;
use assay_ssd::{Drive, DriveOptions, Identity, Profile};
use assay_units::parse_size;

use super::SessionError;

/// For a caller that makes a drive itself; `None` for other kinds. With `keep_data`, the drive
/// keeps what is written.
pub fn simulated_drive(
    spec: &DriveSpec,
    keep_data: bool,
) -> Option<Result<(Profile, DriveOptions), SessionError>> {
    match spec.kind() {
        SpecKind::Sim { profile, options } => {
            Some(settings(spec.text(), profile, options, keep_data))
        }
        _ => None,
    }
}

pub(super) fn settings(
    spec: &str,
    profile_name: &str,
    pairs: &[(String, String)],
    keep_data: bool,
) -> Result<(Profile, DriveOptions), SessionError> {
    let spec = || spec.to_owned();
    let mut options = DriveOptions::default();
    for (key, value) in pairs {
        let unknown = |source| SessionError::Option { spec: spec(), source };
        options.set(key, value).map_err(unknown)?;
    }
    let profile = profile_file::load_for(profile_name, &options);
    let profile = profile.map_err(|source| SessionError::Profile { spec: spec(), source })?;
    if keep_data && !options.keep_data {
        // Verified data is regenerated instead of stored.
        (options.keep_data, options.regenerate_data) = (true, true);
    }
    Ok((profile, options))
}

pub(super) const CACHE_KEYS: [&str; 4] = ["cache_of", "cache_mode", "cache_block", "cache_size"];

/// `cache_of=disk-7200`, with `cache_mode=writeback|writethrough|none`, `cache_block=64k` and
/// `cache_size=16g` (default: all of the drive). The other pairs are the drive's.
pub(super) fn cached_disk(
    spec: &str,
    pairs: &[(String, String)],
    drive_bytes: u64,
) -> Result<Option<CachedDisk>, SessionError> {
    let value =
        |key: &str| pairs.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str());
    let wrong = |why: String| SessionError::Cache { spec: spec.to_owned(), why };
    let disk = match value("cache_of") {
        Some("disk-7200") => DISK_7200,
        Some(other) => {
            return Err(wrong(format!("cache_of={other}: the only disk model is disk-7200")));
        }
        None => {
            let further = CACHE_KEYS.iter().find(|key| value(key).is_some());
            return match further {
                Some(key) => Err(wrong(format!("{key} needs cache_of=disk-7200"))),
                None => Ok(None),
            };
        }
    };
    let size = |key: &str, default: u64| {
        value(key).map_or(Ok(default), |text| {
            parse_size(text).map_err(|error| wrong(format!("{key}={text}: {error}")))
        })
    };
    let mode = match value("cache_mode") {
        None => CacheMode::WriteBack,
        Some(text) => {
            let known = CacheMode::ALL.iter().find(|(_, name)| *name == text);
            let (mode, _) = known.ok_or_else(|| {
                wrong(format!("cache_mode={text}: writeback, writethrough or none"))
            })?;
            *mode
        }
    };
    let cache_bytes = size("cache_size", drive_bytes)?;
    if cache_bytes > drive_bytes {
        return Err(wrong(format!("cache_size={cache_bytes}: the drive has {drive_bytes} bytes")));
    }
    let block_bytes = size("cache_block", DEFAULT_BLOCK_BYTES)?;
    let cache = CachedDisk::new(disk, cache_bytes, block_bytes, mode);
    cache.map(Some).map_err(wrong)
}

/// No profile describes drive and disk together.
pub(super) fn cached_info(cache: &CachedDisk, of_drive: DriveInfo) -> DriveInfo {
    let mode = cache.mode().name();
    let (name, model) = match cache.mode() {
        CacheMode::None => ("disk-7200".to_owned(), "disk of 7,200 rpm".to_owned()),
        _ => (
            format!("disk-7200 {mode}"),
            format!(
                "disk of 7,200 rpm, {mode} cache on {}",
                of_drive.model.as_deref().unwrap_or(&of_drive.name)
            ),
        ),
    };
    DriveInfo {
        name,
        model: Some(model),
        rotational: Some(true),
        profile: None,
        atomic_writes: None,
        ..of_drive
    }
}

pub fn simulated_info(
    spec: &str,
    profile_name: &str,
    identity: &Identity,
    link: &LinkProfile,
) -> DriveInfo {
    let block_bytes = identity.logical_block_bytes as u32;
    DriveInfo {
        model: Some(identity.model.clone()),
        serial: identity.serial.clone(),
        firmware: Some(identity.firmware.clone()),
        transport: Some("simulated".to_owned()),
        logical_block_bytes: block_bytes,
        physical_block_bytes: block_bytes,
        min_io_bytes: block_bytes,
        max_io_bytes: Some(identity.max_transfer_bytes),
        rotational: Some(false),
        queue_pairs: Some(identity.queue_pairs),
        profile: Some(profile_name.to_owned()),
        pcie: pcie_link(link),
        // One block is what every drive promises.
        atomic_writes: (identity.atomic_bytes > identity.logical_block_bytes).then_some(
            AtomicWrites { min_bytes: block_bytes, max_bytes: identity.atomic_bytes as u32 },
        ),
        ..DriveInfo::new(DriveKind::Simulated, spec, profile_name, identity.capacity_bytes)
    }
}

/// How small a drive is; one with a disk behind it cannot be, because the disk is not.
pub(super) fn shrunk(
    spec: &str,
    profile: &Profile,
    is_cached: bool,
) -> Result<Option<Shrunk>, SessionError> {
    let shrunk = profile
        .shrink
        .map(|times| Shrunk { times, write_buffer_bytes: profile.buffer.bytes.value });
    if shrunk.is_some() && is_cached {
        return Err(SessionError::Cache {
            spec: spec.to_owned(),
            why: "a disk does not become smaller with its cache; leave shrink= out".to_owned(),
        });
    }
    Ok(shrunk)
}

/// Probes a second instance; `None` for Serial ATA drives.
pub(super) fn probe(
    spec: &str,
    profile: &Profile,
    options: &DriveOptions,
) -> Option<Result<Box<Probe>, SessionError>> {
    let on_nvme = profile.link.sata.is_none();
    on_nvme.then(|| ask(spec, profile.clone(), options.clone()).map(Box::new))
}

/// The link as sysfs shows a real drive's; `None` for Serial ATA.
pub(super) fn pcie_link(link: &LinkProfile) -> Option<PcieLink> {
    if link.sata.is_some() {
        return None;
    }
    let speed = link_speed(link.generation.value);
    let width = Some(u32::from(link.lanes.value));
    Some(PcieLink {
        address: "simulated".to_owned(),
        speed: Some(speed.clone()),
        width,
        max_speed: Some(speed),
        max_width: width,
    })
}

/// Speed as in sysfs (PCI Express Base Specification 6.0, section 1.2).
pub fn link_speed(generation: u8) -> String {
    let gt_per_s = match generation {
        0 | 1 => "2.5",
        2 => "5.0",
        3 => "8.0",
        4 => "16.0",
        _ => "32.0",
    };
    format!("{gt_per_s} GT/s PCIe")
}

fn ask(spec: &str, profile: Profile, options: DriveOptions) -> Result<Probe, SessionError> {
    super::SIMULATED_DRIVES.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let drive = Drive::new(profile, options)
        .map_err(|e| TargetError::Simulation { drive: spec.to_owned(), message: e.to_string() })?;
    let controller = Controller::new(drive, ControllerOptions::default());
    let vectors = controller.vectors();
    let driver = Driver::new(InProcessTransport::new(controller));
    let mut port = Port {
        driver: driver.map_err(|error| unreachable(spec, "enable".to_owned(), &error))?,
        spec,
    };
    let context = ControllerContext {
        registers: Some(Ok(port.registers())),
        interrupt_vectors: Some(u32::from(vectors)),
        nsid: None,
    };
    Ok(probe::probe(&mut port, context)?)
}

struct Port<'s> {
    spec: &'s str,
    driver: Driver<InProcessTransport>,
}

impl Port<'_> {
    fn registers(&mut self) -> ControllerRegisters {
        let controller = &self.driver.transport.controller;
        let dword = |offset: u64| controller.read_register(offset, 4) as u32;
        ControllerRegisters {
            capabilities: Capabilities::from_raw(controller.read_register(CAP, 8)),
            version: Version::from_raw(dword(VS)),
            configuration: Configuration::from_raw(dword(CC)),
            status: ControllerStatus::from_raw(dword(CSTS)),
        }
    }
}

fn unreachable(spec: &str, command: String, error: &DriverError<Unmapped>) -> CommandError {
    CommandError::System {
        controller: spec.to_owned(),
        command,
        source: std::io::Error::other(error.to_string()),
        advice: "",
    }
}

impl AdminPort for Port<'_> {
    fn name(&self) -> &str {
        self.spec
    }

    fn admin(
        &mut self,
        command: &SubmissionEntry,
        data: &mut [u8],
        _timeout_ms: u32,
    ) -> Result<u32, CommandError> {
        let done = self.driver.admin(*command, data);
        let done = done.map_err(|error| unreachable(self.spec, command_name(command), &error))?;
        match done.status() {
            status if status.is_success() => Ok(done.dw0()),
            status => Err(CommandError::Status {
                controller: self.spec.to_owned(),
                command: command_name(command),
                status,
            }),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/session/simulated.rs"]
mod tests;
