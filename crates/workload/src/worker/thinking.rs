//! Pauses of a worker between groups of I/Os, as `handle_thinktime` of fio 3.33.
//!
//! Completions make a group, so that up to the depth in I/Os more are issued before a pause; those
//! that complete while it is waited for belong to the next group, which begins with one I/O at
//! least. Groups of what is issued are exact.

use assay_units::Nanos;

use crate::plan::Think;

#[derive(Clone, Copy, Debug)]
pub(super) struct Thinking {
    think: Think,
    /// I/Os that have completed, or been issued, and of them those before the last pause was due.
    completions: u64,
    counted: u64,
    has_issued: bool,
    /// A pause is due, since so many had completed.
    due_at: Option<u64>,
    /// When the next pause begins at the latest.
    active_until: Option<Nanos>,
    /// End of the pause; unknown while I/Os are in flight.
    until: Option<Nanos>,
    completed: Nanos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pause {
    Completion,
    Until(Nanos),
}

impl Thinking {
    pub(super) fn new(think: Think, start: Nanos) -> Thinking {
        Thinking {
            think,
            completions: 0,
            counted: 0,
            has_issued: false,
            due_at: None,
            active_until: think.active.map(|active| start + active),
            until: None,
            completed: start,
        }
    }

    #[inline]
    pub(super) fn issued(&mut self) {
        self.has_issued = true;
        self.completions += u64::from(self.think.by_issue);
    }

    #[inline]
    pub(super) fn completed(&mut self, now: Nanos) {
        self.completions += u64::from(!self.think.by_issue);
        self.completed = now;
    }

    fn is_due(&self, now: Nanos) -> bool {
        let group = self.think.ios.map(|ios| u64::from(ios.get()));
        let by_ios = group.is_some_and(|ios| self.completions >= self.counted + ios);
        let by_time = self.active_until.is_some_and(|end| now >= end);
        self.has_issued && (by_ios || by_time)
    }

    /// What the next I/O waits for because of a pause, if it does.
    pub(super) fn pause(&mut self, now: Nanos, is_idle: bool) -> Option<Pause> {
        if self.due_at.is_none() {
            if !self.is_due(now) {
                return None;
            }
            self.due_at = Some(self.completions);
        }
        if !is_idle {
            return Some(Pause::Completion);
        }
        let until = self.completed + self.think.pause;
        let until = *self.until.get_or_insert(until);
        if now < until {
            return Some(Pause::Until(until));
        }
        self.counted = self.due_at.take().unwrap_or(self.completions);
        (self.has_issued, self.until) = (false, None);
        self.active_until = self.think.active.map(|active| now + active);
        None
    }
}
