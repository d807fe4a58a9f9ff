//! A command that does I/O on real drives does it in a child process. A thread that waits in the
//! kernel for storage cannot be ended before the storage answers, not even by SIGKILL, and a
//! process ends with its last thread. The process that the caller waits for therefore does no I/O
//! itself. It passes signals on to the child, ends as the child ends, and leaves a child behind
//! that has been told to end and cannot. Simulated drives always answer and are not supervised.
//!
//! - Requests are real-time signals ([`requests`]): a terminal and a queue signal every process of
//!   a group, and a child that counted those too would take one Ctrl-C for two. To end in order and
//!   to end at once are different requests: the first may reach a thread that waits for the
//!   storage, and be seen together with the second.
//! - Pipes to the caller end here, not in the child: a caller that reads to the end would otherwise
//!   wait for a child that is left behind.
//! - A child is killed when its supervisor is (prctl(2), PR_SET_PDEATHSIG), so that ending the one
//!   ends both.

use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use assay_io::Nanos;
use assay_io::clock::Clock;
use assay_io::realtime_signal;
use rustix::fs::{FileType, fstat};
use rustix::process::{Pid, Signal, getppid, kill_process, set_parent_process_death_signal};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGKILL, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::iterator::Signals;

/// Process number of the supervisor. A process with another parent is not supervised.
const SUPERVISOR: &str = "ASSAY_SUPERVISOR";
/// From a signal to the real-time signal that requests the same: above those that C libraries keep
/// for themselves (signal(7): 32 to 34).
const REQUEST_OFFSET: i32 = 40;
/// Request to end at once, which a second ending signal is.
const AT_ONCE_OFFSET: i32 = 44;
/// Time from the second signal until a child that still runs is killed.
const KILL_AFTER: Nanos = Nanos::from_millis(800);
/// Time from the second signal until a child that cannot end is left behind.
const ABANDON_AFTER: Nanos = Nanos::from_millis(1700);
/// From the end of a child's work, without a signal: memory of many gigabytes takes seconds to
/// free.
const END_AFTER: Nanos = Nanos::from_secs(10);
/// Time between two looks at a child.
const LOOK: Duration = Duration::from_millis(100);

const NO_THREAD: &str = "start a thread that watches the process for the I/O";

static IS_SUPERVISED: OnceLock<bool> = OnceLock::new();

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supervised {
    pub drives: Vec<String>,
    /// Run folder or recording that keeps what was done, and how to go on.
    pub kept: Option<String>,
    pub limit: Option<Nanos>,
    /// Standard output is a stream of data, which the child writes itself, for speed.
    pub streams_out: bool,
}

/// How a supervised command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With this status; of a child that a request ended, that of the signal behind it.
    Ended(ExitStatus),
    /// It is left behind: what happened, to which drives, what is kept, and what to do.
    Abandoned(String),
}

#[derive(Debug, thiserror::Error)]
#[error("cannot {action}")]
pub struct SuperviseError {
    action: &'static str,
    source: std::io::Error,
}

impl SuperviseError {
    fn during<E: Into<std::io::Error>>(action: &'static str) -> impl FnOnce(E) -> SuperviseError {
        move |source| SuperviseError { action, source: source.into() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Unsupervised,
    Child,
    /// The child of a supervisor that has ended: it must end too.
    Orphan,
}

/// Prepares this process if it is the child of a supervisor. Called once, before any thread is
/// started. Fails when the kernel refuses a signal handler.
pub fn begin() -> Result<Role, SuperviseError> {
    // A file of the largest permitted size (setrlimit(2)) is an error of its write, and no death.
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))
        .map_err(SuperviseError::during("turn the limit of file sizes into an error"))?;
    let supervisor = std::env::var(SUPERVISOR).ok();
    let supervisor = supervisor.and_then(|text| text.parse::<i32>().ok());
    let is_child = || getppid().map(|parent| parent.as_raw_nonzero().get()) == supervisor;
    let supervised = supervisor.is_some() && is_child();
    let _ = IS_SUPERVISED.set(supervised);
    if !supervised {
        return Ok(Role::Unsupervised);
    }
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(SuperviseError::during("follow the supervisor"))?;
    if !is_child() {
        // The supervisor ended before the request was made.
        return Ok(Role::Orphan);
    }
    // The supervisor passes signals on. A handler, unlike an ignored signal, is not inherited by
    // programs that this process starts.
    for signal in ending_signals().into_iter().chain([SIGUSR1]) {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))
            .map_err(SuperviseError::during("leave signals to the supervisor"))?;
    }
    Ok(Role::Child)
}

