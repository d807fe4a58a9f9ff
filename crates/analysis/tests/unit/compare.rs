use assay_store::model::{CellView, Round};

use super::*;
use crate::fixtures;

/// A run of one drive with two workloads: the first is `first` IOPS, the second always 50,000.
fn run(spec: &str, first: f64, seed: u64) -> Run {
    let mut run = fixtures::run(vec![fixtures::drive(spec)]);
    (run.manifest.seed, run.manifest.run_id) = (seed, format!("run-{seed}"));
    for (bs, iops) in [(4096, first), (8192, 50e3)] {
        let plan = fixtures::plan("random-read", fixtures::reads(bs, 4, 8));
        run.cells.push(fixtures::cell(plan, iops, 32e9 / iops, 60, 0.02, seed));
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
    let all = compare_runs(&runs, ComparisonSettings::default());
    assert_eq!(all.by, SideKind::Drive);
    assert_eq!(
        all.groups.iter().map(DriveGroup::full_name).collect::<Vec<_>>(),
        ["a (simulated)", "b (simulated)"]
    );
    let [pair] = &all.pairs[..] else { panic!("one pair") };
    assert_eq!(
        pair.workloads.iter().map(|w| w.label.as_str()).collect::<Vec<_>>(),
        ["4 KiB", "8 KiB"]
    );
    // 20 % more in one run each: these runs differ, which says nothing of the drives. Of a tail
    // percentile not even that is known.
    for metric in [Metric::MibPerS, Metric::Iops, Metric::LatencyMean] {
        assert_eq!(answers(pair, metric)[0], Difference::RunsDiffer, "{metric:?}");
        assert_ne!(answers(pair, metric)[1], Difference::RunsDiffer, "{metric:?}");
        assert_eq!(pair.tally(metric).total(), 2);
    }
    assert_eq!(answers(pair, Metric::P99), [Difference::CannotTell; 2]);
    let p99 = &pair.workloads[0].metrics[3].comparison;
    assert!(p99.ratio.is_some() && p99.interval.is_none(), "{p99:?}");
    assert!(p99.why.as_ref().unwrap().contains("at least 3 runs"));
    // Bandwidth and mean latency of two workloads; IOPS follow bandwidth.
    let chance = pair.by_chance();
    assert_eq!(chance.answers, 4);
    assert!((chance.different - 0.2).abs() < 1e-9);
    let rate = &pair.workloads[0].metrics[1];
    assert!((rate.comparison.ratio.unwrap() - 1.2).abs() < 0.01);
    assert!((rate.baseline.unwrap() / 100e3 - 1.0).abs() < 0.01);
    assert!(pair.iops_follow_bandwidth());
    assert!(
        pair.notes
            .iter()
            .any(|n| n.starts_with("one run on each side: it says whether these runs differ"))
    );
    // Another order, another baseline.
    let turned = compare_runs(&[runs[1].clone(), runs[0].clone()], ComparisonSettings::default());
    assert_eq!(answers(&turned.pairs[0], Metric::Iops)[0], Difference::RunsDiffer);
}

/// Three runs of each drive: the 99th percentile of whole runs is answered too.
#[test]
fn three_runs_of_each_drive_answer_tail_percentiles() {
    let level = [100e3, 100.4e3, 99.8e3];
    let side = |spec: &str, times: f64, seed: u64| -> Vec<Run> {
        let of = |(n, level): (u64, &f64)| run(spec, level * times, seed + n);
        (0..).zip(&level).map(of).collect()
    };
    let runs = [side("sim:a", 1.0, 1), side("sim:b", 1.2, 11)].concat();
    let pair = &compare_runs(&runs, ComparisonSettings::default()).pairs[0];
    for metric in Metric::ALL {
        assert_eq!(answers(pair, metric)[0], Difference::Faster, "{metric:?}");
    }
    assert!(pair.notes.is_empty(), "{:?}", pair.notes);
    let two = [&runs[..2], &runs[3..]].concat();
    let pair = &compare_runs(&two, ComparisonSettings::default()).pairs[0];
    assert_eq!(answers(pair, Metric::Iops)[0], Difference::Faster);
    assert_eq!(answers(pair, Metric::P99)[0], Difference::CannotTell);
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
    let all = compare_runs(&runs, ComparisonSettings::default());
    let members: Vec<&[(usize, usize)]> = all.groups.iter().map(|g| g.members.as_slice()).collect();
    assert_eq!(members, [&[(0, 0), (2, 0)][..], &[(1, 0), (3, 0)], &[(4, 0)]]);
    assert_eq!(all.groups[2].name, "a, run 5", "names are unique");
    assert_eq!(all.pairs.len(), 2);
    let first = &all.pairs[0].workloads[0].metrics[1].comparison;
    assert_eq!((first.runs, first.answer), ((2, 2), Difference::Faster));
    assert!(all.pairs[0].notes.is_empty(), "{:?}", all.pairs[0].notes);
}

#[test]
fn runs_of_one_drive_are_before_and_after() {
    let all = compare_runs(
        &[run("sim:a", 100e3, 1), run("sim:a", 80e3, 2), run("sim:a", 100e3, 3)],
        ComparisonSettings::default(),
    );
    assert_eq!(all.by, SideKind::Run);
    assert_eq!(
        all.groups.iter().map(|g| g.name.as_str()).collect::<Vec<_>>(),
        ["a, run 1", "a, run 2", "a, run 3"]
    );
    for metric in [Metric::Iops, Metric::LatencyMean] {
        assert_eq!(answers(&all.pairs[0], metric)[0], Difference::RunsDiffer, "{metric:?}");
    }
    assert_ne!(answers(&all.pairs[1], Metric::Iops)[0], Difference::RunsDiffer);
    assert_eq!(compare_runs(&[run("sim:a", 1e3, 1)], ComparisonSettings::default()).pairs, []);
    assert_eq!(compare_runs(&[], ComparisonSettings::default()).groups, []);
}

/// Three runs before a change and three after it are two sides, not six.
#[test]
fn runs_before_and_after_a_change_are_pooled() {
    let level = [100e3, 100.5e3, 99.5e3, 90e3, 90.5e3, 89.5e3];
    let runs: Vec<Run> = (1..).zip(&level).map(|(seed, iops)| run("sim:a", *iops, seed)).collect();
    let all = before_after(&runs, 3, ComparisonSettings::default()).unwrap();
    assert_eq!(all.by, SideKind::BeforeAfter);
    let names: Vec<&str> = all.groups.iter().map(|g| g.name.as_str()).collect();
    assert_eq!(names, ["a, before", "a, after"]);
    assert_eq!(all.pairs.len(), 1);
    let iops = &all.pairs[0].workloads[0].metrics[1].comparison;
    assert_eq!((iops.runs, iops.answer), ((3, 3), Difference::Slower));
    let two = before_after(&runs[2..5], 1, ComparisonSettings::default()).unwrap();
    assert_eq!(two.pairs[0].workloads[0].metrics[1].comparison.runs, (1, 2));
}

/// Two drives in each run: each is compared with itself.
#[test]
fn every_drive_of_the_runs_has_a_before_and_an_after() {
    let two = |first: f64, second: f64, seed: u64| {
        let (mut run, other) = (run("sim:a", first, seed), run("sim:b", second, seed + 50));
        run.manifest.drives.extend(other.manifest.drives);
        for mut cell in other.cells {
            cell.plan.drives = vec![1];
            cell.drives[0].drive = 1;
            run.cells.push(cell);
        }
        run
    };
    let runs = [
        two(100e3, 10e3, 1),
        two(100.2e3, 10.02e3, 2),
        two(80e3, 12e3, 3),
        two(80.2e3, 12.02e3, 4),
    ];
    let all = before_after(&runs, 2, ComparisonSettings::default()).unwrap();
    let pairs: Vec<(usize, usize)> = all.pairs.iter().map(|p| (p.baseline, p.other)).collect();
    assert_eq!(pairs, [(0, 1), (2, 3)]);
    assert_eq!(answers(&all.pairs[0], Metric::Iops)[0], Difference::Slower);
    assert_eq!(answers(&all.pairs[1], Metric::Iops)[0], Difference::Faster);
}

#[test]
fn sides_that_cannot_be_compared_are_refused_with_the_reason() {
    let terms = ComparisonSettings::default();
    let error = |runs: &[Run], before| before_after(runs, before, terms).unwrap_err().to_string();
    let (a, b) = (run("sim:a", 100e3, 1), run("sim:a", 90e3, 2));
    assert!(error(&[], 0).contains("no runs before the change"));
    assert!(error(std::slice::from_ref(&a), 1).contains("no runs after the change"));
    assert!(error(&[a.clone(), b.clone(), a.clone()], 1).contains("run run-1 is given twice"));
    let other = run("sim:b", 90e3, 3);
    let text = error(&[a.clone(), other], 1);
    assert!(text.contains("run run-3 measured sim:b, run run-1 measured sim:a"), "{text}");
    assert!(text.contains("`assay compare RUN...`"), "{text}");
    let mut other = b.clone();
    other.manifest.suite.name = "load".to_owned();
    let text = error(&[a.clone(), other], 1);
    assert!(text.contains("run run-2 is of suite \"load\", run run-1 of \"made\""), "{text}");
    let mut same = b;
    (same.manifest.seed, same.cells) = (1, a.cells.clone());
    assert!(error(&[a.clone(), same.clone()], 1).contains("the same simulation"));
    // Pooled by drive, such runs are noted.
    let pooled = compare_runs(&[a, same, run("sim:b", 90e3, 5)], terms);
    let notes = &pooled.pairs[0].notes;
    assert!(notes.iter().any(|n| n.contains("same seed repeat each other")), "{notes:?}");
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
    let all = compare_runs(
        &[real("/dev/nvme0n1", "S1"), real("/dev/nvme1n1", "S2"), real("/dev/nvme3n1", "S1")],
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
    let all = compare_runs(&[run("sim:a", 100e3, 1), b], ComparisonSettings::default());
    let pair = &all.pairs[0];
    assert_eq!(pair.workloads.len(), 1, "areas may differ, block sizes may not");
    assert_eq!(pair.workloads[0].label, "");
    assert!(pair.notes.iter().any(|n| n.starts_with("2 workloads")), "{:?}", pair.notes);
    assert!(pair.notes.iter().any(|n| n.contains("--scale 0.1, 1")), "{:?}", pair.notes);
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
            plan.round = Some(Round { number, most: 25, window: 5, tracked: true });
            let iops = if number <= 2 { 500e3 } else { level };
            run.cells.push(fixtures::cell(plan, iops, 1e5, 20, 0.02, number.into()));
        }
        run
    };
    let all = compare_runs(
        &[rounds("sim:a", 100e3), rounds("sim:b", 110e3)],
        ComparisonSettings::default(),
    );
    let [workload] = &all.pairs[0].workloads[..] else { panic!("one workload") };
    let iops = &workload.metrics[1];
    assert!((iops.baseline.unwrap() / 100e3 - 1.0).abs() < 0.02, "{iops:?}");
    assert_eq!(iops.comparison.answer, Difference::RunsDiffer);
}

