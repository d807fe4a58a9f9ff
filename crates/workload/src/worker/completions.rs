//! What a worker does with the completion of an I/O.

use assay_io::page_cache::ReadSource;
use assay_io::{Completion, Target};
use assay_stats::Recorder;
use assay_units::{Nanos, Op};

use super::depth_search::SearchStep;
use super::{Pending, Worker};

impl Worker {
    /// Process a completion seen at `now`; returns whether it moved its bytes.
    #[inline]
    pub fn complete<T: Target>(
        &mut self,
        completion: Completion,
        now: Nanos,
        target: &mut T,
        recorder: &mut Recorder,
    ) -> bool {
        let local = completion.slot - self.first_slot;
        let pending = self.pending[local as usize];
        self.free.push(local);
        if self.serializes_overlap {
            self.pending[local as usize] = Pending::NONE;
        }
        if let Some(thinking) = &mut self.think {
            thinking.completed(now);
        }
        let in_flight = self.in_flight();
        if let Some(search) = &mut self.depth_search
            && !pending.read_back
        {
            let step = search.completed(now - pending.intended, in_flight, now);
            if step == SearchStep::Measure {
                recorder.end_ramp(now);
            }
        }
        if !pending.read_back {
            self.access.completed(&pending);
        }
        let moved = completion.moved(pending.len_bytes);
        let op = pending.op;
        if !pending.read_back {
            if moved {
                let (latency, service) = (now - pending.intended, now - pending.submitted);
                recorder.record(op, pending.len_bytes, latency, service);
                if let Some(trace) = &mut self.trace {
                    let done = now - self.start;
                    trace.completed(local, (op, pending.len_bytes), (latency, service), done);
                }
                if op == Op::Write
                    && let Some(coverage) = &mut self.coverage
                {
                    coverage.note(pending.offset_bytes, pending.len_bytes);
                }
            } else {
                recorder.record_error(op, completion.result);
                if let Some(trace) = &mut self.trace {
                    trace.failed(local, op, completion.result, now - self.start);
                }
            }
        }
        if let Some(checker) = &mut self.checker {
            if op == Op::Write {
                checker.finish_write(pending.offset_bytes, pending.len_bytes, moved);
            } else if op == Op::Read {
                let buffer = moved
                    .then(|| target.buffer(completion.slot))
                    .flatten()
                    .map(|buffer| &buffer[..pending.len_bytes as usize]);
                let source = match pending.read_back {
                    true => self.read_back_source,
                    false => self.read_source,
                };
                let is_proof = source == ReadSource::Drive;
                checker.finish_read(pending.offset_bytes, pending.len_bytes, buffer, is_proof);
            }
        }
        moved
    }
}
