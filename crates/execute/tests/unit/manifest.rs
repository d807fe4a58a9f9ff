use assay_calibrate::predictive::FigureKind;
use assay_store::model::{LATENCY_PERCENTILE, WorkloadRecord};

use super::*;

#[test]
fn the_kinds_of_workloads_are_those_of_the_table_of_intervals() {
    let kinds = ["randread", "read", "write", "randwrite"].map(|rw| {
        let workload =
            WorkloadRecord { rw: rw.to_owned(), direct: true, ..WorkloadRecord::default() };
        workload.figure_kind().expect("a plain workload has a kind")
    });
    for kind in kinds.iter().chain([&LATENCY_PERCENTILE]) {
        assert!(FigureKind::parse(kind).is_some(), "{kind}");
    }
}

#[test]
fn only_simulated_drives_have_intervals_and_options_make_them_no_narrower() {
    let info = |spec: &str, simulated| DriveInfo {
        simulated,
        profile: Some("samsung-951".to_owned()),
        ..DriveInfo::new(DriveKind::Simulated, spec, "samsung-951", 1 << 30)
    };
    assert_eq!(predictive(&info("/dev/nvme0n1", false)), []);
    let plain = predictive(&info("sim:samsung-951", true));
    assert_eq!(predictive(&info("sim:samsung-951,seed=3,data=drop", true)), plain);
    // A profile that was fitted to a run of its drive.
    let fitted = DriveInfo {
        fit_spreads: vec![("random_read".to_owned(), 0.02)],
        ..info("sim:./mine.toml", true)
    };
    let mine = predictive(&fitted);
    let is_read = |one: &&PredictiveFactors| one.figure == "random_read";
    assert!(mine.iter().filter(is_read).all(|one| one.situation == "this_drive"));
    for altered in predictive(&info("sim:samsung-951,op=25%", true)) {
        assert!(
            !["another_block", "another_depth"].contains(&altered.situation.as_str()),
            "{altered:?}"
        );
    }
}
