//! Cells that are under way: noted before they write, so that a run that was cut off can answer for its own bytes when it is resumed.
//!
//! So are purges: whoever is cut off in one has left a drive of which nothing is known.
//!
//! Only the run that was cut off knows how much it had written, from its journal, and only its resumption may claim that. To everybody else
//! a drive that was written meanwhile is changed. And what was written beyond what the run can have written, or later, was written by others.

use assay_target::identity::{DriveInfo, Trace, trace_at};
use assay_units::Nanos;
use serde::{Deserialize, Serialize};

use super::{DriveMemory, Found, MemoryError, Record, SLACK_BYTES, add_written, load};

/// A cell that writes, or was cut off while it did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UnderWay {
    pub(super) run: String,
    pub(super) cell: String,
    began_unix_s: u64,
}

/// What a cell that was cut off can have done to a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutOff {
    /// What its journal says was written, bytes.
    pub written_bytes: u64,
    /// What can have been written beside that, after the last line of the journal.
    pub unseen_bytes: u64,
    /// How long after its start the last write can have ended.
    pub lasted: Nanos,
}

impl DriveMemory {
    /// A cell of a run begins now, and will write to the drive. Nothing happens where nothing is remembered of it.
    ///
    /// # Errors
    /// [`MemoryError`] when that cannot be stored.
    pub fn begin(&self, info: &DriveInfo, run: &str, cell: &str) -> Result<(), MemoryError> {
        self.change(info, 0, false, |record| {
            record.under_way = Some(UnderWay {
                run: run.to_owned(),
                cell: cell.to_owned(),
                began_unix_s: assay_target::host::unix_seconds(),
            });
        })
    }

    /// A purge begins now. Until it is over ([`DriveMemory::remember_purge`]) nothing is known of what the drive holds: a controller may erase on when
    /// the program that asked for it is gone, and the kernel counts none of it as written.
    ///
    /// # Errors
    /// [`MemoryError`] when that cannot be stored.
    pub fn begin_purge(&self, info: &DriveInfo) -> Result<(), MemoryError> {
        self.change(info, 0, false, |record| {
            record.conditionings.clear();
            record.purge = None;
            record.lost = Some("a purge of it was begun that did not come to its end".to_owned());
        })
    }

    /// This run goes on after it was cut off: what it wrote in the cell that was under way, if there was one, is its own. `cut_off` says what
    /// that cell can have done.
    ///
    /// # Errors
    /// [`MemoryError`] when that cannot be stored.
    pub fn claim(
        &self,
        info: &DriveInfo,
        run: &str,
        cut_off: impl FnOnce(&str) -> CutOff,
    ) -> Result<(), MemoryError> {
        let found = self.path(info).map(|path| load(&path));
        let Some(Found::Record(record)) = found else {
            return Ok(());
        };
        let Some(under_way) = record.under_way.as_ref().filter(|u| u.run == run) else {
            return Ok(());
        };
        let cut_off = cut_off(&under_way.cell);
        let Ok(now) = trace_at(&self.root, info) else {
            return Ok(());
        };
        if changed_later(&now, under_way, cut_off.lasted) {
            return self.change(info, 0, false, |_| {});
        }
        let most = cut_off.written_bytes.saturating_add(cut_off.unseen_bytes);
        let written = written_between(&record, &now).unwrap_or(most);
        // At least a byte: to have written none is to be told by an unchanged trace.
        self.change(info, most.max(1), false, |record| {
            add_written(record, written.min(most.saturating_add(SLACK_BYTES)));
        })
    }
}

/// Bytes that a block device counted since; a file counts none.
fn written_between(record: &Record, now: &Trace) -> Option<u64> {
    match (&record.trace, now) {
        (
            Trace::Block {
                written_bytes: before,
                ..
            },
            Trace::Block { written_bytes, .. },
        ) => Some(written_bytes.saturating_sub(*before)),
        _ => None,
    }
}

