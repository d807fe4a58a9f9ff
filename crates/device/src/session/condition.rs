//! What is done to a drive between workloads: purging it, leaving it alone, choosing its power state.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::watch::Watch;
use assay_io::clock::Clock;
use assay_io::{Nanos, Target, Telemetry};
use assay_sim_host::SimTarget;
use assay_ssd::InitialState;

use super::{DriveSession, Kind, PurgeHow, SessionError};

/// How often a real wait looks whether it should stop.
const LOOK: Nanos = Nanos::from_millis(50);

/// What purging a drive came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purged {
    /// What was done, for people.
    pub how: &'static str,
    /// To what of it, for people.
    pub scope: &'static str,
    /// Is it certain that the drive is now as one on which nothing was ever written? A discard is advice to a real drive, and a format without a secure
    /// erase need not erase, so it never is after those.
    pub complete: bool,
}

impl DriveSession {
    /// Make the drive forget everything on it, as far as that is possible from here.
    ///
    /// A simulated drive is formatted ([`assay_ssd::Drive::purge`]: wear, temperature and power state stay, and its time goes on to
    /// when the erasing is done). An NVMe drive is sanitized, else formatted, if that reaches nothing else (see
    /// [`crate::nvme::purge`]); any other block device is discarded as a whole, a file gets one hole of its length
    /// (see [`mod@crate::purge`]). The null target holds nothing.
    ///
    /// # Errors
    /// [`SessionError::NoPermit`] for a real drive that `--destroy` does not name; [`SessionError::Purge`] when it cannot be purged;
    /// [`SessionError::Target`] when a simulated one is gone.
    pub fn purge(&mut self) -> Result<Purged, SessionError> {
        self.purge_as(PurgeHow::Best, &mut |_| true)
    }

