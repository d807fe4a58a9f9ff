use assay_stats::compare::ComparisonSettings;

use super::*;
use crate::compare::compare_runs;
use crate::fixtures;

fn compared(iops: f64) -> Comparisons {
    let run = |spec: &str, iops: f64, seed: u64| {
        let mut run = fixtures::run(vec![fixtures::drive(spec)]);
        (run.manifest.seed, run.manifest.run_id) = (seed, format!("run-{seed}"));
        let plan = fixtures::plan("random-read", fixtures::reads(4096, 4, 8));
        run.cells.push(fixtures::cell(plan, iops, 32e9 / iops, 60, 0.02, seed));
        run
    };
    let runs = [run("sim:a", 100e3, 1), run("sim:b", iops, 2)];
    compare_runs(&runs, ComparisonSettings::default())
}

#[test]
fn conditions_are_read() {
    for (text, expected) in [
        ("slower", Some(0.0)),
        ("slower=5%", Some(0.05)),
        ("slower=2.5", Some(0.025)),
        ("slower=", None),
        ("slower5%", None),
        ("faster", None),
        ("slower=-1%", None),
        ("slower=nan", None),
        ("slower=100%", None),
    ] {
        let found = text.parse::<SlowerBy>().ok().map(|by| by.0);
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn only_answers_fail_a_gate() {
    // Twice as slow is beyond what repetition gives; a tenth of one run each may be repetition.
    let slow = compared(50e3);
    let outcome = SlowerBy(0.0).check(&slow);
    assert!(outcome.has_failed() && outcome.workloads == 1, "{outcome:?}");
    assert!(outcome.slower[0].contains("b (simulated) against a (simulated): random-read"));
    assert!(!SlowerBy(0.6).check(&slow).slower.iter().any(|line| line.contains("bandwidth")));
    for iops in [90e3, 100e3, 300e3] {
        let outcome = SlowerBy(0.0).check(&compared(iops));
        assert!(!outcome.has_failed(), "{iops}: {outcome:?}");
    }
    let nothing = Comparisons { pairs: Vec::new(), ..slow };
    assert!(SlowerBy(0.0).check(&nothing).has_failed());
}
