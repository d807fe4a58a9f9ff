use std::cell::OnceCell;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::identity::{self, DriveInfo, DriveKind};
use crate::interlock::{self, WritePermit};
use crate::nvme::device::ControllerDevice;
use crate::nvme::location::NvmeLocation;
use crate::nvme::probe::{self, ControllerContext, Probe};
use crate::nvme::registers;
use crate::open::{open_drive, with_passthru};
use crate::purge;
use crate::telemetry_monitor::TelemetryMonitor;
use crate::telemetry_monitor::power_meter::PowerMeter;

use super::condition::{NO_POWER_STATES, no_power_control};
use super::erase::{EraseContext, erase};
use super::power::Chosen;
use super::{OpenMode, OpenTarget, Purged, SessionError, SessionOptions, write_permit};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PurgeHow {
    /// The most thorough method that erases only this drive: sanitize, format, discard.
    #[default]
    Best,
    /// Erases the whole subsystem.
    Sanitize,
    Format,
    Discard,
}

#[derive(Debug, Default)]
pub(super) struct RealDrive {
    /// Shared, of a drive that is not written; keeps writers away.
    reader_lock: Option<OwnedFd>,
    pub permit: Option<WritePermit>,
    pub meter: Option<Arc<PowerMeter>>,
    pub destroy: Vec<String>,
    telemetry: Option<Arc<TelemetryMonitor>>,
    /// Saved power state, while another is set.
    chosen: Option<Chosen<ControllerDevice>>,
    probe: OnceCell<Option<Result<Box<Probe>, SessionError>>>,
}

impl RealDrive {
    /// Takes the lock of a reader, or a permit, which has that of a writer.
    pub(super) fn authorise(
        &mut self,
        info: &DriveInfo,
        options: &SessionOptions,
    ) -> Result<(), SessionError> {
        // A lock of its own would keep the permit away.
        self.reader_lock = None;
        self.permit = write_permit(info, options)?;
        if self.permit.is_none() && !options.only_looks {
            let locked = interlock::lock_for_reading(info);
            self.reader_lock = locked
                .map_err(|pid| SessionError::BeingWritten { drive: info.spec.clone(), pid })?;
        }
        Ok(())
    }

    /// Read once; `None` for drives that are not NVMe.
    pub(super) fn probe(&self, info: &DriveInfo) -> Option<Result<&Probe, &SessionError>> {
        let ask = || {
            Some(controller(info)?.and_then(|(place, mut device)| {
                let registers = registers::read(&place.sysfs);
                let context = ControllerContext {
                    registers: Some(registers.map_err(|e| registers::advice(&e))),
                    interrupt_vectors: place.interrupt_vectors,
                    nsid: Some(place.nsid),
                };
                Ok(Box::new(probe::probe(&mut device, context)?))
            }))
        };
        let found = self.probe.get_or_init(ask).as_ref()?;
        Some(found.as_ref().map(AsRef::as_ref))
    }

    /// Started on first use.
    pub(super) fn telemetry(&mut self, info: &DriveInfo) -> Arc<TelemetryMonitor> {
        let telemetry = self
            .telemetry
            .get_or_insert_with(|| Arc::new(TelemetryMonitor::start(info, self.meter.clone())));
        Arc::clone(telemetry)
    }

    pub(super) fn open(
        &mut self,
        info: &DriveInfo,
        mode: OpenMode,
    ) -> Result<OpenTarget, SessionError> {
        if mode.writes && self.permit.is_none() {
            return Err(no_permit(info));
        }
        if mode.writes && !mode.in_zones && info.zones.is_some_and(|zones| zones.host_managed) {
            let drive = info.spec.clone();
            return Err(SessionError::OnlyInZones { drive });
        }
        let permit = self.permit.as_ref().filter(|_| mode.writes);
        let mut open = open_drive(info, mode.direct, permit)?;
        if mode.passthru {
            open = with_passthru(info, open)?;
        }
        Ok(OpenTarget::Real { open, telemetry: self.telemetry(info) })
    }

    /// `None` restores the state before the first change.
    pub(super) fn set_power_state(
        &mut self,
        info: &DriveInfo,
        state: Option<u8>,
    ) -> Result<(), SessionError> {
        let Some(state) = state else {
            let mut chosen = self.chosen.take();
            return Ok(chosen.as_mut().map_or(Ok(()), Chosen::restore)?);
        };
        let mut chosen = match self.chosen.take() {
            Some(chosen) => chosen,
            None => {
                let none = || no_power_control(info, state, NO_POWER_STATES);
                let (_, device) = controller(info).ok_or_else(none)??;
                Chosen::over(info, device)?
            }
        };
        let set = chosen.choose(state);
        // Even a rejected command may have changed the state.
        self.chosen = Some(chosen);
        Ok(set?)
    }

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
                    why: match whole {
                        true => "it is not an NVMe drive",
                        false => {
                            "it is not a whole drive, and these commands erase whole namespaces"
                        }
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
        match erase(info, &place, &mut device, how, &context, progress) {
            Ok(Some(purged)) => Ok(purged),
            Ok(None) => discard(info, permit),
            // The controller announces a command that it rejects for this namespace.
            Err(SessionError::Erase(error)) if how == PurgeHow::Best && error.is_unsupported() => {
                discard(info, permit)
            }
            Err(error) => Err(error),
        }
    }
}

impl Drop for RealDrive {
    fn drop(&mut self) {
        // Restored on every exit path.
        let _ = self.chosen.as_mut().map(Chosen::restore);
    }
}

/// `None` for drives that are not NVMe.
fn controller(info: &DriveInfo) -> Option<Result<(NvmeLocation, ControllerDevice), SessionError>> {
    let place = info.nvme.clone()?;
    Some(match ControllerDevice::open(&place.controller) {
        Ok(device) => Ok((place, device)),
        Err(source) => Err(SessionError::Controller {
            drive: info.spec.clone(),
            controller: place.controller.display().to_string(),
            source,
        }),
    })
}

fn no_permit(info: &DriveInfo) -> SessionError {
    SessionError::NoPermit { drive: info.spec.clone(), serial: info.serial.clone() }
}

fn discard(info: &DriveInfo, permit: &WritePermit) -> Result<Purged, SessionError> {
    tracing::info!(drive = ?info.spec, "purged by discard");
    let open = open_drive(info, false, Some(permit))?;
    if info.zones.is_some() {
        purge::reset_all_zones(&open, info.capacity_bytes)?;
    } else {
        purge::discard_all(&open, info.capacity_bytes)?;
    }
    let what = match info.zones {
        Some(_) => "all zones reset",
        None => "all blocks discarded",
    };
    let (how, scope) = match (info.kind, &info.partition_of) {
        (DriveKind::File, _) => ("one hole over its whole length", "file"),
        (_, Some(_)) => (what, "this partition only"),
        (_, None) if info.nvme.is_some() => (what, "this namespace"),
        (_, None) => (what, "whole device"),
    };
    Ok(Purged { how, scope, complete: false })
}

#[cfg(test)]
#[path = "../../tests/unit/session/real.rs"]
mod tests;
