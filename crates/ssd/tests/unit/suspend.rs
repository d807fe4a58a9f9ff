use super::*;
use crate::nand::Nand;
use crate::sourced::tests::assumed;
use proptest::prelude::*;

fn profile(limit: u16) -> SuspendProfile {
    SuspendProfile { suspend_ns: assumed(20), resume_ns: assumed(5), limit: assumed(limit) }
}

#[test]
fn the_number_of_suspensions_is_limited() {
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
fn an_operation_that_ends_before_the_suspension_continues() {
    let mut dies = Suspender::new(&profile(9), 1);
    assert_eq!(dies.interrupt(0, 980, 1000), None);
    assert_eq!(dies.interrupt(0, 979, 1000), Some(999));
}

proptest! {
    /// A limit of 0 changes nothing; with any, reads stay in order and wait for at most one
    /// operation.
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
