//! Cohorts whose truth is known.

use assay_stats::compare::Difference;
use assay_units::Rng;

use super::super::outliers::{Confirmation, Separation};
use super::*;

/// `n` drives, four per host, with 2 % between drives and 0.3 % between `runs` runs, of `figures`
/// figures.
fn cohort(seed: u64, n: usize, runs: usize, figures: usize) -> Vec<Observation> {
    let mut rng = Rng::stream(seed, "cohort");
    let mut all = Vec::new();
    for figure in 0..figures {
        for drive in 0..n {
            let own = 0.02 * rng.normal();
            for run in 0..runs {
                all.push(Observation {
                    figure: format!("suite/step-{figure}.iops"),
                    unit: "IOPS".to_owned(),
                    better: Some(Better::More),
                    value: 1e5 * (own + 0.003 * rng.normal()).exp(),
                    serial: format!("S{drive:04}"),
                    host: format!("h{:02}", drive / 4),
                    firmware: "A".to_owned(),
                    run_id: format!("r{drive}-{run}"),
                    ..Observation::default()
                });
            }
        }
    }
    all
}

fn primary(names: &[&str]) -> CohortSettings {
    CohortSettings {
        primary: names.iter().map(|n| (*n).to_owned()).collect(),
        ..CohortSettings::default()
    }
}

fn change(all: &mut [Observation], of: impl Fn(&Observation) -> bool, factor: f64) {
    let changed = all.iter_mut().filter(|o| of(o));
    changed.for_each(|o| o.value *= factor);
}

#[test]
fn a_slow_drive_is_suspected_after_one_run_and_confirmed_after_two() {
    for (runs, expected) in [(1, Confirmation::Suspected), (2, Confirmation::Confirmed)] {
        let mut all = cohort(3, 24, runs, 1);
        change(&mut all, |o| o.serial == "S0009", 0.8);
        let found = conclude(&all, &Soaks::default(), &CohortSettings::default());
        let [outlier] = &found.outliers[..] else { panic!("{:?}", found.outliers) };
        assert_eq!(found.drives[outlier.drive].serial, "S0009");
        assert_eq!((outlier.confirmation, outlier.worse), (expected, Some(true)));
        assert_eq!(outlier.separation, Separation::Drive);
        assert!((outlier.deviation + 0.2).abs() < 0.05, "{}", outlier.deviation);
    }
}

#[test]
fn a_slow_host_is_told_from_a_slow_drive() {
    let mut all = cohort(4, 40, 1, 1);
    change(&mut all, |o| o.host == "h03", 0.8);
    let found = conclude(&all, &Soaks::default(), &primary(&["step-0.iops"]));
    assert!(!found.outliers.is_empty());
    assert!(found.outliers.iter().all(|o| o.separation == Separation::Host));
    let [(host, deviation)] = &found.figures[0].hosts.off[..] else {
        panic!("{:?}", found.figures[0].hosts)
    };
    assert!(host == "h03" && *deviation < -0.15);
    // One drive per host, or no host: nothing to separate by.
    for host in ["", "unique"] {
        let mut all = cohort(4, 40, 1, 1);
        for o in &mut all {
            o.host = if host.is_empty() { String::new() } else { o.serial.clone() };
        }
        change(&mut all, |o| o.serial == "S0003", 0.8);
        let found = conclude(&all, &Soaks::default(), &CohortSettings::default());
        assert_eq!(found.outliers[0].separation, Separation::NotSeparable);
        assert_eq!(found.figures[0].hosts.adjusted, None);
    }
}

#[test]
fn a_deviation_below_the_minimum_effect_is_no_outlier() {
    let mut all = cohort(3, 24, 1, 1);
    for o in &mut all {
        o.value = 1e5 * (o.value / 1e5).powf(0.01);
    }
    change(&mut all, |o| o.serial == "S0009", 1.005);
    assert!(conclude(&all, &Soaks::default(), &CohortSettings::default()).outliers.is_empty());
    let settings = CohortSettings { minimum_effect: 0.001, ..CohortSettings::default() };
    assert_eq!(conclude(&all, &Soaks::default(), &settings).outliers.len(), 1);
}

