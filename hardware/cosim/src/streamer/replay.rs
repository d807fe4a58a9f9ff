use assay_stream::range::StreamRange;
use assay_stream::registers::{Registers, StatusBits};
use assay_stream::replay::ReplayOutcome;
use assay_stream::source::StreamSink;
use assay_stream::status::{StreamError, StreamStatus};

use super::{CoreError, CoreStreamer, POLL_CYCLES, SESSION_LIMIT_CYCLES, stop_bit};
use crate::CYCLE_NS;
use crate::map::{self, READ_BANK};
use crate::world::{DriveSide, World};

/// Bytes of the stream that reach the sink.
struct Delivery<'s> {
    sink: &'s mut dyn StreamSink,
    /// Bytes before the others, which are not delivered.
    skip: u64,
    delivered: u64,
    failed: Option<std::io::Error>,
}

impl Delivery<'_> {
    fn put(&mut self, mut bytes: &[u8], registers: &Registers) {
        let skipped = self.skip.min(bytes.len() as u64);
        self.skip -= skipped;
        bytes = &bytes[skipped as usize..];
        if bytes.is_empty() || self.failed.is_some() {
            return;
        }
        match self.sink.put(bytes, registers) {
            Ok(()) => self.delivered += bytes.len() as u64,
            Err(error) => self.failed = Some(error),
        }
    }
}

impl<D: DriveSide> CoreStreamer<D> {
    /// Replay the first `bytes` of a range without the first `skip`, which are whole chunks.
    pub(super) fn replay_range(
        &mut self,
        range: &StreamRange,
        skip: u64,
        bytes: Option<u64>,
        sink: &mut dyn StreamSink,
        registers: &Registers,
    ) -> Result<ReplayOutcome, StreamError> {
        let mut delivery = Delivery { sink, skip, delivered: 0, failed: None };
        let bytes = bytes.map_or(range.bytes(), |bytes| bytes.min(range.bytes()));
        let run = self.run_replay(range, bytes, &mut delivery, registers);
        let Delivery { delivered, failed, .. } = delivery;
        let mut status = run.map_err(|error| self.failed(error))?;
        if let Some(error) = failed {
            return Err(StreamError::Sink {
                sink_name: sink.name(),
                bytes: delivered,
                source: error,
            });
        }
        status.bytes = delivered;
        status.beats = delivered.div_ceil(assay_stream::registers::BEAT_BYTES);
        status.chunks = delivered.div_ceil(self.chunk_bytes());
        registers.set_status(status.status);
        Ok(ReplayOutcome { status, ..ReplayOutcome::default() })
    }

    fn run_replay(
        &mut self,
        range: &StreamRange,
        bytes: u64,
        delivery: &mut Delivery<'_>,
        registers: &Registers,
    ) -> Result<StreamStatus, CoreError> {
        self.check_range(range)?;
        self.bring_up()?;
        registers.begin();
        if bytes == 0 {
            // The register's 0 means the whole range.
            return Ok(StreamStatus {
                status: StatusBits::FINISHED,
                first_address: range.first,
                last_address: range.last,
                chunk_bytes: range.chunk_bytes,
                drives: range.drives,
                ..StreamStatus::default()
            });
        }
        self.world.sink.clear();
        self.world.sink.set_open(true);
        let length = if bytes == range.bytes() { 0 } else { bytes };
        self.world.write64(READ_BANK + map::LENGTH, length)?;
        self.start(READ_BANK, range.first, range.last, None)?;
        let started_at = self.world.cycle();
        self.deliver(range, bytes, delivery, registers)?;
        // The sink accepts what the core still sends unrequested; it is discarded below.
        self.world.sink.set_open(true);
        self.await_end(READ_BANK)?;
        self.world.run(16)?;
        self.world.sink.clear();
        let result = self.result(READ_BANK, range, &[], started_at)?;
        Ok(result)
    }

    /// Pass chunks to the sink until all are delivered, the session ends, or it is stopped.
    fn deliver(
        &mut self,
        range: &StreamRange,
        bytes: u64,
        delivery: &mut Delivery<'_>,
        registers: &Registers,
    ) -> Result<(), CoreError> {
        let chunk = self.chunk_bytes();
        let mut taken = 0;
        let mut progress_at = self.world.cycle();
        while taken < bytes {
            if registers.stop_requested() || delivery.failed.is_some() {
                self.world.sink.set_open(false);
                self.command(READ_BANK, stop_bit(registers))?;
                return Ok(());
            }
            let wanted = chunk.min(bytes - taken) as usize;
            self.run_until_delivered(wanted)?;
            if self.world.sink.bytes().len() >= wanted {
                delivery.put(&self.world.sink.bytes()[..wanted], registers);
                self.world.sink.remove(wanted);
                taken += wanted as u64;
                if delivery.delivered > 0 {
                    let chunks = taken.div_ceil(chunk);
                    registers.progress(range.locate(chunks - 1).1, delivery.delivered);
                }
                progress_at = self.world.cycle();
                continue;
            }
            let status = self.status(READ_BANK)?;
            if !status.has(StatusBits::RUNNING) && self.world.sink.bytes().len() < wanted {
                return Ok(());
            }
            let waited = self.world.cycle() - progress_at;
            if waited > SESSION_LIMIT_CYCLES {
                return Err(CoreError::Stuck { ms: waited * CYCLE_NS / 1_000_000, status });
            }
        }
        Ok(())
    }

    /// Run until this many bytes are there, for eight poll intervals at most.
    fn run_until_delivered(&mut self, bytes: usize) -> Result<(), CoreError> {
        let end = self.world.cycle() + 8 * POLL_CYCLES;
        let there = |world: &World<D>| world.sink.bytes().len() >= bytes;
        while !there(&self.world) && self.world.cycle() < end {
            self.world.step()?;
        }
        Ok(())
    }
}
