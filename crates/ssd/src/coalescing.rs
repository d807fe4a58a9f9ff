//! Interrupt coalescing: completions that wait for company before the host is told.
//!
//! Each completion queue has an interrupt vector of its own. The first completion entry after an interrupt starts a time; the next
//! interrupt comes when that has run out or when enough entries have gathered, whichever is first, and only then does a host that
//! sleeps see them. Saves the host interrupts, costs latency: at depth 1 a completion always waits the whole time. Source: NVM
//! Express Base Specification 1.4, section 5.21.1.8 (Feature 08h: aggregation time in 100 us, threshold counted from 0) and 7.5.
//!
//! # Non-goals
//! Hosts that poll see entries when they are written; they have coalescing off.

use assay_units::Nanos;

use crate::command::Completion;
use crate::profile::CoalescingProfile;

/// Unit of the aggregation time in nanoseconds.
pub const TIME_UNIT_NS: u64 = 100_000;

/// The two numbers of Feature 08h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoalescingSetting {
    /// Aggregation time in units of 100 us.
    pub time_100us: u8,
    /// Aggregation threshold, counted from 0.
    pub threshold: u8,
}

impl CoalescingSetting {
    /// Does any completion ever wait? Not with a time of 0, nor with a threshold of one entry.
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

/// Completions of one queue that the host has not been told of.
#[derive(Clone, Debug, Default)]
struct Gathered {
    entries: Vec<Completion>,
    /// When the host is told at the latest, in nanoseconds.
    due_ns: u64,
}

/// The interrupt vectors of a drive.
#[derive(Clone, Debug)]
pub struct Coalescer {
    time_ns: u64,
    entries: usize,
    queues: Vec<Gathered>,
    /// The earliest due time of all queues, `u64::MAX` when nothing is gathered.
    next_ns: u64,
}

impl Coalescer {
    /// Vectors for `queues` queues (at least one) with nothing gathered.
    pub fn new(setting: CoalescingSetting, queues: u16) -> Coalescer {
        Coalescer {
            time_ns: u64::from(setting.time_100us) * TIME_UNIT_NS,
            entries: usize::from(setting.threshold) + 1,
            queues: vec![Gathered::default(); usize::from(queues.max(1))],
            next_ns: u64::MAX,
        }
    }

    /// When the next interrupt comes by time, `u64::MAX` when none is due.
    pub fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// Completions gathered and not told.
    pub fn waiting(&self) -> usize {
        self.queues.iter().map(|queue| queue.entries.len()).sum()
    }

    /// A completion entry is written. Call in order of time, after [`Coalescer::expire`] with that time. What the host is told by it
    /// is appended to `out`.
    pub fn add(&mut self, queue: u16, completion: Completion, out: &mut Vec<Completion>) {
        let index = usize::from(queue) % self.queues.len();
        let gathered = &mut self.queues[index];
        if gathered.entries.is_empty() {
            gathered.due_ns = completion.at.0.saturating_add(self.time_ns);
            self.next_ns = self.next_ns.min(gathered.due_ns);
        }
        gathered.entries.push(completion);
        if gathered.entries.len() >= self.entries {
            tell(gathered, completion.at, out);
            self.find_next();
        }
    }

    /// Interrupt for every queue whose time runs out before `before_ns`, in order of time.
    pub fn expire(&mut self, before_ns: u64, out: &mut Vec<Completion>) {
        while self.next_ns < before_ns {
            let due_ns = self.next_ns;
            let late = |gathered: &&mut Gathered| {
                !gathered.entries.is_empty() && gathered.due_ns == due_ns
            };
            if let Some(gathered) = self.queues.iter_mut().find(late) {
                tell(gathered, Nanos(due_ns), out);
            }
            self.find_next();
        }
    }

    fn find_next(&mut self) {
        let waiting = self.queues.iter().filter(|queue| !queue.entries.is_empty());
        self.next_ns = waiting.map(|queue| queue.due_ns).min().unwrap_or(u64::MAX);
    }
}

/// The host is told of everything that a queue has gathered.
fn tell(gathered: &mut Gathered, at: Nanos, out: &mut Vec<Completion>) {
    out.extend(
        gathered
            .entries
            .drain(..)
            .map(|entry| Completion { at, ..entry }),
    );
}

#[cfg(test)]
#[path = "../tests/unit/coalescing.rs"]
mod tests;
