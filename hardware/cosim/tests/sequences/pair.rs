//! Hardware and software with the same operations.

use assay_cosim::map;
use assay_cosim::pcie_drive::LinkEvent;
use assay_cosim::streamer::CoreStreamer;
use assay_stream::range::{RangeRequest, StreamRange};
use assay_stream::record::RecordOptions;
use assay_stream::registers::map::{drive, stream as register};
use assay_stream::registers::{BEAT_BYTES, ControlBits, Registers, StatusBits};
use assay_stream::replay::ReplayOptions;
use assay_stream::status::StreamStatus;
use assay_stream::streamer::{DriveChunk, Streamer};

use super::operation::{Operation, Recording, Replaying, Reset, Sink, Source};
use super::software::Software;
use super::{CHUNK, REGION_BYTES};
use crate::common::slot::{Loss, Plan, Slot};

/// Result of a command without completion.
const EIO: i32 = -5;

/// Both streamers, and what is on their drives.
pub struct Pair {
    pub core: CoreStreamer<Slot>,
    pub software: Software,
    pub media: Vec<u8>,
    /// The operation under way, for messages.
    pub what: String,
}

/// How a stream ended.
struct Outcome {
    status: StreamStatus,
    registers: Registers,
}

/// What a chunk of the range holds after a recording.
#[derive(Clone, Copy, PartialEq)]
enum Content {
    New,
    Old,
    /// Hardware and software may differ.
    Either,
}

fn range(first: u64, chunks: u64) -> StreamRange {
    StreamRange {
        first: first * CHUNK,
        last: (first + chunks - 1) * CHUNK,
        chunk_bytes: CHUNK as u32,
        drives: 1,
    }
}

/// Of a stream whose command failed, without the bits that say what was noticed first: the failure,
/// a stop or the end of the stream.
fn of_failure(status: StatusBits) -> Vec<&'static str> {
    let mut names = status.names();
    names.retain(|name| !["early_last", "stopped", "aborted"].contains(name));
    names
}

impl Pair {
    /// Do it with both, and compare.
    pub fn run(&mut self, operation: &Operation) {
        match operation {
            Operation::Record(recording) => self.record(recording),
            Operation::Replay(replaying) => self.replay(replaying),
            Operation::ReadChunk { chunk, bytes } => self.read_chunk(*chunk, *bytes),
            Operation::Ask(request) => self.ask(request),
            Operation::Noise { control, discards } => self.noise(*control, *discards),
            Operation::Reset(reset) => self.reset(*reset),
        }
        let violations = self.core.world().drives[0].far.violations();
        assert_eq!(violations, &[] as &[String], "{}", self.what);
    }

    /// Content of the core's drive.
    pub fn core_content(&mut self) -> Vec<u8> {
        let mut content = vec![0; REGION_BYTES as usize];
        let drive = self.core.world().drives[0].far.drive_mut();
        assert!(drive.read_kept(0, &mut content), "{}", self.what);
        content
    }

    fn arm(&mut self, plan: Plan) {
        self.software.plan.set(plan);
        self.core.world().drives[0].plan.set(plan);
    }

    fn record(&mut self, recording: &Recording) {
        self.arm(recording.plan);
        let range = range(recording.first, recording.chunks);
        let options = RecordOptions {
            flush_after: recording.flush_after,
            min_io_bytes: self.software.extent.min_io_bytes,
            ..RecordOptions::default()
        };
        let what = self.what.clone();
        let record = |streamer: &mut dyn Streamer| {
            let registers = Registers::default();
            let mut source = Source::new(recording);
            let outcome = streamer
                .record(&range, &mut source, &options, &registers)
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            let status = outcome.status;
            Outcome { status, registers }
        };
        let software = record(&mut self.software.streamer());
        let core = record(&mut self.core);
        self.compare_records(recording, &software, &core);
        self.compare_words(map::WRITE_BANK, &software, &core);
        self.compare_content(recording, &software.status, &core.status);
        self.recover(recording.plan);
    }

