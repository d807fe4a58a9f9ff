//! The write buffer: slots of one mapping unit, taken by arriving data and given back when their program ends.
//!
//! Slots come back in order (a slot behind a slow die waits for it), which keeps the bookkeeping a ring.
//!
//! # Overflow
//! A plain buffer that is full takes data as slots come back. Some drives change their ways instead: a full buffer is first
//! written out entirely, and from then on data goes *through* a small part of it, until the host has paused. Report C's drive takes 8 MiB at
//! 2.5 GiB/s, and 16 MiB no faster than its flash takes all of them: there nothing is gained by the buffer any more.

use std::collections::VecDeque;

/// Slots and the times at which they come back. Times in nanoseconds.
#[derive(Clone, Debug)]
pub struct WriteBuffer {
    capacity_units: u64,
    through: Option<Through>,
    used_units: u64,
    /// When every slot that is not in use is free: later than the present when the last ones were promised ahead of their time.
    free_ns: u64,
    /// Sum of the slots in `releases`.
    releasing_units: u64,
    /// Time and number of slots given back; times do not decrease.
    releases: VecDeque<(u64, u64)>,
    /// Slots ever taken.
    taken_units: u64,
    /// Where somebody asks for it: slots given back whose time was not past when they last asked, and how many were before.
    unsafe_units: Option<VecDeque<(u64, u64)>>,
    safe_units: u64,
}

/// What a buffer does once it was full.
#[derive(Clone, Copy, Debug)]
struct Through {
    /// Slots used from then on.
    units: u64,
    /// Everything is as before when data comes after this long without any in the buffer, in nanoseconds.
    pause_ns: u64,
    active: bool,
}

impl WriteBuffer {
    /// An empty buffer.
    pub fn new(capacity_units: u64) -> WriteBuffer {
        WriteBuffer {
            capacity_units,
            through: None,
            used_units: 0,
            free_ns: 0,
            releasing_units: 0,
            releases: VecDeque::new(),
            taken_units: 0,
            unsafe_units: None,
            safe_units: 0,
        }
    }

    /// An empty buffer of which, once it was full and is written out, only `units` slots are used, until data comes after a pause of
    /// `pause_ns` nanoseconds.
    pub fn with_overflow(capacity_units: u64, units: u64, pause_ns: u64) -> WriteBuffer {
        WriteBuffer {
            through: Some(Through {
                units: units.clamp(1, capacity_units.max(1)),
                pause_ns,
                active: false,
            }),
            ..WriteBuffer::new(capacity_units)
        }
    }

    /// Follow from now on which slots have been given back by when.
    pub fn track(&mut self) {
        self.unsafe_units.get_or_insert_default();
    }

    /// Slots ever taken.
    #[inline]
    pub fn taken_units(&self) -> u64 {
        self.taken_units
    }

    /// Slots given back by `now_ns` since [`WriteBuffer::track`]. Calls come in order of time.
    pub fn safe_units(&mut self, now_ns: u64) -> u64 {
        if let Some(waiting) = &mut self.unsafe_units {
            while let Some(&(time, units)) = waiting.front()
                && time <= now_ns
            {
                self.safe_units += units;
                waiting.pop_front();
            }
        }
        self.safe_units
    }

    /// Slots that may be in use at `arrival_ns`; a buffer that is full then is written out first.
    #[inline]
    fn limit(&mut self, arrival_ns: u64) -> u64 {
        match self.through {
            None => self.capacity_units,
            Some(through) => self.limit_with_overflow(through, arrival_ns),
        }
    }

    fn limit_with_overflow(&mut self, through: Through, arrival_ns: u64) -> u64 {
        if through.active {
            let empty_ns = self.free_ns.max(self.drained_ns());
            let paused = empty_ns.saturating_add(through.pause_ns) <= arrival_ns;
            if self.unprogrammed_units() > 0 || !paused {
                return through.units;
            }
            self.set_through(false);
        }
        self.pop_releases_until(arrival_ns);
        if self.used_units < self.capacity_units || self.releases.is_empty() {
            return self.capacity_units;
        }
        self.pop_releases_until(u64::MAX);
        self.set_through(true);
        through.units.max(self.used_units + 1)
    }

    fn set_through(&mut self, active: bool) {
        if let Some(through) = &mut self.through {
            through.active = active;
        }
    }

    fn pop_releases_until(&mut self, time_ns: u64) {
        while let Some(&(time, _)) = self.releases.front()
            && time <= time_ns
        {
            self.pop_release();
        }
    }

    /// Take a slot for data that arrives at `arrival_ns`: when it has one, or `None` when none will ever come back by itself
    /// (everything in the buffer waits for more data to fill a program; the caller must program what it has).
    #[inline]
    pub fn acquire(&mut self, arrival_ns: u64) -> Option<u64> {
        let limit = self.limit(arrival_ns);
        while let Some(&(time, _)) = self.releases.front() {
            if time > arrival_ns && self.used_units < limit {
                break;
            }
            self.pop_release();
        }
        if self.used_units >= limit {
            return None;
        }
        self.used_units += 1;
        self.taken_units += 1;
        Some(arrival_ns.max(self.free_ns))
    }

    /// Take `units` slots, as so many calls of [`WriteBuffer::acquire`] would: when the last is had. `None`, and nothing is taken,
    /// when not so many will come back by themselves, or when the buffer has ways of its own with overflow.
    #[inline]
    pub fn acquire_run(&mut self, arrival_ns: u64, units: u64) -> Option<u64> {
        if self.through.is_some()
            || self.used_units + units > self.capacity_units + self.releasing_units
        {
            return None;
        }
        while let Some(&(time, _)) = self.releases.front() {
            if time > arrival_ns && self.used_units + units <= self.capacity_units {
                break;
            }
            self.pop_release();
        }
        self.used_units += units;
        self.taken_units += units;
        Some(arrival_ns.max(self.free_ns))
    }

    #[inline]
    fn pop_release(&mut self) {
        if let Some((time, units)) = self.releases.pop_front() {
            self.free_ns = self.free_ns.max(time);
            self.used_units -= units;
            self.releasing_units -= units;
        }
    }

    /// Slots come back at `at_ns`, or with the last earlier release if that is later.
    #[inline]
    pub fn release(&mut self, at_ns: u64, units: u64) {
        if units == 0 {
            return;
        }
        self.releasing_units += units;
        if let Some(waiting) = &mut self.unsafe_units {
            let last = waiting.back().map_or(0, |&(time, _)| time);
            waiting.push_back((at_ns.max(last), units));
        }
        match self.releases.back_mut() {
            Some(back) if back.0 >= at_ns => back.1 += units,
            _ => self.releases.push_back((at_ns, units)),
        }
    }

    /// When the last slot given back so far is free: everything programmed until now is then on flash.
    pub fn drained_ns(&self) -> u64 {
        self.releases.back().map_or(0, |&(time, _)| time)
    }

    /// Slots in use that have no release time yet.
    pub fn unprogrammed_units(&self) -> u64 {
        self.used_units - self.releasing_units
    }
}

#[cfg(test)]
#[path = "../tests/unit/buffer.rs"]
mod tests;
