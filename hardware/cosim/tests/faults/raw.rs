//! The core by its registers and ports, without the streamer.

use assay_cosim::map::{READ_BANK, WRITE_BANK, drive_bank};
use assay_cosim::pcie_drive::{LinkEvent, unlimited_profile};
use assay_cosim::streamer::CoreStreamer;
use assay_cosim::world::World;
use assay_integrity::pattern::Pattern;
use assay_ssd::DriveOptions;
use assay_stream::registers::map::{drive, stream};
use assay_stream::registers::{ControlBits, Register, RegisterField, StatusBits};
use assay_units::Rng;

use crate::common::slot::{Loss, Slot};
use crate::common::{Rough, slot_core};

pub const CHUNK: u64 = 16 << 10;

/// Cycles between two looks at a register.
const POLL: u64 = 500;

/// Content of the drive that is kept when it is replaced.
const KEPT_BYTES: usize = 2 << 20;

pub struct Raw {
    core: CoreStreamer<Slot>,
    chunk: u64,
    drives: u64,
    seed: u64,
}

/// The bytes of a stream.
pub fn stream(seed: u64, bytes: u64) -> Vec<u8> {
    let mut stream = vec![0; bytes as usize];
    Rng::new(seed).fill(&mut stream);
    stream
}

impl Raw {
    /// A core after bring-up, or `None` if its model is not built.
    pub fn new(name: &str, timeout_us: u32) -> Option<Raw> {
        Raw::within(name, timeout_us, &Rough::default())
    }

    pub fn within(name: &str, timeout_us: u32, rough: &Rough) -> Option<Raw> {
        let options = DriveOptions { keep_data: true, ..DriveOptions::default() };
        let mut core = slot_core(name, unlimited_profile(), rough, &options)?;
        core.bring_up().expect("the drives are ready");
        let configuration = core.configuration();
        let (chunk, drives) = (configuration.chunk_bytes(), configuration.drives);
        let mut raw = Raw { core, chunk: u64::from(chunk), drives: u64::from(drives), seed: 1000 };
        for drive in 0..drives as usize {
            raw.set_timeout(drive, timeout_us);
        }
        Some(raw)
    }

    pub fn set_timeout(&mut self, drive: usize, timeout_us: u32) {
        self.write32(drive_bank(drive), drive::COMMAND_TIMEOUT, timeout_us);
    }

    pub fn world(&mut self) -> &mut World<Slot> {
        self.core.world()
    }

    pub fn cycle(&mut self) -> u64 {
        self.core.world().cycle()
    }

    pub fn slot(&mut self) -> &mut Slot {
        self.slot_of(0)
    }

    pub fn slot_of(&mut self, drive: usize) -> &mut Slot {
        &mut self.core.world().drives[drive]
    }

    pub fn run(&mut self, cycles: u64) {
        self.core.world().run(cycles).expect("no rule is broken");
    }

    pub fn bank(&self, is_replay: bool) -> u32 {
        if is_replay { READ_BANK } else { WRITE_BANK }
    }

    pub fn read32(&mut self, bank: u32, register: Register) -> u32 {
        let at = bank + register.offset();
        self.core.world().read32(at).expect("a register")
    }

    pub fn read64(&mut self, bank: u32, register: Register) -> u64 {
        let at = bank + register.offset();
        self.core.world().read64(at).expect("a register")
    }

    pub fn write32(&mut self, bank: u32, register: Register, value: u32) {
        let at = bank + register.offset();
        self.core.world().write32(at, value).expect("a register");
    }

    pub fn write64(&mut self, bank: u32, register: Register, value: u64) {
        let at = bank + register.offset();
        self.core.world().write64(at, value).expect("a register");
    }

    pub fn drive32(&mut self, register: Register) -> u32 {
        self.read32(drive_bank(0), register)
    }

    pub fn drive_control(&mut self, bit: RegisterField) {
        self.write32(drive_bank(0), drive::CONTROL, bit.mask() as u32);
        self.run(200);
    }

    pub fn status(&mut self, is_replay: bool) -> StatusBits {
        let bank = self.bank(is_replay);
        StatusBits::from_raw(self.read32(bank, stream::STATUS))
    }

    /// Offer bytes to the core.
    pub fn source(&mut self, bytes: &[u8], last: bool) {
        let source = &mut self.core.world().source;
        source.push(bytes);
        if last {
            source.end();
        }
    }

    pub fn source_bytes(&mut self) -> usize {
        self.core.world().source.queued_bytes()
    }

    /// Start a session of chunks of each drive; a recording gets its whole stream.
    pub fn start(&mut self, is_replay: bool, first: u64, chunks: u64, seed: u64) {
        if is_replay {
            self.core.world().sink.clear();
        } else {
            let bytes = chunks * self.chunk * self.drives;
            self.source(&stream(seed, bytes), false);
        }
        self.command(is_replay, first, chunks, ControlBits::START.to_raw());
    }

    fn command(&mut self, is_replay: bool, first: u64, chunks: u64, control: u32) {
        let bank = self.bank(is_replay);
        self.write64(bank, stream::FIRST_ADDRESS, first * self.chunk);
        let last = (first + chunks - 1) * self.chunk;
        self.write64(bank, stream::LAST_ADDRESS, last);
        self.write32(bank, stream::CONTROL, control);
    }

