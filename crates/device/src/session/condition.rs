use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::identity::DriveInfo;
use crate::telemetry_monitor::TelemetryMonitor;
use assay_io::clock::Clock;
use assay_io::{Nanos, Target, Telemetry};
use assay_sim_host::SimTarget;
use assay_ssd::InitialState;

use super::{DriveSession, Kind, PurgeHow, SessionError};

/// A real wait checks for a stop request at this interval.
const POLL_INTERVAL: Nanos = Nanos::from_millis(50);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purged {
    pub how: &'static str,
    pub scope: &'static str,
    /// Never set after a discard, which is a hint, or a format without secure erase, which need not
    /// erase.
    pub complete: bool,
}

impl DriveSession {
    /// Purges by the best available method (SNIA PTS). A simulated drive is formatted. An NVMe
    /// drive is sanitized, else formatted, if that affects no other namespace
    /// ([`crate::nvme::purge`]); any other block device is discarded, a file gets one hole
    /// ([`mod@crate::purge`]). Errors: [`SessionError::NoPermit`] for a real drive that `--destroy`
    /// does not name, [`SessionError::Target`] when a simulated one was removed.
    pub fn purge(&mut self) -> Result<Purged, SessionError> {
        self.purge_as(PurgeHow::Best, &mut |_| true)
    }

