use std::fs::{self, File};
use std::time::{Duration, UNIX_EPOCH};

use assay_device::identity::identify;
use assay_workload::access::Region;

use super::super::{PreconditioningRecord, StateValidity};
use super::*;

const MIB: u64 = 1 << 20;
const AREA: Region = Region { offset_bytes: 0, size_bytes: 8 * MIB };
const WROTE: InterruptedWrites = InterruptedWrites {
    journaled_bytes: 3 * MIB,
    unjournaled_bytes: MIB,
    max_duration: Nanos::from_secs(60),
};

struct Fixture {
    dir: tempfile::TempDir,
    cache: DriveStateCache,
}

/// A preconditioned file on which a cell of run `one` was interrupted.
fn interrupted_fixture() -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("disk"), vec![0; 8 * MIB as usize]).unwrap();
    let fixture = Fixture { cache: DriveStateCache::at(dir.path().join("state")), dir };
    let done = PreconditioningRecord {
        name: "twice".to_owned(),
        offset_bytes: 0,
        size_bytes: 8 * MIB,
        block_sizes: "4k".to_owned(),
        bytes: 16 * MIB,
    };
    fixture.cache.record_preconditioning(&fixture.info(), done).unwrap();
    fixture.cache.record_cell_start(&fixture.info(), "one", "mixed").unwrap();
    assert!(matches!(fixture.lookup(), StateValidity::Valid { .. }), "not written yet");
    fs::write(fixture.dir.path().join("disk"), vec![1; 8 * MIB as usize]).unwrap();
    fixture
}

impl Fixture {
    fn info(&self) -> DriveInfo {
        identify(&self.dir.path().join("disk")).unwrap()
    }

    fn lookup(&self) -> StateValidity {
        self.cache.lookup(&self.info(), "twice", AREA)
    }

    fn claim(&self, run: &str) {
        let wrote = |cell: &str| {
            assert_eq!(cell, "mixed");
            WROTE
        };
        self.cache.claim_interrupted_writes(&self.info(), run, wrote).unwrap();
    }

    /// Changes the file's bytes this long after the start of the cell.
    fn changed_after(&self, seconds: u64) {
        let at = UNIX_EPOCH + Duration::from_secs(assay_device::host::unix_seconds() + seconds);
        let file = File::options().write(true).open(self.dir.path().join("disk"));
        file.unwrap().set_modified(at).unwrap();
    }
}

#[test]
fn only_the_resumed_run_may_claim_the_writes() {
    let fixture = interrupted_fixture();
    let message = |validity: StateValidity| match validity {
        StateValidity::Stale(why) => why,
        other => panic!("{other:?}"),
    };
    assert!(message(fixture.lookup()).contains("interrupted"), "{:?}", fixture.lookup());
    fixture.claim("another");
    assert!(message(fixture.lookup()).contains("interrupted"));
    fixture.claim("one");
    let StateValidity::Valid { written_since_bytes, .. } = fixture.lookup() else {
        panic!("{:?}", fixture.lookup());
    };
    assert_eq!(written_since_bytes, 4 * MIB, "at most");
    // The cell is closed: later writes are foreign.
    fs::write(fixture.dir.path().join("disk"), vec![2; 8 * MIB as usize]).unwrap();
    fixture.claim("one");
    assert!(message(fixture.lookup()).contains("changed by others"), "{:?}", fixture.lookup());
}

#[test]
fn writes_after_the_latest_end_of_the_cell_are_foreign() {
    let fixture = interrupted_fixture();
    fixture.changed_after(30);
    fixture.claim("one");
    assert!(matches!(fixture.lookup(), StateValidity::Valid { .. }), "{:?}", fixture.lookup());
    let fixture = interrupted_fixture();
    fixture.changed_after(3600);
    fixture.claim("one");
    assert!(matches!(fixture.lookup(), StateValidity::Stale(_)), "{:?}", fixture.lookup());
}

#[test]
fn a_cell_that_ended_is_not_in_progress() {
    let fixture = interrupted_fixture();
    fixture.cache.record_writes(&fixture.info(), MIB).unwrap();
    assert!(matches!(fixture.lookup(), StateValidity::Valid { .. }));
    fs::write(fixture.dir.path().join("disk"), vec![3; 8 * MIB as usize]).unwrap();
    fixture.claim("one");
    assert!(matches!(fixture.lookup(), StateValidity::Stale(_)));
}

#[test]
fn a_started_purge_invalidates_everything_until_its_end() {
    let fixture = interrupted_fixture();
    fixture.claim("one");
    assert!(matches!(fixture.lookup(), StateValidity::Valid { .. }));
    // The kernel does not count a sanitize: the write trace is unchanged.
    fixture.cache.record_purge_start(&fixture.info()).unwrap();
    let StateValidity::Stale(why) = fixture.lookup() else {
        panic!("{:?}", fixture.lookup());
    };
    assert!(why.contains("purge"), "{why}");
    let purged = |cache: &DriveStateCache| cache.lookup_purge(&fixture.info());
    assert!(matches!(purged(&fixture.cache), StateValidity::Unknown(_)));
    let over = fixture.cache.record_purge(&fixture.info(), "sanitize", true);
    over.unwrap();
    assert!(matches!(purged(&fixture.cache), StateValidity::Valid { .. }));
}

#[test]
fn a_cell_on_a_drive_with_foreign_writes_claims_none() {
    let fixture = interrupted_fixture();
    // A new run, not the resumed one.
    fixture.cache.record_cell_start(&fixture.info(), "two", "writes").unwrap();
    fixture.cache.record_writes(&fixture.info(), MIB).unwrap();
    assert!(matches!(fixture.lookup(), StateValidity::Stale(_)), "{:?}", fixture.lookup());
}
