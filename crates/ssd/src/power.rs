//! NVMe power states, autonomous transitions and the power governor.
//!
//! With Autonomous Power State Transitions an idle drive (no command outstanding) enters
//! non-operational states after their idle times. A command then waits for the rest of the entry
//! and the exit latency, and the drive returns to the last operational state (NVM Express Base
//! Specification 1.4, section 8.4 and figure 248). Linux sets the idle time to 50 times entry plus
//! exit latency (drivers/nvme/host/core.c, `nvme_configure_apst`, before 5.15). Background work
//! continues (Non-Operational Power State Permissive Mode).
//!
//! # Governor
//! In an operational state other than 0 the mean power stays below the state's maximum: each
//! command advances a *power timeline* by `energy / (max - idle)`, energy of garbage collection
//! included, and its core takes no other until the timeline is at most [`BURST_NS`] ahead (leaky
//! bucket, ITU-T I.371, virtual scheduling). Evenly spaced commands have no latency tails
//! (AnandTech PBlaze5).
//!
//! # Non-goals
//! Transition energy; limits below a state's maximum.

use assay_units::Nanos;

use crate::profile::Profile;

/// Permitted lead of the power timeline: at a few watts a few commands.
pub const BURST_NS: u64 = 10_000;

/// One power state, as the identity reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerState {
    /// Maximum power in milliwatts.
    pub max_mw: u32,
    /// Idle power in milliwatts.
    pub idle_mw: u32,
    /// Whether it serves commands.
    pub operational: bool,
    /// Entry latency in nanoseconds.
    pub enter_ns: u64,
    /// Exit latency in nanoseconds.
    pub exit_ns: u64,
}

