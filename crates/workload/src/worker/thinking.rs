//! Pauses of a worker between groups of I/Os.

use assay_units::Nanos;

use crate::plan::Think;

#[derive(Clone, Copy, Debug)]
pub(super) struct Thinking {
    think: Think,
    ios_left: u64,
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

/// I/Os of a group: more than any job issues where only the time limits it.
fn group_of(think: Think) -> u64 {
    think.ios.map_or(u64::MAX, |ios| ios.get().into())
}

impl Thinking {
    pub(super) fn new(think: Think, start: Nanos) -> Thinking {
        Thinking {
            think,
            ios_left: group_of(think),
            active_until: think.active.map(|active| start + active),
            until: None,
            completed: start,
        }
    }

    #[inline]
    pub(super) fn issued(&mut self) {
        self.ios_left -= 1;
    }

    #[inline]
    pub(super) fn completed(&mut self, now: Nanos) {
        self.completed = now;
    }

    /// What the next I/O waits for because of a pause, if it does.
    pub(super) fn pause(&mut self, now: Nanos, is_idle: bool) -> Option<Pause> {
        if self.ios_left > 0 && self.active_until.is_none_or(|end| now < end) {
            return None;
        }
        if !is_idle {
            return Some(Pause::Completion);
        }
        let until = self.completed + self.think.pause;
        let until = *self.until.get_or_insert(until);
        if now < until {
            return Some(Pause::Until(until));
        }
        (self.ios_left, self.until) = (group_of(self.think), None);
        self.active_until = self.think.active.map(|active| now + active);
        None
    }
}
