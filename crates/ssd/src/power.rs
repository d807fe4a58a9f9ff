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
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    /// Three operational states of 9, 4.6 and 3.8 W, then 70 mW after 275 ms and 5 mW after 1.2 s: the 951's.
    fn states(autonomous: bool) -> PowerStates {
        let profile = Profile::builtin("samsung-951").unwrap();
        PowerStates::new(&profile, Some(autonomous))
    }

    fn changes(states: &mut PowerStates) -> Vec<(u64, u32)> {
        let taken = states.take_changes();
        taken
            .map(|change| (change.from_ns, change.idle_mw))
            .collect()
    }

    #[test]
    fn an_idle_drive_sinks_state_by_state_and_wakes_with_the_exit_latency() {
        let mut states = states(true);
        states.busy_until(10 * MS);
        states.observe(284 * MS);
        assert_eq!(states.current(), 0, "275 ms of idle time are not over");
        states.observe(285 * MS);
        assert_eq!(states.current(), 3);
        assert_eq!(states.wake(400 * MS, false), 405 * MS, "5 ms to leave it");
        assert_eq!(
            changes(&mut states),
            [(285 * MS, 70), (400 * MS, 1_700)],
            "it draws its own idle power from the moment it wakes"
        );
        states.busy_until(406 * MS);
        assert_eq!(states.wake(407 * MS, false), 407 * MS, "awake");
        states.busy_until(408 * MS);
        let late = 408 * MS + 1_200 * MS;
        assert_eq!(
            states.wake(late + MS, false),
            late + (2 + 22) * MS,
            "a command during the entry waits for its end, then for the exit"
        );
    }

    #[test]
    fn waiting_commands_keep_the_drive_awake_and_without_transitions_it_never_sleeps() {
        let mut awake = states(true);
        assert_eq!(awake.wake(10_000 * MS, true), 10_000 * MS);
        let mut never = states(false);
        assert!(!never.may_delay());
        never.observe(u64::MAX - 1);
        assert_eq!(never.current(), 0);
    }

    #[test]
    fn a_host_chooses_states_and_commands_return_to_the_last_operational_one() {
        let mut states = states(false);
        assert!(!states.set(0, 5), "the 951 has five");
        assert!(states.set(MS, 2));
        assert_eq!((states.current(), states.is_governed()), (2, true));
        // 5 us to leave state 0, 100 us to enter state 2.
        assert_eq!(states.wake(MS, false), MS + 105_000);
        assert!(states.set(2 * MS, 4));
        assert_eq!(states.current(), 4);
        // 100 us to leave state 2, 2 ms to enter state 4, 22 ms to leave it.
        assert_eq!(states.wake(3 * MS, false), 24_100_000 + 2 * MS);
        assert_eq!(states.current(), 2);
        assert!(states.set(30 * MS, 0) && !states.is_governed());
    }

    #[test]
    fn the_governor_spaces_commands_by_their_energy() {
        let mut states = states(false);
        states.set(0, 2);
        // 3.8 W less what it idles at leave 2.1 W; 21 uJ take 10 us.
        assert_eq!(states.states()[2].idle_mw, 1_700);
        assert_eq!(states.spend(1_000_000, 21_000), 1_000_000);
        assert_eq!(states.spend(1_000_000, 21_000), 1_010_000);
        assert_eq!(states.spend(1_010_000, 21_000), 1_020_000);
        // After a rest nothing is owed, and nothing saved up either.
        assert_eq!(states.spend(9_000_000, 42_000), 9_010_000);
    }

    proptest! {
        /// Whatever the energies, a drive that starts each command when the governor lets it stays below its maximum, but for one
        /// burst and the last command.
        #[test]
        fn governed_power_stays_below_the_cap(energies in prop::collection::vec(1_u64..2_000_000, 10..200), gaps in prop::collection::vec(0_u64..20_000, 200)) {
            let mut states = states(false);
            states.set(0, 1);
            let state = states.states()[1];
            let left_mw = u64::from(state.max_mw - state.idle_mw);
            let (mut now, mut used_nj) = (0, 0);
            for (energy_nj, gap) in energies.iter().zip(gaps) {
                // What was used before this start fits into the time since 0.
                let allowed_nj = (now + BURST_NS) * left_mw / 1000 + 1;
                prop_assert!(used_nj <= allowed_nj + 3 * energies.len() as u64, "{used_nj} > {allowed_nj}");
                used_nj += energy_nj;
                now = states.spend(now, *energy_nj).max(now) + gap;
            }
        }

        /// Time never runs backwards: changes of idle power are in order, and a command never starts before it arrives.
        #[test]
        fn changes_come_in_order(steps in prop::collection::vec((0_u64..3_000, 0_u64..5, any::<bool>()), 1..60)) {
            let mut states = states(true);
            let mut now = 0;
            let mut seen = Vec::new();
            for (wait_ms, state, choose) in steps {
                now += wait_ms * MS;
                if choose {
                    prop_assert!(states.set(now, state as usize));
                } else {
                    let ready = states.wake(now, false);
                    prop_assert!(ready >= now);
                    prop_assert!(states.states()[states.current()].operational);
                    states.busy_until(ready + 50_000);
                    now = ready + 50_000;
                }
                seen.extend(states.take_changes().map(|change| change.from_ns));
            }
            prop_assert!(seen.is_sorted(), "{seen:?}");
        }
    }
}
