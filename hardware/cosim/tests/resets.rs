//! Drives that hang until they are reset: how soon the core sees it, what it reports, and that it
//! recovers them, by the ways of a reset that a platform has.

use crate::common::Rough;
use crate::common::slot::{Loss, Plan};
use crate::faults::raw::{CHUNK, Raw};

use assay_cosim::CYCLE_NS;
use assay_cosim::map::drive_bank;
use assay_cosim::pcie_drive::{LinkEvent, Wedge};
use assay_stream::registers::map::{drive, stream};
use assay_stream::registers::{RegisterField, StatusBits};

const CHUNKS: u64 = 20;

/// No limit, so that nothing but the status of the controller tells that it hangs.
const NO_TIMEOUT: u32 = 0;

/// PollShift and ResetShift of the core: 2^10 microseconds.
const POLL_US: u64 = 1024;
const RESET_US: u64 = 1024;

/// What the drive's register LOST says: all of it.
fn check_cause(raw: &mut Raw, cause: RegisterField, what: &str) {
    let lost = raw.drive32(drive::LOST);
    assert_eq!(u64::from(lost), cause.mask(), "{what}: LOST");
    assert_eq!(raw.world().outputs().drives[0].irq_lost, 1, "{what}");
}

/// The drive hangs during a session, which ends; microseconds that it took.
fn hang(raw: &mut Raw, is_replay: bool, loss: Loss) -> u64 {
    raw.slot().plan.set(Plan { loss: Some((6, loss)), ..Plan::default() });
    raw.start(is_replay, 0, CHUNKS, 1);
    let began = raw.cycle();
    raw.await_end(is_replay);
    let waited_us = (raw.cycle() - began) * CYCLE_NS / 1000;
    let status = raw.status(is_replay);
    assert!(status.has(StatusBits::DEVICE_ERROR), "{loss:?}: {status:?}");
    assert!(!status.has(StatusBits::FINISHED), "{loss:?}: {status:?}");
    let bytes = raw.read64(raw.bank(is_replay), stream::BYTES);
    assert!(bytes <= 5 * CHUNK, "{loss:?}: {bytes}");
    raw.slot().disarm();
    waited_us
}

/// A fatal status, and registers that read as ones, are seen at the next look at CSTS, with no
/// limit of a command's time; a reset of the controller is enough for the first.
#[test]
fn a_fatal_status_ends_the_session_before_any_timeout() {
    let Some(mut raw) = Raw::new("w128c16", NO_TIMEOUT) else {
        return;
    };
    raw.fill(CHUNKS, 1);
    for is_replay in [false, true] {
        let what = format!("replay: {is_replay}");
        let resets = raw.slot().far.counters().resets;
        let waited_us = hang(&mut raw, is_replay, Loss::Wedged(Wedge::Fatal));
        assert!(waited_us < POLL_US + 100, "{what}: {waited_us} us");
        check_cause(&mut raw, drive::LOST_FATAL, &what);
        raw.check_next(&what);
        assert_eq!(raw.slot().far.counters().resets, resets, "{what}");
        raw.drive_control(drive::CONTROL_ACKNOWLEDGE);
        assert_eq!(raw.drive32(drive::LOST), 0, "{what}");
        assert_eq!(raw.world().outputs().drives[0].irq_lost, 0, "{what}");
    }
}