/// Streams of two lengths, each repeated: each length is a workload, all repetitions count,
/// unmatched lengths are left out.
#[test]
fn streams_are_compared_length_by_length() {
    let streams = |spec: &str, lengths: &[(u64, f64)]| {
        let mut run = fixtures::run(vec![fixtures::drive(spec)]);
        for number in 1..=3 {
            for &(chunks, iops) in lengths {
                let mut plan = fixtures::plan("streams", fixtures::reads(131_072, 32, 1));
                plan.workload.span_bytes = chunks * 131_072;
                plan.view = Some(CellView::Peak);
                plan.round = Some(Round { number, most: 3, window: 3, tracked: false });
                run.cells.push(fixtures::cell(plan, iops, 1e5, 20, 0.02, number.into()));
            }
        }
        run
    };
    let runs = [
        streams("sim:a", &[(1, 1e3), (64, 20e3)]),
        streams("sim:b", &[(1, 2e3), (8, 5e3), (64, 10e3)]),
    ];
    let pair = &compare_runs(&runs, ComparisonSettings::default()).pairs[0];
    let places: Vec<&str> = pair.workloads.iter().map(|w| w.label.as_str()).collect();
    assert_eq!(places, ["128 KiB long", "8 MiB long"]);
    let ratios = pair.workloads.iter().map(|w| w.metrics[1].comparison.ratio);
    for (ratio, expected) in ratios.zip([2.0, 0.5]) {
        assert!((ratio.unwrap() / expected - 1.0).abs() < 0.02, "{ratio:?}");
    }
    assert!(pair.notes.iter().any(|n| n.starts_with("1 workloads were measured on one side")));
}

