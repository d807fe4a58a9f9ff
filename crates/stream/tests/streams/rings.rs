//! Rings, and recordings after power loss, on drives that reorder commands.

use assay_stream::index::{IndexError, Recording, find};
use assay_stream::queue::StreamQueue;
use assay_stream::range::{DriveExtent, RangeRequest, StreamRange};
use assay_stream::record::{RecordOptions, record};
use assay_stream::registers::{ControlBits, Registers};
use assay_stream::replay::{ReplayOptions, ReplayOutcome, ReplaySource, replay};
use assay_stream::status::StreamStatus;
use proptest::prelude::*;

use crate::Ending;
use crate::fixture::{CHUNK, get, index, noise, on_each, range, recover, take};
use crate::reordering_drive::ReorderingDrive;

#[test]
fn a_ring_keeps_the_newest() {
    on_each(64, |drives| {
        let stream = noise(4, 11 * CHUNK as usize);
        let part = range(drives, None, Some(3));
        let options = RecordOptions { ring: true, ..RecordOptions::default() };
        let status = take(drives, &part, &stream, &options);
        assert_eq!((status.chunks, status.bytes), (11, stream.len() as u64));
        assert_eq!(status.last_address_written, Some(2 * u64::from(CHUNK)));
        let (_, out) = get(drives, &part, part.bytes());
        let chunk = |n: usize| &stream[n * CHUNK as usize..(n + 1) * CHUNK as usize];
        assert_eq!(out, [chunk(8), chunk(9), chunk(10), chunk(7)].concat());
    });
}

#[test]
fn a_ring_with_an_index_is_replayed_from_its_oldest() {
    on_each(200, |drives| {
        let part = range(drives, None, Some(30));
        let stream = noise(8, 100 * CHUNK as usize + 99);
        let options = RecordOptions {
            index: index(9),
            ring: true,
            checkpoint_bytes: Some(4 * u64::from(CHUNK)),
            ..RecordOptions::default()
        };
        let status = take(drives, &part, &stream, &options);
        assert_eq!(status.bytes, stream.len() as u64);
        let (replayed, out, whole) = recover(drives, 0);
        // 31 chunks, three of them for the index: the last 28 of 101 chunks.
        assert!(out == stream[73 * CHUNK as usize..], "{replayed:?}");
        assert!(whole && replayed.bad_chunks == 0);
    });
}

/// The smallest chunk with an index.
pub(crate) const SMALL: usize = 4096;

/// Reordering drives, and a ring of this many chunks on each.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) seed: u64,
    pub(crate) queues: usize,
    pub(crate) chunks: u64,
    pub(crate) depth: u32,
    pub(crate) every_chunks: u64,
    pub(crate) stream_bytes: usize,
    pub(crate) ring: bool,
}

impl Case {
    pub(crate) fn drives(&self) -> Vec<ReorderingDrive> {
        let bytes = self.chunks as usize * SMALL;
        (0..self.queues as u64).map(|n| ReorderingDrive::new(self.seed ^ n << 32, bytes)).collect()
    }

    pub(crate) fn queues(&self, drives: &[ReorderingDrive]) -> Vec<StreamQueue<'static>> {
        let slots = self.depth + 1;
        let queue = |(n, drive): (usize, &ReorderingDrive)| {
            let target = drive.target(slots, SMALL as u32);
            StreamQueue::new(format!("drive {n}"), target, slots, SMALL as u32)
        };
        drives.iter().enumerate().map(queue).collect()
    }

    pub(crate) fn range(&self) -> StreamRange {
        let request = RangeRequest { first: None, last: None, chunk_bytes: SMALL as u32 };
        let media = |n| DriveExtent {
            drive: format!("drive {n}"),
            capacity_bytes: self.chunks * SMALL as u64,
            min_io_bytes: 512,
        };
        let media: Vec<_> = (0..self.queues).map(media).collect();
        StreamRange::new(&request, &media).unwrap()
    }

    pub(crate) fn stream(&self) -> Vec<u8> {
        noise(self.seed, self.stream_bytes)
    }

    /// Record; the registers hold what was reported. `None` if power was lost before the header was
    /// written.
    pub(crate) fn record(
        &self,
        drives: &[ReorderingDrive],
        indexed: bool,
    ) -> Option<(StreamStatus, Registers)> {
        self.record_until(drives, indexed, u32::MAX)
    }

    /// The same, stopped after a number of chunks.
    pub(crate) fn record_until(
        &self,
        drives: &[ReorderingDrive],
        indexed: bool,
        chunks: u32,
    ) -> Option<(StreamStatus, Registers)> {
        let options = RecordOptions {
            ring: self.ring,
            index: index(1).filter(|_| indexed),
            checkpoint_bytes: Some(self.every_chunks * SMALL as u64),
            min_io_bytes: 512,
            ..RecordOptions::default()
        };
        let registers = Registers::default();
        let stream = self.stream();
        let mut source = Ending { bytes: &stream[..], left: chunks, how: ControlBits::STOP };
        let mut queues = self.queues(drives);
        let recorded = record(&mut queues, &self.range(), &mut source, &options, &registers);
        match recorded {
            Ok(recorded) => Some((recorded.status, registers)),
            Err(error) => {
                assert!(drives.iter().any(ReorderingDrive::is_dead), "{error}");
                None
            }
        }
    }

    /// Find the recording.
    pub(crate) fn find(&self, queues: &mut [StreamQueue<'_>]) -> Result<Recording, IndexError> {
        let mut found = Vec::new();
        for queue in queues {
            let part = find(queue, &self.range(), self.chunks * SMALL as u64)?;
            found.push((queue.name().to_owned(), part));
        }
        Ok(Recording::assemble(found)?.0)
    }

    /// Find and replay; also the capacity of the ring in chunks of the stream.
    pub(crate) fn recover(&self, drives: &[ReorderingDrive]) -> (ReplayOutcome, Vec<u8>, u64) {
        let mut queues = self.queues(drives);
        let mut recording = self.find(&mut queues).unwrap();
        let room = recording.header().unwrap().layout.chunks * self.queues as u64;
        let mut out = Vec::new();
        let replayed = replay(
            &mut queues,
            ReplaySource::Recording(&mut recording),
            &mut out,
            ReplayOptions::default(),
            &Registers::default(),
        )
        .unwrap();
        (replayed, out, room)
    }
}

