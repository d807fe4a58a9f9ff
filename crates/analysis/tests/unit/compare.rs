use assay_store::model::{CellView, Round};

use super::*;
use crate::fixtures;

/// A run of one drive with two workloads: the first is `first` IOPS, the second always 50,000.
fn run(spec: &str, first: f64, seed: u64) -> Run {
    let mut run = fixtures::run(vec![fixtures::drive(spec)]);
    for (bs, iops) in [(4096, first), (8192, 50e3)] {
        let plan = fixtures::plan("random-read", fixtures::reads(bs, 4, 8));
        run.cells
            .push(fixtures::cell(plan, iops, 32e9 / iops, 60, 0.02, seed));
    }
    run
}

fn answers(pair: &GroupComparison, metric: Metric) -> Vec<Difference> {
    pair.workloads
        .iter()
        .flat_map(|w| &w.metrics)
        .filter(|c| c.metric == metric)
        .map(|c| c.comparison.answer)
        .collect()
}

#[test]
fn two_drives() {
    let runs = [run("sim:a", 100e3, 1), run("sim:b", 120e3, 2)];
    let all = of(&runs, ComparisonSettings::default());
    assert!(!all.one_drive);
    assert_eq!(
        all.groups
            .iter()
            .map(DriveGroup::full_name)
            .collect::<Vec<_>>(),
        ["a (simulated)", "b (simulated)"]
    );
    let [pair] = &all.pairs[..] else {
        panic!("one pair")
    };
    assert_eq!(
        pair.workloads
            .iter()
            .map(|w| w.label.as_str())
            .collect::<Vec<_>>(),
        ["4 KiB", "8 KiB"]
    );
    for metric in Metric::ALL {
        assert_eq!(answers(pair, metric)[0], Difference::Faster, "{metric:?}");
        assert_ne!(answers(pair, metric)[1], Difference::Faster, "{metric:?}");
        assert_ne!(answers(pair, metric)[1], Difference::Slower, "{metric:?}");
        assert_eq!(pair.tally(metric).total(), 2);
    }
    let rate = &pair.workloads[0].metrics[1];
    assert!((rate.comparison.ratio.unwrap() - 1.2).abs() < 0.01);
    assert!((rate.baseline.unwrap() / 100e3 - 1.0).abs() < 0.01);
    assert!(pair.iops_follow_bandwidth());
    assert!(pair.notes.iter().any(|n| n.contains("one run of each")));
    // Another order, another baseline.
    let turned = of(
        &[runs[1].clone(), runs[0].clone()],
        ComparisonSettings::default(),
    );
    assert_eq!(
        answers(&turned.pairs[0], Metric::Iops)[0],
        Difference::Slower
    );
}

#[test]
fn repeated_runs_of_a_drive_form_one_side() {
    let runs = [
        run("sim:a", 100e3, 1),
        run("sim:b,seed=1", 120e3, 2),
        run("sim:a", 101e3, 3),
        run("sim:b,seed=2", 121e3, 4),
        run("sim:a,op=25%", 150e3, 5),
    ];
    let all = of(&runs, ComparisonSettings::default());
    let members: Vec<&[(usize, usize)]> = all.groups.iter().map(|g| g.members.as_slice()).collect();
    assert_eq!(
        members,
        [&[(0, 0), (2, 0)][..], &[(1, 0), (3, 0)], &[(4, 0)]]
    );
    assert_eq!(all.groups[2].name, "a, run 5", "names are unique");
    assert_eq!(all.pairs.len(), 2);
    let first = &all.pairs[0].workloads[0].metrics[1].comparison;
    assert_eq!((first.runs, first.answer), ((2, 2), Difference::Faster));
    assert!(all.pairs[0].notes.is_empty(), "{:?}", all.pairs[0].notes);
}

