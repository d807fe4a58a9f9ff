use assay_stream::range::StreamRange;
use assay_stream::record::{RecordOptions, RecordOutcome};
use assay_stream::registers::{ControlBits, Registers, StatusBits};
use assay_stream::source::{FillResult, StreamSource};
use assay_stream::status::StreamError;

use super::SESSION_LIMIT_CYCLES;
use super::{CoreError, CoreStreamer, POLL_CYCLES};
use crate::CYCLE_NS;
use crate::map::WRITE_BANK;
use crate::world::{DriveSide, World};

enum Feed {
    /// All of the stream was given, or the range is full.
    All,
    Stop,
    Failed(std::io::Error),
}

impl<D: DriveSide> CoreStreamer<D> {
    pub(super) fn record_range(
        &mut self,
        range: &StreamRange,
        source: &mut dyn StreamSource,
        options: &RecordOptions,
        registers: &Registers,
    ) -> Result<RecordOutcome, StreamError> {
        let begun = self.begin_record(range, options, registers);
        let started_at = begun.map_err(|error| self.failed(error))?;
        let mut given = 0;
        let end = match self.feed(range, source, registers, &mut given) {
            Ok(end) => end,
            Err(error) => return Err(self.failed(error)),
        };
        let ended = self.end_record(range, registers, &end, started_at);
        let mut status = ended.map_err(|error| self.failed(error))?;
        let source_failed =
            |error| StreamError::Source { source_name: source.name(), bytes: given, source: error };
        if let Feed::Failed(error) = end {
            return Err(source_failed(error));
        }
        let full = status.bytes == range.bytes() && status.failure.is_none();
        status.source_had_more = if full && !status.status.has(StatusBits::EARLY_LAST) {
            let wait = options.ask_for_more && !registers.stop_requested();
            match source.has_more(wait, registers) {
                Ok(more) => more,
                Err(error) => {
                    return Err(StreamError::Source {
                        source_name: source.name(),
                        bytes: given,
                        source: error,
                    });
                }
            }
        } else {
            Some(false)
        };
        registers.set_status(status.status);
        Ok(RecordOutcome { status, buffer_table: None })
    }

    /// Returns the cycle of the session's start.
    fn begin_record(
        &mut self,
        range: &StreamRange,
        options: &RecordOptions,
        registers: &Registers,
    ) -> Result<u64, CoreError> {
        self.check_range(range)?;
        self.bring_up()?;
        registers.begin();
        self.world.source.clear();
        let flush = options.flush_after || registers.commanded(ControlBits::FLUSH_AFTER_WRITE);
        self.flush_after = flush;
        let control = flush.then_some(ControlBits::FLUSH_AFTER_WRITE);
        self.start(WRITE_BANK, range.first, range.last, control)?;
        Ok(self.world.cycle())
    }

    /// Give the source's bytes to the core, until one of both has ended.
    fn feed(
        &mut self,
        range: &StreamRange,
        source: &mut dyn StreamSource,
        registers: &Registers,
        given: &mut u64,
    ) -> Result<Feed, CoreError> {
        let chunk = self.chunk_bytes() as usize;
        let mut buffer = vec![0; chunk];
        let mut filled = 0;
        let mut idle = 0;
        loop {
            if !self.status(WRITE_BANK)?.has(StatusBits::RUNNING) {
                return Ok(Feed::All);
            }
            let before = registers.bytes();
            let bytes = self.mirror(WRITE_BANK, range, registers)?;
            if registers.stop_requested() {
                return Ok(Feed::Stop);
            }
            self.forward_flushes(registers)?;
            if *given == range.bytes() {
                return Ok(Feed::All);
            }
            if self.world.source.queued_bytes() >= chunk {
                // The core takes the chunk before.
                idle = if bytes > before { 0 } else { idle };
                let cycle = self.world.cycle();
                self.run_while_queued(chunk)?;
                idle += self.world.cycle() - cycle;
                if idle > SESSION_LIMIT_CYCLES {
                    return Err(CoreError::Stuck {
                        ms: idle * CYCLE_NS / 1_000_000,
                        status: self.status(WRITE_BANK)?,
                    });
                }
                continue;
            }
            idle = 0;
            let rest = chunk - filled;
            match source.fill(&mut buffer[..rest], registers) {
                Ok(FillResult { bytes, last }) => {
                    self.world.source.push(&buffer[..bytes]);
                    *given += bytes as u64;
                    filled = (filled + bytes) % chunk;
                    if last {
                        self.world.source.end();
                        return Ok(Feed::All);
                    }
                    if bytes < rest {
                        self.world.run(POLL_CYCLES)?;
                    }
                }
                Err(error) => {
                    // What the source gave before is written.
                    self.world.source.end();
                    return Ok(Feed::Failed(error));
                }
            }
        }
    }

