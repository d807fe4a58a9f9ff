//! The table of exit statuses, row by row.

use assay_fleet::Serial;
use assay_fleet::claim::{ClaimState, SuiteOutcome};
use assay_fleet::task::machine::{
    Action, ChildEnd, Control, Event, FolderState, JournalEnd, Limits, Machine, SuiteProgress,
};

const OPEN: JournalEnd = JournalEnd::Open;
const INTERRUPTED: JournalEnd = JournalEnd::Interrupted { drive_lost: false };
const LOST: JournalEnd = JournalEnd::Interrupted { drive_lost: true };

fn serial() -> Serial {
    Serial::parse("S1").unwrap()
}

/// A machine with one drive and one suite whose `assay run` is under way.
fn running(has_until: bool) -> Machine {
    let mut machine = Machine::new(vec![serial()], 1, Limits::default(), has_until);
    assert_eq!(machine.start(), [Action::Claim { serial: serial() }]);
    let suites = vec![SuiteProgress::default()];
    machine.handle(Event::Claimed { serial: serial(), suites });
    begin(&mut machine);
    machine
}

/// The folder is ready: `assay run` is started.
fn begin(machine: &mut Machine) {
    let started =
        machine.handle(Event::Prepared { serial: serial(), folder: FolderState::Resumable });
    assert!(matches!(&started[..], [Action::Start { .. }]), "{started:?}");
}

fn end(machine: &mut Machine, end: ChildEnd, journal: JournalEnd) -> Vec<Action> {
    machine.handle(Event::ChildEnded { serial: serial(), end, journal, why: "because".to_owned() })
}

/// The drive is released with this state; then the task ends with this status.
#[track_caller]
fn released(machine: &mut Machine, actions: &[Action], state: ClaimState, status: u8) {
    let is_release =
        |action: &Action| matches!(action, Action::Release { state: s, .. } if *s == state);
    assert!(actions.iter().any(is_release), "{actions:?}");
    let last = machine.handle(Event::Released { serial: serial() });
    assert_eq!(last, [Action::Finish { status }]);
}

#[test]
fn a_complete_run_is_done_whether_the_drive_passed_or_failed() {
    for (status, outcome, state) in
        [(0, SuiteOutcome::Passed, ClaimState::Done), (1, SuiteOutcome::Failed, ClaimState::Failed)]
    {
        let mut machine = running(false);
        let complete = JournalEnd::Complete(outcome);
        let actions = end(&mut machine, ChildEnd::Exit(status), complete);
        assert!(matches!(actions[0], Action::Seal { .. }));
        let expected = u8::from(status == 1);
        released(&mut machine, &actions, state, expected);
    }
}

#[test]
fn usage_errors_and_refusals_are_for_an_operator() {
    for status in [2_u8, 3] {
        let mut machine = running(false);
        let actions = end(&mut machine, ChildEnd::Exit(status.into()), OPEN);
        released(&mut machine, &actions, ClaimState::Refused, status);
    }
}

#[test]
fn io_errors_are_resumed_after_growing_pauses_as_often_as_the_plan_says() {
    let mut machine = running(false);
    let mut pauses = Vec::new();
    for _ in 1..5 {
        let actions = end(&mut machine, ChildEnd::Exit(4), OPEN);
        let [Action::CountIoError { .. }, Action::SetTimer { timer, after, .. }] = actions[..]
        else {
            panic!("{actions:?}");
        };
        pauses.push(after.as_secs());
        // A timer of another time has no effect.
        let stale = machine.handle(Event::TimerFired { serial: serial(), timer: timer + 1 });
        assert_eq!(stale, []);
        machine.handle(Event::TimerFired { serial: serial(), timer });
        begin(&mut machine);
    }
    assert_eq!(pauses, [10, 20, 40, 80]);
    let actions = end(&mut machine, ChildEnd::Exit(4), OPEN);
    released(&mut machine, &actions, ClaimState::Interrupted, 4);
}