#[test]
fn runs_of_one_drive_are_before_and_after() {
    let all = of(
        &[
            run("sim:a", 100e3, 1),
            run("sim:a", 80e3, 2),
            run("sim:a", 100e3, 3),
        ],
        ComparisonSettings::default(),
    );
    assert!(all.one_drive);
    assert_eq!(
        all.groups
            .iter()
            .map(|g| g.name.as_str())
            .collect::<Vec<_>>(),
        ["a, run 1", "a, run 2", "a, run 3"]
    );
    assert_eq!(answers(&all.pairs[0], Metric::Iops)[0], Difference::Slower);
    assert_eq!(
        answers(&all.pairs[0], Metric::LatencyMean)[0],
        Difference::Slower,
        "more latency is slower"
    );
    assert_ne!(answers(&all.pairs[1], Metric::Iops)[0], Difference::Slower);
    assert_eq!(
        of(&[run("sim:a", 1e3, 1)], ComparisonSettings::default()).pairs,
        []
    );
    assert_eq!(of(&[], ComparisonSettings::default()).groups, []);
}

#[test]
fn real_drives_are_identified_by_serial() {
    let real = |path: &str, serial: &str| {
        let mut r = run("x", 100e3, 1);
        let d = &mut r.manifest.drives[0];
        (d.simulated, d.spec, d.label) = (false, path.to_owned(), "nvme".to_owned());
        (d.model, d.serial) = ("M".to_owned(), serial.to_owned());
        r
    };
    let all = of(
        &[
            real("/dev/nvme0n1", "S1"),
            real("/dev/nvme1n1", "S2"),
            real("/dev/nvme3n1", "S1"),
        ],
        ComparisonSettings::default(),
    );
    assert_eq!(all.groups.len(), 2);
    assert_eq!(all.groups[0].members, [(0, 0), (2, 0)]);
}

#[test]
fn unmatched_cells_are_counted_and_scales_reported() {
    let mut b = run("sim:b", 100e3, 2);
    b.manifest.scale = 0.1;
    b.cells[1].plan.workload.bs_bytes = 16384;
    b.cells[0].plan.workload.span_bytes = 5;
    let all = of(&[run("sim:a", 100e3, 1), b], ComparisonSettings::default());
    let pair = &all.pairs[0];
    assert_eq!(
        pair.workloads.len(),
        1,
        "areas may differ, block sizes may not"
    );
    assert_eq!(pair.workloads[0].label, "");
    assert!(
        pair.notes.iter().any(|n| n.starts_with("2 workloads")),
        "{:?}",
        pair.notes
    );
    assert!(
        pair.notes.iter().any(|n| n.contains("--scale 0.1, 1")),
        "{:?}",
        pair.notes
    );
}

/// Of seven rounds with a window of five, the first two (fast, fresh) do not count.
#[test]
fn only_the_last_window_of_rounds_counts() {
    let rounds = |spec: &str, level: f64| {
        let mut run = fixtures::run(vec![fixtures::drive(spec)]);
        for number in 1..=7 {
            let mut plan = fixtures::plan("iops", fixtures::reads(4096, 1, 1));
            plan.id = format!("iops/round={number}");
            plan.view = Some(CellView::Rounds);
            plan.round = Some(Round {
                number,
                most: 25,
                window: 5,
                tracked: true,
            });
            let iops = if number <= 2 { 500e3 } else { level };
            run.cells
                .push(fixtures::cell(plan, iops, 1e5, 20, 0.02, number.into()));
        }
        run
    };
    let all = of(
        &[rounds("sim:a", 100e3), rounds("sim:b", 110e3)],
        ComparisonSettings::default(),
    );
    let [workload] = &all.pairs[0].workloads[..] else {
        panic!("one workload")
    };
    let iops = &workload.metrics[1];
    assert!(
        (iops.baseline.unwrap() / 100e3 - 1.0).abs() < 0.02,
        "{iops:?}"
    );
    assert_eq!(iops.comparison.answer, Difference::Faster);
}