    /// `progress` receives the completed share of a sanitize and returns whether to continue
    /// waiting. Errors: as [`DriveSession::purge`]; [`SessionError::ErasesMore`] when more would be
    /// erased than was named.
    pub fn purge_as(
        &mut self,
        how: PurgeHow,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Purged, SessionError> {
        match &mut self.kind {
            Kind::Null => Ok(Purged {
                how: "nothing to do: it stores no data",
                scope: "null target",
                complete: true,
            }),
            Kind::Sim(target, state) => {
                target.purge()?;
                *state = InitialState::Fresh;
                Ok(Purged { how: "formatted", scope: "whole simulated drive", complete: true })
            }
            Kind::Real(drive) => drive.purge(&self.info, how, progress),
            Kind::Files(_) => Err(SessionError::NotErasable {
                drive: self.info.spec.clone(),
                why: "it is several; purge each by itself",
            }),
        }
    }

    /// Reports telemetry at the end of every `interval`, with times from the start of the idle
    /// period; a simulated drive's power is the mean since the previous reading. Ends early when
    /// `stop` is set. A simulated drive idles in virtual time; the null target returns at once.
    /// Returns the idle time.
    pub fn idle_for(
        &mut self,
        span: Nanos,
        interval: Nanos,
        stop: &AtomicBool,
        on_telemetry: &mut dyn FnMut(Nanos, Telemetry),
    ) -> Nanos {
        let mut clock = match &mut self.kind {
            Kind::Sim(target, _) => IdleDrive::Sim(target),
            Kind::Real(drive) => IdleDrive::Real(drive.telemetry(&self.info), Clock::monotonic()),
            Kind::Null => return Nanos::ZERO,
            Kind::Files(files) => {
                return match files.first_mut() {
                    Some(first) => first.idle_for(span, interval, stop, on_telemetry),
                    None => Nanos::ZERO,
                };
            }
        };
        // Energy used before is not of this idle period.
        let _ = clock.telemetry();
        let interval = interval.max(Nanos::MILLISECOND);
        let start = clock.now();
        loop {
            let elapsed = clock.now() - start;
            if elapsed >= span || stop.load(Ordering::Relaxed) {
                return elapsed;
            }
            let next = Nanos((elapsed.0 / interval.0 + 1) * interval.0);
            if !clock.wait_until(start + next.min(span), stop) {
                continue;
            }
            let at = clock.now() - start;
            if let Some(telemetry) = clock.telemetry() {
                on_telemetry(at, telemetry);
            }
        }
    }

    /// Fails for the same reasons as [`DriveSession::set_power_state`]:
    /// [`SessionError::NoSuchPowerState`] lists the existing states,
    /// [`SessionError::NoPowerControl`] is of drives without power states and of controllers that
    /// cannot be read.
    pub fn check_power_state(&self, state: u8) -> Result<(), SessionError> {
        let operational: Vec<bool> = match (&self.kind, self.probe()) {
            (Kind::Sim(target, _), _) => {
                let states = target.identity().power_states.iter();
                states.map(|state| state.operational).collect()
            }
            (_, Some(Ok(probe))) => {
                let states = probe.power_states.iter();
                states.map(|state| state.operational).collect()
            }
            (_, Some(Err(error))) => return Err(no_power_control(&self.info, state, error)),
            (_, None) => return Err(no_power_control(&self.info, state, NO_POWER_STATES)),
        };
        if usize::from(state) < operational.len() {
            return Ok(());
        }
        let states = operational.iter().zip(0..).map(|(works, number)| {
            let mark = if *works { "" } else { " (non-operational)" };
            format!("{number}{mark}")
        });
        Err(SessionError::NoSuchPowerState {
            drive: self.info.spec.clone(),
            state,
            states: states.collect::<Vec<_>>().join(", "),
        })
    }

    /// `None` restores the initial state (simulated: `ps=N`, else 0; real: that before the first
    /// change, which is also restored when the session ends). A non-operational state ends with the
    /// next command. Errors: [`SessionError::NoPowerControl`] for drives that are not NVMe,
    /// [`SessionError::Command`] when the controller rejects it, [`SessionError::Target`] when a
    /// simulated drive has no such state.
    pub fn set_power_state(&mut self, state: Option<u8>) -> Result<(), SessionError> {
        let own = self.own_power_state;
        match (&mut self.kind, state) {
            (Kind::Sim(target, _), state) => Ok(target.set_power_state(state.unwrap_or(own))?),
            (Kind::Real(drive), state) => drive.set_power_state(&self.info, state),
            (Kind::Null | Kind::Files(_), None) => Ok(()),
            (Kind::Null | Kind::Files(_), Some(state)) => {
                Err(no_power_control(&self.info, state, NO_POWER_STATES))
            }
        }
    }
}

pub(super) const NO_POWER_STATES: &str = "only NVMe drives have power states; leave power_states \
                                          out, or measure an NVMe or a simulated drive";

pub(super) fn no_power_control(info: &DriveInfo, state: u8, why: impl ToString) -> SessionError {
    SessionError::NoPowerControl { drive: info.spec.clone(), state, why: why.to_string() }
}

enum IdleDrive<'a> {
    Sim(&'a mut SimTarget),
    Real(Arc<TelemetryMonitor>, Clock),
}

impl IdleDrive<'_> {
    fn now(&mut self) -> Nanos {
        match self {
            IdleDrive::Sim(target) => target.now(),
            IdleDrive::Real(_, clock) => clock.now(),
        }
    }

    /// `false` when `stop` was set.
    fn wait_until(&mut self, until: Nanos, stop: &AtomicBool) -> bool {
        match self {
            IdleDrive::Sim(target) => {
                let left = until - target.now();
                target.idle(left);
            }
            IdleDrive::Real(_, clock) => {
                // A receive on an empty channel is a timed wait.
                let (_sender, nothing) = mpsc::channel::<()>();
                while clock.now() < until {
                    if stop.load(Ordering::Relaxed) {
                        return false;
                    }
                    let left = (until - clock.now()).min(POLL_INTERVAL);
                    let _ = nothing.recv_timeout(Duration::from_nanos(left.0));
                }
            }
        }
        true
    }

    fn telemetry(&mut self) -> Option<Telemetry> {
        match self {
            IdleDrive::Sim(target) => target.telemetry(),
            IdleDrive::Real(telemetry, _) => telemetry.telemetry(),
        }
    }
}