/// SIGHUP (closed terminal) too, so that drives are restored to their power state; it stays ignored
/// if the parent ignored it, as nohup does.
pub fn ending_signals() -> Vec<i32> {
    let mut signals = vec![SIGINT, SIGTERM];
    if !is_in_mask(Path::new("/proc/self"), "SigIgn:", SIGHUP) {
        signals.push(SIGHUP);
    }
    signals
}

fn is_supervised() -> bool {
    IS_SUPERVISED.get().copied().unwrap_or_default()
}

/// The signals themselves, or in the child of a supervisor the real-time signals in their place.
pub fn requests(signals: &[i32]) -> Vec<i32> {
    if !is_supervised() {
        return signals.to_vec();
    }
    let offsets = |signal: &i32| [signal + REQUEST_OFFSET, signal + AT_ONCE_OFFSET];
    signals.iter().flat_map(offsets).collect()
}

/// The signal that one of [`requests`] stands for, and whether it asks to end at once.
pub fn requested(received: i32) -> (i32, bool) {
    match is_supervised() {
        true => of_request(received),
        false => (received, false),
    }
}

fn of_request(received: i32) -> (i32, bool) {
    let at_once = received - AT_ONCE_OFFSET;
    match [SIGHUP, SIGINT, SIGTERM].contains(&at_once) {
        true => (at_once, true),
        false => (received - REQUEST_OFFSET, false),
    }
}

/// Runs this command line again in a child, until it has ended or is left behind.
pub fn run(command: &Supervised) -> Result<Outcome, SuperviseError> {
    let terminal = tcgetattr(std::io::stdin()).ok();
    let signals = Signals::new(ending_signals().into_iter().chain([SIGUSR1]))
        .map_err(SuperviseError::during("listen for signals"))?;
    let mut child = start(command.streams_out)?;
    let pid = Pid::from_child(&child);
    let relays = relay(&mut child)?;
    let events = listen(child, signals)?;
    match watch(pid, &events, command.limit) {
        End::Ended(status) => {
            for relay in relays {
                // The relay ends with the child, which held the other end.
                let _ = relay.join();
            }
            let status = status.map_err(SuperviseError::during("learn how the process ended"))?;
            Ok(Outcome::Ended(of_signal(status)))
        }
        End::Abandoned(reason) => {
            restore(terminal);
            Ok(Outcome::Abandoned(message(command, pid, reason)))
        }
    }
}

fn start(streams_out: bool) -> Result<Child, SuperviseError> {
    let program = std::env::current_exe().ok().filter(|path| path.exists());
    // The file may have been replaced since the start.
    let program = program.unwrap_or_else(|| PathBuf::from("/proc/self/exe"));
    let mut arguments = std::env::args_os();
    let mut command = std::process::Command::new(program);
    command.arg0(arguments.next().unwrap_or_else(|| "assay".into()));
    command.args(arguments);
    command.env(SUPERVISOR, std::process::id().to_string());
    if !streams_out && is_pipe(std::io::stdout()) {
        command.stdout(Stdio::piped());
    }
    if is_pipe(std::io::stderr()) {
        command.stderr(Stdio::piped());
    }
    command.spawn().map_err(SuperviseError::during("start a process for the I/O"))
}

fn is_pipe(output: impl AsFd) -> bool {
    let kind = fstat(output).map(|stat| FileType::from_raw_mode(stat.st_mode));
    matches!(kind, Ok(FileType::Fifo | FileType::Socket))
}

