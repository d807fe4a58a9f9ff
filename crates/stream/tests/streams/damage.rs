//! Damaged or unreadable index blocks and chunks, and interrupted replays.

use std::io;

use assay_stream::index::{DamagedCopy, HeaderCopy, IndexError, IndexLayout};
use assay_stream::queue::StreamQueue;
use assay_stream::record::{RecordOptions, record};
use assay_stream::registers::{ControlBits, Registers, StatusBits};
use assay_stream::replay::{ReplayOptions, ReplayOutcome, ReplaySource, replay};
use assay_stream::source::{DiscardSink, StreamSink};
use assay_stream::status::StreamError;
use proptest::prelude::*;

use crate::fixture::{index, noise};
use crate::reordering_drive::ReorderingDrive;
use crate::rings::{Case, SMALL, cases, tries};

const BLOCK: u64 = 4096;

fn case(queues: usize, chunks: u64, stream_chunks: usize, ring: bool) -> Case {
    Case {
        seed: 5,
        queues,
        chunks,
        depth: 8,
        every_chunks: 20,
        stream_bytes: stream_chunks * SMALL - 100,
        ring,
    }
}

fn layout(case: &Case, drives: &[ReorderingDrive]) -> IndexLayout {
    let recording = case.find(&mut case.queues(drives)).unwrap();
    recording.header().unwrap().layout
}

/// Blocks of header and index on each drive, without their copies.
fn blocks(case: &Case, drives: &[ReorderingDrive]) -> u64 {
    1 + layout(case, drives).index_blocks
}

/// Address of a block of header or index, the second copy of each after the first.
fn address(layout: IndexLayout, block: u64) -> u64 {
    match block {
        0 | 1 => layout.header_address(block),
        _ => layout.block_address(block / 2 - 1, block % 2),
    }
}

fn damaged_copies(case: &Case, drives: &[ReorderingDrive]) -> Vec<DamagedCopy> {
    let recording = case.find(&mut case.queues(drives)).unwrap();
    recording.parts.iter().flat_map(|part| part.damaged_copies.clone()).collect()
}

fn verify(
    case: &Case,
    drives: &[ReorderingDrive],
    sink: &mut dyn StreamSink,
    registers: &Registers,
) -> ReplayOutcome {
    let mut queues = case.queues(drives);
    let mut recording = case.find(&mut queues).unwrap();
    let what = ReplaySource::Recording(&mut recording);
    let options = ReplayOptions { keep_going: true, ..ReplayOptions::default() };
    replay(&mut queues, what, sink, options, registers).unwrap()
}

fn sizes() -> impl Strategy<Value = Case> {
    prop_oneof![cases(8..40, 9), cases(400..1700, 3)]
}

