use assay_ssd::{Command, DriveOptions, Profile, Telemetry};
use assay_units::{DataClass, Op};
use proptest::prelude::*;

use super::*;

proptest! {
    /// The order of a stable sort by arrival, for any interleaving of adding and popping.
    #[test]
    fn events_are_ordered_by_time_and_then_by_tie(
        steps in prop::collection::vec((0_u64..50, 0_u32..20, any::<bool>()), 0..200),
        by_slot in any::<bool>(),
    ) {
        let order = if by_slot { TieOrder::Slot } else { TieOrder::Submission };
        let (mut arrivals, mut plain) = (Arrivals::new(order), Vec::new());
        for (number, (at, slot, take)) in (0_u32..).zip(steps) {
            let at = Nanos(at);
            // Without ties by slot, the submission number identifies the I/O.
            let slot = if by_slot { slot } else { number };
            if take {
                let first = plain.iter().copied().min().filter(|&(first, _)| first <= at);
                prop_assert_eq!(arrivals.pop(at), first);
                if let Some(index) = plain.iter().position(|&one| Some(one) == first) {
                    plain.remove(index);
                }
            } else {
                arrivals.add(at, slot);
                plain.push((at, slot));
            }
            let next = plain.iter().map(|&(at, _)| at).min().unwrap_or(Nanos::MAX);
            prop_assert_eq!(arrivals.next_event(), next);
        }
    }
}

/// A closed loop of 4 KiB reads and writes in 8 slots of one or two threads on a drive whose cache
/// is folded in idle time: per completion the time and the slot, and the drive's state in the end.
/// `wait` waits for the next completions up to a deadline.
fn completions(
    threads: u32,
    steps: &[(u8, u16, bool)],
    mut wait: impl FnMut(&mut EventLoop, &[Command], Nanos, &mut Vec<Completion>),
) -> (Vec<(Nanos, u32)>, Telemetry) {
    let profile = Profile::builtin("samsung-960-evo").unwrap();
    let drive = Drive::new(profile, DriveOptions::default()).unwrap();
    let mut events = EventLoop::new(drive, TieOrder::Submission);
    let processors = HostProcessors::new(
        &HostCosts::of_bench(&events.drive().profile().bench),
        threads,
        1,
        Nanos::ZERO,
    );
    events.set_processors(processors);
    let none = Command {
        tag: 0,
        queue: 0,
        op: Op::Read,
        offset_bytes: 0,
        len_bytes: 4096,
        data: DataClass::Incompressible,
        fua: false,
    };
    let mut commands = [none; 8];
    let mut free: Vec<u32> = (0..8).collect();
    let (mut out, mut seen) = (Vec::new(), Vec::new());
    for &(offset, pause, is_write) in steps {
        if let Some(slot) = free.pop() {
            commands[slot as usize] = Command {
                tag: slot,
                op: if is_write { Op::Write } else { Op::Read },
                offset_bytes: u64::from(offset) * 4096,
                ..none
            };
            let now = events.now();
            events.submit(slot * threads / 8, slot, 4096, now);
        }
        let until = events.now() + Nanos(u64::from(pause) * 100);
        wait(&mut events, &commands, until, &mut out);
        seen.extend(out.iter().map(|done| (done.at, done.tag)));
        free.extend(out.drain(..).map(|done| done.tag));
    }
    // Between completions, a drive that runs ahead has more commands than another.
    while free.len() < 8 {
        let until = events.now() + Nanos::from_secs(1);
        wait(&mut events, &commands, until, &mut out);
        seen.extend(out.iter().map(|done| (done.at, done.tag)));
        free.extend(out.drain(..).map(|done| done.tag));
    }
    let now = events.now();
    (seen, events.drive_mut().telemetry(now))
}

proptest! {
    /// The same as advancing the drive at every event, those that complete nothing included.
    #[test]
    fn advancing_to_completions_equals_advancing_to_every_event(
        steps in prop::collection::vec((any::<u8>(), 0_u16..2000, any::<bool>()), 1..80),
    ) {
        let at_completions = completions(2, &steps, |events, commands, until, out| {
            let start = |drive: &mut Drive, at, slot: u32| drive.submit(at, commands[slot as usize]);
            if !events.advance_to_completion(until, start, out) {
                events.wait_until(until);
            }
        });
        let at_every_event = completions(2, &steps, |events, commands, until, out| {
            while out.is_empty() && events.now < until {
                let at = events.next_event().min(until);
                events.now = events.now.max(at);
                while let Some((at, slot)) = events.processors.pop(at) {
                    events.arrivals.add(at, slot);
                }
                while let Some((at, slot)) = events.arrivals.pop(at) {
                    events.drive.submit(at, commands[slot as usize]);
                }
                events.drive.advance(at, out);
            }
        });
        prop_assert!(steps.len() < 40 || !at_every_event.0.is_empty());
        prop_assert_eq!(at_completions, at_every_event);
    }

    /// Submitting I/Os of one thread as soon as their arrival is known changes nothing.
    #[test]
    fn running_ahead_equals_running_in_order(
        steps in prop::collection::vec((any::<u8>(), 0_u16..2000, any::<bool>()), 1..80),
    ) {
        let in_order = completions(1, &steps, |events, commands, until, out| {
            let start = |drive: &mut Drive, at, slot: u32| drive.submit(at, commands[slot as usize]);
            if !events.advance_to_completion(until, start, out) {
                events.wait_until(until);
            }
        });
        let ahead = completions(1, &steps, |events, commands, until, out| {
            assert!(events.runs_ahead());
            let start = |drive: &mut Drive, at, slot: u32| drive.submit(at, commands[slot as usize]);
            if !events.advance_ahead(until, start, |done| out.push(done)) {
                events.wait_until(until);
            }
        });
        prop_assert!(steps.len() < 40 || !ahead.0.is_empty());
        prop_assert_eq!(ahead, in_order);
    }
}
