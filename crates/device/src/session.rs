//! A drive for the length of a run: named, identified, authorised once; opened per job with no more rights than the job needs.

use std::sync::Arc;

use crate::identity::{self, DriveInfo, DriveKind, IdentityError, PcieLink};
use crate::interlock::{self, Refusal};
use crate::nvme::CommandError;
use crate::nvme::place;
use crate::nvme::probe::Probe;
use crate::nvme::purge::EraseError;
use crate::open::OpenError;
use crate::purge::PurgeError;
use crate::spec::{DriveSpec, SpecError, SpecKind};
use crate::watch::Watch;
use crate::watch::meter::PowerMeter;
use assay_io::drive_handle::DriveHandle;
use assay_io::{Nanos, TargetError, Telemetry};
use assay_sim_host::SimTarget;
use assay_sim_host::profile_file::{self, ProfileFileError};
use assay_ssd::regenerate::Generator;
use assay_ssd::{DriveOptions, InitialState, OptionError};

mod condition;
mod erase;
mod power;
mod presence;
mod real;
mod simulated;
mod target_properties;

pub use condition::Purged;
pub use real::PurgeHow;
use real::RealDrive;
pub use target_properties::{PassthruSupport, TargetKind, TargetProperties};

/// Why a drive cannot take part.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Its name makes no sense.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// It is not there, or not a drive.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// No such simulated drive.
    #[error("{spec}: {source}")]
    Profile {
        /// As named.
        spec: String,
        /// Why.
        source: ProfileFileError,
    },
    /// A simulated drive has no such option.
    #[error("{spec}: {source}")]
    Option {
        /// As named.
        spec: String,
        /// Why.
        source: OptionError,
    },
    /// The model could not be made.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// It cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It may not be written.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A job wants to write and nobody said it may.
    #[error(
        "{drive}: this would overwrite data on it, and nothing is written without leave; if that is what you want, add --destroy {serial}"
    )]
    NoPermit {
        /// As named.
        drive: String,
        /// What `--destroy` must name.
        serial: String,
    },
    /// It cannot be purged.
    #[error(transparent)]
    Purge(#[from] PurgeError),
    /// It has no power states.
    #[error(
        "{drive}: power state {state} cannot be chosen: only NVMe drives have power states; leave power_states out, or measure an NVMe or a simulated drive"
    )]
    NoPowerControl {
        /// As named.
        drive: String,
        /// The state asked for.
        state: u8,
    },
    /// It has power states, and not this one.
    #[error(
        "{drive}: there is no such power state as {state}; it has {states}: choose among those, or leave power_states out"
    )]
    NoSuchPowerState {
        /// As named.
        drive: String,
        /// The state asked for.
        state: u8,
        /// Those that there are, in words.
        states: String,
    },
    /// Nobody can say which power states it has.
    #[error("{drive}: power state {state} cannot be chosen: {why}")]
    PowerStatesUnknown {
        /// As named.
        drive: String,
        /// The state asked for.
        state: u8,
        /// Why.
        why: String,
    },
    /// An admin command failed.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// Erasing failed.
    #[error(transparent)]
    Erase(#[from] EraseError),
    /// Its controller cannot be opened.
    #[error("{drive}: cannot open its controller {controller}: {source}; admin commands need root")]
    Controller {
        /// As named.
        drive: String,
        /// The controller.
        controller: String,
        /// The system's answer.
        source: std::io::Error,
    },
    /// It cannot be erased in the way that was asked for.
    #[error(
        "{drive}: cannot be erased in this way: {why}; --how auto takes the best way that there is"
    )]
    NotErasable {
        /// As named.
        drive: String,
        /// Why not.
        why: String,
    },
    /// More would be erased than was named.
    #[error("{drive}: this would also erase {others}, which is not named; {advice}")]
    ReachesOthers {
        /// As named.
        drive: String,
        /// What else.
        others: String,
        /// What to do about it.
        advice: String,
    },
    /// More might be erased than anybody can name.
    #[error(
        "{drive}: this may also erase namespaces that cannot be seen from here: {why}; --how {instead} erases this namespace alone"
    )]
    ReachesUnknown {
        /// As named.
        drive: String,
        /// Why they cannot be seen.
        why: &'static str,
        /// The way that reaches only this one.
        instead: &'static str,
    },
}

/// What the bytes on a drive are, as far as its owner can tell without reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Whatever was there: look.
    AsFound,
    /// The model's answer.
    Modelled(InitialState),
    /// Nothing: the null target.
    Nothing,
}

/// A drive that a job can run on.
pub enum OpenTarget {
    /// The null target.
    Null,
    /// A block device or file.
    Real {
        /// The open handle.
        open: DriveHandle,
        /// Its telemetry.
        watch: Arc<Watch>,
    },
    /// A simulated drive; keeps its state and its virtual time from job to job.
    Sim(Box<SimTarget>, InitialState),
}

