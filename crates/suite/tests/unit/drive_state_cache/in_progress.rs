use std::fs::{self, File};
use std::time::{Duration, UNIX_EPOCH};

use assay_device::identity::identify;
use assay_workload::access::Region;

use super::super::{PreconditioningRecord, StateValidity};
use super::*;

const MIB: u64 = 1 << 20;
const AREA: Region = Region {
    offset_bytes: 0,
    size_bytes: 8 * MIB,
};
const WROTE: InterruptedWrites = InterruptedWrites {
    written_bytes: 3 * MIB,
    unseen_bytes: MIB,
    lasted: Nanos::from_secs(60),
};

struct World {
    dir: tempfile::TempDir,
    memory: DriveStateCache,
}

/// A file that was conditioned, and on which a cell of run `one` was under way when everything ended.
fn cut_off_world() -> World {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("disk"), vec![0; 8 * MIB as usize]).unwrap();
    let world = World {
        memory: DriveStateCache::at(dir.path().join("state")),
        dir,
    };
    let done = PreconditioningRecord {
        name: "twice".to_owned(),
        offset_bytes: 0,
        size_bytes: 8 * MIB,
        block_sizes: "4k".to_owned(),
        bytes: 16 * MIB,
    };
    world
        .memory
        .record_preconditioning(&world.info(), done)
        .unwrap();
    world.memory.begin(&world.info(), "one", "mixed").unwrap();
    assert!(
        matches!(world.ask(), StateValidity::Valid { .. }),
        "not written yet"
    );
    fs::write(world.dir.path().join("disk"), vec![1; 8 * MIB as usize]).unwrap();
    world
}

impl World {
    fn info(&self) -> DriveInfo {
        identify(&self.dir.path().join("disk")).unwrap()
    }

    fn ask(&self) -> StateValidity {
        self.memory.ask(&self.info(), "twice", AREA)
    }

    fn claim(&self, run: &str) {
        let wrote = |cell: &str| {
            assert_eq!(cell, "mixed");
            WROTE
        };
        self.memory.claim(&self.info(), run, wrote).unwrap();
    }

    /// The file's bytes were changed so long after the cell began.
    fn changed_after(&self, seconds: u64) {
        let at = UNIX_EPOCH + Duration::from_secs(assay_device::host::unix_seconds() + seconds);
        let file = File::options()
            .write(true)
            .open(self.dir.path().join("disk"));
        file.unwrap().set_modified(at).unwrap();
    }
}

#[test]
fn only_the_resumed_run_may_claim_what_was_written() {
    let world = cut_off_world();
    let said = |validity: StateValidity| match validity {
        StateValidity::Stale(why) => why,
        other => panic!("{other:?}"),
    };
    assert!(said(world.ask()).contains("cut off"), "{:?}", world.ask());
    world.claim("another");
    assert!(said(world.ask()).contains("cut off"));
    world.claim("one");
    let StateValidity::Valid {
        written_since_bytes,
        ..
    } = world.ask()
    else {
        panic!("{:?}", world.ask());
    };
    assert_eq!(written_since_bytes, 4 * MIB, "at most");
    // That is settled: what is written next is another's.
    fs::write(world.dir.path().join("disk"), vec![2; 8 * MIB as usize]).unwrap();
    world.claim("one");
    assert!(
        said(world.ask()).contains("changed by others"),
        "{:?}",
        world.ask()
    );
}

#[test]
fn what_was_written_after_the_cell_was_cut_off_is_not_its_own() {
    let world = cut_off_world();
    world.changed_after(30);
    world.claim("one");
    assert!(
        matches!(world.ask(), StateValidity::Valid { .. }),
        "{:?}",
        world.ask()
    );
    let world = cut_off_world();
    world.changed_after(3600);
    world.claim("one");
    assert!(
        matches!(world.ask(), StateValidity::Stale(_)),
        "{:?}",
        world.ask()
    );
}

#[test]
fn a_cell_that_ended_is_under_way_no_more() {
    let world = cut_off_world();
    world.memory.record_writes(&world.info(), MIB).unwrap();
    assert!(matches!(world.ask(), StateValidity::Valid { .. }));
    fs::write(world.dir.path().join("disk"), vec![3; 8 * MIB as usize]).unwrap();
    world.claim("one");
    assert!(matches!(world.ask(), StateValidity::Stale(_)));
}

#[test]
fn a_purge_that_was_begun_leaves_nothing_known_until_it_is_over() {
    let world = cut_off_world();
    world.claim("one");
    assert!(matches!(world.ask(), StateValidity::Valid { .. }));
    // Of a sanitize the kernel counts nothing: the trace stays as it was.
    world.memory.record_purge_start(&world.info()).unwrap();
    let StateValidity::Stale(why) = world.ask() else {
        panic!("{:?}", world.ask());
    };
    assert!(why.contains("purge"), "{why}");
    let purged = |memory: &DriveStateCache| memory.lookup_purge(&world.info());
    assert!(matches!(purged(&world.memory), StateValidity::Unknown(_)));
    let over = world.memory.record_purge(&world.info(), "sanitize", true);
    over.unwrap();
    assert!(matches!(purged(&world.memory), StateValidity::Valid { .. }));
}

#[test]
fn a_cell_on_a_drive_that_others_wrote_to_makes_nothing_of_it_its_own() {
    let world = cut_off_world();
    // A new run, not the resumed one.
    world.memory.begin(&world.info(), "two", "writes").unwrap();
    world.memory.record_writes(&world.info(), MIB).unwrap();
    assert!(
        matches!(world.ask(), StateValidity::Stale(_)),
        "{:?}",
        world.ask()
    );
}
