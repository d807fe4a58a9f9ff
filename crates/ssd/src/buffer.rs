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
mod tests {
    use super::*;

    #[test]
    fn a_full_buffer_makes_data_wait_for_the_oldest_program() {
        let mut buffer = WriteBuffer::new(2);
        assert_eq!(buffer.acquire(10), Some(10));
        assert_eq!(buffer.acquire(11), Some(11));
        assert_eq!(buffer.acquire(12), None, "nothing is being programmed");
        buffer.release(100, 1);
        buffer.release(90, 1);
        assert_eq!(buffer.drained_ns(), 100, "in order");
        assert_eq!(buffer.acquire(12), Some(100));
        assert_eq!(buffer.acquire(200), Some(200));
        assert_eq!(buffer.unprogrammed_units(), 2);
    }

    /// When waiting data takes the first slot of a program's, the others are free at that program's end too, and not before.
    #[test]
    fn slots_that_come_back_together_are_free_at_the_same_time() {
        let mut buffer = WriteBuffer::new(4);
        for _ in 0..4 {
            assert_eq!(buffer.acquire(0), Some(0));
        }
        buffer.release(100, 3);
        buffer.release(170, 1);
        let slots: Vec<_> = (0..4).map(|_| buffer.acquire(10)).collect();
        assert_eq!(slots, [Some(100), Some(100), Some(100), Some(170)]);
        buffer.release(200, 2);
        assert_eq!(buffer.acquire_run(10, 1), Some(200), "not before its time");
        assert_eq!(buffer.acquire(300), Some(300));
    }

    /// Four slots, of which two are used after the buffer was full, until nothing was in it for 50 ns.
    #[test]
    fn a_buffer_that_overflows_is_written_out_and_then_used_in_part_until_a_pause() {
        let mut buffer = WriteBuffer::with_overflow(4, 2, 50);
        for _ in 0..4 {
            assert_eq!(buffer.acquire(0), Some(0));
        }
        buffer.release(100, 2);
        buffer.release(200, 2);
        assert_eq!(buffer.acquire(10), Some(200), "all of it goes first");
        assert_eq!(buffer.acquire(210), Some(210));
        assert_eq!(buffer.acquire(220), None, "two slots now");
        buffer.release(300, 1);
        assert_eq!(buffer.acquire(220), Some(300));
        buffer.release(400, 2);
        assert_eq!(buffer.acquire(430), Some(430), "too short a pause");
        assert_eq!(buffer.acquire(431), Some(431));
        assert_eq!(buffer.acquire(432), None);
        buffer.release(500, 2);
        for at in 550..554 {
            assert_eq!(buffer.acquire(at), Some(at), "as new");
        }
    }

    /// Promised ahead of their time, slots are not safe before it; and those behind a late one wait for it.
    #[test]
    fn data_is_safe_when_its_slot_has_truly_come_back() {
        let mut buffer = WriteBuffer::new(2);
        buffer.track();
        assert_eq!(buffer.acquire_run(0, 2), Some(0));
        buffer.release(100, 1);
        buffer.release(50, 1);
        assert_eq!(buffer.acquire(10), Some(100));
        assert_eq!((buffer.taken_units(), buffer.safe_units(99)), (3, 0));
        assert_eq!(buffer.safe_units(100), 2);
    }

    #[test]
    fn slots_are_taken_together_or_not_at_all() {
        let mut buffer = WriteBuffer::new(4);
        assert_eq!(buffer.acquire_run(0, 3), Some(0));
        assert_eq!(buffer.acquire_run(0, 2), None);
        buffer.release(50, 2);
        let mut single = buffer.clone();
        assert_eq!(buffer.acquire_run(10, 3), Some(50));
        let slots = [10, 10, 10].map(|at| single.acquire(at));
        assert_eq!(slots, [Some(10), Some(50), Some(50)]);
        assert_eq!(buffer.acquire(60), None);
        assert_eq!(single.acquire(60), None);
    }
}
