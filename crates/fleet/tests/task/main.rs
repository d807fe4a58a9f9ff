//! The task under a fake queue: jobs that are killed, repeated, reordered and duplicated, on two
//! hosts, with a shared store that may be away and whose answers may be lost. The machine, the
//! claims, the shipping and the run folders are the real ones; processes and time are simulated.

mod memory;
mod table;
mod world;

use proptest::prelude::*;
use world::{Step, World};

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        40 => any::<u8>().prop_map(Step::Deliver),
        40 => any::<u8>().prop_map(Step::Measure),
        6 => any::<u8>().prop_map(Step::Ship),
        4 => any::<u8>().prop_map(Step::KillChild),
        3 => any::<u8>().prop_map(Step::FailChild),
        3 => any::<u8>().prop_map(Step::KillTask),
        5 => any::<u8>().prop_map(Step::StartTask),
        2 => any::<u8>().prop_map(Step::RebootHost),
        1 => any::<u8>().prop_map(Step::MoveDrive),
        2 => any::<u8>().prop_map(Step::SignalTask),
        3 => Just(Step::ToggleStore),
        3 => Just(Step::LoseAnswers),
        2 => Just(Step::TogglePause),
    ];
    prop::collection::vec(step, 20..250)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_drive_is_done_once_whatever_the_queue_does(steps in steps(), concurrent in 1..3_usize) {
        let mut world = World::new(concurrent);
        for step in &steps {
            world.step(*step);
        }
        world.heal();
        world.run_to_the_end();
        world.check_complete();
        // Submitted again: nothing changes.
        let before = world.store.contents();
        world.run_to_the_end();
        prop_assert_eq!(before, world.store.contents());
    }

    #[test]
    fn a_cancelled_plan_stays_cancelled(steps in steps()) {
        let mut world = World::new(1);
        for step in &steps {
            world.step(*step);
        }
        world.heal();
        world.cancel();
        let measured = world.measured_cells();
        for host in 0..world::HOSTS {
            let status = world.run_task_to_its_end(host);
            prop_assert!(status == 130 || status == 0 || status == 3, "{}", status);
        }
        prop_assert_eq!(measured, world.measured_cells());
    }
}