#[test]
fn what_is_in_use_is_waited_for_and_then_asks_for_the_queue() {
    let mut machine = running(false);
    let mut polls = 0;
    loop {
        let actions = end(&mut machine, ChildEnd::Exit(75), OPEN);
        let [Action::SetTimer { timer, .. }] = actions[..] else {
            assert_eq!(polls, Limits::default().polls);
            released(&mut machine, &actions, ClaimState::Interrupted, 75);
            return;
        };
        polls += 1;
        machine.handle(Event::TimerFired { serial: serial(), timer });
        begin(&mut machine);
    }
}

#[test]
fn kills_are_resumed_at_once_three_times() {
    let mut machine = running(false);
    for kill in [ChildEnd::Signal(9), ChildEnd::Signal(11), ChildEnd::Exit(101)] {
        let actions = end(&mut machine, kill, OPEN);
        assert!(matches!(actions[..], [Action::Prepare { .. }]), "{actions:?}");
        begin(&mut machine);
    }
    let actions = end(&mut machine, ChildEnd::Signal(9), OPEN);
    released(&mut machine, &actions, ClaimState::Interrupted, 4);
}

#[test]
fn a_run_that_ends_by_until_is_not_queued_again() {
    let mut machine = running(true);
    let actions = end(&mut machine, ChildEnd::Exit(130), INTERRUPTED);
    released(&mut machine, &actions, ClaimState::Interrupted, 130);
}

#[test]
fn a_near_time_limit_asks_for_the_queue_and_a_pause_does_not() {
    for (event, status) in [(Event::NearLimit, 75), (Event::Control(Control::Paused), 130)] {
        let mut machine = running(false);
        let asked = machine.handle(event);
        assert_eq!(asked, [Action::StopAfterCell { serial: serial() }]);
        let actions = end(&mut machine, ChildEnd::Exit(130), INTERRUPTED);
        released(&mut machine, &actions, ClaimState::Interrupted, status);
    }
}

#[test]
fn after_a_signal_or_a_cancel_the_task_ends_whatever_the_status() {
    for event in [Event::EndSignal, Event::Control(Control::Cancelled)] {
        for child in [ChildEnd::Exit(130), ChildEnd::Exit(4), ChildEnd::Signal(15)] {
            let mut machine = running(false);
            let asked = machine.handle(event.clone());
            assert_eq!(asked, [Action::Terminate { serial: serial() }]);
            let actions = end(&mut machine, child, INTERRUPTED);
            released(&mut machine, &actions, ClaimState::Interrupted, 130);
        }
    }
}

#[test]
fn a_lost_drive_is_a_finding_and_is_resumed_when_it_is_seen_again() {
    let mut machine = running(false);
    let actions = end(&mut machine, ChildEnd::Exit(1), LOST);
    assert_eq!(actions, [Action::LookFor { serial: serial() }]);
    let actions = machine.handle(Event::Looked { serial: serial(), is_there: true });
    assert!(matches!(actions[..], [Action::Prepare { .. }]), "{actions:?}");
    begin(&mut machine);
    end(&mut machine, ChildEnd::Exit(1), LOST);
    let actions = machine.handle(Event::Looked { serial: serial(), is_there: false });
    released(&mut machine, &actions, ClaimState::Interrupted, 1);
}

#[test]
fn a_fenced_attempt_ends_its_run_and_writes_nothing_more() {
    let mut machine = running(false);
    let actions = machine.handle(Event::Fenced { serial: serial(), why: "attempt 2".to_owned() });
    assert_eq!(actions, [Action::Terminate { serial: serial() }]);
    let last = end(&mut machine, ChildEnd::Exit(130), INTERRUPTED);
    assert_eq!(last, [Action::Finish { status: 130 }]);
}

#[test]
fn one_drive_at_a_time_is_measured_unless_they_share() {
    let serials: Vec<Serial> = ["A", "B", "C"].map(|s| Serial::parse(s).unwrap()).to_vec();
    for concurrent in 1..=3 {
        let limits = Limits { concurrent, ..Limits::default() };
        let mut machine = Machine::new(serials.clone(), 1, limits, false);
        assert_eq!(machine.start().len(), concurrent);
    }
}
