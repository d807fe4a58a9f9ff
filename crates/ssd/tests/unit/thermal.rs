use super::*;
use crate::profile::ThrottleLevels;
use crate::{Profile, Provenance, Sourced};
use proptest::prelude::*;

/// Half of it in each node, to the nanojoule.
fn energy(nj: u64) -> Energy {
    Energy { controller_nj: nj / 2, flash_nj: nj - nj / 2 }
}

fn with(on: f64, off: f64) -> Thermal {
    let mut profile = Profile::builtin("intel-600p").unwrap();
    profile.thermal.controller = None;
    profile.thermal.ambient_celsius.value = 25.0;
    profile.thermal.resistance_k_per_w.value = 10.0;
    profile.thermal.time_constant_s.value = 20.0;
    profile.thermal.throttle_on_celsius.value = on;
    profile.thermal.throttle_off_celsius.value = off;
    profile.power.idle_mw.value = 1000;
    Thermal::new(&profile.thermal, &profile.power, &profile.identity, None)
}

/// One time constant closes 1 - 1/e = 63.2 % of the difference.
#[test]
fn follows_the_exponential() {
    let mut heat = with(0.0, 0.0);
    assert_eq!(heat.celsius(), 35.0);
    for step in 1..=400_u64 {
        heat.add_energy(energy(4 * STEP_NS)); // 4 W above idle: the target is 25 + 5 * 10 = 75
        heat.advance(step * STEP_NS);
    }
    let expected = 75.0 - 40.0 * 0.367_879;
    assert!((heat.celsius() - expected).abs() < 1e-4, "{}", heat.celsius());
}

/// With the same powers, temperatures after a 64th of the time are those of all of it.
#[test]
fn heat_spreads_n_times_as_fast() {
    let mut profile = Profile::builtin("plextor-m8pe-y").unwrap();
    let made =
        |profile: &Profile| Thermal::new(&profile.thermal, &profile.power, &profile.identity, None);
    let mut whole = made(&profile);
    profile.thermal.times_faster = Some(64);
    let mut fast = made(&profile);
    for step in 1..=4000 {
        whole.add_energy(energy(4 * STEP_NS));
        whole.advance(step * STEP_NS);
        fast.add_energy(energy(4 * STEP_NS / 64));
        fast.advance(step * STEP_NS / 64);
    }
    assert!((whole.celsius() - fast.celsius()).abs() < 1e-6);
    assert!((whole.power_w - fast.power_w).abs() < 1e-6);
    assert!(whole.used_uj().abs_diff(64 * fast.used_uj()) < 64);
}

#[test]
fn throttling_has_hysteresis_and_is_counted() {
    let mut heat = with(60.0, 55.0);
    let (mut went_on, mut went_off) = (None, None);
    for step in 1..=4000_u64 {
        heat.add_energy(energy(if heat.throttled { 0 } else { 4 * STEP_NS }));
        heat.advance(step * STEP_NS);
        if heat.throttled && went_on.is_none() {
            went_on = Some(heat.celsius());
        }
        if !heat.throttled && went_on.is_some() && went_off.is_none() {
            went_off = Some(heat.celsius());
        }
    }
    let (on, off) = (went_on.unwrap(), went_off.unwrap());
    assert!((60.0..60.3).contains(&on), "{on}");
    assert!((54.7..=55.0).contains(&off), "{off}");
    let (warning, critical, throttled) = heat.counters_s();
    assert_eq!((warning, critical), (0, 0));
    assert!(throttled > 10 && throttled < 200, "{throttled}");
}

/// Two levels: the duty cycle of each is exact to a step, and both end during cooling.
#[test]
fn throttle_levels_change_in_order_and_keep_their_duty_cycle() {
    let sourced = |value| Sourced { value, provenance: Provenance::Assumed, source: String::new() };
    let mut profile = Profile::builtin("intel-600p").unwrap();
    profile.thermal.controller = None;
    profile.thermal.ambient_celsius.value = 25.0;
    profile.thermal.resistance_k_per_w.value = 10.0;
    profile.thermal.time_constant_s.value = 20.0;
    profile.thermal.throttle_on_celsius.value = 0.0;
    profile.power.idle_mw.value = 1000;
    profile.thermal.levels = Some(ThrottleLevels {
        on_celsius: sourced(vec![50.0, 70.0]),
        off_celsius: sourced(vec![45.0, 65.0]),
        duty_percent: Sourced {
            value: vec![30, 80],
            provenance: Provenance::Assumed,
            source: String::new(),
        },
    });
    let mut heat = Thermal::new(&profile.thermal, &profile.power, &profile.identity, None);
    let mut seen = vec![(0, 0, 0)];
    for step in 1..=4000_u64 {
        heat.add_energy(energy(if step < 2000 { 5 * STEP_NS } else { 0 }));
        heat.advance(step * STEP_NS);
        let (level, steps, throttled) = seen.last_mut().unwrap();
        if *level == heat.level {
            *steps += 1;
            *throttled += usize::from(heat.throttled);
        } else {
            seen.push((heat.level, 1, usize::from(heat.throttled)));
        }
    }
    let order: Vec<usize> = seen.iter().map(|&(level, ..)| level).collect();
    assert_eq!(order, [0, 1, 2, 1, 0]);
    for (level, steps, throttled) in seen {
        let duty = [0, 30, 80][level];
        assert!(steps > 40, "level {level}: {steps}");
        let off = (throttled * 100).abs_diff(steps * duty);
        assert!(off <= 200, "level {level}: {throttled} of {steps}");
    }
}

