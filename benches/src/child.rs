use std::ffi::OsStr;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail, ensure};
use assay_io::clock::Clock;
use wait4::Wait4;

pub struct Outcome {
    pub stdout: String,
    /// User time of the whole process, its threads and the kernel's workers for it, seconds.
    pub user_s: f64,
    pub system_s: f64,
    pub max_rss_bytes: u64,
    pub wall_s: f64,
}

impl Outcome {
    pub fn cpu_s(&self) -> f64 {
        self.user_s + self.system_s
    }
}

pub struct Runner {
    pub assay: PathBuf,
    stop: Arc<AtomicBool>,
    clock: Clock,
}

impl Runner {
    pub fn new(assay: PathBuf, stop: Arc<AtomicBool>) -> Runner {
        let clock = Clock::monotonic();
        Runner { assay, stop, clock }
    }

    pub fn check_stopped(&self) -> Result<()> {
        ensure!(!self.stop.load(Ordering::Relaxed), "interrupted");
        Ok(())
    }

    /// Run assay with arguments that contain no spaces.
    pub fn run_assay(&self, arguments: &str) -> Result<Outcome> {
        let words: Vec<&str> = arguments.split_whitespace().collect();
        self.run(&self.assay, &words)
    }

    pub fn run<S: AsRef<OsStr>>(&self, program: &Path, arguments: &[S]) -> Result<Outcome> {
        self.check_stopped()?;
        let mut errors = tempfile::tempfile()?;
        let start = self.clock.now();
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(errors.try_clone()?)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let mut stdout = String::new();
        if let Some(mut pipe) = child.stdout.take() {
            pipe.read_to_string(&mut stdout)?;
        }
        let usage = child.wait4()?;
        let wall_s = (self.clock.now() - start).as_secs_f64();
        self.check_stopped()?;
        if !usage.status.success() {
            errors.rewind()?;
            let errors = io::read_to_string(errors)?;
            let words = arguments.iter().map(|word| word.as_ref().to_string_lossy());
            let line: Vec<_> = [program.to_string_lossy()].into_iter().chain(words).collect();
            bail!("{}: {}: {}", line.join(" "), usage.status, errors.trim());
        }
        Ok(Outcome {
            stdout,
            user_s: usage.rusage.utime.as_secs_f64(),
            system_s: usage.rusage.stime.as_secs_f64(),
            max_rss_bytes: usage.rusage.maxrss,
            wall_s,
        })
    }
}
