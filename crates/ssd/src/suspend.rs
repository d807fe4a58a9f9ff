//! Reads that interrupt a program or an erase.
//!
//! # Mechanism
//! A die that programs or erases can be told to suspend, serves reads, and resumes (ONFI and vendor commands; G. Wu and X. He, "Reducing
//! SSD read latency via NAND flash program and erase suspension", FAST 2012). A read then waits for the suspension instead of for
//! the end of the operation; the operation ends later by what the interruption took. Reads that come while the die is suspended
//! follow each other and share its suspension. An operation can only be suspended so often, and not for less than the suspension
//! takes.
//!
//! This is arithmetic on the times that [`crate::nand`] keeps for a die; here is only how often the operation under way has
//! been suspended. It is known by its end, which moves with every read that puts it off.
//!
//! # Non-goals
//! A buffer slot promised at a program's end is not taken back when the program is suspended later: under mixed load writes
//! see a drive a little faster than it is (by the time of the reads, at most).

use crate::profile::SuspendProfile;

/// The operation of a die that was suspended last.
#[derive(Clone, Copy, Debug, Default)]
struct Suspended {
    /// When it ends, in nanoseconds.
    end_ns: u64,
    times: u16,
}

/// The dies of a drive that can suspend.
#[derive(Clone, Debug)]
pub struct Suspender {
    suspend_ns: u64,
    resume_ns: u64,
    limit: u16,
    dies: Vec<Suspended>,
}

impl Suspender {
    /// That many dies.
    pub fn new(profile: &SuspendProfile, dies: usize) -> Suspender {
        Suspender {
            suspend_ns: profile.suspend_ns.value,
            resume_ns: profile.resume_ns.value,
            limit: profile.limit.value,
            dies: vec![Suspended::default(); dies],
        }
    }

    /// What an operation loses by each suspension beside the time of the reads, in nanoseconds.
    #[inline]
    pub fn cost_ns(&self) -> u64 {
        self.suspend_ns + self.resume_ns
    }

    /// A read issued at `issue_ns` finds an operation under way that ends at `end_ns`: when the die is ready for it if the
    /// operation is suspended, which then counts as done; `None` when it is not.
    #[inline]
    pub fn interrupt(&mut self, die: usize, issue_ns: u64, end_ns: u64) -> Option<u64> {
        let ready_ns = issue_ns + self.suspend_ns;
        let last = &mut self.dies[die];
        let times = if last.end_ns == end_ns { last.times } else { 0 };
        if ready_ns >= end_ns || times >= self.limit {
            return None;
        }
        *last = Suspended {
            end_ns,
            times: times + 1,
        };
        Some(ready_ns)
    }

    /// What a die had to do ends so much later.
    #[inline]
    pub fn put_off(&mut self, die: usize, by_ns: u64) {
        self.dies[die].end_ns += by_ns;
    }
}

#[cfg(test)]
#[path = "../tests/unit/suspend.rs"]
mod tests;