/// Was a file changed when the cell was over for certain? A block device tells by its bytes.
fn changed_later(now: &Trace, under_way: &UnderWay, lasted: Nanos) -> bool {
    match now {
        Trace::File { modified, .. } => {
            let latest = under_way
                .began_unix_s
                .saturating_add(lasted.0.div_ceil(1_000_000_000));
            u64::try_from(modified.0).is_ok_and(|modified_s| modified_s > latest)
        }
        Trace::Block { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::{Duration, UNIX_EPOCH};

    use assay_target::identity::identify;
    use assay_workload::access::Region;

    use super::super::{Conditioning, Validity};
    use super::*;

    const MIB: u64 = 1 << 20;
    const AREA: Region = Region {
        offset_bytes: 0,
        size_bytes: 8 * MIB,
    };
    const WROTE: CutOff = CutOff {
        written_bytes: 3 * MIB,
        unseen_bytes: MIB,
        lasted: Nanos::from_secs(60),
    };

    struct World {
        dir: tempfile::TempDir,
        memory: DriveMemory,
    }

    /// A file that was conditioned, and on which a cell of run `one` was under way when everything ended.
    fn cut_off_world() -> World {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("disk"), vec![0; 8 * MIB as usize]).unwrap();
        let world = World {
            memory: DriveMemory::at(dir.path().join("state")),
            dir,
        };
        let done = Conditioning {
            name: "twice".to_owned(),
            offset_bytes: 0,
            size_bytes: 8 * MIB,
            block_sizes: "4k".to_owned(),
            bytes: 16 * MIB,
        };
        world
            .memory
            .remember_precondition(&world.info(), done)
            .unwrap();
        world.memory.begin(&world.info(), "one", "mixed").unwrap();
        assert!(
            matches!(world.ask(), Validity::Valid { .. }),
            "not written yet"
        );
        fs::write(world.dir.path().join("disk"), vec![1; 8 * MIB as usize]).unwrap();
        world
    }

    impl World {
        fn info(&self) -> DriveInfo {
            identify(&self.dir.path().join("disk")).unwrap()
        }

        fn ask(&self) -> Validity {
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
            let at = UNIX_EPOCH + Duration::from_secs(assay_target::host::unix_seconds() + seconds);
            let file = File::options()
                .write(true)
                .open(self.dir.path().join("disk"));
            file.unwrap().set_modified(at).unwrap();
        }
    }

    #[test]
    fn only_the_resumed_run_may_claim_what_was_written() {
        let world = cut_off_world();
        let said = |validity: Validity| match validity {
            Validity::Stale(why) => why,
            other => panic!("{other:?}"),
        };
        assert!(said(world.ask()).contains("cut off"), "{:?}", world.ask());
        world.claim("another");
        assert!(said(world.ask()).contains("cut off"));
        world.claim("one");
        let Validity::Valid {
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
            matches!(world.ask(), Validity::Valid { .. }),
            "{:?}",
            world.ask()
        );
        let world = cut_off_world();
        world.changed_after(3600);
        world.claim("one");
        assert!(
            matches!(world.ask(), Validity::Stale(_)),
            "{:?}",
            world.ask()
        );
    }

    #[test]
    fn a_cell_that_ended_is_under_way_no_more() {
        let world = cut_off_world();
        world.memory.note_written(&world.info(), MIB).unwrap();
        assert!(matches!(world.ask(), Validity::Valid { .. }));
        fs::write(world.dir.path().join("disk"), vec![3; 8 * MIB as usize]).unwrap();
        world.claim("one");
        assert!(matches!(world.ask(), Validity::Stale(_)));
    }

    #[test]
    fn a_purge_that_was_begun_leaves_nothing_known_until_it_is_over() {
        let world = cut_off_world();
        world.claim("one");
        assert!(matches!(world.ask(), Validity::Valid { .. }));
        // Of a sanitize the kernel counts nothing: the trace stays as it was.
        world.memory.begin_purge(&world.info()).unwrap();
        let Validity::Stale(why) = world.ask() else {
            panic!("{:?}", world.ask());
        };
        assert!(why.contains("purge"), "{why}");
        let purged = |memory: &DriveMemory| memory.ask_purge(&world.info());
        assert!(matches!(purged(&world.memory), Validity::Unknown(_)));
        let over = world.memory.remember_purge(&world.info(), "sanitize", true);
        over.unwrap();
        assert!(matches!(purged(&world.memory), Validity::Valid { .. }));
    }

    #[test]
    fn a_cell_on_a_drive_that_others_wrote_to_makes_nothing_of_it_its_own() {
        let world = cut_off_world();
        // A new run, not the resumed one.
        world.memory.begin(&world.info(), "two", "writes").unwrap();
        world.memory.note_written(&world.info(), MIB).unwrap();
        assert!(
            matches!(world.ask(), Validity::Stale(_)),
            "{:?}",
            world.ask()
        );
    }
}
