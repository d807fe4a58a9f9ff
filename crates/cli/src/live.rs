//! The live view of `run` and `job`: a full screen instead of the progress bar, in a thread of its
//! own.
//!
//! The thread takes a snapshot of the run a few times per second, draws it, and passes keys on; the
//! run does not wait for it. See [`tty`] for how the terminal is restored.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use assay_execute::live::Live;
use assay_io::Nanos;
use indicatif::{ProgressBar, ProgressDrawTarget};
use ratatui_core::terminal::Terminal;

use crate::terminal::Output;

mod spark;
pub mod tty;
mod view;

use tty::{Key, Tty, TtyBackend};
use view::Screen;

/// Time between two pictures.
const PERIOD: Duration = Duration::from_millis(250);
/// The view opens by itself for runs that take longer than this.
const LEAST_SPAN: Nanos = Nanos::from_secs(10);
/// How long the speed of a simulated run is observed before its length is estimated.
const OBSERVED: Nanos = Nanos::from_secs(2);
/// By itself the view opens on terminals of at least this size.
const DEFAULT_COLUMNS: u16 = 100;
/// Rows of it.
const DEFAULT_ROWS: u16 = 30;

/// How a run is watched.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct LiveArguments {
    /// Show the run on the whole screen [default: on a terminal of 100 x 30 or more, for runs of
    /// over 10 s].
    #[arg(long, conflicts_with = "no_live", help_heading = "Safety and output")]
    pub live: bool,
    /// Show progress in one line.
    #[arg(long, help_heading = "Safety and output")]
    pub no_live: bool,
    /// Write the figures as OpenMetrics, once per second into a file (for node_exporter), or serve
    /// them on a loopback address (127.0.0.1:9100).
    #[arg(long, value_name = "FILE|ADDRESS", help_heading = "Safety and output")]
    pub metrics: Option<String>,
    /// Also answer clients of --metrics that ask for this name (a proxy's, say), besides addresses
    /// and localhost; may be repeated.
    #[arg(long, value_name = "NAME", requires = "metrics", help_heading = "Safety and output")]
    pub metrics_host: Vec<String>,
}

/// When the view opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    AtOnce,
    /// When the run is expected to take longer than [`LEAST_SPAN`].
    IfLong,
    Never,
}

/// What decides whether the view opens.
#[derive(Clone, Copy, Debug)]
struct Terms {
    wanted: bool,
    unwanted: bool,
    /// Progress is shown on a terminal that can move its cursor.
    terminal: bool,
    no_colour: bool,
    columns: u16,
    rows: u16,
}

fn opening(terms: Terms) -> Opening {
    let large = terms.columns >= DEFAULT_COLUMNS && terms.rows >= DEFAULT_ROWS;
    if terms.unwanted || !terms.terminal {
        Opening::Never
    } else if terms.wanted {
        Opening::AtOnce
    } else if large && !terms.no_colour {
        Opening::IfLong
    } else {
        Opening::Never
    }
}

/// Set, and not empty (no-color.org).
fn no_colour() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty())
}

/// What the view needs of a run.
pub struct Viewed {
    pub live: Arc<Live>,
    /// Set to end the run.
    pub stop: Arc<AtomicBool>,
    /// Hidden while the view is open.
    pub bar: ProgressBar,
    pub folder: String,
    pub resumable: bool,
}

