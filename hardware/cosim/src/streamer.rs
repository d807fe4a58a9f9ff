//! The core as an [`assay_stream::streamer::Streamer`]: sessions by its registers, streams by its
//! stream ports. A stream's time is that of the core: from `START` to the end of the session, by
//! the register `CYCLES`. No cycle passes while a source or a sink works.

mod record;
mod replay;
mod result;
mod sequencer;

use assay_io::MAX_IO_BYTES;
use assay_stream::range::{DriveExtent, RangeRequest, StreamRange};
use assay_stream::record::{RecordOptions, RecordOutcome};
use assay_stream::registers::{ControlBits, Registers, StatusBits};
use assay_stream::replay::{ReplayOptions, ReplayOutcome};
use assay_stream::source::{StreamSink, StreamSource};
use assay_stream::status::StreamError;
use assay_stream::streamer::{DriveChunk, Streamer};

pub use sequencer::reason_text;

use crate::CYCLE_NS;
use crate::config::Configuration;
use crate::map;
use crate::world::{DriveSide, World, WorldError};

/// Cycles between two reads of `STATUS` while nothing else happens.
const POLL_CYCLES: u64 = 1000;

/// 5 s. The sequencer gives up earlier, except where a link never comes up.
const READY_LIMIT_CYCLES: u64 = 5_000_000_000 / CYCLE_NS;

/// Without progress for 60 s, the core must have ended the session by its command timeout.
const SESSION_LIMIT_CYCLES: u64 = 60_000_000_000 / CYCLE_NS;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CoreError {
    #[error(transparent)]
    World(#[from] WorldError),
    /// The register map is not the one of this crate.
    #[error("register {address:#05x} reads {value:#x}, expected {expected:#x}")]
    Map { address: u32, value: u32, expected: u32 },
    #[error("{drive}: bring-up failed in step {step}, reason {reason}: {}", reason_text(*.reason))]
    BringUp {
        drive: String,
        /// Step of the sequencer.
        step: u8,
        /// Code of the sequencer, see [`reason_text`].
        reason: u8,
    },
    #[error("{drive}: bring-up has not ended after {ms} ms; it is in step {step}")]
    NotReady {
        drive: String,
        /// Step of the sequencer.
        step: u8,
        /// Simulated time waited.
        ms: u64,
    },
    #[error("the session made no progress for {ms} ms; STATUS is {status:?}")]
    Stuck {
        /// Simulated time.
        ms: u64,
        status: StatusBits,
    },
    /// The range is for another number of drives or another chunk size.
    #[error(
        "the core has {drives} drives and chunks of {chunk_bytes} bytes; the range is for \
         {wanted_drives} and {wanted_chunk_bytes}"
    )]
    Range { drives: u32, chunk_bytes: u32, wanted_drives: u32, wanted_chunk_bytes: u32 },
}

#[derive(Debug)]
pub struct CoreStreamer<D> {
    world: World<D>,
    names: Vec<String>,
    /// The core was ordered to flush after the recording under way.
    flush_after: bool,
}

impl<D: DriveSide> CoreStreamer<D> {
    /// `names` has a name per drive. Fails unless the registers are those of this crate.
    pub fn new(mut world: World<D>, names: Vec<String>) -> Result<CoreStreamer<D>, CoreError> {
        assert_eq!(world.drives.len(), names.len(), "one name per drive");
        let chunk_bytes = world.configuration().chunk_bytes();
        for bank in [map::WRITE_BANK, map::READ_BANK] {
            for (register, expected) in [
                (map::ID, map::ID_VALUE),
                (map::VERSION, map::VERSION_VALUE),
                (map::CHUNK_BYTES, chunk_bytes),
            ] {
                let address = bank + register;
                let value = world.read32(address)?;
                if value != expected {
                    return Err(CoreError::Map { address, value, expected });
                }
            }
        }
        Ok(CoreStreamer { world, names, flush_after: false })
    }

    pub fn configuration(&self) -> &Configuration {
        self.world.configuration()
    }

    pub fn world(&mut self) -> &mut World<D> {
        &mut self.world
    }

    pub fn into_world(self) -> World<D> {
        self.world
    }

