//! NVMe power states and the governor that keeps a drive below the power of one.
//!
//! # States
//! A power state has a maximum power, a latency to enter and one to leave it, and either serves commands (operational) or does not.
//! The host chooses one ([`crate::Drive::set_power_state`]); a drive left idle enters non-operational ones by itself, each after its
//! own idle time, when Autonomous Power State Transitions are on. A command then finds the drive asleep and waits: for the rest of
//! the entry if that is still going on, then for the exit latency; the drive goes back to the last operational state. Source: NVM
//! Express Base Specification 1.4, section 8.4 (states, 8.4.1 non-operational states, 8.4.2 autonomous transitions) and figure 248
//! (ENLAT, EXLAT, NOPS). The idle times are the host's to choose: Linux enters a state after 50 times its entry and exit latency
//! (drivers/nvme/host/core.c, `nvme_configure_apst`, before 5.15).
//!
//! The specification counts a drive as idle when no command is outstanding; so does this. Housekeeping in a non-operational state
//! (folding an SLC cache) goes on, as with its Non-Operational Power State Permissive Mode.
//!
//! # Governor
//! In an operational state other than 0 the firmware keeps the mean power below the state's maximum by spacing commands: each takes
//! as long on a *power timeline* as its energy needs at the power that the idle drive leaves, `energy / (max - idle)`; the core that
//! served it takes no other until the timeline is at most [`BURST_NS`] ahead. So commands wait in their submission queues, not inside
//! the drive, and start evenly spaced: dies and buses see no bursts, which is why latency tails vanish under a cap (report D). It is
//! the leaky bucket of ITU-T I.371 (virtual scheduling), one division per command. A command is charged what it truly
//! used, garbage collection included, so the next one waits for it. State 0's maximum is what the hardware can draw, and not governed.
//!
//! # Non-goals
//! No energy for the transitions themselves; no host-initiated thermal management; no power limits below a state's.
//!
//! # Key constants
//! [`BURST_NS`] (10 us).

use assay_units::Nanos;

use crate::profile::{PowerProfile, Profile};

/// How far the power timeline may be ahead before commands wait, in nanoseconds: at a few watts some tens of microjoules, a few
/// commands' worth.
pub const BURST_NS: u64 = 10_000;

/// One power state, as the identity reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerState {
    /// Maximum power in milliwatts.
    pub max_mw: u32,
    /// Mean power in milliwatts while there is nothing to do.
    pub idle_mw: u32,
    /// Does it serve commands?
    pub operational: bool,
    /// Time to enter it in nanoseconds.
    pub enter_ns: u64,
    /// Time to leave it in nanoseconds.
    pub exit_ns: u64,
}

/// The power states of a profile. One that does not say what they are like has states that cost no time.
pub fn states_of(profile: &Profile) -> Vec<PowerState> {
    let power: &PowerProfile = &profile.power;
    let max_mw = profile.identity.power_states_mw.value.iter();
    max_mw
        .enumerate()
        .map(|(n, &max_mw)| match &power.states {
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
        })
        .collect()
}

/// A change of what the idle drive draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleChange {
    /// From then on, in nanoseconds.
    pub from_ns: u64,
    /// Milliwatts.
    pub idle_mw: u32,
}

/// Which state a drive is in, and when it can work. Times in nanoseconds.
#[derive(Clone, Debug)]
pub struct PowerStates {
    states: Vec<PowerState>,
    /// Idle time and state of each autonomous transition, by idle time; empty when they are off.
    autonomous: Vec<(u64, usize)>,
    /// How many of those the present idle time has seen.
    taken: usize,
    /// The last operational state, to which commands bring the drive back.
    working: usize,
    current: usize,
    /// When the present state is entered in full.
    entered_ns: u64,
    /// No command starts before.
    ready_ns: u64,
    /// When the last completion known of is due: idle time begins.
    quiet_ns: u64,
    /// The power timeline.
    spent_ns: u64,
    changes: Vec<IdleChange>,
}

