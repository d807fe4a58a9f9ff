//! A real drive in a session: permit, telemetry, power state, purge.

use std::cell::OnceCell;
use std::sync::Arc;

use crate::identity::{self, DriveInfo, DriveKind};
use crate::interlock::{self, WritePermit};
use crate::nvme::device::ControllerDevice;
use crate::nvme::location::NvmeLocation;
use crate::nvme::probe::{self, ControllerContext, Probe};
use crate::nvme::registers;
use crate::open::open_drive;
use crate::purge;
use crate::telemetry_monitor::TelemetryMonitor;
use crate::telemetry_monitor::power_meter::PowerMeter;

use super::erase::{EraseContext, erase};
use super::power::Chosen;
use super::{OpenTarget, Purged, SessionError};

/// Requested purge method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PurgeHow {
    /// The most thorough one that erases only this drive: sanitize, format, discard.
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
    telemetry: Option<Arc<TelemetryMonitor>>,
    /// The controller and its saved power state, while another is set.
    chosen: Option<Chosen<ControllerDevice>>,
    /// Values of `--destroy`.
    destroy: Vec<String>,
    /// Probe of its controller, read once.
    probe: OnceCell<Option<Result<Box<Probe>, SessionError>>>,
}

impl RealDrive {
    pub(super) fn new(
        permit: Option<WritePermit>,
        meter: Option<Arc<PowerMeter>>,
        destroy: Vec<String>,
    ) -> RealDrive {
        RealDrive {
            permit,
            meter,
            telemetry: None,
            chosen: None,
            destroy,
            probe: OnceCell::new(),
        }
    }

    /// Probe of its controller, read once; `None` for drives that are not NVMe.
    pub(super) fn probe(&self, info: &DriveInfo) -> Option<Result<&Probe, &SessionError>> {
        let ask = || {
            let (place, mut device) = match controller(info)? {
                Ok(found) => found,
                Err(error) => return Some(Err(error)),
            };
            let context = ControllerContext {
                registers: Some(registers::read(&place.sysfs).map_err(|e| registers::advice(&e))),
                interrupt_vectors: place.interrupt_vectors,
            };
            let probe = probe::probe(&mut device, &context).map(Box::new);
            Some(probe.map_err(SessionError::from))
        };
        let found = self.probe.get_or_init(ask).as_ref()?;
        Some(found.as_ref().map(AsRef::as_ref))
    }

    /// Replace the permit and the serials of `--destroy`.
    pub(super) fn authorise(&mut self, permit: Option<WritePermit>, destroy: Vec<String>) {
        self.permit = permit;
        self.destroy = destroy;
    }

    pub(super) fn may_write(&self) -> bool {
        self.permit.is_some()
    }

    /// Its telemetry, started on first use.
    pub(super) fn telemetry(&mut self, info: &DriveInfo) -> Arc<TelemetryMonitor> {
        let telemetry = self
            .telemetry
            .get_or_insert_with(|| Arc::new(TelemetryMonitor::start(info, self.meter.clone())));
        Arc::clone(telemetry)
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
            telemetry: self.telemetry(info),
        })
    }

    /// Sets a power state, or with `None` restores the one before the first change.
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
        // Even a rejected command may have changed the state.
        self.chosen = Some(chosen);
        Ok(set?)
    }

    /// Purges it.
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
                // `Best` falls back to discard.
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
                        "it is not a whole drive, and these commands erase whole namespaces"
                            .to_owned()
                    },
                });
            }
            return discard(info, permit);
        };
        let context = EraseContext {
            destroy: &self.destroy,
            identify: &|name| {
                let beside = info.path.as_ref()?.with_file_name(name);
                identity::identify(&beside).ok()
            },
            authorise: &|other| interlock::authorise(other, &self.destroy),
        };
        match erase(info, &place, &mut device, how, &context, progress)? {
            Some(purged) => Ok(purged),
            None => discard(info, permit),
        }
    }
}

impl Drop for RealDrive {
    fn drop(&mut self) {
        if let Some(mut chosen) = self.chosen.take() {
            // Restored on every exit path.
            let _ = chosen.restore();
        }
    }
}

/// Opens the controller of an NVMe drive; `None` for other drives.
fn controller(info: &DriveInfo) -> Option<Result<(NvmeLocation, ControllerDevice), SessionError>> {
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