proptest! {
    #![proptest_config(tries(100))]

    /// Every block of an ended recording has two copies.
    #[test]
    fn one_bad_block_of_an_ended_recording_loses_nothing(
        case in sizes(),
        ring: bool,
        queue in 0..3_usize,
        which in 0.0..1.0_f64,
        unreadable: bool,
    ) {
        let case = Case { ring, ..case };
        let drives = case.drives();
        case.record(&drives, true).unwrap();
        let (_, whole, _) = case.recover(&drives);
        prop_assert_eq!(damaged_copies(&case, &drives), []);
        let block = (which * 2.0 * blocks(&case, &drives) as f64) as u64;
        let layout = layout(&case, &drives);
        let at = address(layout, block);
        let drive = &drives[queue % case.queues];
        let [own, other] = [at, address(layout, block ^ 1)]
            .map(|at| drive.bytes(at as usize, 8) == b"ASSAYIDX");
        if unreadable {
            drive.make_unreadable(at + 512, 1);
        } else {
            drive.corrupt(at, BLOCK);
        }
        // Blocks of the index that are in use exist twice.
        prop_assert_eq!(own, other);
        let expected = own.then_some(DamagedCopy { address: at, unreadable });
        prop_assert_eq!(damaged_copies(&case, &drives), Vec::from_iter(expected));
        let (replayed, out, _) = case.recover(&drives);
        prop_assert!(out == whole, "{} of {} bytes: {replayed:?}", out.len(), whole.len());
        prop_assert!(replayed.is_right(), "{replayed:?}");
        prop_assert!(case.find(&mut case.queues(&drives)).unwrap().is_whole());
    }

    /// With both copies bad, chunks are missing and reported so.
    #[test]
    fn chunks_absent_from_a_damaged_index_are_missing(
        case in sizes(),
        ring: bool,
        queue in 0..3_usize,
        which in 0.0..1.0_f64,
    ) {
        let case = Case { ring, ..case };
        let drives = case.drives();
        case.record(&drives, true).unwrap();
        let (_, whole, _) = case.recover(&drives);
        let block = 1 + (which * (blocks(&case, &drives) - 1) as f64) as u64;
        drives[queue % case.queues].corrupt(2 * block * BLOCK, 2 * BLOCK);
        let (replayed, out, _) = case.recover(&drives);
        let recording = case.find(&mut case.queues(&drives)).unwrap();
        // An unused block, or one that describes only overwritten chunks, loses nothing.
        prop_assert_eq!(replayed.is_right(), out == whole, "{:?}", replayed);
        prop_assert_eq!(recording.is_whole(), out == whole);
        prop_assert_eq!(replayed.bad_chunks, 0);
        let chunks = |bytes: &[u8]| bytes.len().div_ceil(SMALL) as u64;
        prop_assert_eq!(replayed.missing_chunks, chunks(&whole) - chunks(&out));
    }

    /// Durable chunks of an interrupted recording are never omitted silently.
    #[test]
    fn a_damaged_index_of_an_interrupted_recording_is_reported(
        case in sizes(),
        part in 0.0..1.0_f64,
        queue in 0..3_usize,
        which in 0.0..1.0_f64,
    ) {
        let case = Case { ring: false, ..case };
        let drives = case.drives();
        let ios = case.stream_bytes.div_ceil(SMALL * case.queues) as f64 * part;
        drives[queue % case.queues].loses_power_after(ios as u64);
        let recorded = case.record(&drives, true);
        drives.iter().for_each(ReorderingDrive::restore_power);
        let Some((status, registers)) = recorded else {
            return Ok(());
        };
        // The header holds the durable count at its writing, one checkpoint behind the registers.
        let durable = registers.durable_bytes().max(status.durable_bytes);
        let before = case.find(&mut case.queues(&drives)).unwrap();
        prop_assert!(before.missing == 0 && before.durable <= durable.div_ceil(SMALL as u64));
        let block = 1 + (which * (blocks(&case, &drives) - 1) as f64) as u64;
        drives[queue % case.queues].corrupt(2 * block * BLOCK, 2 * BLOCK);
        let (replayed, out, _) = case.recover(&drives);
        let lost = before.durable.saturating_sub(out.len().div_ceil(SMALL) as u64);
        prop_assert_eq!(replayed.missing_chunks, lost, "{:?}", replayed);
    }

    /// A stopped recording has not been flushed: a power loss may lose what was not durable, never
    /// the recording.
    #[test]
    fn a_stopped_recording_survives_a_power_loss(case in sizes(), ring: bool, part in 0.0..1.0_f64) {
        let case = Case { ring, ..case };
        let drives = case.drives();
        let chunks = 1.0 + case.stream_bytes.div_ceil(SMALL) as f64 * part;
        let (status, _) = case.record_until(&drives, true, chunks as u32).unwrap();
        prop_assert_eq!(damaged_copies(&case, &drives), []);
        drives.iter().for_each(ReorderingDrive::restore_power);
        let (replayed, out, room) = case.recover(&drives);
        let stream = case.stream();
        let taken = (status.bytes as usize).div_ceil(SMALL);
        let durable = (status.durable_bytes as usize).div_ceil(SMALL);
        // Overwritten data is lost, whether the recording ended or not.
        let from = if ring { taken.saturating_sub(room as usize) } else { 0 };
        prop_assert!(stream.get(from * SMALL..).is_some_and(|rest| rest.starts_with(&out)), "{replayed:?}");
        prop_assert!(out.len().div_ceil(SMALL) >= durable.saturating_sub(from), "{} chunks of {from}..{durable}: {replayed:?}", out.len() / SMALL);
    }
}

