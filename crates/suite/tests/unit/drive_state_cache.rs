//! Memories of files, and of memories that were damaged.

use std::process::{Command, Stdio};

use assay_device::identity::identify;
use assay_device::nvme::place::NvmePlace;
use assay_units::Rng;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

const MIB: u64 = 1 << 20;

struct World {
    dir: TempDir,
    memory: DriveStateCache,
    file: PathBuf,
}

/// A file of 8 MiB and a memory.
fn world() -> World {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("disk");
    fs::write(&file, vec![0; 8 * MIB as usize]).unwrap();
    World {
        memory: DriveStateCache::at(dir.path().join("state")),
        dir,
        file,
    }
}

impl World {
    fn info(&self) -> DriveInfo {
        identify(&self.file).unwrap()
    }

    fn condition(&self, name: &str, offset_bytes: u64, size_bytes: u64) {
        let done = PreconditioningRecord {
            name: name.to_owned(),
            offset_bytes,
            size_bytes,
            block_sizes: "4k".to_owned(),
            bytes: 2 * size_bytes,
        };
        self.write(7);
        self.memory
            .record_preconditioning(&self.info(), done)
            .unwrap();
    }

    fn write(&self, byte: u8) {
        // The time of a change has the grain of the kernel's tick: change the length too, which counts as well.
        let mut content = fs::read(&self.file).unwrap();
        content.fill(byte);
        fs::write(&self.file, content).unwrap();
    }

    fn ask(&self, name: &str, offset_bytes: u64, size_bytes: u64) -> StateValidity {
        let area = Region {
            offset_bytes,
            size_bytes,
        };
        self.memory.ask(&self.info(), name, area)
    }

    fn stored(&self) -> PathBuf {
        self.memory.path(&self.info()).unwrap()
    }
}

