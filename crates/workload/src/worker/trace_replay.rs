use std::sync::Arc;

use assay_io::{Io, Target};
use assay_stats::{Histogram, OpInterval};
use assay_trace::TraceError;
use assay_trace::replay::{ReplayCounts, ReplayFeed, ReplayPlan};
use assay_units::{Nanos, Op};

use super::{NextIssue, Pending, Worker};

/// A thread that waits for a due time wakes up microseconds after it.
pub const LATE: Nanos = Nanos::MILLISECOND;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TracePhase {
    /// First due time (of a closed loop: first submission), since the start of the replay.
    pub start: Nanos,
    pub end: Nanos,
    pub ops: Vec<(Op, OpInterval)>,
}

impl TracePhase {
    fn op(&mut self, op: Op, keep_service: bool) -> &mut OpInterval {
        let at = self.ops.iter().position(|(known, _)| *known == op);
        let at = at.unwrap_or_else(|| {
            let counts =
                OpInterval { service: keep_service.then(Histogram::new), ..OpInterval::default() };
            self.ops.push((op, counts));
            self.ops.len() - 1
        });
        &mut self.ops[at].1
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct TraceOutcome {
    pub plan: Arc<ReplayPlan>,
    /// How requests became I/Os; exact when the whole trace was replayed.
    pub counts: ReplayCounts,
    pub is_whole: bool,
    /// The times of the phases are since then.
    pub start: Nanos,
    pub ios: u64,
    pub late_ios: u64,
    pub longest_lag: Nanos,
    pub lag_sum: Nanos,
    pub phases: Vec<TracePhase>,
}

#[derive(Debug)]
pub(super) struct TraceReplay {
    feed: ReplayFeed,
    is_timed: bool,
    slots: Vec<u32>,
    outcome: TraceOutcome,
}

impl TraceReplay {
    fn phase(&mut self, slot: u32) -> &mut TracePhase {
        &mut self.outcome.phases[self.slots[slot as usize] as usize]
    }

    fn submitted(&mut self, slot: u32, phase: u32, begin: Nanos, lag: Nanos) {
        self.slots[slot as usize] = phase;
        let outcome = &mut self.outcome;
        outcome.ios += 1;
        outcome.late_ios += u64::from(lag > LATE);
        outcome.longest_lag = outcome.longest_lag.max(lag);
        outcome.lag_sum += lag;
        while outcome.phases.len() <= phase as usize {
            outcome.phases.push(TracePhase { start: begin, end: begin, ops: Vec::new() });
        }
    }

    /// Count a completion; `done` since the start of the job.
    pub(super) fn completed(
        &mut self,
        slot: u32,
        (op, len_bytes): (Op, u32),
        (latency, service): (Nanos, Nanos),
        done: Nanos,
    ) {
        let is_timed = self.is_timed;
        let phase = self.phase(slot);
        phase.end = phase.end.max(done);
        let counts = phase.op(op, is_timed);
        counts.ios += 1;
        counts.bytes += u64::from(len_bytes);
        counts.latency.record(latency);
        if let Some(histogram) = &mut counts.service {
            histogram.record(service);
        }
    }

    #[cold]
    pub(super) fn failed(&mut self, slot: u32, op: Op, result: i32, done: Nanos) {
        let is_timed = self.is_timed;
        let phase = self.phase(slot);
        phase.end = phase.end.max(done);
        let counts = phase.op(op, is_timed);
        counts.errors += 1;
        counts.causes.count(result);
    }
}

impl Worker {
    /// The same worker, which replays a trace. The feed is begun before the start of the job.
    #[must_use]
    pub fn with_trace(
        mut self,
        replay: Option<(Arc<ReplayPlan>, ReplayFeed)>,
        start_delay: Nanos,
    ) -> Worker {
        let slots = self.pending.len();
        self.trace = replay.map(|(plan, feed)| TraceReplay {
            feed,
            is_timed: plan.is_timed(),
            slots: vec![0; slots],
            outcome: TraceOutcome {
                plan,
                counts: ReplayCounts::default(),
                is_whole: false,
                start: start_delay,
                ios: 0,
                late_ios: 0,
                longest_lag: Nanos::ZERO,
                lag_sum: Nanos::ZERO,
                phases: Vec::new(),
            },
        });
        self
    }

    pub fn trace_outcome(&mut self) -> Result<Option<TraceOutcome>, TraceError> {
        let Some(trace) = &mut self.trace else {
            return Ok(None);
        };
        if let Some(error) = trace.feed.error() {
            return Err(error);
        }
        trace.outcome.counts = trace.feed.counts();
        for phase in &mut trace.outcome.phases {
            phase.ops.sort_by_key(|(op, _)| *op);
        }
        Ok(Some(trace.outcome.clone()))
    }

    pub(super) fn issue_trace<T: Target>(
        &mut self,
        now: Nanos,
        target: &mut T,
        batch: &mut Vec<Io>,
    ) -> NextIssue {
        while let Some(&slot) = self.free.last() {
            let Some(trace) = &mut self.trace else { break };
            let Some(io) = trace.feed.peek() else {
                trace.outcome.is_whole = true;
                self.end_main();
                break;
            };
            let mut intended = now;
            if trace.is_timed {
                intended = self.start + io.due;
                if intended >= self.deadline {
                    self.end_main();
                    break;
                }
                if intended > now {
                    return NextIssue::Due(intended);
                }
            }
            trace.feed.advance();
            trace.submitted(slot, io.phase, intended - self.start, now - intended);
            self.free.pop();
            let pending = Pending {
                intended,
                submitted: now,
                offset_bytes: io.offset_bytes,
                len_bytes: io.len_bytes,
                op: io.op,
                fua: io.fua || (self.fua && io.op == Op::Write),
                read_back: false,
            };
            self.push(pending, slot, batch);
            if io.op == Op::Write {
                self.fill(target, slot, io.offset_bytes, io.len_bytes);
            }
            self.bytes_left = self.bytes_left.saturating_sub(u64::from(io.len_bytes));
            self.ios_left -= 1;
            if self.bytes_left == 0 || self.ios_left == 0 {
                self.end_main();
                break;
            }
        }
        NextIssue::Completion
    }
}