enum Kind {
    Null,
    Real(Box<RealDrive>),
    Sim(Box<SimTarget>, InitialState),
}

/// One drive of a run.
pub struct DriveSession {
    info: DriveInfo,
    kind: Kind,
    /// Power state of a simulated drive where nobody chooses one.
    own_power_state: u8,
    /// What the controller of a simulated drive said of itself.
    simulated_probe: Option<Result<Box<Probe>, SessionError>>,
}

/// How drives are taken into a run.
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    /// The words of `--destroy`.
    pub destroy: Vec<String>,
    /// Something will be written: real drives need a permit now, before anything is measured.
    pub will_write: bool,
    /// Something will be verified: simulated drives must keep what is written.
    pub keep_data: bool,
    /// A meter of the power of real drives, for one drive alone.
    pub power_meter: Option<Arc<PowerMeter>>,
    /// Regenerates the pages that will be written, so that a simulated drive need not keep them whole.
    pub generator: Option<Arc<dyn Generator>>,
}

impl DriveSession {
    /// Take a drive into a run.
    ///
    /// A real drive gets its permit here, if `--destroy` names it: what is refused is refused before anything is measured.
    ///
    /// # Errors
    /// When it is not there, not a drive, or may not be written as asked.
    pub fn open(spec: &DriveSpec, options: &SessionOptions) -> Result<DriveSession, SessionError> {
        match spec.kind() {
            SpecKind::Null { size_bytes } => {
                let info = DriveInfo::new(DriveKind::Null, spec.text(), "null", *size_bytes);
                Ok(DriveSession {
                    info,
                    kind: Kind::Null,
                    own_power_state: 0,
                    simulated_probe: None,
                })
            }
            SpecKind::Sim {
                profile,
                options: pairs,
            } => simulated(spec.text(), profile, pairs, options),
            SpecKind::Path(path) | SpecKind::NvmeGeneric(path) => {
                // A generic device is the same namespace by another door; everything about it is known of its block device.
                let generic = matches!(spec.kind(), SpecKind::NvmeGeneric(_));
                let beside = generic.then(|| place::block_beside(path)).flatten();
                let mut info = identity::identify(beside.as_deref().unwrap_or(path))?;
                info.spec = spec.text().to_owned();
                let named = options.destroy.contains(&info.serial);
                let permit = if options.will_write || named {
                    Some(interlock::authorise(&info, &options.destroy)?)
                } else {
                    None
                };
                Ok(DriveSession {
                    info,
                    kind: Kind::Real(Box::new(RealDrive::new(
                        permit,
                        options.power_meter.clone(),
                        options.destroy.clone(),
                    ))),
                    own_power_state: 0,
                    simulated_probe: None,
                })
            }
        }
    }

    /// What the drive is.
    pub fn info(&self) -> &DriveInfo {
        &self.info
    }

    /// May it be written? Simulated and null drives hold nobody's data.
    pub fn may_write(&self) -> bool {
        match &self.kind {
            Kind::Real(drive) => drive.may_write(),
            Kind::Null | Kind::Sim(..) => true,
        }
    }

    /// What is on it before anything was written.
    pub fn holds(&self) -> Holds {
        match &self.kind {
            Kind::Null => Holds::Nothing,
            Kind::Real(_) => Holds::AsFound,
            Kind::Sim(_, state) => Holds::Modelled(*state),
        }
    }

    /// What a plan must know of it. `direct` changes what I/Os must be aligned to.
    pub fn target_properties(&self) -> TargetProperties {
        TargetProperties {
            name: self.info.spec.clone(),
            capacity_bytes: self.info.capacity_bytes,
            min_io_bytes: self.info.min_io_bytes,
            kind: match self.info.kind {
                DriveKind::Block => TargetKind::Block {
                    io_poll: self.info.io_poll.unwrap_or(false),
                    passthru: self.passthru(),
                },
                DriveKind::File => TargetKind::File,
                DriveKind::Null => TargetKind::Null,
                DriveKind::Simulated => TargetKind::Simulated,
            },
        }
    }

    fn passthru(&self) -> PassthruSupport {
        let generic = self.info.nvme.as_ref().and_then(|p| p.generic.as_ref());
        let named = matches!(
            DriveSpec::parse(&self.info.spec)
                .as_ref()
                .map(DriveSpec::kind),
            Ok(SpecKind::NvmeGeneric(_))
        );
        match generic {
            Some(_) if named => PassthruSupport::Named,
            Some(_) if self.info.partition_of.is_none() => PassthruSupport::Possible,
            _ => PassthruSupport::No,
        }
    }