/// Lines for stderr that wait for the end of the view.
#[derive(Clone, Debug, Default)]
pub struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    /// Keep a line if the view is open.
    pub fn keep(&self, line: &str) -> bool {
        let open = tty::is_in_use();
        if open {
            let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            lines.push(line.to_owned());
        }
        open
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The thread of the view. Its drop closes the view and restores the terminal.
pub struct LiveView {
    close: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    notes: Notes,
}

impl LiveView {
    /// Open the view, now or when the run turns out to be long, if the terminal is fit for it.
    pub fn start(
        arguments: &LiveArguments,
        output: Output,
        viewed: Viewed,
        notes: Notes,
    ) -> Option<LiveView> {
        let tty = Tty::open().ok();
        let size = tty.as_ref().map(Tty::size).unwrap_or_default();
        let opening = opening(Terms {
            wanted: arguments.live,
            unwanted: arguments.no_live,
            terminal: output.shows_progress() && !is_dumb() && tty.is_some(),
            no_colour: no_colour(),
            columns: size.width,
            rows: size.height,
        });
        if opening == Opening::Never {
            if arguments.live {
                output.note(
                    "--live needs a terminal that can move its cursor; progress is shown in lines",
                );
            }
            return None;
        }
        let close = Arc::new(AtomicBool::new(false));
        let mut view = View {
            tty: tty?,
            viewed,
            close: Arc::clone(&close),
            notes: notes.clone(),
            help: false,
        };
        let builder = thread::Builder::new().name("live-view".to_owned());
        let thread = builder.spawn(move || view.run(opening)).ok()?;
        Some(LiveView { close, thread: Some(thread), notes })
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        self.close.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic of the view is on stderr, and the run is unharmed.
            let _ = thread.join();
        }
        tty::restore();
        for line in self.notes.lines() {
            eprintln!("{line}");
        }
    }
}

struct View {
    tty: Tty,
    viewed: Viewed,
    close: Arc<AtomicBool>,
    notes: Notes,
    help: bool,
}

impl View {
    fn is_closed(&self) -> bool {
        self.close.load(Ordering::SeqCst)
    }

    fn run(&mut self, opening: Opening) {
        if opening == Opening::IfLong && !self.wait_for_long_run() {
            return;
        }
        // Without the bar, which would draw into the view.
        let bar = &self.viewed.bar;
        bar.set_draw_target(ProgressDrawTarget::hidden());
        match self.tty.enter(!no_colour()) {
            // A terminal that is gone ends the view, not the run.
            Ok(backend) => drop(self.show(backend)),
            Err(_) => bar.set_draw_target(ProgressDrawTarget::stderr()),
        }
        tty::restore();
    }

    /// Returns whether the run is a long one; `false` at its end.
    fn wait_for_long_run(&self) -> bool {
        let live = &self.viewed.live;
        while !self.is_closed() {
            let elapsed = live.elapsed();
            let known = !live.is_simulated() || elapsed >= OBSERVED;
            if known && elapsed + live.left() > LEAST_SPAN {
                return true;
            }
            thread::park_timeout(PERIOD);
        }
        false
    }

    fn show(&mut self, backend: TtyBackend) -> std::io::Result<()> {
        let mut terminal = Terminal::new(backend)?;
        while !self.is_closed() && tty::is_in_use() {
            let screen = self.screen();
            terminal.draw(|frame| {
                let area = frame.area();
                view::draw(frame.buffer_mut(), area, &screen);
            })?;
            for key in self.tty.keys(PERIOD) {
                self.pressed(key);
            }
        }
        Ok(())
    }

    fn screen(&self) -> Screen {
        Screen {
            live: self.viewed.live.snapshot(),
            folder: self.viewed.folder.clone(),
            notes: self.notes.lines(),
            stopping: self.viewed.stop.load(Ordering::Relaxed),
            resumable: self.viewed.resumable,
            help: self.help,
        }
    }

    fn pressed(&mut self, key: Key) {
        let control = &self.viewed.live.control;
        match key {
            Key::Pause if self.viewed.resumable => control.pause(!control.is_paused()),
            Key::Skip if self.viewed.resumable => control.skip(),
            Key::Pause | Key::Skip => {}
            Key::Quit => {
                self.viewed.stop.store(true, Ordering::SeqCst);
                control.stopped();
            }
            Key::Help => self.help = !self.help,
            Key::Escape => self.help = false,
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/live.rs"]
mod tests;
