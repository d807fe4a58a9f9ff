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
mod tests {
    use super::*;
    use crate::nand::Nand;
    use crate::sourced::assumed;
    use proptest::prelude::*;

    fn profile(limit: u16) -> SuspendProfile {
        SuspendProfile {
            suspend_ns: assumed(20),
            resume_ns: assumed(5),
            limit: assumed(limit),
        }
    }

    #[test]
    fn an_operation_is_suspended_so_often_wherever_its_end_moves() {
        let mut dies = Suspender::new(&profile(2), 1);
        assert_eq!(dies.interrupt(0, 100, 1000), Some(120));
        dies.put_off(0, 75);
        assert_eq!(dies.interrupt(0, 300, 1075), Some(320));
        dies.put_off(0, 75);
        assert_eq!(dies.interrupt(0, 500, 1150), None);
        assert_eq!(dies.interrupt(0, 1200, 2150), Some(1220), "the next one");
        assert_eq!(dies.cost_ns(), 25);
    }

    #[test]
    fn what_ends_sooner_than_it_suspends_goes_on() {
        let mut dies = Suspender::new(&profile(9), 1);
        assert_eq!(dies.interrupt(0, 980, 1000), None);
        assert_eq!(dies.interrupt(0, 979, 1000), Some(999));
    }

    proptest! {
        /// A limit of none changes nothing; with any, reads stay in order and wait for no more than one operation.
        #[test]
        fn reads_stay_in_order(limit in 0_u16..4, steps in prop::collection::vec((0_u64..900_000, any::<bool>()), 1..40)) {
            let mut flash = crate::Profile::builtin("samsung-951").unwrap().nand;
            let longest_ns = flash.program_ns.value.iter().max().unwrap() + 1_000_000;
            let mut plain = Nand::new(&flash, None, u32::MAX, 0);
            flash.suspend = Some(profile(limit));
            let mut suspending = Nand::new(&flash, None, u32::MAX, 0);
            let (mut now, mut last) = (0, 0);
            for (step, program) in steps {
                now += step;
                if program {
                    plain.program(now, now, 0);
                    suspending.program(now, now, 0);
                    continue;
                }
                let sense = plain.locate(0);
                let without = plain.read(now, now, sense, 1);
                let with = suspending.read(now, now, sense, 1);
                prop_assert!(limit > 0 || with == without);
                prop_assert!(with > last && with <= last.max(now) + longest_ns, "{} {}", with, last);
                last = with;
            }
        }
    }
}