#[test]
fn groups_with_a_true_difference_differ_and_others_do_not() {
    let grouped = |factor: f64| {
        let mut all = cohort(5, 60, 1, 2);
        for o in &mut all {
            let drive: usize = o.serial[1..].parse().expect("a number");
            o.firmware = if drive.is_multiple_of(2) { "A" } else { "B" }.to_owned();
        }
        change(&mut all, |o| o.firmware == "B" && o.figure.contains("step-0"), factor);
        conclude(&all, &Soaks::default(), &primary(&["suite/step-0.iops"]))
    };
    let found = grouped(0.95);
    assert_eq!((found.settings.grouping, found.groups.len()), (Grouping::Firmware, 2));
    assert_eq!(found.comparisons[0].answer, Difference::Slower);
    assert!((found.comparisons[0].difference + 0.05).abs() < 0.02);
    assert_eq!(found.comparisons[1].answer, Difference::CannotTell);
    assert!(found.outliers.is_empty(), "a difference of groups makes no outlier");
    assert!(!matches!(grouped(1.0).comparisons[0].answer, Difference::Slower | Difference::Faster));
}

#[test]
fn the_same_drives_before_and_after_are_pairs() {
    let mut all = cohort(6, 8, 2, 1);
    for o in &mut all {
        o.firmware = if o.run_id.ends_with('0') { "A" } else { "B" }.to_owned();
    }
    change(&mut all, |o| o.firmware == "B", 0.98);
    let found = conclude(&all, &Soaks::default(), &primary(&["step-0.iops"]));
    let comparison = &found.comparisons[0];
    assert!(comparison.paired && comparison.drives == (8, 8));
    assert_eq!(comparison.answer, Difference::Slower);
}

#[test]
fn chance_alone_flags_five_percent_of_clean_cohorts_with_groups_too() {
    for (groups, seed) in [(1, 1), (2, 2)] {
        // Figures are independent here: each is a cohort.
        let mut all = cohort(seed, 24, 1, 600);
        for o in &mut all {
            let drive: u64 = o.serial[1..].parse().expect("a number");
            o.group = (drive % groups).to_string();
        }
        let found = conclude(&all, &Soaks::default(), &CohortSettings::default());
        let mut flagged: Vec<usize> = found.outliers.iter().map(|o| o.figure).collect();
        flagged.sort_unstable();
        flagged.dedup();
        let flagged = flagged.len();
        assert_eq!(found.false_calls.expected_outlier_figures, 30.0);
        assert!((15..=46).contains(&flagged), "{flagged} of 600, {groups} groups");
    }
}

#[test]
fn what_is_missing_is_said() {
    let mut all = cohort(7, 10, 1, 1);
    all[0].value = f64::NAN;
    let found = conclude(&all, &Soaks::default(), &primary(&["no-such.iops", "step-0.iops"]));
    assert!(
        found.left_out.iter().any(|l| l.contains("no-such.iops: no drive has it")),
        "{:?}",
        found.left_out
    );
    assert!(found.left_out.iter().any(|l| l.contains("1 values without a number")));
    assert_eq!(found.drives.len(), 9);
    let empty = conclude(&[], &Soaks::default(), &CohortSettings::default());
    assert!(empty.figures.is_empty() && empty.drives.is_empty());
}

#[test]
fn equal_drives_have_no_outliers_and_a_note() {
    let mut all = cohort(8, 10, 1, 1);
    all.iter_mut().for_each(|o| o.value = 0.0);
    all[4].value = 7.0;
    let found = conclude(&all, &Soaks::default(), &CohortSettings::default());
    assert!(found.outliers.is_empty() && found.figures[0].limit.is_none());
    assert!(found.figures[0].notes[0].contains("more than half"));
}
