//! Real block devices for tests, removed on drop (also on panic).

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fixture::Fixture;

/// Lock file that serialises the tests of all processes that use block devices.
const LOCK: &str = "/tmp/assay-devices.lock";

/// Block devices, mounts and swap that are removed in reverse order on drop.
pub struct BlockDevices {
    undo: Vec<Vec<String>>,
    pub fixture: Fixture,
    _lock: File,
}

impl BlockDevices {
    /// `None`, with the reason printed, where block devices cannot be set up.
    pub fn new() -> Option<BlockDevices> {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: setting up block devices needs root");
            return None;
        }
        let lock = File::options().create(true).truncate(false).write(true).open(LOCK).unwrap();
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
        Some(BlockDevices { undo: Vec::new(), fixture: Fixture::on_disk(), _lock: lock })
    }

    /// Attach a loop device to a file of the fixture; `None`, with the reason printed, where the
    /// kernel has none.
    pub fn attach(&mut self, file: &str, options: &[&str]) -> Option<String> {
        let path = self.fixture.path(file);
        let mut command = vec!["losetup", "--find", "--show"];
        command.extend(options);
        command.push(path.to_str().unwrap());
        match try_run(&command) {
            Ok(device) => {
                let device = device.trim().to_owned();
                self.undo_with(&["losetup", "-d", &device]);
                Some(device)
            }
            Err(e) => {
                println!("skipped: no loop devices here: {e}");
                None
            }
        }
    }

    /// Adds a zram device.
    pub fn zram(&mut self, mib: u64) -> Option<String> {
        let Ok(number) = fs::read_to_string("/sys/class/zram-control/hot_add") else {
            println!("skipped: no zram here");
            return None;
        };
        let number = number.trim().to_owned();
        self.undo_with(&[
            "sh",
            "-c",
            // udev may briefly hold a new device open.
            &format!(
                "for try in 1 2 3 4 5 6 7 8 9; do echo {number} > \
                 /sys/class/zram-control/hot_remove && exit; sleep 0.2; done"
            ),
        ]);
        fs::write(format!("/sys/block/zram{number}/disksize"), format!("{mib}M")).unwrap();
        Some(format!("/dev/zram{number}"))
    }

    pub fn mount(&mut self, what: &str, options: &[&str]) -> PathBuf {
        let point = self.fixture.path(&format!("mnt{}", self.undo.len()));
        fs::create_dir_all(&point).unwrap();
        let mut command = vec!["mount"];
        command.extend(options);
        command.extend([what, point.to_str().unwrap()]);
        run(&command);
        self.undo_with(&["umount", point.to_str().unwrap()]);
        point
    }

    /// Make it active swap; `false`, with the reason printed, where the kernel cannot.
    pub fn swapon(&mut self, what: &str) -> bool {
        run(&["mkswap", what]);
        if let Err(e) = try_run(&["swapon", what]) {
            println!("skipped: no swap on it here: {e}");
            return false;
        }
        self.undo_with(&["swapoff", what]);
        true
    }

    /// Undo the latest step now.
    pub fn undo_last(&mut self) {
        let command = self.undo.pop().unwrap();
        run(&command.iter().map(String::as_str).collect::<Vec<_>>());
    }

    fn undo_with(&mut self, command: &[&str]) {
        self.undo.push(command.iter().map(|word| (*word).to_owned()).collect());
    }
}

impl Drop for BlockDevices {
    fn drop(&mut self) {
        while let Some(command) = self.undo.pop() {
            if let Err(e) = try_run(&command.iter().map(String::as_str).collect::<Vec<_>>()) {
                eprintln!("could not clean up: {e}");
            }
        }
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

/// The name a block device has as its serial when it reports none.
pub fn name(device: &str) -> &str {
    Path::new(device).file_name().unwrap().to_str().unwrap()
}
