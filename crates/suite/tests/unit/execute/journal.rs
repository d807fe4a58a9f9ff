use super::*;

#[test]
fn a_meter_that_falls_silent_is_told_from_a_slow_one() {
    let heard = |powered: &dyn Fn(u64) -> bool, seconds: u64| {
        let mut watched = CellTelemetry::default();
        for second in 1..=seconds {
            let telemetry = Telemetry {
                power_mw: powered(second).then_some(5000),
                ..Telemetry::default()
            };
            watched.hear(0, Nanos::from_millis(second * 1000), false, &telemetry);
        }
        watched.power_ended(0)
    };
    let at = |second: u64| Nanos::from_millis(second * 1000);
    assert_eq!(heard(&|second| second < 20, 60), Some((at(19), at(60))));
    assert_eq!(heard(&|_| true, 60), None);
    assert_eq!(heard(&|second| second % 20 == 0, 79), None, "a slow meter");
    assert_eq!(heard(&|_| false, 60), None, "no meter");
    assert_eq!(heard(&|second| second < 3, 12), None, "not for long");
}

#[test]
fn an_alarm_is_news_once_for_each_drive() {
    let mut critical_warnings = CriticalWarnings::default();
    let names = |words: &[&str]| -> Vec<String> { words.iter().map(|&w| w.to_owned()).collect() };
    assert_eq!(
        critical_warnings.news(0, &names(&["a"])),
        ["a"],
        "known before the run"
    );
    assert!(critical_warnings.news(0, &[]).is_empty());
    assert_eq!(critical_warnings.news(0, &names(&["a", "b"])), ["b"]);
    assert!(
        critical_warnings.news(0, &names(&["b", "a"])).is_empty(),
        "also after it was gone for a while"
    );
    assert_eq!(
        critical_warnings.news(1, &names(&["a"])),
        ["a"],
        "another drive"
    );
}