#[test]
fn unreadable_headers_are_a_device_failure() {
    let case = case(1, 40, 20, false);
    let drives = case.drives();
    case.record(&drives, true).unwrap();
    let tail = layout(&case, &drives).header_address(1);
    drives[0].make_unreadable(0, 2 * BLOCK);
    drives[0].make_unreadable(tail, BLOCK);
    let found = case.find(&mut case.queues(&drives));
    assert!(
        matches!(&found, Err(IndexError::Device(failure)) if failure.result == -5),
        "{found:?}"
    );
}

/// The start of a range is what other programs destroy, and what a flush that was only
/// acknowledged leaves unwritten.
#[test]
fn a_recording_is_found_by_either_copy_of_its_header() {
    for (ring, queues) in [(false, 1), (true, 1), (false, 3), (true, 2)] {
        for ended in [true, false] {
            let chunks = if ring { 200 } else { 100 };
            let case = case(queues, 120, chunks * queues, ring);
            let drives = case.drives();
            if !ended {
                drives[0].loses_power_after(90);
            }
            case.record(&drives, true).unwrap();
            drives.iter().for_each(ReorderingDrive::restore_power);
            let (_, whole, _) = case.recover(&drives);
            assert!(!whole.is_empty(), "{case:?} ended: {ended}");
            for (copy, lost) in [(0, HeaderCopy::Start), (1, HeaderCopy::End)] {
                let layout = layout(&case, &drives);
                let at = layout.header_address(copy);
                for drive in &drives {
                    drive.corrupt(at, BLOCK);
                    if copy == 0 {
                        drive.corrupt(BLOCK, BLOCK);
                    }
                }
                let recording = case.find(&mut case.queues(&drives)).unwrap();
                let lost_headers = recording.parts.iter().map(|part| part.lost_header);
                assert!(lost_headers.eq(std::iter::repeat_n(Some(lost), queues)));
                let (replayed, out, _) = case.recover(&drives);
                assert!(out == whole && replayed.is_right(), "{replayed:?}");
                for drive in &drives {
                    drive.corrupt(at, BLOCK);
                    if copy == 0 {
                        drive.corrupt(BLOCK, BLOCK);
                    }
                }
            }
        }
    }
}

/// Whose header is lost with nothing in its index is not one of nothing.
#[test]
fn a_replay_that_checked_nothing_is_not_right() {
    let case = case(1, 40, 20, false);
    let drives = case.drives();
    drives[0].loses_power_after(12);
    case.record(&drives, true).unwrap();
    drives[0].restore_power();
    let registers = Registers::default();
    let replayed = verify(&case, &drives, &mut DiscardSink, &registers);
    assert_eq!((replayed.checked_chunks, replayed.missing_chunks), (0, 0));
    assert!(!replayed.is_right() && replayed.nothing_checked);
    assert!(!replayed.status.status.has(StatusBits::FINISHED));
    // An ended recording of no bytes has nothing to check.
    let empty = Case { stream_bytes: 0, ..case };
    let drives = empty.drives();
    empty.record(&drives, true).unwrap();
    let replayed = verify(&empty, &drives, &mut DiscardSink, &registers);
    assert!(replayed.is_right() && replayed.status.status.has(StatusBits::FINISHED));
}

#[test]
fn an_unreadable_index_block_makes_its_chunks_bad() {
    let case = case(1, 40, 20, false);
    let drives = case.drives();
    case.record(&drives, true).unwrap();
    let mut queues = case.queues(&drives);
    let mut recording = case.find(&mut queues).unwrap();
    drives[0].make_unreadable(2 * BLOCK, 2 * BLOCK);
    let options = ReplayOptions { keep_going: true, ..ReplayOptions::default() };
    let what = ReplaySource::Recording(&mut recording);
    let registers = Registers::default();
    let replayed = replay(&mut queues, what, &mut DiscardSink, options, &registers).unwrap();
    assert_eq!((replayed.checked_chunks, replayed.bad_chunks), (20, 20));
}