#[track_caller]
fn since_bytes(validity: &StateValidity) -> u64 {
    match validity {
        StateValidity::Valid {
            written_since_bytes,
            since,
        } => {
            assert!(since.ends_with('Z'), "{since}");
            *written_since_bytes
        }
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn stale(validity: &StateValidity, says: &str) {
    match validity {
        StateValidity::Stale(reason) => assert!(reason.contains(says), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn unknown(validity: &StateValidity, says: &str) {
    match validity {
        StateValidity::Unknown(reason) => assert!(reason.contains(says), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_was_done_is_valid_until_somebody_else_writes() {
    let world = world();
    unknown(&world.ask("twice", 0, MIB), "nothing is remembered");
    unknown(&world.memory.lookup_purge(&world.info()), "nothing");
    world
        .memory
        .record_purge(&world.info(), "one hole", false)
        .unwrap();
    assert_eq!(since_bytes(&world.memory.lookup_purge(&world.info())), 0);
    stale(
        &world.ask("twice", 0, MIB),
        "not conditioned with twice last",
    );
    world.condition("twice", MIB, 4 * MIB);
    assert_eq!(since_bytes(&world.ask("twice", MIB, 4 * MIB)), 0);
    assert_eq!(
        since_bytes(&world.memory.lookup_purge(&world.info())),
        8 * MIB
    );
    stale(&world.ask("twice", 0, 2 * MIB), "only");
    stale(&world.ask("once", MIB, MIB), "not conditioned with once");
    world.write(8);
    world.memory.record_writes(&world.info(), 3 * MIB).unwrap();
    assert_eq!(since_bytes(&world.ask("twice", MIB, MIB)), 3 * MIB);
    assert_eq!(
        since_bytes(&world.memory.lookup_purge(&world.info())),
        11 * MIB
    );
    // Another memory of the same place knows it as well; none knows nothing.
    let again = DriveStateCache::at(world.dir.path().join("state"));
    assert_eq!(since_bytes(&again.lookup_purge(&world.info())), 11 * MIB);
    unknown(
        &DriveStateCache::none().lookup_purge(&world.info()),
        "ASSAY_STATE_DIR",
    );
    fs::write(&world.file, vec![1; 9 * MIB as usize]).unwrap();
    stale(&world.ask("twice", MIB, MIB), "another size");
}

#[test]
fn foreign_writes_are_seen_whenever_one_looks() {
    let world = world();
    world.condition("twice", 0, 8 * MIB);
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    File::options()
        .write(true)
        .open(&world.file)
        .unwrap()
        .set_modified(old)
        .unwrap();
    stale(&world.ask("twice", 0, MIB), "changed by others");
    // Noting it does not make it good again.
    world.memory.record_writes(&world.info(), 0).unwrap();
    stale(&world.ask("twice", 0, MIB), "changed by others");
    world.condition("twice", 0, MIB);
    assert_eq!(since_bytes(&world.ask("twice", 0, MIB)), 0);
    // A copy under the same name is another file.
    let copy = world.dir.path().join("copy");
    fs::copy(&world.file, &copy).unwrap();
    fs::rename(&copy, &world.file).unwrap();
    unknown(&world.ask("twice", 0, MIB), "nothing is remembered");
}

#[test]
fn a_conditioning_ends_those_in_its_area_and_a_purge_all() {
    let world = world();
    world.condition("a", 0, 2 * MIB);
    world.condition("b", 2 * MIB, 2 * MIB);
    assert_eq!(since_bytes(&world.ask("a", 0, 2 * MIB)), 4 * MIB);
    world.condition("c", 3 * MIB, 2 * MIB);
    stale(&world.ask("b", 2 * MIB, MIB), "not conditioned with b last");
    assert_eq!(since_bytes(&world.ask("a", 0, 2 * MIB)), 8 * MIB);
    for n in 0..40 {
        world.condition(&format!("n{n}"), n * 4096, 4096);
    }
    stale(&world.ask("n0", 0, 4096), "n0");
    world.ask("n39", 39 * 4096, 4096);
    world
        .memory
        .record_purge(&world.info(), "one hole", false)
        .unwrap();
    stale(&world.ask("n39", 39 * 4096, 4096), "n39");
}

#[test]
fn simulated_drives_are_not_remembered() {
    let world = world();
    let info = DriveInfo::new(DriveKind::Simulated, "sim:x", "x", 1 << 30);
    world.memory.record_purge(&info, "formatted", true).unwrap();
    unknown(&world.memory.lookup_purge(&info), "anew each time");
    assert!(!world.dir.path().join("state").exists());
}

#[test]
fn names_stay_in_the_directory() {
    for (name, file) in [
        ("S3Z8NB0K123", "S3Z8NB0K123"),
        ("../etc/passwd", "%2E.%2Fetc%2Fpasswd"),
        ("a b\n", "a%20b%0A"),
        ("loop3", "loop3"),
    ] {
        assert_eq!(file_name(name), file);
    }
    let memory = DriveStateCache::at("/state");
    let path = |serial: &str, name: &str, of: Option<&str>| {
        let mut info = DriveInfo::new(DriveKind::Block, "x", name, 1);
        info.serial = serial.to_owned();
        info.partition_of = of.map(str::to_owned);
        memory.path(&info).unwrap().to_string_lossy().into_owned()
    };
    assert_eq!(path("S1", "nvme0n1", None), "/state/S1.json");
    assert_eq!(path("S1", "nvme3n2", None), "/state/S1@n2.json");
    assert_eq!(
        path("S1", "nvme0n1p2", Some("nvme0n1")),
        "/state/S1@p2.json"
    );
    assert_eq!(
        path("S1", "nvme0n2p2", Some("nvme0n2")),
        "/state/S1@n2@p2.json"
    );
    assert_eq!(path("S2", "sda1", Some("sda")), "/state/S2@1.json");
    assert_eq!(path("zram0", "zram0", None), "/state/zram0.json");
    // A namespace is what it is by its identifier, whatever the kernel calls it.
    let mut info = DriveInfo::new(DriveKind::Block, "x", "nvme0n1", 1);
    info.serial = "S1".to_owned();
    info.nvme = Some(NvmePlace {
        controller: "/dev/nvme0".into(),
        generic: None,
        nsid: 2,
        max_command_bytes: None,
        sysfs: "/sys".into(),
        interrupt_vectors: None,
        namespaces: Vec::new(),
    });
    let of_second = memory.path(&info).unwrap();
    assert_eq!(of_second.to_string_lossy(), "/state/S1@n2.json");
}

#[test]
fn what_a_newer_version_knows_is_left_alone() {
    let world = world();
    world.condition("twice", 0, MIB);
    let text = fs::read_to_string(world.stored()).unwrap();
    let newer = text.replacen("\"version\": 1", "\"version\": 2", 1);
    assert_ne!(text, newer);
    fs::write(world.stored(), &newer).unwrap();
    unknown(&world.ask("twice", 0, MIB), "newer");
    world.condition("twice", 0, MIB);
    assert_eq!(fs::read_to_string(world.stored()).unwrap(), newer);
}

#[test]
fn a_place_that_cannot_be_written_is_an_error_that_says_so() {
    let world = world();
    let blocked = world.dir.path().join("blocked");
    fs::write(&blocked, "a file").unwrap();
    let memory = DriveStateCache::at(&blocked);
    let error = memory.record_purge(&world.info(), "x", true).unwrap_err();
    assert!(error.to_string().contains("ASSAY_STATE_DIR"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Cut anywhere, or with any byte changed: nothing is taken for valid but what was stored, and the next thing to remember is.
    #[test]
    fn damage_is_never_taken_for_memory(cut: bool, at in 0.0_f64..1.0, flip in 1_u8..=255) {
        let world = world();
        world.condition("twice", 0, MIB);
        let whole = world.ask("twice", 0, MIB);
        let mut text = fs::read(world.stored()).unwrap();
        let place = (at * text.len() as f64) as usize;
        if cut {
            text.truncate(place);
        } else {
            text[place] ^= flip;
        }
        fs::write(world.stored(), &text).unwrap();
        match world.ask("twice", 0, MIB) {
            // Blanks and the version's zeroes may change without a change of what is said.
            StateValidity::Valid { .. } => prop_assert_eq!(world.ask("twice", 0, MIB), whole),
            StateValidity::Stale(reason) => prop_assert!(false, "{}", reason),
            StateValidity::Unknown(_) => {}
        }
        if matches!(load(&world.stored()), Found::Damaged) {
            world.condition("twice", 0, MIB);
            prop_assert_eq!(since_bytes(&world.ask("twice", 0, MIB)), 0);
        }
    }
}

/// Set for the process that is killed.
const VICTIM: &str = "ASSAY_TEST_MEMORY_VICTIM";

/// Not a test by itself: remembers, one time after the other, until it is killed.
#[test]
fn remembers_until_it_is_killed() {
    let Some(dir) = std::env::var_os(VICTIM).map(PathBuf::from) else {
        return;
    };
    let memory = DriveStateCache::at(dir.join("state"));
    let info = identify(&dir.join("disk")).unwrap();
    for n in 0.. {
        memory
            .record_purge(&info, &format!("number {n}"), true)
            .unwrap();
    }
}

#[test]
fn a_process_that_is_killed_leaves_the_old_memory_or_the_new() {
    let world = world();
    let mut rng = Rng::new(4);
    let number = || match load(&world.stored()) {
        Found::Nothing => None,
        Found::Record(record) => {
            let how = record.purge.unwrap().what.how;
            Some(how.strip_prefix("number ").unwrap().parse::<u64>().unwrap())
        }
        Found::Damaged | Found::Newer => panic!("half a memory was left"),
    };
    for _ in 0..20 {
        let mut victim = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "drive_state_cache::tests::remembers_until_it_is_killed",
            ])
            .env(VICTIM, world.dir.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let before = number();
        while number() == before {}
        let looks = rng.below(400);
        for _ in 0..looks {
            number();
        }
        victim.kill().unwrap();
        victim.wait().unwrap();
        assert!(number().is_some());
        let left = fs::read_dir(world.dir.path().join("state"))
            .unwrap()
            .count();
        assert!(left <= 21, "files beside are not piled up by one process");
    }
    // And what is left is good to go on with.
    world.condition("twice", 0, MIB);
    assert_eq!(since_bytes(&world.ask("twice", 0, MIB)), 0);
}