    fn compare_records(&mut self, recording: &Recording, software: &Outcome, core: &Outcome) {
        let what = &self.what;
        let (s, c) = (&software.status, &core.status);
        let lost = self.core.world().drives[0].plan.get().lost;
        assert_eq!(lost, self.software.plan.get().lost, "{what}");
        let both = format!("{what}\nsoftware {s:?}\ncore {c:?}");
        if s.status.has(StatusBits::DEVICE_ERROR) {
            return compare_failures(lost, core, software, &both);
        }
        let is_stop = s.status.has(StatusBits::STOPPED) || s.status.has(StatusBits::ABORTED);
        let is_full = s.bytes == recording.chunks * CHUNK;
        if is_stop && is_full {
            // The range is full, and the core may have ended before the command.
            assert!(c.status.has(StatusBits::FINISHED) || c.status == s.status, "{both}");
            assert_eq!(c.bytes, s.bytes, "{both}");
            assert!([0, c.bytes].contains(&c.durable_bytes), "{both}");
        } else if is_stop {
            // The core gives up a chunk that is not complete; the software writes it.
            let whole = s.bytes / CHUNK * CHUNK;
            assert_eq!(c.bytes, whole, "{both}");
            let valid = s.status.has(StatusBits::LAST_VALID) && whole > 0;
            let mut names = s.status.names();
            names.retain(|name| valid || *name != "last_valid");
            assert_eq!(c.status.names(), names, "{both}");
            let durable = s.durable_bytes.min(whole);
            if recording.command.is_some_and(|(_, c)| c == ControlBits::ABORT) {
                assert_eq!(c.durable_bytes, durable, "{both}");
            }
        } else {
            assert_eq!(c.status, s.status, "{both}");
            assert_eq!(c.bytes, s.bytes, "{both}");
            assert_eq!(c.last_address_written, s.last_address_written, "{both}");
            assert_eq!(c.source_had_more, s.source_had_more, "{both}");
            let flushed = recording.command.is_some_and(|(_, c)| c == ControlBits::FLUSH_NOW);
            if !flushed || recording.flush_after {
                assert_eq!(c.durable_bytes, s.durable_bytes, "{both}");
            }
        }
        let durable = c.durable_bytes;
        let at_chunk = durable.is_multiple_of(CHUNK) || durable == c.bytes;
        assert!(durable <= c.bytes && at_chunk, "{both}");
    }

    /// The words of the core's registers, of the core's streamer, and of the software.
    fn compare_words(&mut self, bank: u32, software: &Outcome, core: &Outcome) {
        let what = self.what.clone();
        let world = self.core.world();
        let mut read = |at: u32| world.read64(bank + at).expect("a register");
        let bytes = read(register::BYTES.offset());
        let beats = read(register::BEATS.offset());
        let last = read(register::LAST_ADDRESS_WRITTEN.offset());
        let durable = read(register::DURABLE_BYTES.offset());
        let status = world.read32(bank + register::STATUS.offset()).expect("a register");
        let status = StatusBits::from_raw(status);
        let c = &core.status;
        assert_eq!(status, c.status, "{what}: STATUS");
        assert_eq!(bytes, c.bytes, "{what}: BYTES");
        assert_eq!(beats, bytes.div_ceil(BEAT_BYTES), "{what}: BEATS");
        assert_eq!(beats, c.beats, "{what}: BEATS");
        assert_eq!(durable, c.durable_bytes, "{what}: DURABLE_BYTES");
        let is_valid = status.has(StatusBits::LAST_VALID);
        assert_eq!(is_valid.then_some(last), c.last_address_written, "{what}");
        for outcome in [software, core] {
            let (words, end) = (&outcome.registers, &outcome.status);
            assert_eq!(words.status(), end.status, "{what}: STATUS");
            assert_eq!(words.bytes(), end.bytes, "{what}: BYTES");
            assert_eq!(words.durable_bytes(), end.durable_bytes, "{what}");
            assert_eq!(words.last_address_written(), end.last_address_written, "{what}");
        }
    }

    /// What is on both drives; then the software's drive gets the content of the core's.
    fn compare_content(&mut self, recording: &Recording, s: &StreamStatus, c: &StreamStatus) {
        let range = range(recording.first, recording.chunks);
        let stream = super::operation::stream(
            recording.seed,
            recording.bytes.unwrap_or((recording.chunks + 1) * CHUNK),
        );
        let failed = s.status.has(StatusBits::DEVICE_ERROR);
        let lost = recording.plan.loss.filter(|_| failed);
        let bad = recording.plan.bad.filter(|_| failed);
        let expected = |run: u64, chunk: u64| {
            if chunk * CHUNK < run {
                return Content::New;
            }
            let at = (recording.first + chunk) * CHUNK;
            let is_bad = bad.is_some_and(|(_, bad)| bad / CHUNK * CHUNK == at);
            let is_after_loss = lost.is_some_and(|(command, _)| chunk + 1 >= command);
            match failed && !is_bad && !is_after_loss {
                true => Content::Either,
                false => Content::Old,
            }
        };
        let contents = [self.software.content(), self.core_content()];
        for ((content, run), who) in
            contents.iter().zip([s.bytes, c.bytes]).zip(["software", "core"])
        {
            let mut allowed = self.media.clone();
            for chunk in 0..recording.chunks {
                let at = (range.first + chunk * CHUNK) as usize;
                let held = &content[at..][..CHUNK as usize];
                let from = (chunk * CHUNK) as usize;
                let end = (run as usize).clamp(from, from + CHUNK as usize);
                let mut new = self.media[at..][..CHUNK as usize].to_vec();
                let given = match expected(run, chunk) {
                    Content::Old => continue,
                    Content::New => &stream[from..end],
                    Content::Either => {
                        &stream[from.min(stream.len())..stream.len().min(from + CHUNK as usize)]
                    }
                };
                let padded = given.len().next_multiple_of(512);
                new[..padded].fill(0);
                new[..given.len()].copy_from_slice(given);
                if expected(run, chunk) == Content::New || held == new {
                    allowed[at..][..CHUNK as usize].copy_from_slice(&new);
                }
            }
            let wrong = content.iter().zip(&allowed).position(|(a, b)| a != b);
            let wrong = wrong.map(|at| (at as u64 / CHUNK, at as u64 % CHUNK));
            assert_eq!(wrong, None, "{}: {who}: chunk and byte\n{s:?}\n{c:?}", self.what);
        }
        let [software, core] = contents;
        for at in (0..REGION_BYTES as usize).step_by(CHUNK as usize) {
            let chunk = &core[at..][..CHUNK as usize];
            if software[at..][..CHUNK as usize] != *chunk {
                self.software.plan.set(Plan::default());
                self.software.write(at as u64, chunk);
            }
        }
        self.media = core;
    }

