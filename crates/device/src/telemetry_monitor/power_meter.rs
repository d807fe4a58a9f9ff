//! External power meter: a command, run by `sh`, that prints watts. Each line is a reading: its
//! first number (`3.2`, `3.2 W`; `12 V, ...` is wrong, since the first number counts). A command
//! that ends or closes its output is killed and restarted, so that both a logger and a script that
//! prints one value work.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum MeterError {
    #[error("power meter {command:?}: cannot be started: {source}")]
    Start { command: String, source: std::io::Error },
    #[error(
        "power meter {command:?}: printed no number within {seconds} s; it must print watts, one \
         reading per line (its standard output is read, line by line)"
    )]
    Silent {
        command: String,
        /// Timeout.
        seconds: u64,
    },
}

/// Timeout of the first reading.
const READING_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause between two runs of a command that ends.
const BETWEEN: Duration = Duration::from_millis(200);

#[derive(Debug, Default)]
struct Readings {
    sum_w: f64,
    count: u32,
    child: Option<Child>,
}

#[derive(Debug, Default)]
struct Shared {
    readings: Mutex<Readings>,
    came: Condvar,
    stop: AtomicBool,
}

/// Ends with its command when dropped.
#[derive(Debug, Default)]
pub struct PowerMeter {
    shared: Arc<Shared>,
}

impl PowerMeter {
    /// Waits for the first reading.
    pub fn start(command: &str) -> Result<PowerMeter, MeterError> {
        let meter = PowerMeter::default();
        let shared = Arc::clone(&meter.shared);
        let begin = |source| MeterError::Start { command: command.to_owned(), source };
        let mut lines = spawn(command, &shared).map_err(begin)?;
        let text = command.to_owned();
        std::thread::Builder::new()
            .name("power meter".to_owned())
            .stack_size(256 << 10)
            .spawn(move || {
                listen(&mut lines, &shared);
                while !shared.pause() {
                    // A command that closed its output but still runs would keep the meter device
                    // open.
                    shared.end_child();
                    let Ok(mut lines) = spawn(&text, &shared) else {
                        return;
                    };
                    listen(&mut lines, &shared);
                }
            })
            .map_err(begin)?;
        match meter.first_reading(READING_TIMEOUT) {
            true => Ok(meter),
            false => Err(MeterError::Silent {
                command: command.to_owned(),
                seconds: READING_TIMEOUT.as_secs(),
            }),
        }
    }

    /// Mean since the last call; `None` without readings.
    pub fn mean_mw(&self) -> Option<u64> {
        let mut readings = self.shared.lock();
        let (sum_w, count) = (readings.sum_w, readings.count);
        (readings.sum_w, readings.count) = (0.0, 0);
        (count > 0).then(|| (sum_w / f64::from(count) * 1e3).round() as u64)
    }

    fn first_reading(&self, timeout: Duration) -> bool {
        let readings = self.shared.lock();
        let (readings, _) = self
            .shared
            .came
            .wait_timeout_while(readings, timeout, |r| r.count == 0)
            .unwrap_or_else(PoisonError::into_inner);
        readings.count > 0
    }

    #[cfg(test)]
    pub(crate) fn wait_for_a_reading(&self) {
        assert!(self.first_reading(READING_TIMEOUT));
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Readings> {
        self.readings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `true` when the meter has ended.
    fn pause(&self) -> bool {
        let readings = self.lock();
        let _ =
            self.came.wait_timeout_while(readings, BETWEEN, |_| !self.stop.load(Ordering::SeqCst));
        self.stop.load(Ordering::SeqCst)
    }

    /// Kills the process group and waits for its end, without holding the lock of the readings.
    fn end_child(&self) {
        let mut readings = self.lock();
        let child = readings.child.take();
        if let Some(child) = &child
            && let Some(group) = rustix::process::Pid::from_raw(child.id().cast_signed())
        {
            // Under the lock: without a child entry, no command runs.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        drop(readings);
        if let Some(mut child) = child {
            let _ = child.wait();
        }
    }
}

/// Fails when the meter has ended.
fn spawn(command: &str, shared: &Shared) -> std::io::Result<BufReader<std::process::ChildStdout>> {
    // Held until the child is registered: otherwise the end of the meter would miss the child.
    let mut readings = shared.lock();
    if shared.stop.load(Ordering::SeqCst) {
        return Err(std::io::ErrorKind::Interrupted.into());
    }
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // Own process group: Ctrl-C ends the run, which then ends the meter with all its children.
        .process_group(0)
        .spawn()?;
    let lines = child.stdout.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
    readings.child = Some(child);
    Ok(BufReader::new(lines))
}

fn listen(lines: &mut impl BufRead, shared: &Shared) {
    let mut line = Vec::new();
    loop {
        line.clear();
        // Limits the memory of a line without end.
        let read = std::io::Read::take(&mut *lines, 4096).read_until(b'\n', &mut line);
        if matches!(read, Ok(0) | Err(_)) || shared.stop.load(Ordering::SeqCst) {
            return;
        }
        if let Some(watts) = watts(&String::from_utf8_lossy(&line)) {
            let mut readings = shared.lock();
            readings.sum_w += watts;
            // The program may print any number of lines.
            readings.count = readings.count.saturating_add(1);
            shared.came.notify_all();
        }
    }
}

fn watts(line: &str) -> Option<f64> {
    let begin = line.find(|c: char| c.is_ascii_digit())?;
    let rest = &line[begin..];
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
    let value: f64 = rest[..end].trim_end_matches('.').parse().ok()?;
    let negative = line[..begin].ends_with('-');
    (!negative && value < 1e6).then_some(value)
}

impl Drop for PowerMeter {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.shared.came.notify_all();
        self.shared.end_child();
    }
}

#[cfg(test)]
#[path = "../../tests/unit/telemetry_monitor/power_meter.rs"]
mod tests;