    /// Wait until all drives are ready for I/O. Fails with step and reason of a failed bring-up.
    pub fn bring_up(&mut self) -> Result<(), CoreError> {
        for (drive, name) in self.names.iter().enumerate() {
            let address = map::drive_bank(drive) + map::SEQUENCER;
            let began = self.world.cycle();
            loop {
                let value = self.world.read32(address)?;
                let value = u64::from(value);
                let step = map::SEQUENCER_STEP.value_in(value) as u8;
                if map::SEQUENCER_READY.value_in(value) != 0 {
                    break;
                }
                if map::SEQUENCER_FAILED.value_in(value) != 0 {
                    return Err(CoreError::BringUp {
                        drive: name.clone(),
                        step,
                        reason: map::SEQUENCER_REASON.value_in(value) as u8,
                    });
                }
                let waited = self.world.cycle() - began;
                if waited > READY_LIMIT_CYCLES {
                    return Err(CoreError::NotReady {
                        drive: name.clone(),
                        step,
                        ms: waited * CYCLE_NS / 1_000_000,
                    });
                }
                self.world.run(POLL_CYCLES)?;
            }
        }
        Ok(())
    }

    /// Name, capacity and block size of each drive. Fails with the bring-up.
    pub fn extents(&mut self) -> Result<Vec<DriveExtent>, CoreError> {
        self.bring_up()?;
        let mut extents = Vec::new();
        for (drive, name) in self.names.iter().enumerate() {
            let bank = map::drive_bank(drive);
            extents.push(DriveExtent {
                drive: name.clone(),
                capacity_bytes: self.world.read64(bank + map::MEDIA_BYTES)?,
                min_io_bytes: self.world.read32(bank + map::BLOCK_BYTES)?,
            });
        }
        Ok(extents)
    }

    fn chunk_bytes(&self) -> u64 {
        u64::from(self.world.configuration().chunk_bytes())
    }

    /// Start a recording and, if it is accepted, stop it before its first beat.
    fn ask_refusal(&mut self, request: &RangeRequest) -> Result<Option<StatusBits>, CoreError> {
        let extents = self.extents()?;
        let chunk = self.chunk_bytes();
        assert!(chunk <= u64::from(MAX_IO_BYTES));
        if u64::from(request.chunk_bytes) != chunk {
            return Ok(Some(StatusBits::UNALIGNED));
        }
        let whole = extents.iter().map(|extent| extent.capacity_bytes / chunk);
        let end = whole.min().unwrap_or(0).saturating_sub(1) * chunk;
        let first = request.first.unwrap_or(0);
        // A first address beyond the media is out of range, not after the last.
        let last = request.last.unwrap_or(end.max(first));
        self.start(map::WRITE_BANK, first, last, None)?;
        self.world.run(64)?;
        let status = self.status(map::WRITE_BANK)?;
        if status.has(StatusBits::RUNNING) {
            self.command(map::WRITE_BANK, ControlBits::STOP)?;
            self.await_end(map::WRITE_BANK)?;
        }
        let status = self.status(map::WRITE_BANK)?;
        let bits = [StatusBits::UNALIGNED, StatusBits::FIRST_AFTER_LAST, StatusBits::OUT_OF_RANGE];
        Ok(bits.into_iter().find(|&bit| status.has(bit)))
    }

    fn start(
        &mut self,
        bank: u32,
        first: u64,
        last: u64,
        also: Option<ControlBits>,
    ) -> Result<(), CoreError> {
        let world = &mut self.world;
        world.write64(bank + map::FIRST_ADDRESS, first)?;
        world.write64(bank + map::LAST_ADDRESS, last)?;
        let control = ControlBits::START.to_raw() | also.map_or(0, ControlBits::to_raw);
        world.mark();
        world.write32(bank + map::CONTROL, control)?;
        Ok(())
    }

    fn command(&mut self, bank: u32, control: ControlBits) -> Result<(), CoreError> {
        Ok(self.world.write32(bank + map::CONTROL, control.to_raw())?)
    }

    fn status(&mut self, bank: u32) -> Result<StatusBits, CoreError> {
        let value = self.world.read32(bank + map::STATUS)?;
        Ok(StatusBits::from_raw(value))
    }

    /// Run until the session of a bank has ended.
    fn await_end(&mut self, bank: u32) -> Result<(), CoreError> {
        let began = self.world.cycle();
        loop {
            let status = self.status(bank)?;
            if !status.has(StatusBits::RUNNING) {
                return Ok(());
            }
            let waited = self.world.cycle() - began;
            if waited > SESSION_LIMIT_CYCLES {
                return Err(CoreError::Stuck { ms: waited * CYCLE_NS / 1_000_000, status });
            }
            self.world.run(POLL_CYCLES)?;
        }
    }

