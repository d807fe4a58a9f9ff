//! Each is filled with incompressible data, and removed on drop, also after Ctrl-C.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use assay_io::clock::Clock;
use assay_units::{GIB, Nanos, Rng};
use rustix::fs::{FlockOperation, flock};

/// Size of every test device: many times the processor's caches.
pub const DEVICE_BYTES: u64 = GIB;

/// Lock of all programs that use block devices on this machine.
const DEVICE_LOCK: &str = "/tmp/assay-devices.lock";
const ZRAM: &str = "/sys/block/zram0";

pub struct TestDevice {
    pub path: String,
    pub name: &'static str,
    remove: Remove,
}

enum Remove {
    File(PathBuf),
    Zram { _lock: File },
}

impl TestDevice {
    /// `/dev/zram0`, which must be unused.
    pub fn zram() -> Result<TestDevice> {
        let lock = OpenOptions::new()
            .create(true)
            .append(true)
            .open(DEVICE_LOCK)
            .with_context(|| format!("cannot open {DEVICE_LOCK}"))?;
        eprintln!("waiting for {DEVICE_LOCK}");
        flock(&lock, FlockOperation::LockExclusive).context("cannot lock")?;
        let attribute = |name: &str| Path::new(ZRAM).join(name);
        let size = fs::read_to_string(attribute("disksize")).context("no zram device here")?;
        if size.trim() != "0" {
            bail!("zram0 is in use; free it with: echo 1 > {ZRAM}/reset");
        }
        fs::write(attribute("disksize"), DEVICE_BYTES.to_string())
            .context("cannot size zram0 (this takes root)")?;
        let device = TestDevice {
            path: "/dev/zram0".to_owned(),
            name: "zram",
            remove: Remove::Zram { _lock: lock },
        };
        fill(OpenOptions::new().write(true).open(&device.path)?)?;
        Ok(device)
    }

    pub fn tmpfs() -> Result<TestDevice> {
        TestDevice::file("tmpfs file", Path::new("/dev/shm"))
    }

    pub fn disk() -> Result<TestDevice> {
        TestDevice::file("file on the root disk", Path::new("/var/tmp"))
    }

    fn file(name: &'static str, folder: &Path) -> Result<TestDevice> {
        let path = folder.join(format!("assay-bench-{}.img", std::process::id()));
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let file = file.with_context(|| format!("cannot make {}", path.display()))?;
        let device =
            TestDevice { path: path.display().to_string(), name, remove: Remove::File(path) };
        fill(file)?;
        Ok(device)
    }
}

impl Drop for TestDevice {
    fn drop(&mut self) {
        let removed = match &self.remove {
            Remove::File(path) => fs::remove_file(path),
            Remove::Zram { .. } => reset_zram(),
        };
        if let Err(error) = removed {
            eprintln!("{} could not be removed: {error}", self.path);
        }
    }
}

/// udev keeps a block device busy for a moment after it was closed.
fn reset_zram() -> std::io::Result<()> {
    let clock = Clock::monotonic();
    let give_up = clock.now() + Nanos::from_secs(2);
    loop {
        let answer = fs::write(Path::new(ZRAM).join("reset"), "1");
        if answer.is_ok() || clock.now() > give_up {
            return answer;
        }
        clock.wait_until(clock.now() + Nanos::from_millis(20));
    }
}

fn fill(mut file: File) -> Result<()> {
    let mut rng = Rng::new(1);
    let mut piece = vec![0; 1 << 20];
    for _ in 0..DEVICE_BYTES >> 20 {
        rng.fill(&mut piece);
        file.write_all(&piece)?;
    }
    file.sync_all()?;
    Ok(())
}