/// RESTART recovers a drive that a reset of the controller does not, by PERST# or by a hot reset.
#[test]
fn a_restart_recovers_a_drive_that_hangs() {
    for (has_perst, has_hot_reset) in [(true, true), (true, false), (false, true)] {
        let rough = Rough { has_perst, has_hot_reset, ..Rough::default() };
        for (wedge, timeout_us, cause) in [
            (Wedge::StuckReady, 400, drive::LOST_LATE),
            (Wedge::Ones, NO_TIMEOUT, drive::LOST_ONES),
        ] {
            let Some(mut raw) = Raw::within("w128c16", timeout_us, &rough) else {
                return;
            };
            raw.fill(CHUNKS, 1);
            let what = format!("{wedge:?}, PERST#: {has_perst}, hot reset: {has_hot_reset}");
            let waited_us = hang(&mut raw, false, Loss::Wedged(wedge));
            assert!(waited_us < POLL_US + 100, "{what}: {waited_us} us");
            check_cause(&mut raw, cause, &what);
            // A reset of the controller, which the core does by itself, does not help.
            raw.run(250_000);
            let word = u64::from(raw.drive32(drive::SEQUENCER));
            assert_eq!(drive::SEQUENCER_READY.value_in(word), 0, "{what}: {word:#x}");
            raw.drive_control(drive::CONTROL_RESTART);
            raw.check_next(&what);
        }
    }
}

/// Registers that are not answered occupy the bus, so only PERST# ends that.
#[test]
fn a_restart_recovers_a_drive_that_does_not_answer() {
    let Some(mut raw) = Raw::new("w128c16", NO_TIMEOUT) else {
        return;
    };
    let waited_us = hang(&mut raw, false, Loss::SilentRegisters);
    // The register access has 50 ms.
    assert!(waited_us < POLL_US + 50_100, "{waited_us} us");
    check_cause(&mut raw, drive::LOST_ACCESS, "no answer");
    raw.drive_control(drive::CONTROL_RESTART);
    raw.check_next("no answer");
}

/// A drive that nobody uses is watched, too; a link that goes down by itself is a loss, one that
/// goes down by RESTART is none.
#[test]
fn a_lost_drive_interrupts() {
    let Some(mut raw) = Raw::new("w128c16", NO_TIMEOUT) else {
        return;
    };
    assert_eq!(raw.drive32(drive::LOST), 0);
    for (event, cause) in [
        (LinkEvent::Wedge(Wedge::Fatal), drive::LOST_FATAL),
        (LinkEvent::Wedge(Wedge::Ones), drive::LOST_ONES),
        (LinkEvent::Down, drive::LOST_LINK),
    ] {
        let what = format!("{event:?}");
        raw.slot().now(event.clone());
        raw.run((POLL_US + 100) * 1000 / CYCLE_NS);
        check_cause(&mut raw, cause, &what);
        if event == LinkEvent::Down {
            raw.slot().now(LinkEvent::Up);
        }
        raw.drive_control(drive::CONTROL_RESTART);
        check_cause(&mut raw, cause, &what);
        raw.drive_control(drive::CONTROL_ACKNOWLEDGE);
        raw.check_next(&what);
        assert_eq!(raw.drive32(drive::LOST), 0, "{what}");
    }
    raw.drive_control(drive::CONTROL_RESTART);
    raw.check_next("a restart without a loss");
    assert_eq!(raw.drive32(drive::LOST), 0, "a restart");
}

/// PERST# is as long as it has to be, but for a part of a tick, and the drive is reset once.
#[test]
fn resets_have_their_length() {
    let Some(mut raw) = Raw::new("w128c16", NO_TIMEOUT) else {
        return;
    };
    let before = raw.slot().far.counters().resets;
    let bank = drive_bank(0);
    let is_held = |raw: &mut Raw| raw.world().outputs().drives[0].perst != 0;
    assert!(!is_held(&mut raw));
    raw.write32(bank, drive::CONTROL, drive::CONTROL_RESTART.mask() as u32);
    assert!(is_held(&mut raw));
    let began = raw.cycle();
    while is_held(&mut raw) {
        raw.run(10);
    }
    let held_us = (raw.cycle() - began) * CYCLE_NS / 1000;
    assert!((RESET_US - 1..RESET_US + 5).contains(&held_us), "{held_us} us");
    raw.check_next("a reset");
    assert_eq!(raw.slot().far.counters().resets, before + 1);
}