/// This many cases, unless `PROPTEST_CASES` gives another number.
pub(crate) fn tries(cases: u32) -> ProptestConfig {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let config = ProptestConfig::default();
    match asked {
        true => config,
        false => ProptestConfig { cases, ..config },
    }
}

pub(crate) fn cases(chunks: std::ops::Range<u64>, turns: u64) -> impl Strategy<Value = Case> {
    let ring = (1..4_usize, chunks).prop_flat_map(move |(queues, chunks)| {
        let most = (turns * chunks * queues as u64) as usize * SMALL;
        (Just(queues), Just(chunks), 1..=most)
    });
    (any::<u64>(), ring, 1..40_u32, 1..200_u64).prop_map(
        |(seed, (queues, chunks, stream_bytes), depth, every_chunks)| Case {
            seed,
            queues,
            chunks,
            depth,
            every_chunks,
            stream_bytes,
            ring: true,
        },
    )
}

proptest! {
    #![proptest_config(tries(150))]

    /// A chunk waits for the previous one at its address, however deep the queue is;
    /// [`ReorderingDrive`] asserts it.
    #[test]
    fn every_location_of_a_ring_has_its_newest_chunk(case in cases(1..20, 9)) {
        let drives = case.drives();
        let (status, _) = case.record(&drives, false).unwrap();
        prop_assert_eq!(status.bytes, case.stream_bytes as u64);
        let stream = case.stream();
        let all = stream.len().div_ceil(SMALL);
        let places = case.chunks as usize * case.queues;
        for chunk in all.saturating_sub(places)..all {
            let bytes = &stream[chunk * SMALL..stream.len().min((chunk + 1) * SMALL)];
            let at = chunk / case.queues % case.chunks as usize * SMALL;
            prop_assert!(drives[chunk % case.queues].bytes(at, bytes.len()) == bytes, "chunk {}", chunk);
        }
    }

    #[test]
    fn an_ended_ring_is_complete(case in prop_oneof![cases(8..40, 9), cases(400..1700, 3)]) {
        let drives = case.drives();
        let (status, _) = case.record(&drives, true).unwrap();
        prop_assert_eq!((status.bytes, status.durable_bytes), (case.stream_bytes as u64, case.stream_bytes as u64));
        let (replayed, out, room) = case.recover(&drives);
        let from = (case.stream_bytes.div_ceil(SMALL) as u64).saturating_sub(room) as usize * SMALL;
        prop_assert!(out == case.stream()[from..], "{} of {} bytes: {replayed:?}", out.len(), case.stream_bytes - from);
        prop_assert_eq!((replayed.bad_chunks, replayed.partially_overwritten_chunks, replayed.missing_chunks), (0, 0, 0));
    }

    /// Durable chunks that were not overwritten are there, contiguous with newer ones.
    #[test]
    fn durable_chunks_survive_any_power_loss(
        case in prop_oneof![cases(8..40, 9), cases(400..1200, 3)],
        ring: bool,
        part in 0.0..1.0_f64,
        which in 0..3_usize,
    ) {
        let case = Case { ring, ..case };
        let drives = case.drives();
        let ios = case.stream_bytes.div_ceil(SMALL * case.queues) as f64 * part;
        drives[which % case.queues].loses_power_after(ios as u64);
        let recorded = case.record(&drives, true);
        drives.iter().for_each(ReorderingDrive::restore_power);
        let Some((status, registers)) = recorded else {
            return Ok(());
        };
        let durable = registers.durable_bytes().max(status.durable_bytes);
        prop_assume!(durable > 0);
        let (replayed, out, room) = case.recover(&drives);
        prop_assert_eq!((replayed.bad_chunks, replayed.missing_chunks), (0, 0));
        // The recorder of a ring is never ahead of the durable run by more than half of it.
        let kept = if ring { room - (room / 2).max(1) } else { room };
        let chunks = |bytes: u64| bytes.div_ceil(SMALL as u64);
        prop_assert!(chunks(out.len() as u64) >= chunks(durable).min(kept), "{} bytes, {room} chunks: {replayed:?}", out.len());
        let stream = case.stream();
        if !ring {
            prop_assert!(stream.starts_with(&out));
        } else if !out.is_empty() {
            // A substring of the stream; noise has no substring twice.
            let from = (0..stream.len()).step_by(SMALL).find(|&from| stream[from..].starts_with(&out)).unwrap();
            let to = (from + out.len()) as u64;
            prop_assert!(to >= durable, "{to} of {durable}: {replayed:?}");
        }
    }
}
