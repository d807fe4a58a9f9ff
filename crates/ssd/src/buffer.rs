//! The write buffer: slots of one mapping unit, taken by arriving data and given back when their program ends.
//!
//! Slots come back in order (a slot behind a slow die waits for it), which keeps the bookkeeping a ring.

use std::collections::VecDeque;

/// Slots and the times at which they come back. Times in nanoseconds.
#[derive(Clone, Debug)]
pub struct WriteBuffer {
    capacity_units: u64,
    used_units: u64,
    /// Time and number of slots given back; times do not decrease.
    releases: VecDeque<(u64, u64)>,
}

impl WriteBuffer {
    /// An empty buffer.
    pub fn new(capacity_units: u64) -> WriteBuffer {
        WriteBuffer {
            capacity_units,
            used_units: 0,
            releases: VecDeque::new(),
        }
    }

    /// Take a slot for data that arrives at `arrival_ns`: when it has one, or `None` when none will ever come back by itself
    /// (everything in the buffer waits for more data to fill a program; the caller must program what it has).
    #[inline]
    pub fn acquire(&mut self, arrival_ns: u64) -> Option<u64> {
        let mut at = arrival_ns;
        while let Some(&(time, units)) = self.releases.front() {
            if time > arrival_ns && self.used_units < self.capacity_units {
                break;
            }
            at = at.max(time);
            self.used_units -= units;
            self.releases.pop_front();
        }
        if self.used_units >= self.capacity_units {
            return None;
        }
        self.used_units += 1;
        Some(at)
    }

    /// Slots come back at `at_ns`, or with the last earlier release if that is later.
    #[inline]
    pub fn release(&mut self, at_ns: u64, units: u64) {
        if units == 0 {
            return;
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
        self.used_units - self.releases.iter().map(|&(_, units)| units).sum::<u64>()
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
}