/// Another mix with the same largest block, and the same job with a rate limit, are different
/// workloads.
#[test]
fn different_workloads_are_not_compared() {
    let job = |options: &str, seed: u64| {
        let mut run = fixtures::run(vec![fixtures::drive("sim:a")]);
        let mut plan = fixtures::plan("job", fixtures::reads(65_536, 8, 1));
        plan.workload.options = format!("--rw randread {options} --size 1073741824 --seed {seed}");
        run.cells.push(fixtures::cell(plan, 1e4, 1e5, 20, 0.02, seed));
        run
    };
    let matched = |a: &str, b: &str| {
        let all = compare_runs(&[job(a, 1), job(b, 2)], ComparisonSettings::default());
        all.pairs[0].workloads.len()
    };
    assert_eq!(matched("--bs 64k", "--bs 65536"), 1);
    assert_eq!(matched("--bs 64k", "--bs 4k/50:64k/50"), 0);
    assert_eq!(matched("--bs 4k/50:64k/50", "--bs 4k/50:64k/50"), 1);
    assert_eq!(matched("--bs 64k", "--bs 64k --rate_iops 2000"), 0);
    assert_eq!(matched("--bs 64k", "--bs 64k --random_distribution zipf:1.1"), 0);
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
    let once = compare_runs(
        &[short("sim:a", 1e5, 1), short("sim:b", 1.3e5, 2)],
        ComparisonSettings::default(),
    );
    assert_eq!(answers(&once.pairs[0], Metric::Iops), [Difference::CannotTell]);
    let why = once.pairs[0].workloads[0].metrics[1].comparison.why.as_ref();
    let expected = "a single run per side, and no interval within it: too short: 5 seconds, at \
                    least 30 are needed";
    assert_eq!(why.unwrap(), expected);
    let runs = [
        short("sim:a", 1e5, 1),
        short("sim:b", 1.3e5, 2),
        short("sim:a", 1e5, 3),
        short("sim:b", 1.3e5, 4),
    ];
    assert_eq!(
        answers(&compare_runs(&runs, ComparisonSettings::default()).pairs[0], Metric::Iops),
        [Difference::Faster]
    );
}