    /// Prepares the drive for one job: opened for writing only if the job writes, with O_DIRECT if `direct`. To be released with
    /// [`DriveSession::release`]: a simulated drive keeps its state from job to job.
    ///
    /// # Errors
    /// When it cannot be opened, or would be written without a permit.
    pub fn acquire(&mut self, writes: bool, direct: bool) -> Result<OpenTarget, SessionError> {
        match std::mem::replace(&mut self.kind, Kind::Null) {
            Kind::Null => Ok(OpenTarget::Null),
            Kind::Sim(target, state) => Ok(OpenTarget::Sim(target, state)),
            Kind::Real(mut drive) => {
                let opened = drive.open(&self.info, writes, direct);
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

    /// What a simulated drive says of itself now.
    pub fn telemetry(&mut self) -> Option<Telemetry> {
        match &mut self.kind {
            Kind::Sim(target, _) => assay_io::Target::telemetry(target.as_mut()),
            Kind::Null | Kind::Real(_) => None,
        }
    }

    /// What the controller of an NVMe drive says of itself, asked once; `None` for drives that are not NVMe. That of a simulated drive is asked on a
    /// twin that has just been switched on: asking takes time, and the drive that is measured must not have lived before.
    ///
    /// # Errors
    /// When it cannot be asked (one needs root), or does not answer.
    pub fn probe(&self) -> Option<Result<&Probe, &SessionError>> {
        match (&self.simulated_probe, &self.kind) {
            (Some(probe), _) => Some(probe.as_ref().map(AsRef::as_ref)),
            (None, Kind::Real(drive)) => drive.probe(&self.info),
            (None, _) => None,
        }
    }

    /// Cut the power of a simulated drive and give it back at once; false for others, whose power is not ours to cut.
    pub fn lose_power(&mut self) -> bool {
        match &mut self.kind {
            Kind::Sim(target, _) => {
                target.lose_power();
                true
            }
            Kind::Null | Kind::Real(_) => false,
        }
    }

    /// The PCIe link as it is now; none where the drive has none, or it cannot be read.
    pub fn pcie(&self) -> Option<PcieLink> {
        match (&self.kind, &self.info.path) {
            (Kind::Sim(target, _), _) => simulated::pcie_link(target.link()),
            (Kind::Real(_), Some(path)) => identity::identify(path).ok()?.pcie,
            _ => None,
        }
    }

    /// Let a simulated drive rest in virtual time; others are left alone.
    pub fn idle(&mut self, span: Nanos) {
        if let Kind::Sim(target, _) = &mut self.kind {
            target.idle(span);
        }
    }
}

fn simulated(
    spec: &str,
    profile_name: &str,
    pairs: &[(String, String)],
    session: &SessionOptions,
) -> Result<DriveSession, SessionError> {
    let (_, profile) =
        profile_file::load(profile_name).map_err(|source| SessionError::Profile {
            spec: spec.to_owned(),
            source,
        })?;
    let name = profile.name.clone();
    let mut options = DriveOptions::default();
    for (key, value) in pairs {
        options
            .set(key, value)
            .map_err(|source| SessionError::Option {
                spec: spec.to_owned(),
                source,
            })?;
    }
    if session.keep_data && !options.keep_data {
        // What is verified can be made again, and need not be kept whole.
        (options.keep_data, options.regenerate_data) = (true, true);
    }
    let (state, own_power_state) = (options.state, options.power_state);
    // Before the drive itself is made: the tables of a large one take a gigabyte, and need not be there twice.
    let simulated_probe = simulated::probe(spec, &profile, &options);
    let mut target = SimTarget::new(spec, profile, options)?;
    if let Some(generator) = &session.generator {
        target.set_generator(Arc::clone(generator));
    }
    let identity = target.identity();
    let mut info = DriveInfo::new(DriveKind::Simulated, spec, &name, identity.capacity_bytes);
    info.model = Some(identity.model.clone());
    info.serial = identity.serial.clone();
    info.firmware = Some(identity.firmware.clone());
    info.transport = Some("simulated".to_owned());
    info.logical_block_bytes = identity.logical_block_bytes as u32;
    info.physical_block_bytes = identity.logical_block_bytes as u32;
    info.min_io_bytes = identity.logical_block_bytes as u32;
    info.max_io_bytes = Some(identity.max_transfer_bytes);
    info.rotational = Some(false);
    info.queue_pairs = Some(identity.queue_pairs);
    info.profile = Some(name);
    info.pcie = simulated::pcie_link(target.link());
    Ok(DriveSession {
        info,
        kind: Kind::Sim(Box::new(target), state),
        own_power_state,
        simulated_probe,
    })
}
