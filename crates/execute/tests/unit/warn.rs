use super::*;

#[test]
fn io_errors_are_listed_by_cause() {
    let message = |results: &[i32]| {
        let mut causes = ErrorCauses::default();
        results.iter().for_each(|&result| causes.count(result));
        let errors = 3;
        let record = io_errors(errors, &causes);
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
fn a_raised_critical_warning_states_time_and_advice() {
    let advice = |names: &str| {
        let raised = critical_warning_raised(names, Nanos::from_secs(73));
        let record = about(raised, Some("reads"), Some(1));
        assert_eq!(record.code, "critical-warning-raised");
        assert_eq!((record.cell.as_deref(), record.drive), (Some("reads"), Some(1)));
        assert!(record.message.contains("73 s into this cell"), "{}", record.message);
        record.advice
    };
    assert!(advice("media read-only").contains("save its data"));
    assert!(advice("media read-only, temperature threshold exceeded").contains("save"));
    let mut spec_names = assay_nvme_spec::log::CriticalWarning::names(1 << 1);
    assert_eq!(spec_names.next(), Some(TEMPERATURE_THRESHOLD));
    assert!(advice(TEMPERATURE_THRESHOLD).contains("heat sink"));
}

#[test]
fn a_busy_host_sets_a_rate_only_where_none_was_reached() {
    let none = OtherPrograms { programs: &[], own_pct: 150.0 };
    let closed = host_limited(10.0, Some(0.4), false, &none);
    assert!(closed.message.starts_with("the host's processors were 0 % idle"));
    assert!(closed.message.ends_with("the host, not the drive, set this rate"));
    let open = host_limited(99.0, Some(50.0), true, &none);
    assert_eq!(
        open.message,
        "a worker thread used 99 % of a processor: latencies include waits for a processor"
    );
    assert_eq!((closed.code.as_str(), open.code), ("host-limited", closed.code.clone()));
    // Processors that others used are those of others.
    let programs = [("cc1".to_owned(), 130.0), ("fio".to_owned(), 60.4)];
    let some = OtherPrograms { programs: &programs, own_pct: 10.0 };
    let beside = host_limited(10.0, Some(0.4), false, &some);
    assert_eq!(
        beside.message,
        "other programs used the host's processors, % of one processor: cc1 130 %, fio 60 %, this \
         program 10 %"
    );
}
