//! Write buffer: slots of one mapping unit, taken when data arrives, released in order at program
//! end.
//!
//! # Overflow
//! A full buffer normally takes data as slots are released. Some drives instead drain it completely
//! and use only a small part until the host pauses: the drive of the MLE NVMe Streamer brief takes
//! 8 MiB at 2.5 GiB/s, but 16 MiB no faster than its flash.

use std::collections::VecDeque;

#[derive(Clone, Debug, Default)]
pub struct WriteBuffer {
    capacity_units: u64,
    overflow: Option<OverflowMode>,
    used_units: u64,
    /// When every unused slot is free; may lie ahead, as slots are granted before their release.
    free_ns: u64,
    releasing_units: u64,
    releases: VecDeque<(u64, u64)>,
    pub accepted_units: u64,
    not_durable: Option<VecDeque<(u64, u64)>>,
    durable_units: u64,
}

#[derive(Clone, Copy, Debug)]
struct OverflowMode {
    units: u64,
    /// Normal operation resumes when data arrives this long after the buffer drained.
    pause_ns: u64,
    active: bool,
}

impl WriteBuffer {
    pub fn new(capacity_units: u64) -> WriteBuffer {
        WriteBuffer { capacity_units, ..WriteBuffer::default() }
    }

    /// Overflow operation (module header): `units` slots are used until a pause of `pause_ns`.
    pub fn with_overflow(capacity_units: u64, units: u64, pause_ns: u64) -> WriteBuffer {
        WriteBuffer {
            overflow: Some(OverflowMode {
                units: units.clamp(1, capacity_units.max(1)),
                pause_ns,
                active: false,
            }),
            ..WriteBuffer::new(capacity_units)
        }
    }

    pub fn track(&mut self) {
        self.not_durable.get_or_insert_default();
    }

    /// Slots released by `now_ns` since [`WriteBuffer::track`]. Calls come in order of time.
    pub fn durable_units(&mut self, now_ns: u64) -> u64 {
        if let Some(waiting) = &mut self.not_durable {
            while let Some(&(time, units)) = waiting.front()
                && time <= now_ns
            {
                self.durable_units += units;
                waiting.pop_front();
            }
        }
        self.durable_units
    }

    /// Slots that may be in use at `arrival_ns`; drains a buffer that is full by then.
    #[inline]
    fn limit(&mut self, arrival_ns: u64) -> u64 {
        match self.overflow {
            None => self.capacity_units,
            Some(overflow) => self.limit_with_overflow(overflow, arrival_ns),
        }
    }

    fn limit_with_overflow(&mut self, overflow: OverflowMode, arrival_ns: u64) -> u64 {
        if overflow.active {
            let empty_ns = self.free_ns.max(self.drained_ns());
            let paused = empty_ns + overflow.pause_ns <= arrival_ns;
            if self.unprogrammed_units() > 0 || !paused {
                return overflow.units;
            }
            self.overflow = Some(OverflowMode { active: false, ..overflow });
        }
        self.pop_releases_until(arrival_ns);
        if self.used_units < self.capacity_units || self.releases.is_empty() {
            return self.capacity_units;
        }
        self.pop_releases_until(u64::MAX);
        self.overflow = Some(OverflowMode { active: true, ..overflow });
        overflow.units.max(self.used_units + 1)
    }

    fn pop_releases_until(&mut self, time_ns: u64) {
        while let Some(&(time, _)) = self.releases.front()
            && time <= time_ns
        {
            self.pop_release();
        }
    }

    /// Returns when a slot is free, or `None` when the caller must program what is buffered first.
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
        self.accepted_units += 1;
        Some(arrival_ns.max(self.free_ns))
    }

    /// `None`, taking nothing, if too few slots will be free, or with overflow.
    #[inline]
    pub fn acquire_run(&mut self, arrival_ns: u64, units: u64) -> Option<u64> {
        if self.overflow.is_some()
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
        self.accepted_units += units;
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

    /// Release slots at `at_ns`, or with the last earlier release if that is later.
    #[inline]
    pub fn release(&mut self, at_ns: u64, units: u64) {
        if units == 0 {
            return;
        }
        self.releasing_units += units;
        if let Some(waiting) = &mut self.not_durable {
            let last = waiting.back().map_or(0, |&(time, _)| time);
            waiting.push_back((at_ns.max(last), units));
        }
        match self.releases.back_mut() {
            Some(back) if back.0 >= at_ns => back.1 += units,
            _ => self.releases.push_back((at_ns, units)),
        }
    }

    /// When the last released slot is free: everything programmed so far is then on flash.
    pub fn drained_ns(&self) -> u64 {
        self.releases.back().map_or(0, |&(time, _)| time)
    }

    pub fn unprogrammed_units(&self) -> u64 {
        self.used_units - self.releasing_units
    }
}

#[cfg(test)]
#[path = "../tests/unit/buffer.rs"]
mod tests;