/// Streams of two lengths, each repeated: each length is a workload, all repetitions count, unmatched lengths are left out.
#[test]
fn streams_are_compared_length_by_length() {
    let streams = |spec: &str, lengths: &[(u64, f64)]| {
        let mut run = fixtures::run(vec![fixtures::drive(spec)]);
        for number in 1..=3 {
            for &(chunks, iops) in lengths {
                let mut plan = fixtures::plan("streams", fixtures::reads(131_072, 32, 1));
                plan.workload.span_bytes = chunks * 131_072;
                plan.view = Some(CellView::Peak);
                plan.round = Some(Round {
                    number,
                    most: 3,
                    window: 3,
                    tracked: false,
                });
                run.cells
                    .push(fixtures::cell(plan, iops, 1e5, 20, 0.02, number.into()));
            }
        }
        run
    };
    let runs = [
        streams("sim:a", &[(1, 1e3), (64, 20e3)]),
        streams("sim:b", &[(1, 2e3), (8, 5e3), (64, 10e3)]),
    ];
    let pair = &of(&runs, ComparisonSettings::default()).pairs[0];
    let places: Vec<&str> = pair.workloads.iter().map(|w| w.label.as_str()).collect();
    assert_eq!(places, ["128 KiB long", "8 MiB long"]);
    let ratios = pair.workloads.iter().map(|w| w.metrics[1].comparison.ratio);
    for (ratio, expected) in ratios.zip([2.0, 0.5]) {
        assert!((ratio.unwrap() / expected - 1.0).abs() < 0.02, "{ratio:?}");
    }
    assert!(
        pair.notes
            .iter()
            .any(|n| n.starts_with("1 workloads were measured on one side"))
    );
}

/// Another mix with the same largest block, and the same job with a rate limit, are different workloads.
#[test]
fn different_workloads_are_not_compared() {
    let job = |options: &str, seed: u64| {
        let mut run = fixtures::run(vec![fixtures::drive("sim:a")]);
        let mut plan = fixtures::plan("job", fixtures::reads(65_536, 8, 1));
        plan.workload.options = format!("--rw randread {options} --size 1073741824 --seed {seed}");
        run.cells
            .push(fixtures::cell(plan, 1e4, 1e5, 20, 0.02, seed));
        run
    };
    let matched = |a: &str, b: &str| {
        let all = of(&[job(a, 1), job(b, 2)], ComparisonSettings::default());
        all.pairs[0].workloads.len()
    };
    assert_eq!(matched("--bs 64k", "--bs 65536"), 1);
    assert_eq!(matched("--bs 64k", "--bs 4k/50:64k/50"), 0);
    assert_eq!(matched("--bs 4k/50:64k/50", "--bs 4k/50:64k/50"), 1);
    assert_eq!(matched("--bs 64k", "--bs 64k --rate_iops 2000"), 0);
    assert_eq!(
        matched("--bs 64k", "--bs 64k --random_distribution zipf:1.1"),
        0
    );
    assert_eq!(matched("--bs 64k", "--bs 64k --verify"), 0);
}

/// Two short runs (five seconds) have no confidence intervals: inconclusive, unless repeated.
#[test]
fn short_runs_need_repeating() {
    let short = |spec: &str, iops: f64, seed: u64| {
        let mut run = fixtures::run(vec![fixtures::drive(spec)]);
        run.cells.push(fixtures::cell(
            fixtures::plan("r", fixtures::reads(4096, 1, 1)),
            iops,
            1e5,
            5,
            0.01,
            seed,
        ));
        run
    };
    let once = of(
        &[short("sim:a", 1e5, 1), short("sim:b", 1.3e5, 2)],
        ComparisonSettings::default(),
    );
    assert_eq!(
        answers(&once.pairs[0], Metric::Iops),
        [Difference::CannotTell]
    );
    let runs = [
        short("sim:a", 1e5, 1),
        short("sim:b", 1.3e5, 2),
        short("sim:a", 1e5, 3),
        short("sim:b", 1.3e5, 4),
    ];
    assert_eq!(
        answers(
            &of(&runs, ComparisonSettings::default()).pairs[0],
            Metric::Iops
        ),
        [Difference::Faster]
    );
}
