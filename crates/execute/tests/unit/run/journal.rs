use super::*;

#[test]
fn a_meter_that_ended_is_distinguished_from_a_slow_one() {
    let power_ended = |powered: &dyn Fn(u64) -> bool, seconds: u64| {
        let mut telemetries = CellTelemetry::default();
        for second in 1..=seconds {
            let telemetry =
                Telemetry { power_mw: powered(second).then_some(5000), ..Telemetry::default() };
            telemetries.add(0, Nanos::from_millis(second * 1000), false, &telemetry);
        }
        telemetries.power_ended(0)
    };
    let at = |second: u64| Nanos::from_millis(second * 1000);
    assert_eq!(power_ended(&|second| second < 20, 60), Some((at(19), at(60))));
    assert_eq!(power_ended(&|_| true, 60), None);
    assert_eq!(power_ended(&|second| second % 20 == 0, 79), None, "a slow meter");
    assert_eq!(power_ended(&|_| false, 60), None, "no meter");
    assert_eq!(power_ended(&|second| second < 3, 12), None, "not for long");
}

#[test]
fn a_critical_warning_is_new_once_per_drive() {
    let mut critical_warnings = CriticalWarnings::default();
    let names = |names: &[&str]| -> Vec<String> { names.iter().map(|&w| w.to_owned()).collect() };
    assert_eq!(critical_warnings.take_new(0, &names(&["a"])), ["a"], "known before the run");
    assert!(critical_warnings.take_new(0, &[]).is_empty());
    assert_eq!(critical_warnings.take_new(0, &names(&["a", "b"])), ["b"]);
    assert!(
        critical_warnings.take_new(0, &names(&["b", "a"])).is_empty(),
        "also after it was gone for a while"
    );
    assert_eq!(critical_warnings.take_new(1, &names(&["a"])), ["a"], "another drive");
}

#[test]
fn the_load_of_a_long_cell_is_its_mean_and_takes_no_memory_by_the_second() {
    let load = |idle_pct| HostLoad { idle_pct, ..HostLoad::default() };
    let mut measured = MeasuredLoad::default();
    let mut loads = Vec::new();
    for index in 0..100_000 {
        // Known 20 intervals late, as of a slow thread; the first ten are the ramp.
        if (10..).contains(&(index as i64 - 20)) {
            measured.measured(index - 20);
        }
        let of_interval = load(f64::from(index % 97));
        measured.add(index, of_interval);
        if index >= 10 {
            loads.push(of_interval);
        }
        assert!(measured.late.len() <= LATE_INTERVALS);
    }
    assert_eq!(measured.mean(), HostLoad::mean(&loads));
    assert_eq!(MeasuredLoad::default().mean(), None, "nothing measured");
}
