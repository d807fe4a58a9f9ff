//! Synthetic series, one per rule; tests/scenarios.rs measures precision and recall.

use super::*;
use crate::fixtures::sample;

/// Intervals of one second with these rates in MiB/s.
fn observed(rates: &[f64], writes: bool, random: bool) -> ObservedCell {
    let intervals = rates.iter().enumerate().map(|(at, &rate)| ObservedInterval {
        sample: sample(at, (rate * 8.0) as u64, (rate * 1_048_576.0) as u64, writes),
        ..ObservedInterval::default()
    });
    ObservedCell {
        intervals: intervals.collect(),
        context: CellContext {
            write_share: f64::from(u8::from(writes)),
            random,
            capacity_bytes: 100 << 30,
            span_bytes: 100 << 30,
            ..CellContext::default()
        },
    }
}

fn levels(of: &[(f64, usize)]) -> Vec<f64> {
    of.iter().flat_map(|&(level, len)| std::iter::repeat_n(level, len)).collect()
}

fn causes(observed: &ObservedCell) -> Vec<(f64, &'static str)> {
    phases(observed).iter().map(|phase| (phase.from_s, phase.cause.label())).collect()
}

/// 30 s at full speed up to 77 C, then 10 s slow and 30 s fast in turn, as the M8Pe(G) of DragonFly
/// NVMe tests.
fn hot_cycle() -> ObservedCell {
    let mut rates = levels(&[(1400.0, 30)]);
    let mut celsius: Vec<f64> = (0..30).map(|s| 47.0 + f64::from(s)).collect();
    for _ in 0..4 {
        for s in 0..10 {
            rates.push(177.0);
            celsius.push(77.0 - f64::from(s));
        }
        for s in 0..30 {
            rates.push(1400.0);
            celsius.push(67.0 + f64::from(s) / 3.0);
        }
    }
    let mut seen = observed(&rates, false, true);
    for (moment, c) in seen.intervals.iter_mut().zip(celsius) {
        moment.temperature_c = Some(c.floor());
    }
    seen
}

#[test]
fn no_intervals_have_no_phases() {
    assert!(phases(&ObservedCell::default()).is_empty());
    let one = phases(&observed(&[5.0], true, true));
    assert_eq!((one.len(), one[0].cause), (1, Cause::Steady));
    assert_eq!(phases(&observed(&[0.0; 20], true, true))[0].cause, Cause::Steady);
}

#[test]
fn a_constant_rate_is_steady_and_an_unsupported_change_is_unexplained() {
    assert_eq!(causes(&observed(&levels(&[(500.0, 60)]), false, true)), [(0.0, "no change")]);
    let dip = observed(&levels(&[(500.0, 40), (250.0, 15), (500.0, 40)]), false, true);
    assert_eq!(
        causes(&dip),
        [(0.0, "no change"), (40.0, "changed, unexplained"), (55.0, "no change")]
    );
}

#[test]
fn a_thermal_cycle_has_onset_duty_and_period() {
    let mut seen = hot_cycle();
    let check = |seen: &ObservedCell, onset: f64| {
        let found = phases(seen);
        assert_eq!(found[0].cause, Cause::Steady);
        let Cause::ThermalThrottling { onset_c, onset_s, duty_pct, period_s } = found[1].cause
        else {
            panic!("{found:?}");
        };
        assert_eq!((onset_c, onset_s, period_s), (Some(onset), 30.0, Some(40.0)));
        assert!((24.0..=26.0).contains(&duty_pct), "{found:?}");
        assert_eq!((found.len(), found[1].to_s), (2, 190.0));
    };
    check(&seen, 77.0);
    // The same with the drive's counters.
    for moment in &mut seen.intervals {
        moment.throttled = Some(moment.sample.mib_per_s() < 1000.0);
    }
    check(&seen, 77.0);
}