/// Without a table, transitions take no time.
pub fn states_of(profile: &Profile) -> Vec<PowerState> {
    let power = &profile.power;
    let state = |(n, &max_mw): (usize, &u32)| match &power.states {
        Some(states) => PowerState {
            max_mw,
            idle_mw: states.idle_mw.value[n],
            operational: states.operational.value[n],
            enter_ns: states.enter_ns.value[n],
            exit_ns: states.exit_ns.value[n],
        },
        None => PowerState {
            max_mw,
            idle_mw: power.idle_mw.value.min(max_mw),
            operational: n == 0 || max_mw > power.idle_mw.value,
            enter_ns: 0,
            exit_ns: 0,
        },
    };
    let max_mw = profile.identity.power_states_mw.value.iter();
    max_mw.enumerate().map(state).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleChange {
    pub from_ns: u64,
    pub idle_mw: u32,
}

#[derive(Clone, Debug, Default)]
pub struct PowerStates {
    pub states: Vec<PowerState>,
    /// Idle time and state, by idle time; empty when off.
    autonomous: Vec<(u64, usize)>,
    taken: usize,
    /// Last operational state, to which commands return the drive.
    pub working: usize,
    pub current: usize,
    entered_ns: u64,
    /// No command starts earlier.
    ready_ns: u64,
    quiet_ns: u64,
    spent_ns: u64,
    changes: Vec<IdleChange>,
}

impl PowerStates {
    pub fn new(profile: &Profile, autonomous: Option<bool>) -> PowerStates {
        let table = profile.power.states.as_ref();
        let on = table.is_some_and(|table| autonomous.unwrap_or(table.autonomous.value));
        let mut transitions: Vec<(u64, usize)> = Vec::new();
        if let Some(table) = table.filter(|_| on) {
            let times = table.idle_before_ns.value.iter().copied();
            transitions.extend(times.zip(0..).filter(|&(idle_ns, _)| idle_ns > 0));
            transitions.sort_unstable();
        }
        PowerStates {
            states: states_of(profile),
            autonomous: transitions,
            ..PowerStates::default()
        }
    }

    /// Transitions to states that are operational or do not exist are ignored.
    pub fn set_autonomous(&mut self, transitions: &[(Nanos, u8)]) {
        let fits = |&(idle, _): &(Nanos, u8)| idle.0 < 1 << 62;
        assert!(transitions.iter().all(fits), "idle times fit the model");
        let states = |&(idle, state): &(Nanos, u8)| {
            let number = usize::from(state);
            let is_idle = !self.states.get(number)?.operational;
            is_idle.then_some((idle.0, number))
        };
        self.autonomous = transitions.iter().filter_map(states).collect();
        self.autonomous.sort_unstable();
        self.taken = 0;
    }

    pub fn autonomous(&self) -> Vec<(Nanos, u8)> {
        let entry = |&(idle_ns, state): &(u64, usize)| (Nanos(idle_ns), state as u8);
        self.autonomous.iter().map(entry).collect()
    }

    /// Whether [`PowerStates::wake`] can have an effect.
    #[inline]
    pub fn may_delay(&self) -> bool {
        !self.autonomous.is_empty() || self.ready_ns > 0 || self.current != self.working
    }

    /// A completion is due at `at_ns`, so the drive is not idle before.
    #[inline]
    pub fn busy_until(&mut self, at_ns: u64) {
        self.quiet_ns = self.quiet_ns.max(at_ns);
    }

    pub fn set_idle_since(&mut self, at_ns: u64) {
        self.quiet_ns = at_ns;
    }

    /// Take the autonomous transitions due by `now_ns`. Not while commands wait to start.
    pub fn observe(&mut self, now_ns: u64) {
        while let Some(&(idle_ns, state)) = self.autonomous.get(self.taken) {
            let idle_since_ns = self.quiet_ns.max(self.ready_ns);
            let from_ns = (idle_since_ns + idle_ns).max(self.entered_ns);
            if from_ns > now_ns {
                return;
            }
            self.taken += 1;
            // The host may have selected a deeper state.
            if self.current == self.working || state > self.current {
                self.enter(state, from_ns);
            }
        }
    }

    /// A command arrives, others `waiting` to start or not; returns when the drive can take it.
    pub fn wake(&mut self, now_ns: u64, waiting: bool) -> u64 {
        if !waiting {
            self.observe(now_ns);
        }
        if self.current != self.working {
            let from_ns = now_ns.max(self.entered_ns);
            self.ready_ns = from_ns + self.states[self.current].exit_ns;
            self.current = self.working;
            self.entered_ns = self.ready_ns;
            self.set_idle_power(from_ns);
        }
        self.taken = 0;
        now_ns.max(self.ready_ns)
    }

    /// `false` without such a state. A new operational one delays commands by both latencies.
    pub fn set(&mut self, now_ns: u64, state: usize) -> bool {
        let Some(&chosen) = self.states.get(state) else {
            return false;
        };
        self.observe(now_ns);
        if state == self.current {
            return true;
        }
        let mut from_ns = now_ns.max(self.entered_ns);
        if !chosen.operational {
            from_ns = from_ns.max(self.quiet_ns);
        }
        self.enter(state, from_ns + self.states[self.current].exit_ns);
        if chosen.operational {
            self.working = state;
            self.spent_ns = 0;
            self.ready_ns = self.entered_ns;
            self.taken = 0;
        }
        true
    }

    fn enter(&mut self, state: usize, from_ns: u64) {
        self.current = state;
        self.entered_ns = from_ns + self.states[state].enter_ns;
        self.set_idle_power(from_ns);
    }

    fn set_idle_power(&mut self, from_ns: u64) {
        self.changes.push(IdleChange { from_ns, idle_mw: self.states[self.current].idle_mw });
    }

    pub fn take_changes(&mut self) -> impl Iterator<Item = IdleChange> + '_ {
        self.changes.drain(..)
    }

    #[inline]
    pub fn is_governed(&self) -> bool {
        self.working > 0
    }

    /// Charge a command's energy; returns until when its core is blocked.
    #[inline]
    pub fn spend(&mut self, start_ns: u64, energy_nj: u64) -> u64 {
        let state = &self.states[self.working];
        // Positive by validation of operational states.
        let left_mw = u64::from(state.max_mw - state.idle_mw);
        // Nanojoules per milliwatt are microseconds.
        self.spent_ns = self.spent_ns.max(start_ns) + energy_nj * 1000 / left_mw;
        // No delay while the timeline is less than the burst ahead of time 0.
        self.spent_ns.saturating_sub(BURST_NS)
    }
}

#[cfg(test)]
#[path = "../tests/unit/power.rs"]
mod tests;