#[test]
fn an_unreadable_oldest_chunk_drops_only_the_old_end_of_a_ring() {
    let case = case(2, 60, 1000, true);
    let drives = case.drives();
    drives[1].loses_power_after(300);
    case.record(&drives, true).unwrap();
    drives.iter().for_each(ReorderingDrive::restore_power);
    let (before, whole, _) = case.recover(&drives);
    let recording = case.find(&mut case.queues(&drives)).unwrap();
    assert!(before.partially_overwritten_chunks > 1);
    let layout = recording.header().unwrap().layout;
    let address = layout.chunk_address(recording.from / 2);
    drives[(recording.from % 2) as usize].make_unreadable(address, 512);
    let (replayed, out, _) = case.recover(&drives);
    assert_eq!(replayed.partially_overwritten_chunks, before.partially_overwritten_chunks);
    assert!(out == whole && replayed.is_right(), "{replayed:?}");
}

#[test]
fn a_stopped_recording_reports_only_its_bad_chunk() {
    // No checkpoint before the stop.
    let case = Case { every_chunks: 1000, ..case(1, 200, 150, false) };
    let drives = case.drives();
    let (status, _) = case.record_until(&drives, true, 101).unwrap();
    assert_eq!((status.chunks, status.status.has(StatusBits::STOPPED)), (101, true));
    assert_eq!(status.durable_bytes, 0);
    let recording = case.find(&mut case.queues(&drives)).unwrap();
    assert!(recording.is_whole());
    let address = recording.header().unwrap().layout.chunk_address(95);
    drives[0].corrupt(address + 77, 1);
    let mut out = Vec::new();
    let replayed = verify(&case, &drives, &mut out, &Registers::default());
    assert_eq!((replayed.bad_chunks, replayed.checked_chunks), (1, 101));
    assert_eq!(replayed.first_bad.unwrap().chunk, 95);
    assert_eq!((replayed.not_durable_chunks, replayed.is_right()), (0, false));
}

/// Accepts no more after a number of chunks, as a full pipe, when the command comes.
struct Stuck(u64, ControlBits);

impl StreamSink for Stuck {
    fn name(&self) -> String {
        "a full pipe".to_owned()
    }

    fn put(&mut self, _: &[u8], registers: &Registers) -> io::Result<()> {
        if self.0 == 0 {
            registers.command(self.1);
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.0 -= 1;
        Ok(())
    }
}

#[test]
fn a_replay_stopped_in_its_last_chunk_is_not_finished() {
    let case = case(1, 40, 20, false);
    let drives = case.drives();
    case.record(&drives, true).unwrap();
    for (order, bit) in [(ControlBits::ABORT, "aborted"), (ControlBits::STOP, "stopped")] {
        for chunks in [5, 19] {
            let replayed = verify(&case, &drives, &mut Stuck(chunks, order), &Registers::default());
            let status = &replayed.status;
            assert_eq!(status.status.names(), [bit, "last_valid"]);
            assert_eq!((status.chunks, status.bytes), (chunks, chunks * SMALL as u64));
        }
    }
    let status =
        verify(&case, &drives, &mut Stuck(20, ControlBits::ABORT), &Registers::default()).status;
    assert!(status.status.has(StatusBits::FINISHED));
}

#[test]
fn slots_smaller_than_a_chunk_are_refused() {
    let case = case(1, 40, 20, false);
    let drives = case.drives();
    let small = || {
        let target = drives[0].target(9, 512);
        [StreamQueue::new("drive", target, 9, 512)]
    };
    let registers = Registers::default();
    let options = RecordOptions { index: index(1), ..RecordOptions::default() };
    let stream = noise(1, 5 * SMALL);
    let recorded = record(&mut small(), &case.range(), &mut &stream[..], &options, &registers);
    assert!(matches!(
        recorded,
        Err(StreamError::SmallSlots { slot_bytes: 512, chunk_bytes: 4096, .. })
    ));
    case.record(&drives, true).unwrap();
    // The index is read with small slots, and the recording is replayed with larger ones.
    let mut queues = small();
    let mut recording = case.find(&mut queues).unwrap();
    assert!(recording.is_whole());
    let what = ReplaySource::Recording(&mut recording);
    let replayed =
        replay(&mut queues, what, &mut DiscardSink, ReplayOptions::default(), &registers);
    assert!(matches!(replayed, Err(StreamError::SmallSlots { .. })));
}