    /// Forwards flushes that were commanded since the start.
    fn forward_flushes(&mut self, registers: &Registers) -> Result<(), CoreError> {
        if registers.acknowledge(ControlBits::FLUSH_NOW) {
            self.command(WRITE_BANK, ControlBits::FLUSH_NOW)?;
        }
        if !self.flush_after && registers.commanded(ControlBits::FLUSH_AFTER_WRITE) {
            self.flush_after = true;
            self.command(WRITE_BANK, ControlBits::FLUSH_AFTER_WRITE)?;
        }
        Ok(())
    }

    /// Run until less than a chunk is queued, for a poll interval at most.
    fn run_while_queued(&mut self, chunk: usize) -> Result<(), CoreError> {
        let end = self.world.cycle() + POLL_CYCLES;
        while self.world.source.queued_bytes() >= chunk && self.world.cycle() < end {
            self.world.step()?;
        }
        Ok(())
    }

    /// End the session, or wait for its end, and read its result.
    fn end_record(
        &mut self,
        range: &StreamRange,
        registers: &Registers,
        end: &Feed,
        started_at: u64,
    ) -> Result<assay_stream::status::StreamStatus, CoreError> {
        let mut stopped = None;
        if matches!(end, Feed::Stop) || registers.stop_requested() {
            // The stop comes behind the bytes that were given.
            self.take_queued()?;
            self.forward_stop(WRITE_BANK, registers, &mut stopped)?;
        }
        let began = self.world.cycle();
        let mut progress = (0, began);
        loop {
            let status = self.status(WRITE_BANK)?;
            let bytes = self.mirror(WRITE_BANK, range, registers)?;
            if !status.has(StatusBits::RUNNING) {
                break;
            }
            self.forward_stop(WRITE_BANK, registers, &mut stopped)?;
            self.forward_flushes(registers)?;
            if bytes > progress.0 {
                progress = (bytes, self.world.cycle());
            }
            let waited = self.world.cycle() - progress.1;
            if waited > SESSION_LIMIT_CYCLES {
                return Err(CoreError::Stuck { ms: waited * CYCLE_NS / 1_000_000, status });
            }
            self.world.run(POLL_CYCLES)?;
        }
        let waits = self.world.source.take_waits();
        for wait in &waits {
            registers.stalled(wait.cycles * CYCLE_NS);
        }
        let result = self.result(WRITE_BANK, range, &waits, started_at)?;
        let clean = result.status.has(StatusBits::FINISHED) && !self.world.source.is_busy();
        if !clean {
            self.discard_rest()?;
        }
        self.world.source.clear();
        Ok(result)
    }

    /// Run until the core has written all that was given to memory, or has ended the session.
    fn take_queued(&mut self) -> Result<(), CoreError> {
        loop {
            let end = self.world.cycle() + POLL_CYCLES;
            while !self.world.source.is_drained() && self.world.cycle() < end {
                self.world.step()?;
            }
            if !self.status(WRITE_BANK)?.has(StatusBits::RUNNING) {
                return Ok(());
            }
            if self.world.source.is_drained() {
                break;
            }
        }
        // Beats in the core's register slices leave while the write channel is busy.
        let mut quiet = 0;
        let writes = |world: &World<D>| world.outputs().mem_w_valid != 0;
        for _ in 0..4 * POLL_CYCLES {
            quiet = if writes(&self.world) { 0 } else { quiet + 1 };
            if quiet >= 16 {
                break;
            }
            self.world.step()?;
        }
        Ok(())
    }
}
