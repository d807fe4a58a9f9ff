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
mod tests {
    use super::*;
    use crate::command::Status;
    use proptest::prelude::*;

    fn entry(tag: u32, at_ns: u64) -> Completion {
        Completion {
            tag,
            at: Nanos(at_ns),
            status: Status::Ok,
            ordinal: 0,
        }
    }

    fn coalescer(time_100us: u8, threshold: u8, queues: u16) -> Coalescer {
        let setting = CoalescingSetting {
            time_100us,
            threshold,
        };
        Coalescer::new(setting, queues)
    }

    fn told(out: &[Completion]) -> Vec<(u32, u64)> {
        out.iter().map(|entry| (entry.tag, entry.at.0)).collect()
    }

    /// 100 us and 4 entries, as report A's probe saw: three wait, the fourth brings the interrupt for all.
    #[test]
    fn an_interrupt_comes_with_the_last_entry_of_the_threshold() {
        let mut vectors = coalescer(1, 3, 1);
        let mut out = Vec::new();
        for (tag, at) in [(1, 1000), (2, 2000), (3, 3000)] {
            vectors.add(0, entry(tag, at), &mut out);
        }
        assert_eq!((out.len(), vectors.waiting()), (0, 3));
        assert_eq!(vectors.next_ns(), 101_000);
        vectors.add(0, entry(4, 9000), &mut out);
        assert_eq!(told(&out), [(1, 9000), (2, 9000), (3, 9000), (4, 9000)]);
        assert_eq!((vectors.next_ns(), vectors.waiting()), (u64::MAX, 0));
    }

    #[test]
    fn an_interrupt_comes_with_the_time_of_the_first_entry_and_queues_wait_apart() {
        let mut vectors = coalescer(1, 3, 2);
        let mut out = Vec::new();
        vectors.add(1, entry(1, 5000), &mut out);
        vectors.add(0, entry(2, 7000), &mut out);
        vectors.add(1, entry(3, 8000), &mut out);
        vectors.expire(105_000, &mut out);
        assert!(out.is_empty(), "not before its time");
        vectors.expire(105_001, &mut out);
        assert_eq!(told(&out), [(1, 105_000), (3, 105_000)]);
        vectors.expire(u64::MAX, &mut out);
        assert_eq!(told(&out)[2..], [(2, 107_000)]);
    }

    #[test]
    fn a_threshold_of_one_or_no_time_is_off() {
        let setting = |time_100us, threshold| CoalescingSetting {
            time_100us,
            threshold,
        };
        assert!(!setting(0, 9).is_on() && !setting(9, 0).is_on() && setting(1, 1).is_on());
    }

    proptest! {
        /// Everything is told once, in order of time, never early, never later than the aggregation time allows.
        #[test]
        fn waits_are_bounded_and_nothing_is_lost(
            time in 1_u8..5, threshold in 0_u8..6, steps in prop::collection::vec((0_u64..60_000, 0_u16..3), 1..200),
        ) {
            let mut vectors = coalescer(time, threshold, 3);
            let mut out = Vec::new();
            let mut written = Vec::new();
            let mut now = 0;
            for (tag, (wait, queue)) in (0..).zip(steps) {
                now += wait;
                vectors.expire(now, &mut out);
                vectors.add(queue, entry(tag, now), &mut out);
                written.push(now);
            }
            vectors.expire(u64::MAX, &mut out);
            prop_assert_eq!(out.len(), written.len());
            prop_assert!(out.is_sorted_by_key(|entry| entry.at));
            let mut seen = vec![false; written.len()];
            for entry in &out {
                let at = written[entry.tag as usize];
                let waited = entry.at.0 - at;
                prop_assert!(entry.at.0 >= at && waited <= u64::from(time) * TIME_UNIT_NS);
                prop_assert!(!std::mem::replace(&mut seen[entry.tag as usize], true));
            }
        }
    }
}