    fn replay(&mut self, replaying: &Replaying) {
        self.arm(replaying.plan);
        let range = range(replaying.first, replaying.chunks);
        let options = ReplayOptions {
            min_io_bytes: self.software.extent.min_io_bytes,
            ..ReplayOptions::default()
        };
        let what = self.what.clone();
        let replay = |streamer: &mut dyn Streamer| {
            let registers = Registers::default();
            let stop_at = replaying.stop_at;
            let mut sink = Sink { stop_at, ..Sink::default() };
            let outcome = streamer
                .replay(&range, replaying.bytes, &mut sink, options, &registers)
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            let status = outcome.status;
            assert_eq!(sink.bytes.len() as u64, status.bytes, "{what}: {status:?}");
            (sink.bytes, Outcome { status, registers })
        };
        let (software_bytes, software) = replay(&mut self.software.streamer());
        let (core_bytes, core) = replay(&mut self.core);
        let media = &self.media[range.first as usize..];
        let (s, c) = (&software.status, &core.status);
        let both = format!("{what}\nsoftware {s:?}\ncore {c:?}");
        for bytes in [&software_bytes, &core_bytes] {
            assert!(bytes[..] == media[..bytes.len()], "{both}");
        }
        let lost = self.core.world().drives[0].plan.get().lost;
        assert_eq!(lost, self.software.plan.get().lost, "{both}");
        if s.status.has(StatusBits::DEVICE_ERROR) {
            compare_failures(lost, &core, &software, &both);
        } else {
            assert_eq!(c.status, s.status, "{both}");
            assert_eq!(c.bytes, s.bytes, "{both}");
            assert_eq!(c.last_address_written, s.last_address_written, "{both}");
        }
        if replaying.bytes != Some(0) {
            self.compare_words(map::READ_BANK, &software, &core);
        }
        self.recover(replaying.plan);
    }

    fn read_chunk(&mut self, chunk: u64, bytes: Option<u64>) {
        self.arm(Plan::default());
        let what = self.what.clone();
        let chunk = DriveChunk { drive: 0, address: chunk * CHUNK, chunk_bytes: CHUNK as u32 };
        let options = ReplayOptions {
            min_io_bytes: self.software.extent.min_io_bytes,
            ..ReplayOptions::default()
        };
        let expected = &self.media[chunk.address as usize..][..bytes.unwrap_or(CHUNK) as usize];
        let read = |streamer: &mut dyn Streamer| {
            let (registers, mut sink) = (Registers::default(), Vec::new());
            let outcome = streamer
                .read_chunk(chunk, bytes, &mut sink, options, &registers)
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            assert!(sink == expected, "{what}");
            outcome.status.status
        };
        let software = read(&mut self.software.streamer());
        assert_eq!(read(&mut self.core), software, "{what}");
    }

    fn ask(&mut self, request: &RangeRequest) {
        self.arm(Plan::default());
        let software = self.software.streamer().refusal(request);
        let core = self.core.refusal(request);
        assert_eq!(core, software, "{}", self.what);
        let address = map::WRITE_BANK + map::STATUS;
        let word = self.core.world().read32(address).expect("a register");
        let expected = software.unwrap_or(StatusBits::STOPPED);
        assert_eq!(StatusBits::from_raw(word), expected, "{}", self.what);
    }