#[test]
fn a_drop_at_an_earlier_temperature_is_not_thermal() {
    let mut seen = observed(&levels(&[(1400.0, 120), (700.0, 60)]), false, true);
    for (at, moment) in seen.intervals.iter_mut().enumerate() {
        moment.temperature_c = Some((40.0 + at as f64).min(75.0));
    }
    assert_eq!(causes(&seen), [(0.0, "no change"), (120.0, "changed, unexplained")]);
    // If the temperature was just reached and stops rising, it is.
    for (at, moment) in seen.intervals.iter_mut().enumerate() {
        moment.temperature_c = Some((40.0 + at as f64 / 3.0).min(80.0));
    }
    assert_eq!(causes(&seen), [(0.0, "no change"), (120.0, "thermal throttling")]);
}

#[test]
fn slc_exhaustion_is_a_permanent_step_with_a_size() {
    let rates = levels(&[(1000.0, 20), (600.0, 1), (200.0, 79)]);
    let found = phases(&observed(&rates, true, false));
    assert_eq!(found[0].cause, Cause::Fresh);
    let Cause::SlcCacheExhausted { cache_bytes } = found[1].cause else {
        panic!("{found:?}");
    };
    // 20 s and half of the second in which it fell.
    assert_eq!(cache_bytes >> 20, 20_500);
    assert!((20.0..=21.0).contains(&found[1].from_s), "{found:?}");
}

/// With one write in flight a full cache can cost 6 % only: told from noise, not from any change.
#[test]
fn a_small_step_of_a_steady_rate_is_a_full_cache() {
    let of = |fast: f64, noise: f64| {
        let wave = |(n, rate): (usize, f64)| rate * (1.0 + noise * [1.0, -1.0, 0.5, -0.5][n % 4]);
        let rates = levels(&[(fast, 20), (1000.0, 80)]);
        let rates: Vec<f64> = rates.into_iter().enumerate().map(wave).collect();
        let found = causes(&observed(&rates, true, false));
        found.into_iter().map(|(_, cause)| cause).collect::<Vec<_>>()
    };
    assert_eq!(of(1150.0, 0.002), ["fresh", "SLC cache exhausted"]);
    assert_eq!(of(1150.0, 0.05), ["no change"]);
    assert_eq!(of(1070.0, 0.002), ["fresh", "SLC cache exhausted"]);
    assert_eq!(of(1070.0, 0.02), ["no change"]);
    assert_eq!(of(1060.0, 0.002), ["no change"]);
}

#[test]
fn a_write_drop_at_a_new_maximum_temperature_is_ambiguous() {
    let mut seen = observed(&levels(&[(1000.0, 20), (200.0, 80)]), true, false);
    for (at, moment) in seen.intervals.iter_mut().enumerate() {
        moment.temperature_c = Some((55.0 + at as f64).min(75.0));
    }
    assert_eq!(causes(&seen), [(0.0, "no change"), (20.0, "changed, unexplained")]);
    // The drive reports no throttling: the cause is the cache.
    for moment in &mut seen.intervals {
        moment.throttled = Some(false);
    }
    assert_eq!(causes(&seen), [(0.0, "fresh"), (20.0, "SLC cache exhausted")]);
}

/// Random writes that decline from 1000 to 250 and stay there.
fn collecting() -> ObservedCell {
    let mut rates = levels(&[(1000.0, 30)]);
    rates.extend((0..40).map(|s| 700.0 * 0.975f64.powi(s)));
    rates.extend(levels(&[(250.0, 130)]));
    observed(&rates, true, true)
}

#[test]
fn garbage_collection_declines_to_a_plateau() {
    let found = phases(&collecting());
    let words: Vec<&str> = found.iter().map(|phase| phase.cause.label()).collect();
    assert_eq!(words, ["fresh", "garbage collection begins", "garbage collection"]);
    assert_eq!(found[1].from_s, 30.0);
    assert!((60.0..=75.0).contains(&found[2].from_s), "{found:?}");
    assert!((found[2].mean_mib_per_s - 250.0).abs() < 15.0, "{found:?}");
}

