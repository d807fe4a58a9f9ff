//! Real block devices for tests, removed on drop (also on panic).

#![allow(clippy::unwrap_used, reason = "a test whose fixture cannot be set up panics")]
#![allow(dead_code, reason = "each test binary uses its part")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use assay_device::identity::{DriveInfo, identify};
use assay_device::interlock::{Refusal, authorise};
use tempfile::TempDir;

/// Lock file that serialises the tests of all processes that use block devices.
const LOCK: &str = "/tmp/assay-devices.lock";

/// A folder with block devices, mounts and swap that are removed in reverse order on drop.
pub struct InterlockFixture {
    undo: Vec<Vec<String>>,
    dir: Option<TempDir>,
    _lock: File,
}

impl InterlockFixture {
    /// `None`, with the reason printed, where block devices cannot be set up.
    pub fn new() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: setting up block devices needs root");
            return None;
        }
        let lock = File::options().create(true).truncate(false).write(true).open(LOCK).unwrap();
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
        // Not in /tmp, which may be a tmpfs: swap files need a filesystem on a block device.
        let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Some(Self { undo: Vec::new(), dir: Some(dir), _lock: lock })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.as_ref().unwrap().path().join(name)
    }

    /// A file of this size, filled with zeros on disk (swap files must have no holes).
    pub fn image(&self, name: &str, mib: usize) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, vec![0u8; mib << 20]).unwrap();
        path
    }

    /// Attaches a loop device; `None`, with the reason printed, where the kernel has none.
    pub fn attach(&mut self, what: &Path, options: &[&str]) -> Option<PathBuf> {
        let mut command = vec!["losetup", "--find", "--show"];
        command.extend(options);
        let what = what.to_str().unwrap();
        command.push(what);
        match try_run(&command) {
            Ok(device) => {
                self.undo_with(&["losetup", "-d", device.trim()]);
                Some(PathBuf::from(device.trim()))
            }
            Err(e) => {
                println!("skipped: no loop devices here: {e}");
                None
            }
        }
    }

    /// Adds a zram device.
    pub fn zram(&mut self, mib: u64) -> Option<PathBuf> {
        let Ok(number) = fs::read_to_string("/sys/class/zram-control/hot_add") else {
            println!("skipped: no zram here");
            return None;
        };
        let number = number.trim().to_owned();
        self.undo_with(&[
            "sh",
            "-c",
            &format!("echo {number} > /sys/class/zram-control/hot_remove"),
        ]);
        fs::write(format!("/sys/block/zram{number}/disksize"), format!("{mib}M")).unwrap();
        Some(PathBuf::from(format!("/dev/zram{number}")))
    }

    pub fn mount(&mut self, device: &Path, options: &[&str]) -> PathBuf {
        let point = self.path(&format!("mnt{}", self.undo.len()));
        fs::create_dir_all(&point).unwrap();
        let mut command = vec!["mount"];
        command.extend(options);
        command.extend([device.to_str().unwrap(), point.to_str().unwrap()]);
        run(&command);
        // What the mount itself writes, which tests of unchanged bytes must not meet.
        run(&["sync", "-f", point.to_str().unwrap()]);
        self.undo_with(&["umount", point.to_str().unwrap()]);
        point
    }

    /// Makes it active swap; `false`, with the reason printed, where the kernel or the filesystem
    /// under a file cannot.
    pub fn swapon(&mut self, what: &Path) -> bool {
        run(&["mkswap", what.to_str().unwrap()]);
        if let Err(e) = try_run(&["swapon", what.to_str().unwrap()]) {
            println!("skipped: no swap on it here: {e}");
            return false;
        }
        self.undo_with(&["swapoff", what.to_str().unwrap()]);
        true
    }

    /// Undoes the latest step now.
    pub fn undo_last(&mut self) {
        let command = self.undo.pop().unwrap();
        run(&command.iter().map(String::as_str).collect::<Vec<_>>());
    }

    pub fn undo_with(&mut self, command: &[&str]) {
        self.undo.push(command.iter().map(|word| (*word).to_owned()).collect());
    }
}

impl Drop for InterlockFixture {
    fn drop(&mut self) {
        while let Some(command) = self.undo.pop() {
            if let Err(e) = try_run(&command.iter().map(String::as_str).collect::<Vec<_>>()) {
                eprintln!("could not clean up: {e}");
            }
        }
        self.dir.take();
    }
}

pub fn try_run(command: &[&str]) -> Result<String, String> {
    let output = Command::new(command[0])
        .args(&command[1..])
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .output()
        .map_err(|e| format!("{command:?}: {e}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)))
    }
}

pub fn run(command: &[&str]) -> String {
    try_run(command).unwrap()
}

pub fn destroy(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}

pub fn info(path: &Path) -> DriveInfo {
    identify(path).unwrap()
}

pub fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// The refusal for these confirmations; checks that the drive is unchanged.
#[track_caller]
pub fn refused(path: &Path, words: &[&str]) -> Refusal {
    let before = fs::read(path).unwrap();
    let refusal = authorise(&info(path), &destroy(words)).expect_err("must be refused");
    assert!(before == fs::read(path).unwrap(), "bytes have changed");
    let message = refusal.to_string();
    assert!(message.starts_with("refused: nothing was written to"), "{message}");
    refusal
}

#[track_caller]
pub fn allowed(path: &Path, words: &[&str]) {
    let permit = authorise(&info(path), &destroy(words)).unwrap_or_else(|e| panic!("{e}"));
    permit.check(File::open(path).unwrap()).unwrap();
}

/// Checks that no confirmation overrides the refusal.
#[track_caller]
pub fn refused_for_good(path: &Path) -> Refusal {
    let all = [&name(path), "ext4", "ext2", "swap", "gpt", "dos", "LVM2_member", "force"];
    let refusal = refused(path, &all.map(AsRef::as_ref));
    assert!(!refusal.can_be_overridden(), "{refusal}");
    assert_eq!(refusal.missing_words(), Vec::<String>::new());
    assert!(!refusal.to_string().contains("add: --destroy"), "{refusal}");
    refusal
}