    /// All registers of a bank that do not depend on time.
    fn words(&mut self) -> Vec<u32> {
        let banks = [map::WRITE_BANK, map::READ_BANK];
        let addresses = banks.into_iter().flat_map(|bank| (bank..bank + 0xa0).step_by(4));
        let world = self.core.world();
        let read = addresses.map(|at| world.read32(at).expect("a register"));
        read.collect()
    }

    fn noise(&mut self, control: u32, discards: bool) {
        let mut before = self.words();
        for bank in [map::WRITE_BANK, map::READ_BANK] {
            let world = self.core.world();
            world.write32(bank + map::CONTROL, control).expect("a register");
            if discards {
                for bit in [map::FLUSH_CONTROL_START, map::FLUSH_CONTROL_STOP] {
                    let bit = bit.mask() as u32;
                    world.write32(bank + map::FLUSH_CONTROL, bit).expect("a register");
                }
            }
            world.run(100).expect("no rule is broken");
        }
        let mut after = self.words();
        // Discarding has ended once more.
        let status = (register::FLUSH_STATUS.offset() / 4) as usize;
        (before[status], after[status]) = (0, 0);
        assert_eq!(after, before, "{}", self.what);
    }

    fn restart(&mut self, bit: u32) {
        let address = map::drive_bank(0) + drive::CONTROL.offset();
        let world = self.core.world();
        world.write32(address, bit).expect("a register");
        world.run(200).expect("no rule is broken");
    }

    fn reset(&mut self, reset: Reset) {
        match reset {
            Reset::Restart => self.restart(drive::CONTROL_RESTART.mask() as u32),
            Reset::Shutdown => {
                self.restart(drive::CONTROL_SHUTDOWN.mask() as u32);
                let address = map::drive_bank(0) + map::SEQUENCER;
                let is_down = |word: u32| drive::SEQUENCER_DOWN.value_in(u64::from(word)) != 0;
                let world = self.core.world();
                let mut waited = 0;
                while !is_down(world.read32(address).expect("a register")) {
                    world.run(1000).expect("no rule is broken");
                    waited += 1;
                    assert!(waited < 100_000, "{}: no end of the shutdown", self.what);
                }
                self.restart(drive::CONTROL_RESTART.mask() as u32);
            }
            Reset::Link => {
                self.link_down();
                self.core.world().drives[0].now(LinkEvent::Up);
            }
            Reset::Exchange => {
                self.link_down();
                self.core.world().drives[0].replace(REGION_BYTES as usize);
            }
        }
        self.core.world().run(1000).expect("no rule is broken");
        self.core.bring_up().unwrap_or_else(|error| panic!("{}: {error}", self.what));
    }

    fn link_down(&mut self) {
        let world = self.core.world();
        world.drives[0].now(LinkEvent::Down);
        world.run(4000).expect("no rule is broken");
    }

    /// After the faults of an operation: a drive that was lost is back.
    fn recover(&mut self, plan: Plan) {
        let slot = &mut self.core.world().drives[0];
        let was_lost = slot.plan.get().lost;
        slot.disarm();
        self.software.plan.set(Plan::default());
        let Some((_, loss)) = plan.loss.filter(|_| was_lost) else {
            return;
        };
        match loss {
            Loss::LinkDown => slot.now(LinkEvent::Up),
            Loss::NoCompletion | Loss::Wedged(_) => {}
            Loss::Removal | Loss::SilentRegisters => {
                self.link_down();
                self.core.world().drives[0].replace(REGION_BYTES as usize);
            }
        }
        self.core.world().run(1000).expect("no rule is broken");
        self.core.bring_up().unwrap_or_else(|error| panic!("{}: {error}", self.what));
    }
}

/// A failed command ends both before it. When a drive is lost, completions that are under way are
/// lost, too, in hardware.
fn compare_failures(lost: bool, core: &Outcome, software: &Outcome, both: &str) {
    let (s, c) = (&software.status, &core.status);
    let failure = c.failure.as_ref().unwrap_or_else(|| panic!("{both}"));
    assert!(c.status.has(StatusBits::DEVICE_ERROR), "{both}");
    assert_eq!(failure.address, c.first_address + c.bytes, "{both}");
    if lost {
        let is_part = c.bytes <= s.bytes && c.bytes.is_multiple_of(CHUNK);
        assert!(is_part, "{both}");
        assert_eq!(failure.result, EIO, "{both}");
        let bits = StatusBits::DEVICE_ERROR.with_if(c.bytes > 0, StatusBits::LAST_VALID);
        assert_eq!(of_failure(c.status), bits.names(), "{both}");
    } else {
        assert_eq!(c.bytes, s.bytes, "{both}");
        assert_eq!(of_failure(c.status), of_failure(s.status), "{both}");
        assert_eq!(c.failure, s.failure, "{both}");
    }
}