    pub fn start_pattern(&mut self, is_replay: bool, first: u64, chunks: u64) {
        let control = ControlBits::START.to_raw() | ControlBits::PATTERN.to_raw();
        self.command(is_replay, first, chunks, control);
    }

    /// Both banks begin with this pattern.
    pub fn load_pattern(&mut self, pattern: Pattern) {
        let beat = pattern.beat(0);
        for bank in [WRITE_BANK, READ_BANK] {
            self.write64(bank, stream::PATTERN_SEED, beat as u64);
            self.write64(bank, stream::PATTERN_SEED_HIGH, (beat >> 64) as u64);
        }
    }

    pub fn await_end(&mut self, is_replay: bool) {
        for _ in 0..100_000 {
            if !self.status(is_replay).has(StatusBits::RUNNING) {
                return self.run(100);
            }
            self.run(POLL);
        }
        panic!("the session does not end: {:?}", self.status(is_replay));
    }

    /// A session from its start to its end; what is left of its stream is dropped.
    pub fn session(&mut self, is_replay: bool, first: u64, chunks: u64, seed: u64) {
        self.start(is_replay, first, chunks, seed);
        self.await_end(is_replay);
        if !is_replay {
            self.drop_stream();
        }
    }

    pub fn drop_stream(&mut self) {
        let start = stream::FLUSH_CONTROL_START.mask() as u32;
        let stop = stream::FLUSH_CONTROL_STOP.mask() as u32;
        self.write32(WRITE_BANK, stream::FLUSH_CONTROL, start);
        while self.core.world().source.is_busy() {
            self.run(10);
        }
        self.run(16);
        self.write32(WRITE_BANK, stream::FLUSH_CONTROL, stop);
    }

    /// Record, without a fault.
    pub fn fill(&mut self, chunks: u64, seed: u64) {
        self.session(false, 0, chunks, seed);
        let status = self.status(false);
        assert!(status.has(StatusBits::FINISHED), "{status:?}");
    }

    /// Bytes that the core gave.
    pub fn taken(&mut self) -> Vec<u8> {
        self.core.world().sink.bytes().to_vec()
    }

    /// The first bytes on the drive.
    pub fn content(&mut self, bytes: u64) -> Vec<u8> {
        let mut content = vec![0; bytes as usize];
        let drive = self.slot().far.drive_mut();
        assert!(drive.read_kept(0, &mut content));
        content
    }

    /// Change a byte on the drive; what it was.
    pub fn flip(&mut self, at: u64) -> u8 {
        let mut byte = [0];
        assert!(self.slot().far.drive_mut().read_kept(at, &mut byte));
        self.put(at, byte[0] ^ 0x40);
        byte[0]
    }

    pub fn put(&mut self, at: u64, byte: u8) {
        assert!(self.slot().far.drive_mut().write_kept(at, &[byte]));
    }

    pub fn await_sequencer(&mut self, bit: RegisterField) {
        for _ in 0..100_000 {
            if bit.value_in(u64::from(self.drive32(drive::SEQUENCER))) != 0 {
                return;
            }
            self.run(POLL);
        }
        panic!("SEQUENCER {:#x}", self.drive32(drive::SEQUENCER));
    }

    /// Recording and replay without a fault.
    pub fn check_next(&mut self, what: &str) {
        self.core.bring_up().unwrap_or_else(|error| panic!("{what}: {error}"));
        self.drop_stream();
        self.seed += 1;
        let (seed, chunks) = (self.seed, 20);
        for is_replay in [false, true] {
            self.session(is_replay, 0, chunks, seed);
            let status = self.status(is_replay);
            let expected = StatusBits::FINISHED.with(StatusBits::LAST_VALID);
            assert_eq!(status, expected, "next session after {what}");
        }
        let expected = stream(seed, chunks * self.chunk * self.drives);
        assert!(self.taken() == expected, "next session after {what}");
        let violations = self.slot().far.violations();
        assert_eq!(violations, &[] as &[String], "{what}");
    }

    /// The sequencer of a drive that was lost: it does not find it again.
    pub fn check_lost(&mut self, loss: Loss, what: &str) {
        let link = drive::LINK_UP.value_in(u64::from(self.drive32(drive::LINK)));
        assert_eq!(link, u64::from(loss != Loss::LinkDown), "{what}: LINK");
        if loss != Loss::NoCompletion {
            self.run(100_000);
            let word = u64::from(self.drive32(drive::SEQUENCER));
            let ready = drive::SEQUENCER_READY.value_in(word);
            assert_eq!(ready, 0, "{what}: SEQUENCER {word:#x}");
        }
    }

    /// The drive is back.
    pub fn recover(&mut self, loss: Loss) {
        self.slot().disarm();
        match loss {
            Loss::LinkDown => self.slot().now(LinkEvent::Up),
            Loss::NoCompletion | Loss::Wedged(_) => {}
            Loss::Removal | Loss::SilentRegisters => {
                self.slot().now(LinkEvent::Down);
                self.run(4000);
                self.slot().replace(KEPT_BYTES);
            }
        }
        self.run(1000);
    }
}
