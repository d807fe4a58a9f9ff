//! The child process `assay run`: start, signals, end, and the watch over a journal that stands
//! still.

use assay_output::{open_log, open_to_rewrite};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use assay_store::journal::JOURNAL_FILE;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use rustix::thread::CpuSet;
use tracing::Level;

use super::folder::journal_end;
use super::machine::{ChildEnd, Event, JournalEnd};
use crate::Serial;

/// A journal that has not grown for this long belongs to a run that hangs. A sanitize of a large
/// drive takes hours without a line.
pub const SILENCE_S: u32 = 6 * 3600;
const LOOK_S: u32 = 5;
/// Time from SIGTERM to SIGKILL.
const KILL_AFTER_S: u32 = 20;
/// Time after SIGKILL until the process is given up: the kernel can wait for a drive for ever.
const ABANDON_AFTER_S: u32 = 60;
/// Last part of the child's messages that is passed on.
const WHY_BYTES: u64 = 2000;

pub struct Launch {
    pub serial: Serial,
    pub command: Command,
    pub folder: PathBuf,
    /// The command makes the folder.
    pub is_new: bool,
    /// Processors that the child may use.
    pub cpus: Option<CpuSet>,
    /// Without a line in the journal for so long, the child is ended.
    pub silence_s: u32,
}

#[derive(Clone)]
pub struct Running {
    process: Arc<OwnedFd>,
    /// Set to have the watching thread end the child.
    terminate: Arc<AtomicBool>,
}

impl Running {
    /// SIGUSR1: end with the cell under way.
    pub fn stop_after_cell(&self) {
        let _ = pidfd_send_signal(&*self.process, Signal::USR1);
    }

    /// SIGTERM, later SIGKILL.
    pub fn terminate(&self) {
        self.terminate.store(true, Ordering::SeqCst);
        let _ = pidfd_send_signal(&*self.process, Signal::TERM);
    }

    /// As [`Running::terminate`] unless the child has ended by then: a queue that signals all
    /// processes of a job has told it already, and a second signal ends assay at once.
    pub fn terminate_after(&self, grace: Duration) {
        let running = self.clone();
        std::thread::spawn(move || {
            if !has_ended(&running.process, grace) {
                running.terminate();
            }
        });
    }
}

/// A thread reports the end as [`Event::ChildEnded`].
pub fn launch(mut launch: Launch, events: Sender<Event>) -> std::io::Result<Running> {
    let beside = |extension: &str| {
        let mut name = launch.folder.file_name().unwrap_or_default().to_owned();
        name.push(extension);
        launch.folder.with_file_name(name)
    };
    let messages = beside(".messages");
    let log = open_log(&beside(".log"))?;
    launch.command.stdin(Stdio::null()).stdout(log).stderr(open_to_rewrite(&messages)?);
    let child = spawn_on(launch.command, launch.cpus)?;
    let process = Arc::new(pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?);
    let running = Running { process, terminate: Arc::new(AtomicBool::new(false)) };
    let watched = running.clone();
    std::thread::spawn(move || {
        let end = match watch(child, &watched, &launch.folder, launch.silence_s) {
            // An orphan of an earlier attempt has made the folder since.
            ChildEnd::Exit(2) if launch.is_new && launch.folder.exists() => ChildEnd::Exit(75),
            end => end,
        };
        let journal = journal_end(&launch.folder).unwrap_or(JournalEnd::Open);
        let why = last_message(&messages, end);
        let _ = events.send(Event::ChildEnded { serial: launch.serial, end, journal, why });
    });
    Ok(running)
}

/// A child inherits the processors of the thread that starts it.
fn spawn_on(mut command: Command, cpus: Option<CpuSet>) -> std::io::Result<Child> {
    let Some(cpus) = cpus else {
        return command.spawn();
    };
    let spawn = move || {
        rustix::thread::sched_setaffinity(None, &cpus)?;
        command.spawn()
    };
    match std::thread::spawn(spawn).join() {
        Ok(child) => child,
        Err(_) => Err(std::io::Error::other("the starting thread panicked")),
    }
}

fn has_ended(process: &OwnedFd, at_most: Duration) -> bool {
    let seconds = i64::try_from(at_most.as_secs()).unwrap_or(i64::MAX);
    let limit = Timespec { tv_sec: seconds, tv_nsec: at_most.subsec_nanos().into() };
    let mut wanted = [PollFd::new(process, PollFlags::IN)];
    matches!(poll(&mut wanted, Some(&limit)), Ok(ended) if ended > 0)
}

fn watch(mut child: Child, running: &Running, folder: &Path, silence_s: u32) -> ChildEnd {
    let look = Duration::from_secs(LOOK_S.into());
    let journal = folder.join(JOURNAL_FILE);
    let (mut len, mut silent_s, mut ending_s) = (0, 0, 0);
    while !has_ended(&running.process, look) {
        let now = std::fs::metadata(&journal).map_or(0, |m| m.len());
        silent_s = match now == len {
            true => silent_s + LOOK_S,
            false => 0,
        };
        len = now;
        if silent_s >= silence_s && !running.terminate.load(Ordering::SeqCst) {
            running.terminate();
        }
        if running.terminate.load(Ordering::SeqCst) {
            ending_s += LOOK_S;
            if ending_s >= KILL_AFTER_S {
                let _ = pidfd_send_signal(&*running.process, Signal::KILL);
            }
            if ending_s >= KILL_AFTER_S + ABANDON_AFTER_S {
                return ChildEnd::Signal(Signal::KILL.as_raw());
            }
        }
    }
    match child.wait() {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => ChildEnd::Exit(code),
            (None, signal) => ChildEnd::Signal(signal.unwrap_or_default()),
        },
        Err(_) => ChildEnd::Signal(0),
    }
}

/// A line that `--log` writes: its time, then its level.
fn is_event(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let is_time = words.next().is_some_and(|word| word.starts_with('2') && word.ends_with('Z'));
    is_time && words.next().is_some_and(|word| word.parse::<Level>().is_ok())
}

/// The end of what it wrote to stderr, without events.
fn last_message(path: &Path, end: ChildEnd) -> String {
    let mut text = String::new();
    if let Ok(mut file) = File::open(path) {
        let len = file.metadata().map_or(0, |m| m.len());
        let mut bytes = Vec::new();
        let _ = file.seek(SeekFrom::Start(len.saturating_sub(WHY_BYTES)));
        let _ = file.read_to_end(&mut bytes);
        text = String::from_utf8_lossy(&bytes).into_owned();
        let messages: Vec<&str> = text.lines().filter(|line| !is_event(line)).collect();
        text = messages.join("\n").trim().to_owned();
    }
    match (text.is_empty(), end) {
        (false, _) => text,
        (true, ChildEnd::Exit(status)) => format!("assay run ended with status {status}"),
        (true, ChildEnd::Signal(signal)) => format!("assay run was ended by signal {signal}"),
        (true, ChildEnd::NotStarted) => "assay run could not be started".to_owned(),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/task_child.rs"]
mod tests;