#[test]
fn sensor_jitter_is_disabled_only_when_idle() {
    let mut heat = with(0.0, 0.0);
    heat.idle_jitter_k = 3.0;
    let mut readings: Vec<f64> = Vec::new();
    for step in 1..=200_u64 {
        heat.advance(step * STEP_NS);
        assert_eq!(heat.celsius(), heat.celsius());
        readings.push(heat.celsius());
    }
    let (low, high) = readings.iter().fold((f64::MAX, f64::MIN), |(l, h), &c| (l.min(c), h.max(c)));
    assert!((32.0..32.3).contains(&low), "{low}");
    assert!((37.7..38.0).contains(&high), "{high}");
    heat.add_energy(energy(STEP_NS));
    heat.advance(201 * STEP_NS);
    assert!((heat.celsius() - 35.0).abs() < 0.1, "{}", heat.celsius());
}

#[test]
fn a_long_idle_time_cools_to_ambient() {
    let mut heat = with(0.0, 0.0);
    heat.add_energy(energy(1000 * STEP_NS));
    heat.advance(STEP_NS);
    assert!(heat.celsius() > 50.0);
    heat.advance(u64::MAX - 1);
    assert!((heat.celsius() - 35.0).abs() < 1e-3, "{}", heat.celsius());
    heat.advance(u64::MAX);
}

/// Health log times continue through a skipped idle period.
#[test]
fn throttle_times_are_counted_through_idle_time() {
    let hot = |heat: &mut Thermal| {
        // 35 C idle; temperatures at or below that are never left upwards.
        (heat.warning_celsius, heat.critical_celsius) = (30.0, 34.0);
        heat.levels.push(ThrottleLevel {
            host: Some(0),
            on_celsius: 33.0,
            off_celsius: 32.0,
            duty_percent: 30,
        });
    };
    let (mut skipped, mut stepped) = (with(0.0, 0.0), with(0.0, 0.0));
    hot(&mut skipped);
    hot(&mut stepped);
    let hours = 10 * 3_600_000_000_000;
    skipped.advance(hours);
    for step in 1..=hours / STEP_NS {
        // Never idle long enough to be skipped.
        stepped.advance(step * STEP_NS);
    }
    assert_eq!(skipped.counters_s(), (36_000, 36_000, 36_000));
    assert_eq!(skipped.counters_s(), stepped.counters_s());
    assert_eq!(skipped.host_counts(), stepped.host_counts());
    assert_eq!(skipped.host_counts()[0], (1, 36_000));
    assert_eq!(skipped.duty_carry, stepped.duty_carry);
    assert_eq!(skipped.used_pj, stepped.used_pj);
}

proptest! {
    /// Energy of background work is accounted completely when it is spent, independent of polling.
    #[test]
    fn work_energy_is_spent_in_its_interval(works in prop::collection::vec((0_u64..400, 0_u64..300, 0_u64..1 << 40), 1..30), looks in prop::collection::vec(any::<bool>(), 30)) {
        let (mut seen, mut alone) = (with(60.0, 55.0), with(60.0, 55.0));
        let (mut from_ms, mut end_ms, mut energy_nj) = (0, 0, 0);
        for ((wait_ms, span_ms, nj), look) in works.into_iter().zip(looks) {
            from_ms += wait_ms;
            let work = BackgroundWork {
                from_ns: from_ms * 1_000_000,
                until_ns: (from_ms + span_ms) * 1_000_000,
                energy: energy(nj),
            };
            if look {
                seen.advance(work.from_ns);
            }
            seen.add_background_work(work);
            alone.add_background_work(work);
            energy_nj += u128::from(nj);
            end_ms = end_ms.max(from_ms + span_ms);
        }
        let end_ns = (end_ms * 1_000_000 / STEP_NS + 1) * STEP_NS;
        seen.advance(end_ns);
        alone.advance(end_ns);
        let idle_pj = u128::from(end_ns) * 1000;
        prop_assert_eq!(alone.used_pj, idle_pj + energy_nj * 1000);
        prop_assert_eq!(seen.used_pj, alone.used_pj);
        prop_assert_eq!(seen.celsius.to_bits(), alone.celsius.to_bits());
        prop_assert_eq!(seen.counters_s(), alone.counters_s());
        prop_assert!(seen.work.is_empty() && alone.work.is_empty());
    }

    /// Steps, skipped steps and changes of idle power against the plain integral; and power is
    /// never below idle power.
    #[test]
    fn energy_is_the_integral_of_power(steps in prop::collection::vec((0_u64..200_000, 0_u64..3, 0_u64..1 << 40, 1_u32..5_000), 1..40)) {
        let mut heat = with(0.0, 0.0);
        let (mut now, mut idle_mw) = (0_u64, 1000_u32);
        let (mut idle_pj, mut work_nj, mut least_mw) = (0_u128, 0_u128, 1000);
        for (wait_ms, what, energy_nj, mw) in steps {
            let next = now + wait_ms * 1_000_000 + 7;
            idle_pj += u128::from(next - now) * u128::from(idle_mw);
            now = next;
            if what == 0 {
                heat.advance(now);
                heat.add_energy(energy(energy_nj));
                work_nj += u128::from(energy_nj);
            } else {
                heat.set_idle_power(IdleChange { from_ns: now, idle_mw: mw });
                idle_mw = mw;
                least_mw = least_mw.min(mw);
            }
            if what == 2 {
                heat.advance(now);
            }
            prop_assert!(heat.power_w >= f64::from(least_mw) / 1000.0 - 1e-9);
        }
        // To the end of the step that holds the last instant.
        let end = (now / STEP_NS + 1) * STEP_NS;
        heat.advance(end);
        idle_pj += u128::from(end - now) * u128::from(idle_mw);
        prop_assert_eq!(heat.stepped_ns(), end);
        prop_assert_eq!(heat.used_pj, idle_pj + work_nj * 1000);
    }
}
