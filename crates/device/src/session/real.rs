//! A real drive in a session: its permit, who watches it, and what can be done to it between workloads.

use std::cell::OnceCell;
use std::sync::Arc;

use crate::identity::{self, DriveInfo, DriveKind};
use crate::interlock::{self, WritePermit};
use crate::nvme::device::ControllerDevice;
use crate::nvme::place::NvmePlace;
use crate::nvme::probe::{self, Probe, Surroundings};
use crate::nvme::registers;
use crate::open::open_drive;
use crate::purge;
use crate::watch::Watch;
use crate::watch::meter::PowerMeter;

use super::erase::{Around, erase};
use super::power::Chosen;
use super::{OpenTarget, Purged, SessionError};

/// How a real drive is to be erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PurgeHow {
    /// The most thorough way that reaches nothing but this drive: sanitize, format, discard.
    #[default]
    Best,
    /// Sanitize: the whole subsystem.
    Sanitize,
    /// Format NVM.
    Format,
    /// Discard every block.
    Discard,
}

/// One real drive.
#[derive(Debug)]
pub(super) struct RealDrive {
    permit: Option<WritePermit>,
    meter: Option<Arc<PowerMeter>>,
    watch: Option<Arc<Watch>>,
    /// The controller and the power state it was in before another was chosen.
    chosen: Option<Chosen<ControllerDevice>>,
    /// The words of `--destroy`.
    words: Vec<String>,
    /// What its controller said of itself when it was first asked.
    probe: OnceCell<Option<Result<Box<Probe>, SessionError>>>,
}

impl RealDrive {
    pub(super) fn new(
        permit: Option<WritePermit>,
        meter: Option<Arc<PowerMeter>>,
        words: Vec<String>,
    ) -> RealDrive {
        RealDrive {
            permit,
            meter,
            watch: None,
            chosen: None,
            words,
            probe: OnceCell::new(),
        }
    }

    /// What its controller says of itself, asked once; `None` for drives that are not NVMe.
    pub(super) fn probe(&self, info: &DriveInfo) -> Option<Result<&Probe, &SessionError>> {
        let ask = || {
            let (place, mut device) = match controller(info)? {
                Ok(found) => found,
                Err(error) => return Some(Err(error)),
            };
            let around = Surroundings {
                registers: Some(registers::read(&place.sysfs).map_err(|e| registers::advice(&e))),
                interrupt_vectors: place.interrupt_vectors,
            };
            let probe = probe::probe(&mut device, &around).map(Box::new);
            Some(probe.map_err(SessionError::from))
        };
        let found = self.probe.get_or_init(ask).as_ref()?;
        Some(found.as_ref().map(AsRef::as_ref))
    }

    pub(super) fn may_write(&self) -> bool {
        self.permit.is_some()
    }

    /// Who watches it, from the first time that anybody wants to know.
    pub(super) fn watch(&mut self, info: &DriveInfo) -> Arc<Watch> {
        let watch = self
            .watch
            .get_or_insert_with(|| Arc::new(Watch::start(info, self.meter.clone())));
        Arc::clone(watch)
    }

    pub(super) fn open(
        &mut self,
        info: &DriveInfo,
        writes: bool,
        direct: bool,
    ) -> Result<OpenTarget, SessionError> {
        if writes && self.permit.is_none() {
            return Err(no_permit(info));
        }
        let permit = self.permit.as_ref().filter(|_| writes);
        Ok(OpenTarget::Real {
            open: open_drive(info, direct, permit)?,
            watch: self.watch(info),
        })
    }

    /// Choose a power state, or with `None` go back to the one it was in before the first choice.
    pub(super) fn set_power_state(
        &mut self,
        info: &DriveInfo,
        state: Option<u8>,
    ) -> Result<(), SessionError> {
        let Some(state) = state else {
            return match self.chosen.take() {
                Some(mut chosen) => Ok(chosen.restore()?),
                None => Ok(()),
            };
        };
        let mut chosen = match self.chosen.take() {
            Some(chosen) => chosen,
            None => {
                let none = || SessionError::NoPowerControl {
                    drive: info.spec.clone(),
                    state,
                };
                let (_, device) = controller(info).ok_or_else(none)??;
                Chosen::over(info, device)?
            }
        };
        let set = chosen.choose(state);
        // Even a refused choice may have changed something.
        self.chosen = Some(chosen);
        Ok(set?)
    }

    /// Make it forget everything.
    pub(super) fn purge(
        &mut self,
        info: &DriveInfo,
        how: PurgeHow,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Purged, SessionError> {
        let Some(permit) = &self.permit else {
            return Err(no_permit(info));
        };
        let whole = info.partition_of.is_none() && info.kind == DriveKind::Block;
        let nvme = match controller(info) {
            Some(found) if whole && how != PurgeHow::Discard => match (found, how) {
                (Ok(found), _) => Some(found),
                // Nobody asked for more than can be done.
                (Err(_), PurgeHow::Best) => None,
                (Err(error), _) => return Err(error),
            },
            _ => None,
        };
        let Some((place, mut device)) = nvme else {
            if matches!(how, PurgeHow::Sanitize | PurgeHow::Format) {
                return Err(SessionError::NotErasable {
                    drive: info.spec.clone(),
                    why: if whole {
                        "it is not an NVMe drive".to_owned()
                    } else {
                        "it is not a whole drive, and these commands know no part of one".to_owned()
                    },
                });
            }
            return discard(info, permit);
        };
        let around = Around {
            words: &self.words,
            look: &|name| {
                let beside = info.path.as_ref()?.with_file_name(name);
                identity::identify(&beside).ok()
            },
            permit: &|other| interlock::authorise(other, &self.words),
        };
        match erase(info, &place, &mut device, how, &around, progress)? {
            Some(purged) => Ok(purged),
            None => discard(info, permit),
        }
    }
}

impl Drop for RealDrive {
    fn drop(&mut self) {
        if let Some(mut chosen) = self.chosen.take() {
            // Whatever happened, it is not left in a power state that somebody's measurement asked for.
            let _ = chosen.restore();
        }
    }
}

/// The controller of an NVMe drive, opened; `None` for other drives.
fn controller(info: &DriveInfo) -> Option<Result<(NvmePlace, ControllerDevice), SessionError>> {
    let place = info.nvme.as_ref()?;
    let opened = ControllerDevice::open(&place.controller);
    Some(match opened {
        Ok(device) => Ok((place.clone(), device)),
        Err(source) => Err(SessionError::Controller {
            drive: info.spec.clone(),
            controller: place.controller.display().to_string(),
            source,
        }),
    })
}

fn no_permit(info: &DriveInfo) -> SessionError {
    SessionError::NoPermit {
        drive: info.spec.clone(),
        serial: info.serial.clone(),
    }
}

fn discard(info: &DriveInfo, permit: &WritePermit) -> Result<Purged, SessionError> {
    let open = open_drive(info, false, Some(permit))?;
    purge::discard_all(&open, info.capacity_bytes)?;
    let (how, scope) = match (info.kind, &info.partition_of) {
        (DriveKind::File, _) => ("one hole over its whole length", "file"),
        (_, Some(_)) => ("all blocks discarded", "this partition only"),
        (_, None) if info.nvme.is_some() => ("all blocks discarded", "this namespace"),
        (_, None) => ("all blocks discarded", "whole device"),
    };
    Ok(Purged {
        how,
        scope,
        complete: false,
    })
}