impl PowerStates {
    /// A drive switched on in state 0. `autonomous` chooses autonomous transitions instead of the profile.
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
            taken: 0,
            working: 0,
            current: 0,
            entered_ns: 0,
            ready_ns: 0,
            quiet_ns: 0,
            spent_ns: 0,
            changes: Vec::new(),
        }
    }

    /// All states, state 0 first.
    pub fn states(&self) -> &[PowerState] {
        &self.states
    }

    /// Choose the autonomous transitions: idle time and state of each. What is no non-operational state is left out.
    pub fn set_autonomous(&mut self, transitions: &[(Nanos, u8)]) {
        let sleeps = |state: usize| {
            self.states
                .get(state)
                .is_some_and(|state| !state.operational)
        };
        self.autonomous = transitions
            .iter()
            .map(|&(idle, state)| (idle.0, usize::from(state)))
            .filter(|&(_, state)| sleeps(state))
            .collect();
        self.autonomous.sort_unstable();
        self.taken = 0;
    }

    /// The autonomous transitions, by idle time.
    pub fn autonomous(&self) -> Vec<(Nanos, u8)> {
        let transitions = self.autonomous.iter();
        transitions
            .map(|&(idle_ns, state)| (Nanos(idle_ns), state as u8))
            .collect()
    }

    /// The state at the time of the last call.
    pub fn current(&self) -> usize {
        self.current
    }

    /// The last operational state that was chosen.
    pub fn working(&self) -> usize {
        self.working
    }

    /// Can a command find the drive asleep or on its way? If not, [`PowerStates::wake`] has nothing to do.
    #[inline]
    pub fn may_delay(&self) -> bool {
        !self.autonomous.is_empty() || self.ready_ns > 0 || self.current != self.working
    }

    /// A completion is due at `at_ns`: the drive is not idle before.
    #[inline]
    pub fn busy_until(&mut self, at_ns: u64) {
        self.quiet_ns = self.quiet_ns.max(at_ns);
    }

    /// Nothing is in flight any more at `at_ns`.
    pub fn rest(&mut self, at_ns: u64) {
        self.quiet_ns = at_ns;
    }

    /// Enter the states that an idle drive enters by itself by `now_ns`. Not to be called while commands wait to be started.
    pub fn observe(&mut self, now_ns: u64) {
        while let Some(&(idle_ns, state)) = self.autonomous.get(self.taken) {
            let idle_since_ns = self.quiet_ns.max(self.ready_ns);
            let from_ns = idle_since_ns.saturating_add(idle_ns).max(self.entered_ns);
            if from_ns > now_ns {
                return;
            }
            self.taken += 1;
            // A host may have put the drive deeper than this.
            if self.current == self.working || state > self.current {
                self.enter(state, from_ns);
            }
        }
    }

    /// A command arrives at `now_ns`; `waiting` says whether others wait to be started. Returns when the drive can take it.
    pub fn wake(&mut self, now_ns: u64, waiting: bool) -> u64 {
        if !waiting {
            self.observe(now_ns);
        }
        if self.current != self.working {
            let from_ns = now_ns.max(self.entered_ns);
            self.ready_ns = from_ns.saturating_add(self.states[self.current].exit_ns);
            self.current = self.working;
            self.entered_ns = self.ready_ns;
            self.idles_at(from_ns);
        }
        self.taken = 0;
        now_ns.max(self.ready_ns)
    }

    /// The host chooses a state at `now_ns`; `false` when there is none of that number. A drive that changes operational states takes
    /// commands again when it has left the one and entered the other.
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
            // What is in flight is served first.
            from_ns = from_ns.max(self.quiet_ns);
        }
        self.enter(
            state,
            from_ns.saturating_add(self.states[self.current].exit_ns),
        );
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
        self.entered_ns = from_ns.saturating_add(self.states[state].enter_ns);
        self.idles_at(from_ns);
    }

    fn idles_at(&mut self, from_ns: u64) {
        self.changes.push(IdleChange {
            from_ns,
            idle_mw: self.states[self.current].idle_mw,
        });
    }

    /// Changes of idle power since the last call, in order of time.
    pub fn take_changes(&mut self) -> impl Iterator<Item = IdleChange> + '_ {
        self.changes.drain(..)
    }

    /// Is the drive held below a state's maximum power?
    #[inline]
    pub fn is_governed(&self) -> bool {
        self.working > 0
    }

    /// A command that started at `start_ns` used this energy: until when its core takes no other.
    #[inline]
    pub fn spend(&mut self, start_ns: u64, energy_nj: u64) -> u64 {
        let state = &self.states[self.working];
        let left_mw = u64::from(state.max_mw.saturating_sub(state.idle_mw).max(1));
        // Nanojoules per milliwatt are microseconds.
        let pace_ns = energy_nj.saturating_mul(1000) / left_mw;
        self.spent_ns = self.spent_ns.max(start_ns).saturating_add(pace_ns);
        self.spent_ns.saturating_sub(BURST_NS)
    }
}

#[cfg(test)]
#[path = "../tests/unit/power.rs"]
mod tests;