/// Workloads that differ by a limit or by an option are none in common, and the difference is named.
#[test]
fn what_tells_workloads_apart_that_one_side_has_alone_is_named() {
    let with = |seed: u64, change: &dyn Fn(&mut assay_store::model::WorkloadRecord)| {
        let mut run = run("sim:a", 100e3, seed);
        run.cells.truncate(1);
        change(&mut run.cells[0].plan.workload);
        run
    };
    let limited = |seed, limit: f64| with(seed, &|workload| workload.rate_limit_iops = Some(limit));
    let ordered =
        |seed, options: &str| with(seed, &|workload| workload.options = options.to_owned());
    for (a, b, expected) in [
        (
            limited(1, 5000.0),
            limited(2, 5500.0),
            "differ by at most 5000 IOPS against at most 5500 IOPS",
        ),
        (
            ordered(1, "--rw randread:8 --bs 4k"),
            ordered(2, "--rw randread --bs 4k"),
            "differ by rw randread:8 against none",
        ),
        (
            ordered(1, "--rw randread --bs 4k --thinktime 1ms"),
            ordered(2, "--rw randread --bs 4k --thinktime 2ms"),
            "differ by thinktime 1ms against thinktime 2ms",
        ),
        (
            ordered(1, "--rw randread --bs 4k"),
            ordered(2, "--rw randread --bs 4k --order fio"),
            "differ by none against order fio",
        ),
        (
            ordered(1, "--order 'fio;norandommap=1;thread_number=2' --direct true"),
            ordered(2, "--order fio --direct true"),
            "differ by order fio;norandommap=1 against order fio",
        ),
    ] {
        let all = compare_runs(&[a, b], ComparisonSettings::default());
        let pair = &all.pairs[0];
        assert_eq!(pair.workloads, []);
        let notes = pair.notes.join("\n");
        assert!(notes.contains(expected), "{notes}");
    }
    // Seeds are no order, and that of imported results is not known.
    let mut imported = ordered(2, "--bs 4k");
    imported.manifest.imported = Some(assay_store::model::ImportRecord::default());
    for (a, b) in [
        (limited(1, 5e3), limited(2, 5e3)),
        (ordered(1, "--order 'fio;thread_number=2;randseed=3'"), ordered(2, "--order fio")),
        (ordered(1, "--order 'fio;norandommap=1'"), imported),
    ] {
        let all = compare_runs(&[a, b], ComparisonSettings::default());
        assert_eq!(all.pairs[0].workloads.len(), 1);
    }
}