    /// Forwards a requested end, and an ABORT behind a STOP. `sent`: the command before.
    fn forward_stop(
        &mut self,
        bank: u32,
        registers: &Registers,
        sent: &mut Option<ControlBits>,
    ) -> Result<(), CoreError> {
        let wanted = stop_bit(registers);
        if !registers.stop_requested() || *sent == Some(wanted) {
            return Ok(());
        }
        *sent = Some(wanted);
        self.command(bank, wanted)
    }

    fn check_range(&self, range: &StreamRange) -> Result<(), CoreError> {
        let configuration = self.world.configuration();
        let (drives, chunk_bytes) = (configuration.drives, configuration.chunk_bytes());
        if (range.drives, range.chunk_bytes) == (drives, chunk_bytes) {
            return Ok(());
        }
        Err(CoreError::Range {
            drives,
            chunk_bytes,
            wanted_drives: range.drives,
            wanted_chunk_bytes: range.chunk_bytes,
        })
    }

    /// Copy progress into the registers of the stream.
    fn mirror(
        &mut self,
        bank: u32,
        range: &StreamRange,
        registers: &Registers,
    ) -> Result<u64, CoreError> {
        let bytes = self.world.read64(bank + map::BYTES)?;
        if bytes > registers.bytes() {
            let chunks = bytes.div_ceil(self.chunk_bytes());
            registers.progress(range.locate(chunks - 1).1, bytes);
        }
        if bank == map::WRITE_BANK {
            registers.durable(self.world.read64(bank + map::DURABLE_BYTES)?);
        }
        Ok(bytes)
    }

    /// Discard the rest of the stream at the core's input, so that the next session starts clean.
    fn discard_rest(&mut self) -> Result<(), CoreError> {
        let address = map::WRITE_BANK + map::FLUSH_CONTROL;
        self.world.source.clear();
        let [start, stop] = [map::FLUSH_CONTROL_START, map::FLUSH_CONTROL_STOP];
        self.world.write32(address, start.mask() as u32)?;
        self.world.run(16)?;
        let what = "the end of the stream's last beat";
        let taken = |world: &World<D>| !world.source.is_busy();
        self.world.run_until(what, 1000, taken)?;
        self.world.run(16)?;
        self.world.write32(address, stop.mask() as u32)?;
        Ok(())
    }

    fn failed(&self, error: CoreError) -> StreamError {
        StreamError::Core { streamer: self.names.join(", "), source: Box::new(error) }
    }
}

/// The bit of `CONTROL` for a requested end.
fn stop_bit(registers: &Registers) -> ControlBits {
    if registers.commanded(ControlBits::ABORT) { ControlBits::ABORT } else { ControlBits::STOP }
}

impl<D: DriveSide> Streamer for CoreStreamer<D> {
    fn name(&self) -> String {
        self.names.join(", ")
    }

    fn refusal(&mut self, request: &RangeRequest) -> Option<StatusBits> {
        // A core that does not answer refuses as one whose drives have no media.
        self.ask_refusal(request).unwrap_or(Some(StatusBits::DEVICE_ERROR))
    }

    fn record(
        &mut self,
        range: &StreamRange,
        source: &mut dyn StreamSource,
        options: &RecordOptions,
        registers: &Registers,
    ) -> Result<RecordOutcome, StreamError> {
        options.check_supported(&self.name(), &[])?;
        self.record_range(range, source, options, registers)
    }

    fn replay(
        &mut self,
        range: &StreamRange,
        bytes: Option<u64>,
        sink: &mut dyn StreamSink,
        _: ReplayOptions,
        registers: &Registers,
    ) -> Result<ReplayOutcome, StreamError> {
        self.replay_range(range, 0, bytes, sink, registers)
    }

    fn read_chunk(
        &mut self,
        chunk: DriveChunk,
        bytes: Option<u64>,
        sink: &mut dyn StreamSink,
        _: ReplayOptions,
        registers: &Registers,
    ) -> Result<ReplayOutcome, StreamError> {
        // The chunks of the drives before it come first, and are not delivered.
        let range = StreamRange {
            first: chunk.address,
            last: chunk.address,
            chunk_bytes: chunk.chunk_bytes,
            drives: self.world.configuration().drives,
        };
        let whole = u64::from(chunk.chunk_bytes);
        let before = chunk.drive as u64 * whole;
        let bytes = before + bytes.map_or(whole, |bytes| bytes.min(whole));
        self.replay_range(&range, before, Some(bytes), sink, registers)
    }
}

#[cfg(test)]
#[path = "../tests/unit/streamer.rs"]
mod tests;