/// As measured on zram on a busy host: rates of a device without garbage collection.
#[test]
fn variation_is_not_garbage_collection() {
    let iops = [
        64_620, 117_600, 109_505, 129_020, 87_340, 79_670, 91_715, 85_985, 82_435, 79_730, 74_250,
        89_460, 94_780, 93_855, 48_720, 103_195, 75_890, 88_135, 76_920, 67_690,
    ];
    let rates: Vec<f64> = iops.iter().map(|&iops| f64::from(iops) / 256.0).collect();
    let found = phases(&observed(&rates, true, true));
    let named = |cause: &Cause| matches!(cause, Cause::Steady | Cause::Unexplained);
    assert!(found.iter().all(|phase| named(&phase.cause)), "{found:?}");
}

#[test]
fn garbage_collection_cannot_begin_on_unwritten_flash() {
    let mut seen = collecting();
    seen.context.written_before_bytes = Some(0);
    // 30 s at 1000 MiB/s are a third of the drive.
    let words: Vec<&str> = phases(&seen).iter().map(|p| p.cause.label()).collect();
    assert!(!words.contains(&"garbage collection begins"), "{words:?}");
    seen.context.capacity_bytes = 20 << 30;
    let words: Vec<&str> = phases(&seen).iter().map(|p| p.cause.label()).collect();
    assert!(words.contains(&"garbage collection begins"), "{words:?}");
}

#[test]
fn write_amplification_indicates_garbage_collection_at_a_constant_rate() {
    let mut seen = observed(&[300.0; 60], true, true);
    for moment in &mut seen.intervals {
        moment.nand_bytes = Some(moment.sample.write.bytes * 3);
    }
    let Cause::GcSteady { write_amplification } = phases(&seen)[0].cause else {
        panic!("{:?}", phases(&seen));
    };
    assert_eq!(write_amplification, Some(3.0));
    seen.context.random = false;
    assert_eq!(causes(&seen), [(0.0, "no change")], "sequential writes are folded");
}

#[test]
fn a_purged_drive_without_overwrites_is_fresh() {
    let mut seen = observed(&[300.0; 60], true, true);
    seen.context.written_before_bytes = Some(0);
    assert_eq!(causes(&seen), [(0.0, "fresh")]);
    seen.context.written_before_bytes = Some(200 << 30);
    assert_eq!(causes(&seen), [(0.0, "no change")]);
}

#[test]
fn host_limits_take_precedence_over_write_causes() {
    let mut seen = observed(&levels(&[(1000.0, 20), (200.0, 80)]), true, false);
    for moment in &mut seen.intervals {
        moment.busiest_thread_pct = Some(99.0);
    }
    assert_eq!(causes(&seen), [(0.0, "limited by the host")]);
}

proptest::proptest! {
    #[test]
    fn phases_cover_the_cell_without_gaps(
        rates in proptest::collection::vec(0.0f64..2000.0, 0..120),
        writes: bool,
        random: bool,
        heat in proptest::collection::vec(proptest::option::of(20.0f64..100.0), 120),
        reports_throttling: bool,
    ) {
        let mut seen = observed(&rates, writes, random);
        for (moment, celsius) in seen.intervals.iter_mut().zip(heat) {
            moment.temperature_c = celsius;
            moment.throttled = reports_throttling.then_some(celsius.is_some_and(|c| c > 80.0));
        }
        let found = phases(&seen);
        let mut at = 0.0;
        for phase in &found {
            proptest::prop_assert_eq!(phase.from_s, at);
            proptest::prop_assert!(phase.to_s > phase.from_s && !phase.evidence.is_empty());
            at = phase.to_s;
        }
        proptest::prop_assert_eq!(at, rates.len() as f64);
    }
}
