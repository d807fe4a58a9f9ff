//! Program/erase suspend for reads.
//!
//! A die suspends a program or erase, serves reads, and resumes (ONFI and vendor commands; G. Wu
//! and X. He, "Reducing SSD read latency via NAND flash program and erase suspension", FAST 2012).
//! The operation ends later by the interruption. Suspensions per operation are limited. The
//! operation under way is identified by its end, which moves with delays.
//!
//! # Non-goals
//! Buffer slots keep their release time when the program is suspended later: writes are early by at
//! most the reads' time.

use crate::profile::SuspendProfile;

#[derive(Clone, Copy, Debug, Default)]
struct Suspended {
    end_ns: u64,
    times: u16,
}

#[derive(Clone, Debug)]
pub struct Suspender {
    suspend_ns: u64,
    resume_ns: u64,
    limit: u16,
    dies: Vec<Suspended>,
}

impl Suspender {
    pub fn new(profile: &SuspendProfile, dies: usize) -> Suspender {
        Suspender {
            suspend_ns: profile.suspend_ns.value,
            resume_ns: profile.resume_ns.value,
            limit: profile.limit.value,
            dies: vec![Suspended::default(); dies],
        }
    }

    #[inline]
    pub fn cost_ns(&self) -> u64 {
        self.suspend_ns + self.resume_ns
    }

    /// Suspend the operation; returns when the die is ready for a read, if it can be suspended.
    #[inline]
    pub fn interrupt(&mut self, die: usize, issue_ns: u64, end_ns: u64) -> Option<u64> {
        let ready_ns = issue_ns + self.suspend_ns;
        let last = &mut self.dies[die];
        let times = if last.end_ns == end_ns { last.times } else { 0 };
        if ready_ns >= end_ns || times >= self.limit {
            return None;
        }
        *last = Suspended { end_ns, times: times + 1 };
        Some(ready_ns)
    }

    #[inline]
    pub fn put_off(&mut self, die: usize, by_ns: u64) {
        self.dies[die].end_ns += by_ns;
    }
}

#[cfg(test)]
#[path = "../tests/unit/suspend.rs"]
mod tests;