/// The child prints into pipes.
fn relay(child: &mut Child) -> Result<Vec<JoinHandle<()>>, SuperviseError> {
    let thread = |name: &str| Builder::new().name(name.to_owned());
    let mut threads = Vec::new();
    // A reader that has closed its end closes the child's.
    if let Some(mut printed) = child.stdout.take() {
        let copy = move || {
            let _ = std::io::copy(&mut printed, &mut std::io::stdout().lock());
            let _ = std::io::stdout().flush();
        };
        threads.push(thread("stdout").spawn(copy).map_err(SuperviseError::during(NO_THREAD))?);
    }
    if let Some(mut printed) = child.stderr.take() {
        let copy = move || {
            let _ = std::io::copy(&mut printed, &mut std::io::stderr());
        };
        threads.push(thread("stderr").spawn(copy).map_err(SuperviseError::during(NO_THREAD))?);
    }
    Ok(threads)
}

enum Event {
    Signal(i32),
    Ended(std::io::Result<ExitStatus>),
}

fn listen(mut child: Child, mut signals: Signals) -> Result<Receiver<Event>, SuperviseError> {
    let (ended, events) = channel();
    let received = ended.clone();
    let thread = |name: &str| Builder::new().name(name.to_owned());
    thread("signals")
        .spawn(move || {
            for signal in signals.forever() {
                let _ = received.send(Event::Signal(signal));
            }
        })
        .map_err(SuperviseError::during(NO_THREAD))?;
    thread("child")
        .spawn(move || {
            let _ = ended.send(Event::Ended(child.wait()));
        })
        .map_err(SuperviseError::during(NO_THREAD))?;
    Ok(events)
}

enum End {
    Ended(std::io::Result<ExitStatus>),
    Abandoned(Reason),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// Signals asked the child to end.
    Told,
    /// The child's work has ended, or it was killed.
    Exits,
    Limit(Nanos),
}

