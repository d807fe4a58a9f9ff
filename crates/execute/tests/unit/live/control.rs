use super::*;

#[test]
fn a_skip_ends_the_cells_that_run_and_no_later_one() {
    let (control, stop) = (Control::default(), AtomicBool::new(false));
    let first = control.begin(&stop);
    control.skip();
    assert!(first.is_skipped() && first.ended.load(Ordering::SeqCst));
    control.end(&first);
    let second = control.begin(&stop);
    assert!(!second.is_skipped() && !second.ended.load(Ordering::SeqCst));
}

#[test]
fn a_stop_ends_the_cell_but_does_not_skip_it() {
    let (control, stop) = (Control::default(), AtomicBool::new(false));
    let flags = control.begin(&stop);
    flags.forward(&stop);
    assert!(!flags.ended.load(Ordering::SeqCst));
    stop.store(true, Ordering::SeqCst);
    control.stopped();
    assert!(flags.ended.load(Ordering::SeqCst) && !flags.is_skipped());
    // A cell that starts after the stop ends at once, and one that only sees the flag ends with its
    // interval.
    assert!(control.begin(&stop).ended.load(Ordering::SeqCst));
    let other = CellFlags::default();
    other.forward(&stop);
    assert!(other.ended.load(Ordering::SeqCst));
}

#[test]
fn a_pause_lasts_until_it_is_resumed_or_the_run_is_stopped() {
    let (control, stop) = (Control::default(), AtomicBool::new(false));
    // Not paused: returns at once.
    control.wait_while_paused(&stop);
    for end in [true, false] {
        control.pause(true);
        assert!(control.is_paused());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| control.wait_while_paused(&stop));
            assert!(!waiting.is_finished());
            match end {
                true => control.pause(false),
                false => stop.store(true, Ordering::SeqCst),
            }
        });
    }
}

#[test]
fn no_cell_is_begun_that_could_end_too_late_or_after_the_request_to_end() {
    let control = Control::default();
    let minute = Nanos::from_secs(60);
    assert_eq!(control.not_begun(minute, 1000), None);
    control.end_by(1100);
    assert_eq!(control.not_begun(minute, 1039), None);
    assert_eq!(control.not_begun(minute, 1040), Some(NotBegun::TooLong));
    assert_eq!(control.not_begun(Nanos::ZERO, 1100), Some(NotBegun::TooLong));
    assert_eq!(control.not_begun(Nanos(u64::MAX), 0), Some(NotBegun::TooLong));
    control.end_after_cell();
    assert_eq!(control.not_begun(Nanos::ZERO, 0), Some(NotBegun::Asked));
}

#[test]
fn the_request_to_end_after_the_cell_ends_a_pause_and_no_cell() {
    let (control, stop) = (Control::default(), AtomicBool::new(false));
    let running = control.begin(&stop);
    control.pause(true);
    std::thread::scope(|scope| {
        scope.spawn(|| control.wait_while_paused(&stop));
        control.end_after_cell();
    });
    assert!(!running.ended.load(Ordering::SeqCst));
}
