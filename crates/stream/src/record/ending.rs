//! End of a recording: last checkpoints and the result.

use super::{RecordOutcome, Recorder};
use crate::queue::busy_queue;
use crate::registers::{ControlBits, StatusBits};
use crate::status::{StreamError, StreamStatus};

impl Recorder<'_, '_> {
    /// `status`: how the stream ended; an ABORT that comes before all is complete makes a stopped
    /// stream an aborted one.
    pub(super) fn finish(&mut self, status: StatusBits) -> Result<StatusBits, StreamError> {
        self.pacing.end(self.registers);
        let was_stopped = status.has(StatusBits::STOPPED);
        if was_stopped {
            // A stop must not flush, even if a pause of the source had requested a checkpoint.
            self.checkpoints.cancel_request();
        }
        self.drain()?;
        let status = if was_stopped { self.registers.stop_status() } else { status };
        let stopped = status.has(StatusBits::STOPPED);
        let indexed = self.checkpoints.is_indexed();
        let aborted = self.registers.commanded(ControlBits::ABORT);
        let wants_flush = aborted
            || self.options.flush_after
            || self.registers.commanded(ControlBits::FLUSH_AFTER_WRITE)
            || indexed;
        let flush = wants_flush && !stopped;
        let over = Some(self.bytes_of(self.contiguous_chunks));
        let steps: &[Option<u64>] = match (indexed, flush) {
            (false, _) => &[None],
            // Without a flush in between, a second header would overwrite the only durable one.
            (true, false) => &[over],
            // The header is marked as ended only when everything is durable, and then in both
            // copies.
            (true, true) => &[None, over, over],
        };
        for &stream_bytes in steps {
            let (contiguous_chunks, now) = (self.contiguous_chunks, self.now());
            self.checkpoints.end(self.queues, contiguous_chunks, stream_bytes, flush, now)?;
            self.drain()?;
        }
        Ok(status)
    }

    /// Wait for everything in flight, including the steps of a checkpoint.
    fn drain(&mut self) -> Result<(), StreamError> {
        while let Some(queue) = busy_queue(self.queues) {
            self.collect(queue, 1)?;
        }
        Ok(())
    }

    pub(super) fn outcome(mut self, status: StatusBits, more: Option<bool>) -> RecordOutcome {
        let end = self.now();
        let bytes = self.bytes_of(self.contiguous_chunks);
        let last_chunk = self.contiguous_chunks.checked_sub(1);
        let last = last_chunk.map(|chunk| self.data.locate(chunk).1);
        let status = status.with_if(last.is_some(), StatusBits::LAST_VALID);
        self.registers.set_status(status);
        let slots: u64 = self.queues.iter().map(|queue| queue.slots() as u64).sum();
        let backlog =
            self.pacing.backlog(slots * self.chunk_bytes, bytes, self.buffer_table.as_ref());
        let durable = self.checkpoints.durable();
        RecordOutcome {
            status: StreamStatus {
                status,
                first_address: self.range.first,
                last_address: self.range.last,
                chunk_bytes: self.range.chunk_bytes,
                drives: self.range.drives,
                last_address_written: last,
                bytes,
                beats: bytes.div_ceil(crate::registers::BEAT_BYTES),
                chunks: self.contiguous_chunks,
                durable_bytes: self.bytes_of(durable.min(self.contiguous_chunks)),
                source_had_more: more,
                stalls: self.pacing.stalls,
                backlog,
                elapsed_ns: end.0 - self.began.0,
                failure: self.failure,
            },
            buffer_table: self.buffer_table,
        }
    }
}