fn watch(pid: Pid, events: &Receiver<Event>, limit: Option<Nanos>) -> End {
    let clock = Clock::monotonic();
    let began = clock.now();
    let mut ending_signals = 0_u32;
    let mut second_at = None;
    let mut killed = false;
    let mut exits_since = None;
    loop {
        match events.recv_timeout(LOOK) {
            Ok(Event::Ended(status)) => return End::Ended(status),
            Ok(Event::Signal(signal)) => {
                if signal != SIGUSR1 {
                    ending_signals += 1;
                }
                if ending_signals >= 2 {
                    second_at.get_or_insert(clock.now());
                }
                let offset = match ending_signals >= 2 && signal != SIGUSR1 {
                    true => AT_ONCE_OFFSET,
                    false => REQUEST_OFFSET,
                };
                // Fails only when the child has just ended.
                let _ = realtime_signal::send(pid, signal + offset);
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        let now = clock.now();
        let since = |at: Nanos| now - at;
        let over = limit.filter(|limit| since(began) >= *limit);
        let told = second_at.is_some_and(|at| since(at) >= KILL_AFTER);
        if (told || over.is_some()) && !killed {
            killed = true;
            let _ = kill_process(pid, Signal::KILL);
        }
        if second_at.is_some_and(|at| since(at) >= ABANDON_AFTER) {
            return End::Abandoned(Reason::Told);
        }
        match is_exiting(pid) {
            true => {
                let at = *exits_since.get_or_insert(now);
                match over {
                    Some(limit) if since(at) >= ABANDON_AFTER => {
                        return End::Abandoned(Reason::Limit(limit));
                    }
                    None if since(at) >= END_AFTER => return End::Abandoned(Reason::Exits),
                    _ => {}
                }
            }
            false => exits_since = None,
        }
    }
}

/// True where the first thread has ended or is about to, or SIGKILL is pending; the process ends
/// for its caller when its last thread does. (proc(5), /proc/PID/stat: state and flags, of which 4
/// is PF_EXITING; /proc/PID/status: SigPnd and ShdPnd.)
fn is_exiting(pid: Pid) -> bool {
    is_exiting_at(&PathBuf::from(format!("/proc/{}", pid.as_raw_nonzero())))
}

fn is_exiting_at(path: &Path) -> bool {
    state_of(path).is_some_and(|(state, flags)| state == 'Z' || flags & 4 != 0) || is_killed(path)
}

/// A process that is on its way out and still has threads can hold a drive or a run folder.
pub fn is_another_ending() -> bool {
    let name = |path: &Path| std::fs::read_to_string(path.join("comm")).ok();
    let own = name(Path::new("/proc/self"));
    // A process that only waits for its parent to take its status has one thread left, and holds
    // nothing.
    let has_threads = |path: &Path| {
        let tasks = std::fs::read_dir(path.join("task")).map_or(0, Iterator::count);
        tasks > 1 || state_of(path).is_some_and(|(state, _)| state != 'Z')
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut processes = processes.map(|entry| entry.path());
    processes.any(|path| name(&path) == own && is_exiting_at(&path) && has_threads(&path))
}

/// `path` is the directory in /proc.
fn state_of(path: &Path) -> Option<(char, u32)> {
    let stat = std::fs::read_to_string(path.join("stat")).ok()?;
    // The name of the program, in parentheses, can have spaces and parentheses.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let flags = fields.nth(5)?.parse().ok()?;
    Some((state, flags))
}

fn is_killed(path: &Path) -> bool {
    let pending = |mask| is_in_mask(path, mask, SIGKILL);
    pending("SigPnd:") || pending("ShdPnd:")
}

/// `path` is the directory in /proc, `mask` a name as `SigIgn:`. Signal 1 is the lowest bit
/// (proc(5)).
fn is_in_mask(path: &Path, mask: &str, signal: i32) -> bool {
    let status = std::fs::read_to_string(path.join("status")).unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix(mask));
    let bits = bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    bits.is_some_and(|bits| bits >> (signal - 1) & 1 != 0)
}

/// Kernel functions in which threads of a process wait uninterruptibly.
fn waits_of(pid: Pid) -> Vec<String> {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero()));
    let tasks = tasks.into_iter().flatten().flatten().map(|task| task.path());
    let stuck = tasks.filter(|path| state_of(path).is_some_and(|(state, _)| state == 'D'));
    let wait = |path: PathBuf| std::fs::read_to_string(path.join("wchan")).unwrap_or_default();
    let mut waits: Vec<String> = stuck.map(wait).collect();
    waits.sort();
    waits
}

/// What happened, to which drives, what is kept, and what to do.
fn message(command: &Supervised, pid: Pid, reason: Reason) -> String {
    let waits = waits_of(pid);
    let known: Vec<&str> = waits.iter().map(String::as_str).filter(|w| w.len() > 1).collect();
    let place = match known.first() {
        Some(place) => format!(" ({place})"),
        None => String::new(),
    };
    let threads = match waits.len() {
        0 | 1 => "a thread".to_owned(),
        many => format!("{many} threads"),
    };
    let why = match reason {
        Reason::Told => "two signals asked it to end".to_owned(),
        Reason::Exits => "it has ended its work".to_owned(),
        Reason::Limit(limit) => format!("it may take {:.0} s", limit.as_secs_f64()),
    };
    let kept = command.kept.as_deref().map_or(String::new(), |kept| format!("; {kept}"));
    format!(
        "{}: the storage does not answer: {threads} of process {} cannot be ended while the \
         kernel waits for it{place}; {why}, and it is left behind: it ends when the storage \
         answers or is removed, and holds the drive until then{kept}",
        command.drives.join(", "),
        pid.as_raw_nonzero(),
    )
}

/// A live view of the child may have changed the terminal.
fn restore(terminal: Option<Termios>) {
    if let Some(terminal) = terminal {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &terminal);
    }
}

/// A request ends a command that does not listen, as the signal would.
fn of_signal(status: ExitStatus) -> ExitStatus {
    match status.signal() {
        Some(signal) if signal > REQUEST_OFFSET => ExitStatus::from_raw(of_request(signal).0),
        _ => status,
    }
}

#[cfg(test)]
#[path = "../tests/unit/supervise.rs"]
mod tests;
