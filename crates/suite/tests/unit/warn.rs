use super::*;

#[test]
fn failed_ios_are_told_with_what_they_failed_of() {
    let message = |results: &[i32]| {
        let mut causes = ErrorCauses::default();
        results.iter().for_each(|&result| causes.count(result));
        let errors = 3;
        let record = RunWarning::IoErrors { errors, causes }.record(None, None);
        assert_eq!(record.code, "io-errors");
        record.message
    };
    assert_eq!(
        message(&[-5, -61, -61]),
        "3 I/Os failed or came back short: 2 unrecovered medium error (ENODATA), 1 I/O error (EIO)"
    );
    assert_eq!(message(&[]), "3 I/Os failed or came back short");
}

#[test]
fn an_alarm_in_mid_run_says_when_and_what_to_do_about_it() {
    let advice = |words: &str| {
        let words = words.to_owned();
        let at = Nanos::from_secs(73);
        let raised = RunWarning::CriticalWarningRaised { words, at };
        let record = raised.record(Some("reads"), Some(1));
        assert_eq!(record.code, "critical-warning-raised");
        assert_eq!(
            (record.cell.as_deref(), record.drive),
            (Some("reads"), Some(1))
        );
        assert!(
            record.message.contains("73 s into this cell"),
            "{}",
            record.message
        );
        record.advice
    };
    assert!(advice("media read-only").contains("save what is on it"));
    assert!(advice("media read-only, temperature threshold exceeded").contains("save"));
    let mut names = assay_nvme_spec::log::critical_warning::names(1 << 1);
    assert_eq!(names.next(), Some(TOO_HOT));
    assert!(advice(TOO_HOT).contains("heat sink"));
}
