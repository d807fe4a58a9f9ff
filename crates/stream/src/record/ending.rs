//! The end of a recording: the last checkpoints, and what came of it.

use super::{Recorded, Recorder};
use crate::registers::{Control, StatusBits};
use crate::status::{Status, StreamError};

impl Recorder<'_, '_> {
    /// Everything in flight ends, the index is completed, and the drive is flushed if that was asked for.
    pub(super) fn finish(&mut self, stopped: bool) -> Result<(), StreamError> {
        self.pacing.end(self.registers);
        if stopped {
            // What a pause of the source asked for would flush the chunk that the stop hands over.
            self.checkpoints.forget_demand();
        }
        self.drain()?;
        let indexed = self.checkpoints.is_indexed();
        let aborted = self.registers.commanded(Control::ABORT);
        let wants_flush = aborted
            || self.options.flush_after
            || self.registers.commanded(Control::FLUSH_AFTER_WRITE)
            || indexed;
        let flush = wants_flush && !stopped;
        let over = Some(self.bytes_of(self.frontier));
        let steps: &[Option<u64>] = match (indexed, flush) {
            (false, _) => &[None],
            // Without a flush in between, a second header would be written over the only one that is durable.
            (true, false) => &[over],
            // Only with everything durable is the recording said to have ended, and then in both copies of the header.
            (true, true) => &[None, over, over],
        };
        for &stream_bytes in steps {
            let (frontier, now) = (self.frontier, self.now());
            self.checkpoints
                .end(self.lanes, frontier, stream_bytes, flush, now)?;
            self.drain()?;
        }
        Ok(())
    }

    /// Wait for everything in flight, including what a checkpoint does step by step.
    fn drain(&mut self) -> Result<(), StreamError> {
        while let Some(lane) = (0..self.lanes.len()).find(|&lane| self.lanes[lane].in_flight() > 0)
        {
            self.collect(lane, 1)?;
        }
        Ok(())
    }

    pub(super) fn outcome(mut self, status: StatusBits, more: Option<bool>) -> Recorded {
        let end = self.now();
        let bytes = self.bytes_of(self.frontier);
        let last = self
            .frontier
            .checked_sub(1)
            .map(|chunk| self.places.place(chunk).1);
        let valid = if last.is_some() {
            StatusBits::LAST_VALID
        } else {
            StatusBits::default()
        };
        let status = status.with(valid);
        self.registers.set_status(status);
        let slots: u64 = self.lanes.iter().map(|lane| lane.slots() as u64).sum();
        let backlog = self
            .pacing
            .backlog(slots * self.chunk_bytes, self.headroom.as_ref());
        let durable = self.checkpoints.durable();
        Recorded {
            status: Status {
                status,
                first_address: self.range.first,
                last_address: self.range.last,
                chunk_bytes: self.range.chunk_bytes,
                lanes: self.range.lanes,
                last_address_written: last,
                bytes,
                beats: bytes.div_ceil(crate::registers::BEAT_BYTES),
                chunks: self.frontier,
                durable_bytes: self.bytes_of(durable.min(self.frontier)),
                source_had_more: more,
                stalls: self.pacing.stalls,
                backlog,
                elapsed_ns: end.0.saturating_sub(self.began.0),
                failure: self.failure,
            },
            headroom: self.headroom,
        }
    }
}
