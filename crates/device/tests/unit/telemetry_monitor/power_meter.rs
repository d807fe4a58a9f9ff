use super::*;

#[test]
fn the_first_number_of_a_line_is_watts() {
    assert_eq!(watts("3.25\n"), Some(3.25));
    assert_eq!(watts("P=4.5 W (avg)"), Some(4.5));
    assert_eq!(watts("7."), Some(7.0));
    assert_eq!(watts("-2"), None);
    assert_eq!(watts("1.2.3"), None);
    assert_eq!(watts("nothing"), None);
    assert_eq!(watts("99999999"), None);
}

#[test]
fn an_ended_command_is_restarted_and_readings_are_averaged() {
    let meter = PowerMeter::start("echo 2; echo 4").unwrap();
    while meter.shared.lock().count < 2 {
        std::thread::yield_now();
    }
    assert_eq!(meter.mean_mw(), Some(3000));
    meter.wait_for_a_reading();
}

#[test]
fn a_silent_command_is_killed_and_restarted() {
    let (sender, done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let meter = PowerMeter::start("echo 3; exec >/dev/null; sleep 1000").unwrap();
        while meter.shared.lock().count < 3 {
            std::thread::yield_now();
        }
        assert_eq!(meter.mean_mw(), Some(3000));
        drop(meter);
        sender.send(()).unwrap();
    });
    assert_eq!(done.recv_timeout(Duration::from_secs(60)), Ok(()));
}

#[test]
fn no_command_is_started_after_the_meter_has_stopped() {
    let shared = Shared::default();
    shared.stop.store(true, Ordering::SeqCst);
    assert!(spawn("sleep 1000", &shared).is_err());
    assert!(shared.lock().child.is_none());
}

#[test]
fn invalid_meters_are_refused() {
    let error = PowerMeter::start("exec sleep 60");
    // Ten seconds: as long as a user would be left waiting.
    assert!(matches!(error, Err(MeterError::Silent { .. })), "{error:?}");
}