    /// [`DriveSession::purge`] in a way of one's choice. `progress` is told the share of a sanitize that is done, and says whether to go on waiting
    /// for it.
    ///
    /// # Errors
    /// As [`DriveSession::purge`]; [`SessionError::ReachesOthers`] when it would erase what was not named.
    pub fn purge_as(
        &mut self,
        how: PurgeHow,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Purged, SessionError> {
        match &mut self.kind {
            Kind::Null => Ok(Purged {
                how: "nothing to do: it keeps nothing",
                scope: "null target",
                complete: true,
            }),
            Kind::Sim(target, state) => {
                target.purge()?;
                *state = InitialState::Fresh;
                Ok(Purged {
                    how: "formatted",
                    scope: "whole simulated drive",
                    complete: true,
                })
            }
            Kind::Real(drive) => drive.purge(&self.info, how, progress),
        }
    }

    /// Leave the drive alone for `span`, telling the observer what it says of itself at the end of every `interval` (temperature; a
    /// simulated drive's power too, the mean since the reading before). Times are those since the rest began. Ends early when `stop` is
    /// set. A simulated drive rests in virtual time; the null target needs no rest and gets none.
    ///
    /// Returns how long it rested.
    pub fn idle_for(
        &mut self,
        span: Nanos,
        interval: Nanos,
        stop: &AtomicBool,
        on_telemetry: &mut dyn FnMut(Nanos, Telemetry),
    ) -> Nanos {
        let mut clock = match &mut self.kind {
            Kind::Sim(target, _) => Resting::Sim(target),
            Kind::Real(drive) => Resting::Real(drive.watch(&self.info), Clock::monotonic()),
            Kind::Null => return Nanos::ZERO,
        };
        // What was used before belongs to what came before.
        let _ = clock.telemetry();
        let interval = interval.max(Nanos::MILLISECOND);
        let start = clock.now();
        loop {
            let rested = clock.now() - start;
            if rested >= span || stop.load(Ordering::Relaxed) {
                return rested;
            }
            let next = Nanos((rested.0 / interval.0 + 1).saturating_mul(interval.0));
            if !clock.wait_until(start + next.min(span), stop) {
                continue;
            }
            let at = clock.now() - start;
            if let Some(telemetry) = clock.telemetry() {
                on_telemetry(at, telemetry);
            }
        }
    }

    /// Has the drive this power state? For asking before anything is done: [`DriveSession::set_power_state`] fails for the same reasons.
    ///
    /// # Errors
    /// [`SessionError::NoSuchPowerState`], which lists those that there are; [`SessionError::NoPowerControl`] for drives that have none;
    /// [`SessionError::PowerStatesUnknown`] when the controller cannot be asked.
    pub fn check_power_state(&self, state: u8) -> Result<(), SessionError> {
        let drive = self.info.spec.clone();
        let states: Vec<(u8, bool)> = match (&self.kind, self.probe()) {
            (Kind::Sim(target, _), _) => {
                let states = target.identity().power_states.iter();
                (0..).zip(states.map(|state| state.operational)).collect()
            }
            (_, Some(Ok(probe))) => {
                let states = probe.power_states.iter();
                states
                    .map(|found| (found.state, found.operational))
                    .collect()
            }
            (_, Some(Err(error))) => {
                let why = error.to_string();
                return Err(SessionError::PowerStatesUnknown { drive, state, why });
            }
            (_, None) => return Err(SessionError::NoPowerControl { drive, state }),
        };
        if states.iter().any(|(number, _)| *number == state) {
            return Ok(());
        }
        let words = states.iter().map(|(number, works)| match works {
            true => number.to_string(),
            false => format!("{number} (asleep)"),
        });
        let states = words.collect::<Vec<_>>().join(", ");
        Err(SessionError::NoSuchPowerState {
            drive,
            state,
            states,
        })
    }

    /// Choose a power state of an NVMe or simulated drive; `None` is the one it began in (`sim:NAME,ps=N`, else 0; a real one: that before the first
    /// choice, to which it also goes back when the session ends), and does nothing to others. A non-operational one ends with the next command.
    ///
    /// # Errors
    /// [`SessionError::NoPowerControl`] for drives that are not NVMe; [`SessionError::Command`] when the drive refuses; [`SessionError::Target`] when a simulated drive has no
    /// such state.
    pub fn set_power_state(&mut self, state: Option<u8>) -> Result<(), SessionError> {
        let own = self.own_power_state;
        match (&mut self.kind, state) {
            (Kind::Sim(target, _), state) => Ok(target.set_power_state(state.unwrap_or(own))?),
            (Kind::Real(drive), state) => drive.set_power_state(&self.info, state),
            (Kind::Null, None) => Ok(()),
            (Kind::Null, Some(state)) => Err(SessionError::NoPowerControl {
                drive: self.info.spec.clone(),
                state,
            }),
        }
    }
}

/// A drive that is left alone, and its time.
enum Resting<'a> {
    Sim(&'a mut SimTarget),
    Real(Arc<Watch>, Clock),
}

impl Resting<'_> {
    fn now(&mut self) -> Nanos {
        match self {
            Resting::Sim(target) => target.now(),
            Resting::Real(_, clock) => clock.now(),
        }
    }

    /// `false` when `stop` was set before.
    fn wait_until(&mut self, until: Nanos, stop: &AtomicBool) -> bool {
        match self {
            Resting::Sim(target) => {
                let left = until - target.now();
                target.idle(left);
            }
            Resting::Real(_, clock) => {
                // Nobody ever sends: waiting for a message is waiting.
                let (_sender, nothing) = mpsc::channel::<()>();
                while clock.now() < until {
                    if stop.load(Ordering::Relaxed) {
                        return false;
                    }
                    let left = (until - clock.now()).min(LOOK);
                    let _ = nothing.recv_timeout(Duration::from_nanos(left.0));
                }
            }
        }
        true
    }

    fn telemetry(&mut self) -> Option<Telemetry> {
        match self {
            Resting::Sim(target) => target.telemetry(),
            Resting::Real(watch, _) => watch.telemetry(),
        }
    }
}
