//! Interrupt coalescing: completions held back until an interrupt is due.
//!
//! Each completion queue has its own vector. Its first entry after an interrupt starts the
//! aggregation time; the next interrupt comes when that expires or the threshold is reached.
//! Source: NVM Express Base Specification 1.4, sections 5.21.1.8 (Feature 08h) and 7.5. Polled
//! queues are not modelled.

use assay_units::Nanos;
use serde::Deserialize;

use crate::command::Completion;
use crate::sourced::Sourced;

/// Unit of the aggregation time in nanoseconds.
pub const TIME_UNIT_NS: u64 = 100_000;

/// Interrupt coalescing of a profile.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoalescingProfile {
    /// Aggregation time in units of 100 us; 0: off.
    pub time_100us: Sourced<u8>,
    /// Aggregation threshold, counted from 0.
    pub threshold: Sourced<u8>,
}

/// The fields of Feature 08h.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoalescingSetting {
    /// Aggregation time in units of 100 us.
    pub time_100us: u8,
    /// Aggregation threshold, counted from 0.
    pub threshold: u8,
}

impl CoalescingSetting {
    /// Whether any completion waits: not with a time of 0, nor with a threshold of one entry.
    pub fn is_on(self) -> bool {
        self.time_100us > 0 && self.threshold > 0
    }
}

impl From<&CoalescingProfile> for CoalescingSetting {
    fn from(profile: &CoalescingProfile) -> CoalescingSetting {
        CoalescingSetting {
            time_100us: profile.time_100us.value,
            threshold: profile.threshold.value,
        }
    }
}

#[derive(Clone, Debug, Default)]
struct PendingInterrupt {
    entries: Vec<Completion>,
    due_ns: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Coalescer {
    time_ns: u64,
    entries: usize,
    queues: Vec<PendingInterrupt>,
    /// Earliest due time of all queues, `u64::MAX` when none is pending.
    pub next_ns: u64,
}

impl Coalescer {
    /// `queues` is raised to at least 1.
    pub fn new(setting: CoalescingSetting, queues: u16) -> Coalescer {
        Coalescer {
            time_ns: u64::from(setting.time_100us) * TIME_UNIT_NS,
            entries: usize::from(setting.threshold) + 1,
            queues: vec![PendingInterrupt::default(); usize::from(queues.max(1))],
            next_ns: u64::MAX,
        }
    }

    /// Its interrupt appends to `out`. Call in order of time, each after [`Coalescer::expire`].
    pub fn add(&mut self, queue: u16, completion: Completion, out: &mut Vec<Completion>) {
        let index = usize::from(queue) % self.queues.len();
        let pending = &mut self.queues[index];
        if pending.entries.is_empty() {
            pending.due_ns = completion.at.0 + self.time_ns;
            self.next_ns = self.next_ns.min(pending.due_ns);
        }
        pending.entries.push(completion);
        if pending.entries.len() >= self.entries {
            deliver(pending, completion.at, out);
            self.find_next();
        }
    }

    /// Raise every interrupt whose time expires before `before_ns`, in order of time.
    pub fn expire(&mut self, before_ns: u64, out: &mut Vec<Completion>) {
        while self.next_ns < before_ns {
            let due_ns = self.next_ns;
            let late = |pending: &&mut PendingInterrupt| {
                !pending.entries.is_empty() && pending.due_ns == due_ns
            };
            if let Some(pending) = self.queues.iter_mut().find(late) {
                deliver(pending, Nanos(due_ns), out);
            }
            self.find_next();
        }
    }

    fn find_next(&mut self) {
        let waiting = self.queues.iter().filter(|queue| !queue.entries.is_empty());
        self.next_ns = waiting.map(|queue| queue.due_ns).min().unwrap_or(u64::MAX);
    }
}

fn deliver(pending: &mut PendingInterrupt, at: Nanos, out: &mut Vec<Completion>) {
    let entries = pending.entries.drain(..);
    out.extend(entries.map(|entry| Completion { at, ..entry }));
}

#[cfg(test)]
#[path = "../tests/unit/coalescing.rs"]
mod tests;
