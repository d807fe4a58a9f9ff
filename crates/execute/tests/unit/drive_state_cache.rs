//! Records of files, and damaged records.

use std::process::{Command, Stdio};

use assay_device::identity::identify;
use assay_device::nvme::location::NvmeLocation;
use assay_units::Rng;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

const MIB: u64 = 1 << 20;

struct Fixture {
    dir: TempDir,
    cache: DriveStateCache,
    file: PathBuf,
}

/// A file of 8 MiB and a cache.
fn fixture() -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("disk");
    fs::write(&file, vec![0; 8 * MIB as usize]).unwrap();
    Fixture { cache: DriveStateCache::at(dir.path().join("state")), dir, file }
}

impl Fixture {
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
        self.cache.record_preconditioning(&self.info(), done).unwrap();
    }

    fn write(&self, byte: u8) {
        // The time of a change has the grain of the kernel's tick: change the length too, which
        // counts as well.
        let mut content = fs::read(&self.file).unwrap();
        content.fill(byte);
        fs::write(&self.file, content).unwrap();
    }

    fn lookup(&self, name: &str, offset_bytes: u64, size_bytes: u64) -> StateValidity {
        let area = Region { offset_bytes, size_bytes };
        self.cache.lookup(&self.info(), name, area)
    }

    fn stored(&self) -> PathBuf {
        self.cache.path(&self.info()).unwrap()
    }
}

