//! What decides when an I/O of a worker is issued, besides a free slot: a rate, pauses, the flow of
//! other workers, flushes between the I/Os, a search for the depth.

use assay_io::Io;
use assay_units::{Nanos, Op};

use super::thinking::Pause;
use super::{NextIssue, Worker};

pub(super) enum Turn {
    /// When the I/O is intended to start.
    Now(Nanos),
    /// A flush took the slot.
    Flushed,
    Wait(NextIssue),
}

impl Worker {
    /// A free slot is all that an I/O waits for.
    #[inline]
    pub(super) fn issues_freely(&self) -> bool {
        self.depth_search.is_none()
            && self.flush.is_none()
            && self.think.is_none()
            && self.flow.is_none()
            && !self.arrivals.is_paced()
    }

    /// Whether the next I/O is due and may be issued now.
    pub(super) fn turn(&mut self, now: Nanos, batch: &mut Vec<Io>) -> Turn {
        if let Some(search) = &self.depth_search
            && !search.may_issue(self.in_flight())
        {
            return Turn::Wait(NextIssue::Completion);
        }
        if self.flushes(now, batch) {
            return Turn::Flushed;
        }
        let is_idle = self.is_idle();
        if let Some(thinking) = &mut self.think
            && let Some(pause) = thinking.pause(now, is_idle)
        {
            return Turn::Wait(match pause {
                Pause::Completion => NextIssue::Completion,
                Pause::Until(until) => self.wait_until(until),
            });
        }
        let mut intended = now;
        if self.arrivals.is_paced() {
            let due = self.start + self.arrivals.next_due();
            if due > now {
                return Turn::Wait(self.wait_until(due));
            }
            if self.open_loop {
                intended = due;
            }
        }
        // An I/O that waits for another has its turn already.
        if self.held.is_none()
            && let Some(flow) = &mut self.flow
            && let Err(pause) = flow.take()
        {
            return Turn::Wait(NextIssue::Due((now + pause).min(self.deadline)));
        }
        Turn::Now(intended)
    }

    /// The I/O was issued: the next one's rate, flush and pause count from it.
    pub(super) fn took_turn(&mut self, op: Op) {
        if self.arrivals.is_paced() {
            self.arrivals.advance();
        }
        if let Some(flush) = &mut self.flush {
            flush.issued(op);
        }
        if let Some(thinking) = &mut self.think {
            thinking.issued();
        }
    }
}
