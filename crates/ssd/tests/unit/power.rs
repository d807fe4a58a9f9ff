use super::*;
use proptest::prelude::*;

const MS: u64 = 1_000_000;

/// Three operational states of 9, 4.6 and 3.8 W, then 70 mW after 275 ms and 5 mW after 1.2 s: the
/// 951's.
fn states(autonomous: bool) -> PowerStates {
    let profile = Profile::builtin("samsung-951").unwrap();
    PowerStates::new(&profile, Some(autonomous))
}

fn changes(states: &mut PowerStates) -> Vec<(u64, u32)> {
    let taken = states.take_changes();
    taken.map(|change| (change.from_ns, change.idle_mw)).collect()
}

#[test]
fn an_idle_drive_enters_lower_states_in_order_and_has_the_exit_latency() {
    let mut states = states(true);
    states.busy_until(10 * MS);
    states.observe(284 * MS);
    assert_eq!(states.current, 0, "275 ms of idle time are not over");
    states.observe(285 * MS);
    assert_eq!(states.current, 3);
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
fn queued_commands_and_disabled_transitions_prevent_idle_states() {
    let mut awake = states(true);
    assert_eq!(awake.wake(10_000 * MS, true), 10_000 * MS);
    let mut never = states(false);
    assert!(!never.may_delay());
    never.observe(u64::MAX - 1);
    assert_eq!(never.current, 0);
}

#[test]
fn commands_return_to_the_last_operational_state() {
    let mut states = states(false);
    assert!(!states.set(0, 5), "the 951 has five");
    assert!(states.set(MS, 2));
    assert_eq!((states.current, states.is_governed()), (2, true));
    // 5 us to leave state 0, 100 us to enter state 2.
    assert_eq!(states.wake(MS, false), MS + 105_000);
    assert!(states.set(2 * MS, 4));
    assert_eq!(states.current, 4);
    // 100 us to leave state 2, 2 ms to enter state 4, 22 ms to leave it.
    assert_eq!(states.wake(3 * MS, false), 24_100_000 + 2 * MS);
    assert_eq!(states.current, 2);
    assert!(states.set(30 * MS, 0) && !states.is_governed());
}

#[test]
fn the_governor_spaces_commands_by_their_energy() {
    let mut states = states(false);
    states.set(0, 2);
    // 3.8 W less what it idles at leave 2.1 W; 21 uJ take 10 us.
    assert_eq!(states.states[2].idle_mw, 1_700);
    assert_eq!(states.spend(1_000_000, 21_000), 1_000_000);
    assert_eq!(states.spend(1_000_000, 21_000), 1_010_000);
    assert_eq!(states.spend(1_010_000, 21_000), 1_020_000);
    // After an idle time there is neither debt nor credit.
    assert_eq!(states.spend(9_000_000, 42_000), 9_010_000);
}

proptest! {
    /// A drive that starts commands when the governor allows stays below its maximum, except for
    /// one burst and the last command.
    #[test]
    fn governed_power_stays_below_the_cap(energies in prop::collection::vec(1_u64..2_000_000, 10..200), gaps in prop::collection::vec(0_u64..20_000, 200)) {
        let mut states = states(false);
        states.set(0, 1);
        let state = states.states[1];
        let left_mw = u64::from(state.max_mw - state.idle_mw);
        let (mut now, mut used_nj) = (0, 0);
        for (energy_nj, gap) in energies.iter().zip(gaps) {
            // Energy used before this start fits into the time since 0.
            let allowed_nj = (now + BURST_NS) * left_mw / 1000 + 1;
            prop_assert!(used_nj <= allowed_nj + 3 * energies.len() as u64, "{used_nj} > {allowed_nj}");
            used_nj += energy_nj;
            now = states.spend(now, *energy_nj).max(now) + gap;
        }
    }

    /// Changes of idle power are in order, and a command never starts before it arrives.
    #[test]
    fn state_changes_are_in_order_of_time(steps in prop::collection::vec((0_u64..3_000, 0_u64..5, any::<bool>()), 1..60)) {
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
                prop_assert!(states.states[states.current].operational);
                states.busy_until(ready + 50_000);
                now = ready + 50_000;
            }
            seen.extend(states.take_changes().map(|change| change.from_ns));
        }
        prop_assert!(seen.is_sorted(), "{seen:?}");
    }
}
