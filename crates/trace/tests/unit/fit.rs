use std::collections::BTreeMap;

use assay_units::Nanos;

use super::*;
use crate::TraceFormat;
use crate::reader::ReadCounts;
use crate::survey::OpCount;

fn survey(reads: u64, writes: u64) -> TraceSurvey {
    let count = |requests: u64| OpCount {
        requests,
        bytes: requests * 4096,
    };
    TraceSurvey {
        format: TraceFormat::Msr,
        reads: count(reads),
        writes: count(writes),
        discards: OpCount::default(),
        fua_writes: 0,
        flushes: 0,
        span: Nanos::from_secs(10),
        low_bytes: 0,
        high_bytes: 1 << 30,
        alignment_bytes: 4096,
        longest_bytes: 65536,
        devices: Vec::new(),
        has_more_devices: false,
        counts: ReadCounts::default(),
    }
}

fn profile(requests: u64, runs: u64) -> TraceProfile {
    let sizes = BTreeMap::from([(4096, 600), (65536, 400)]);
    TraceProfile {
        read_sizes: sizes.clone(),
        write_sizes: sizes,
        requests,
        runs,
        begin_blocks: runs,
        sampled: 1,
        area_blocks: 1 << 18,
        theta: 0.9,
        hottest_pct: [10.0, 40.0, 60.0],
        rate: 1000.0,
        gap_variation: 1.0,
        longest_gap: Nanos::SECOND,
        in_flight: None,
    }
}

#[test]
fn a_profile_becomes_options() {
    let fitted = FittedWorkload::new(&survey(7000, 3000), &profile(10_000, 2500));
    assert_eq!(fitted.rw, "randrw:4");
    assert_eq!(fitted.read_percent, Some(70));
    assert_eq!(fitted.bs, "4k/60:64k/40");
    assert_eq!(fitted.distribution.as_deref(), Some("zipf:0.90"));
    assert_eq!(fitted.rate, Some((1000, true)));
    assert_eq!(
        (fitted.iodepth, fitted.align_bytes, fitted.fsync),
        (32, None, None)
    );
    assert!(fitted.notes.is_empty());
}

#[test]
fn sequential_uniform_and_untimed_traces() {
    let sequential = FittedWorkload::new(&survey(10_000, 0), &profile(10_000, 3));
    assert_eq!(
        (sequential.rw.as_str(), sequential.distribution),
        ("read", None)
    );
    let uniform = TraceProfile {
        theta: 0.02,
        rate: 0.0,
        gap_variation: 0.0,
        ..profile(10_000, 10_000)
    };
    let fitted = FittedWorkload::new(&survey(0, 10_000), &uniform);
    assert_eq!(fitted.rw, "randwrite");
    assert_eq!(fitted.distribution.as_deref(), Some("random"));
    assert_eq!(fitted.rate, None);
    assert!(fitted.notes[0].contains("closed loop"));
}

#[test]
fn what_is_not_kept_is_named() {
    let mut survey = survey(5000, 5000);
    survey.discards.requests = 40;
    survey.flushes = 100;
    survey.fua_writes = 2600;
    let bursts = TraceProfile {
        gap_variation: 5.0,
        in_flight: Some(30.0),
        ..profile(10_000, 10_000)
    };
    let fitted = FittedWorkload::new(&survey, &bursts);
    assert!(fitted.notes[0].contains("bursts") && fitted.notes[1].contains("40 trims"));
    assert_eq!((fitted.fsync, fitted.iodepth), (Some(50), 128));
    assert!(fitted.synchronous, "most writes have FUA");
}

/// Percentages are whole numbers that add up to 100; rare sizes go to the nearest kept one.
#[test]
fn sizes_are_a_mix_of_few() {
    assert_eq!(
        percentages(&[(1, 1), (2, 1), (3, 1)]),
        [(1, 34), (2, 33), (3, 33)]
    );
    let many = (1..=20).map(|n| (n * 4096, 1000 / n));
    let text = mix_text(&mix(many, 4096));
    assert_eq!(text.split(':').count(), MOST_MIX_SIZES);
    let shares = text
        .split(':')
        .map(|part| part.split_once('/').unwrap().1.parse::<u64>().unwrap());
    assert_eq!(shares.sum::<u64>(), 100);
    assert_eq!(mix_text(&mix([(100, 5)].into_iter(), 512)), "512");
    let shares = |first: u64| vec![(4096, first), (65536, 100 - first)];
    assert!(are_alike(&shares(60), &shares(62)) && !are_alike(&shares(60), &shares(63)));
}
