//! Soaks whose truth is known.

use assay_stats::cohort::errors::AgainstLimit;
use assay_units::Rng;

use super::super::outliers::Separation;
use super::super::{Cohort, CohortSettings, Observation, conclude as conclude_all};
use super::*;

/// `n` drives, four per host, for four hours by the minute: 2 % between drives, correlated minutes
/// of 1 %, and what `course` adds to the logarithm of a drive's rate by the share of the soak.
fn soaks(n: usize, course: impl Fn(usize, f64) -> f64) -> Soaks {
    let mut rng = Rng::stream(20, "soaks");
    let series = |drive: usize| {
        let (level, mut noise) = (0.02 * rng.normal(), rng.normal());
        let point = |minute: u32| {
            noise = 0.7 * noise + 0.51_f64.sqrt() * rng.normal();
            let hour = f64::from(minute) / 60.0;
            (hour, 1e5 * (level + 0.01 * noise + course(drive, hour / 4.0)).exp())
        };
        SoakSeries {
            about: about(drive, "suite/soak.iops"),
            spans: vec![(0..240).map(point).collect()],
            ..SoakSeries::default()
        }
    };
    Soaks { series: (0..n).map(series).collect(), errors: Vec::new() }
}

fn about(drive: usize, figure: &str) -> Observation {
    Observation {
        figure: figure.to_owned(),
        unit: "IOPS".to_owned(),
        better: Some(Better::More),
        value: 1e5,
        serial: format!("S{drive:02}"),
        host: format!("h{}", drive / 4),
        firmware: if drive.is_multiple_of(2) { "A" } else { "B" }.to_owned(),
        ..Observation::default()
    }
}

fn concluded(soaks: &Soaks, settings: &CohortSettings) -> Cohort {
    conclude_all(&[], soaks, settings)
}

/// All drives of one group.
fn together() -> CohortSettings {
    CohortSettings { grouping: super::super::Grouping::None, ..CohortSettings::default() }
}

fn drifting(cohort: &Cohort) -> Vec<(&str, Option<bool>, Option<Separation>)> {
    let found = cohort.soaks[0].drifting();
    found.map(|v| (cohort.drives[v.drive].serial.as_str(), v.worse, v.separation)).collect()
}

#[test]
fn a_drive_that_drifts_is_told_from_a_ramp_of_all() {
    let ramp = |t: f64| -0.1 * t;
    let all = soaks(16, |drive, t| ramp(t) - if drive == 5 { 0.04 * t } else { 0.0 });
    let found = concluded(&all, &together());
    assert_eq!(drifting(&found), [("S05", Some(true), Some(Separation::Drive))]);
    let soak = &found.soaks[0];
    assert!((soak.hours - 4.0).abs() < 0.1);
    let common = &soak.common[0];
    assert!((common.change.change - (-0.1_f64).exp_m1()).abs() < 0.02, "{common:?}");
    assert_eq!((common.drifts, common.worse, common.drives), (true, Some(true), 16));
    let own = soak.values[5].own.expect("a slope");
    assert!((own.change - (-0.14_f64).exp_m1()).abs() < 0.02, "{own:?}");
    assert_eq!(
        (found.false_calls.drift_figures, found.false_calls.expected_drift_figures),
        (1, 0.05)
    );
    // The ramp alone is of no drive.
    let found = concluded(&soaks(16, |_, t| ramp(t)), &together());
    assert_eq!(drifting(&found), []);
    assert!(found.soaks[0].common[0].drifts);
    // A true drift below the minimum effect is none.
    let effect = CohortSettings { minimum_effect: 0.06, ..together() };
    assert_eq!(drifting(&concluded(&all, &effect)), []);
}

#[test]
fn drives_of_one_host_that_drift_are_its_finding() {
    let found =
        concluded(&soaks(24, |drive, t| if drive / 4 == 2 { -0.05 * t } else { 0.0 }), &together());
    let of_host: Vec<_> =
        drifting(&found).iter().map(|(serial, _, s)| (serial.to_string(), *s)).collect();
    assert!(!of_host.is_empty());
    for (serial, separation) in of_host {
        assert!(["S08", "S09", "S10", "S11"].contains(&serial.as_str()), "{serial}");
        assert_eq!(separation, Some(Separation::Host), "{serial}");
    }
}

#[test]
fn each_group_has_a_curve_of_its_own() {
    // Firmware B falls by 5 %: no drive of it is unlike its group.
    let all = soaks(24, |drive, t| if drive % 2 == 1 { -0.05 * t } else { 0.0 });
    let found = concluded(&all, &CohortSettings::default());
    assert_eq!(found.groups, ["A", "B"]);
    assert_eq!(drifting(&found), []);
    let drifts: Vec<bool> = found.soaks[0].common.iter().map(|c| c.drifts).collect();
    assert_eq!(drifts, [false, true]);
}

#[test]
fn few_drives_are_not_judged_and_short_soaks_left_out() {
    let found = concluded(&soaks(4, |_, _| 0.0), &together());
    assert!(found.soaks[0].values.iter().all(|v| v.verdict == DriftVerdict::NotJudged));
    assert_eq!(found.soaks[0].notes.len(), 1);
    let mut short = soaks(8, |_, _| 0.0);
    short.series.iter_mut().for_each(|s| s.spans[0].truncate(9));
    let found = concluded(&short, &together());
    assert_eq!(found.soaks, []);
    assert!(found.left_out[0].contains("is too short"), "{:?}", found.left_out);
}

#[test]
fn a_limit_has_a_time_only_where_the_drives_own_slope_is_certain() {
    let all = soaks(8, |drive, t| if drive == 3 { -0.08 * t } else { 0.0 });
    let settings = CohortSettings {
        limits: BTreeMap::from([("soak.iops".to_owned(), 8e4), ("soak.p50_us".to_owned(), 1.0)]),
        ..together()
    };
    let found = concluded(&all, &settings);
    // From -8 % to -20 % at 2 % per hour, 2 % between drives.
    let (limit, hours) = found.soaks[0].values[3].to_limit.expect("a time");
    assert_eq!(limit, 8e4);
    assert!((4.0..11.0).contains(&hours), "{hours}");
    let certain = found.soaks[0].values.iter().filter(|v| v.to_limit.is_some()).count();
    assert!(certain <= 2, "{certain}");
    assert_eq!(found.left_out, ["limit of soak.p50_us: no soak has this figure"]);
}

#[test]
fn errors_are_counted_against_the_limit_of_all_drives() {
    let of = |drive: usize, errors: u64, bits: f64| SoakErrors {
        about: about(drive, "suite/soak.errors_per_bit"),
        errors,
        bits,
    };
    let soaks = Soaks {
        series: Vec::new(),
        // Drive 1 in two runs.
        errors: vec![
            of(0, 0, 1e15),
            of(1, 0, 5e15),
            of(1, 3, 1e15),
            of(2, 4, 1e14),
            of(3, 0, 1e16),
        ],
    };
    let found = concluded(&soaks, &together());
    let results: Vec<(u64, AgainstLimit)> =
        found.error_rates.iter().map(|e| (e.errors, e.result)).collect();
    let expected = [
        (0, AgainstLimit::CannotTell),
        (3, AgainstLimit::CannotTell),
        (4, AgainstLimit::Exceeded),
        (0, AgainstLimit::Within),
    ];
    assert_eq!(results, expected);
    assert_eq!(found.error_rates[0].limit, ERRORS_PER_BIT);
}