#[track_caller]
fn since_bytes(validity: &StateValidity) -> u64 {
    match validity {
        StateValidity::Valid { written_since_bytes, since } => {
            assert!(since.ends_with('Z'), "{since}");
            *written_since_bytes
        }
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn stale(validity: &StateValidity, expected: &str) {
    match validity {
        StateValidity::Stale(reason) => assert!(reason.contains(expected), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn unknown(validity: &StateValidity, expected: &str) {
    match validity {
        StateValidity::Unknown(reason) => assert!(reason.contains(expected), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_record_is_valid_until_a_foreign_write() {
    let fixture = fixture();
    unknown(&fixture.lookup("twice", 0, MIB), "nothing is recorded");
    unknown(&fixture.cache.lookup_purge(&fixture.info()), "nothing");
    fixture.cache.record_purge(&fixture.info(), "one hole", false).unwrap();
    assert_eq!(since_bytes(&fixture.cache.lookup_purge(&fixture.info())), 0);
    stale(&fixture.lookup("twice", 0, MIB), "last preconditioning was not twice");
    fixture.condition("twice", MIB, 4 * MIB);
    assert_eq!(since_bytes(&fixture.lookup("twice", MIB, 4 * MIB)), 0);
    assert_eq!(since_bytes(&fixture.cache.lookup_purge(&fixture.info())), 8 * MIB);
    stale(&fixture.lookup("twice", 0, 2 * MIB), "only");
    stale(&fixture.lookup("once", MIB, MIB), "last preconditioning was not once");
    fixture.write(8);
    fixture.cache.record_writes(&fixture.info(), 3 * MIB).unwrap();
    assert_eq!(since_bytes(&fixture.lookup("twice", MIB, MIB)), 3 * MIB);
    assert_eq!(since_bytes(&fixture.cache.lookup_purge(&fixture.info())), 11 * MIB);
    // A second cache of the same directory has the record; a disabled one has none.
    let again = DriveStateCache::at(fixture.dir.path().join("state"));
    assert_eq!(since_bytes(&again.lookup_purge(&fixture.info())), 11 * MIB);
    unknown(&DriveStateCache::disabled().lookup_purge(&fixture.info()), "ASSAY_STATE_DIR");
    fs::write(&fixture.file, vec![1; 9 * MIB as usize]).unwrap();
    stale(&fixture.lookup("twice", MIB, MIB), "another size");
}

#[test]
fn foreign_writes_are_detected_at_every_lookup() {
    let fixture = fixture();
    fixture.condition("twice", 0, 8 * MIB);
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    fs::File::options().write(true).open(&fixture.file).unwrap().set_modified(old).unwrap();
    stale(&fixture.lookup("twice", 0, MIB), "changed by others");
    // Recording own writes does not restore validity.
    fixture.cache.record_writes(&fixture.info(), 0).unwrap();
    stale(&fixture.lookup("twice", 0, MIB), "changed by others");
    fixture.condition("twice", 0, MIB);
    assert_eq!(since_bytes(&fixture.lookup("twice", 0, MIB)), 0);
    // A copy under the same name is another file.
    let copy = fixture.dir.path().join("copy");
    fs::copy(&fixture.file, &copy).unwrap();
    fs::rename(&copy, &fixture.file).unwrap();
    unknown(&fixture.lookup("twice", 0, MIB), "nothing is recorded");
}

#[test]
fn preconditioning_replaces_overlapping_records_and_a_purge_all() {
    let fixture = fixture();
    fixture.condition("a", 0, 2 * MIB);
    fixture.condition("b", 2 * MIB, 2 * MIB);
    assert_eq!(since_bytes(&fixture.lookup("a", 0, 2 * MIB)), 4 * MIB);
    fixture.condition("c", 3 * MIB, 2 * MIB);
    stale(&fixture.lookup("b", 2 * MIB, MIB), "last preconditioning was not b");
    assert_eq!(since_bytes(&fixture.lookup("a", 0, 2 * MIB)), 8 * MIB);
    for n in 0..40 {
        fixture.condition(&format!("n{n}"), n * 4096, 4096);
    }
    stale(&fixture.lookup("n0", 0, 4096), "n0");
    fixture.lookup("n39", 39 * 4096, 4096);
    fixture.cache.record_purge(&fixture.info(), "one hole", false).unwrap();
    stale(&fixture.lookup("n39", 39 * 4096, 4096), "n39");
}

#[test]
fn simulated_drives_are_not_recorded() {
    let fixture = fixture();
    let info = DriveInfo::new(DriveKind::Simulated, "sim:x", "x", 1 << 30);
    fixture.cache.record_purge(&info, "formatted", true).unwrap();
    unknown(&fixture.cache.lookup_purge(&info), "ends with the process");
    assert!(!fixture.dir.path().join("state").exists());
}

#[test]
fn file_names_stay_in_the_directory() {
    for (name, file) in [
        ("S3Z8NB0K123", "S3Z8NB0K123"),
        ("../etc/passwd", "%2E.%2Fetc%2Fpasswd"),
        ("a b\n", "a%20b%0A"),
        ("loop3", "loop3"),
    ] {
        assert_eq!(file_name(name), file);
    }
    let cache = DriveStateCache::at("/state");
    let path = |serial: &str, name: &str, of: Option<&str>| {
        let mut info = DriveInfo::new(DriveKind::Block, "x", name, 1);
        info.serial = serial.to_owned();
        info.partition_of = of.map(str::to_owned);
        cache.path(&info).unwrap().to_string_lossy().into_owned()
    };
    assert_eq!(path("S1", "nvme0n1", None), "/state/S1.json");
    assert_eq!(path("S1", "nvme3n2", None), "/state/S1@n2.json");
    assert_eq!(path("S1", "nvme0n1p2", Some("nvme0n1")), "/state/S1@p2.json");
    assert_eq!(path("S1", "nvme0n2p2", Some("nvme0n2")), "/state/S1@n2@p2.json");
    assert_eq!(path("S2", "sda1", Some("sda")), "/state/S2@1.json");
    assert_eq!(path("zram0", "zram0", None), "/state/zram0.json");
    // A namespace is identified by its identifier, not by the name of the block device.
    let mut info = DriveInfo::new(DriveKind::Block, "x", "nvme0n1", 1);
    info.serial = "S1".to_owned();
    info.nvme = Some(NvmeLocation {
        controller: "/dev/nvme0".into(),
        generic: None,
        nsid: 2,
        max_command_bytes: None,
        sysfs: "/sys".into(),
        interrupt_vectors: None,
        namespaces: Vec::new(),
    });
    let of_second = cache.path(&info).unwrap();
    assert_eq!(of_second.to_string_lossy(), "/state/S1@n2.json");
}

#[test]
fn a_newer_version_is_not_overwritten() {
    let fixture = fixture();
    fixture.condition("twice", 0, MIB);
    let text = fs::read_to_string(fixture.stored()).unwrap();
    let newer = text.replacen("\"version\": 1", "\"version\": 2", 1);
    assert_ne!(text, newer);
    fs::write(fixture.stored(), &newer).unwrap();
    unknown(&fixture.lookup("twice", 0, MIB), "newer");
    fixture.condition("twice", 0, MIB);
    assert_eq!(fs::read_to_string(fixture.stored()).unwrap(), newer);
}

#[test]
fn an_unwritable_directory_is_an_error_with_advice() {
    let fixture = fixture();
    let blocked = fixture.dir.path().join("blocked");
    fs::write(&blocked, "a file").unwrap();
    let cache = DriveStateCache::at(&blocked);
    let error = cache.record_purge(&fixture.info(), "x", true).unwrap_err();
    assert!(error.to_string().contains("ASSAY_STATE_DIR"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Truncated anywhere, or with any byte changed: only the stored state is valid, and the next
    /// record is stored.
    #[test]
    fn damaged_files_are_never_valid(cut: bool, at in 0.0_f64..1.0, flip in 1_u8..=255) {
        let fixture = fixture();
        fixture.condition("twice", 0, MIB);
        let whole = fixture.lookup("twice", 0, MIB);
        let mut text = fs::read(fixture.stored()).unwrap();
        let place = (at * text.len() as f64) as usize;
        if cut {
            text.truncate(place);
        } else {
            text[place] ^= flip;
        }
        fs::write(fixture.stored(), &text).unwrap();
        match fixture.lookup("twice", 0, MIB) {
            // Blanks and the version's zeroes may change without a change of the content.
            StateValidity::Valid { .. } => prop_assert_eq!(fixture.lookup("twice", 0, MIB), whole),
            StateValidity::Stale(reason) => prop_assert!(false, "{}", reason),
            StateValidity::Unknown(_) => {}
        }
        if matches!(load(&fixture.stored()), LoadOutcome::Damaged) {
            fixture.condition("twice", 0, MIB);
            prop_assert_eq!(since_bytes(&fixture.lookup("twice", 0, MIB)), 0);
        }
    }
}

/// Set for the process that is killed.
const VICTIM: &str = "ASSAY_TEST_STATE_CACHE_VICTIM";

/// Not a test by itself: records purges until it is killed.
#[test]
fn records_until_it_is_killed() {
    let Some(dir) = std::env::var_os(VICTIM).map(PathBuf::from) else {
        return;
    };
    let cache = DriveStateCache::at(dir.join("state"));
    let info = identify(&dir.join("disk")).unwrap();
    for n in 0.. {
        cache.record_purge(&info, &format!("number {n}"), true).unwrap();
    }
}

#[test]
fn a_killed_process_leaves_the_old_file_or_the_new() {
    let fixture = fixture();
    let mut rng = Rng::new(4);
    let number = || match load(&fixture.stored()) {
        LoadOutcome::Absent => None,
        LoadOutcome::Loaded(record) => {
            let how = record.purge.unwrap().what.how;
            Some(how.strip_prefix("number ").unwrap().parse::<u64>().unwrap())
        }
        LoadOutcome::Damaged | LoadOutcome::Newer => panic!("half a cache was left"),
    };
    for _ in 0..20 {
        let mut victim = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "drive_state_cache::tests::records_until_it_is_killed"])
            .env(VICTIM, fixture.dir.path())
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
        let left = fs::read_dir(fixture.dir.path().join("state")).unwrap().count();
        assert!(left <= 21, "files beside are not piled up by one process");
    }
    // The remaining file is usable.
    fixture.condition("twice", 0, MIB);
    assert_eq!(since_bytes(&fixture.lookup("twice", 0, MIB)), 0);
}
