//! Progress on stderr with the estimated time left: a bar on a terminal, lines elsewhere.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use assay_execute::events::{IntervalWork, RunEvent, RunListener};
use assay_execute::live::Live;
use assay_io::Nanos;
use assay_report::figure;
use assay_store::model::CellResult;
use assay_suite::expand::{Cell, RunPlan};
use assay_units::rate;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::live::Notes;
use crate::terminal::{Output, simulated_mark};

mod heartbeat;

use heartbeat::{Heartbeat, PERIOD};

/// On a terminal of fewer columns the bar itself is left out.
const WIDE_COLUMNS: usize = 100;
/// Rates of shorter intervals are not shown.
const LEAST_SHOWN: Nanos = Nanos::from_millis(50);

/// Hidden if stderr is no terminal.
pub fn bar(output: Output, steps: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
    if !output.shows_progress() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    let template = match output.progress_columns() < WIDE_COLUMNS {
        false => "{elapsed_precise} [{bar:28}] {percent:>3} %  {eta:>6} left  {wide_msg}",
        true => "{percent:>3} %  {eta:>6} left  {wide_msg}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// Shows the elapsed time of work of unknown length; hidden if stderr is no terminal.
pub fn spinner(output: Output) -> ProgressBar {
    let bar = bar(output, 0);
    if let Ok(style) = ProgressStyle::with_template("{elapsed_precise} {wide_msg}") {
        bar.set_style(style);
    }
    bar
}

/// Time left, share done, and the current cell with its rates; without a terminal, a line per
/// finished cell and a heartbeat.
pub struct RunProgress {
    pub bar: ProgressBar,
    /// Lines that wait while the live view has the terminal.
    pub notes: Notes,
    live: Arc<Live>,
    current: usize,
    narrow: bool,
    heartbeat: Option<Heartbeat>,
}

/// `0:01:05`.
pub fn clock_text(span: Nanos) -> String {
    let seconds = span.0 / 1_000_000_000;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{hours}:{minutes:02}:{:02}", seconds % 60)
}

/// `258,838 IOPS, 1,011 MiB/s`.
fn rates(iops: f64, mib_per_s: f64) -> String {
    format!("{} IOPS, {} MiB/s", figure(iops), figure(mib_per_s))
}

impl RunProgress {
    pub fn new(output: Output, plan: &RunPlan, folder: &Path, live: Arc<Live>) -> RunProgress {
        let (_, all_ms) = live.work_ms();
        let bar = bar(output, all_ms);
        let narrow = output.progress_columns() < WIDE_COLUMNS;
        let template = match narrow {
            false => "{elapsed_precise} [{bar:28}] {percent:>3} %  {prefix} left  {wide_msg}",
            true => "{percent:>3} %  {prefix} left  {wide_msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.println(format!("writing to {}", folder.display()));
        // A job says by its runtime how long it takes, unless bytes end it.
        let unplanned = plan.cells.iter().any(|cell| cell.planned_span().is_none());
        let lines = !output.shows_progress() && (plan.cells.len() > 1 || unplanned);
        RunProgress {
            bar,
            notes: Notes::default(),
            live,
            current: 0,
            narrow,
            heartbeat: lines.then(|| Heartbeat::start(PERIOD, std::io::stderr())),
        }
    }

    fn show(&mut self, plan: &RunPlan) {
        let (done_ms, _) = self.live.work_ms();
        let left = clock_text(self.live.left());
        self.bar.set_position(done_ms);
        self.bar.set_prefix(left.clone());
        let (number, of) = (self.current + 1, plan.cells.len());
        if let (Some(heartbeat), Some(cell)) = (&self.heartbeat, plan.cells.get(self.current)) {
            let elapsed = clock_text(self.live.elapsed());
            heartbeat.set(format!(
                "cell {number} of {of}, {}: running; {elapsed} elapsed, {left} left",
                cell.plan.id
            ));
        }
    }

    fn show_rates(&self, cell: &Cell, work: IntervalWork) {
        // The rate of the drain after the last interval rests on a few I/Os.
        if work.span < LEAST_SHOWN {
            return;
        }
        let what = match is_simulated(cell) {
            true => "simulated, ",
            false => "",
        };
        let rates = rates(
            rate::per_second(work.ios, work.span),
            rate::mib_per_second(work.bytes, work.span),
        );
        let id = &cell.plan.id;
        // The name is at the right, where the line is cut off.
        self.bar.set_message(match self.narrow {
            true => format!("{what}{rates}  {id}"),
            false => format!("{id}  {what}{rates}"),
        });
    }

    fn print(&self, line: &str) {
        if !self.notes.keep(line) {
            self.bar.println(line);
        }
    }

    /// Prints the line of a cell where there is no terminal.
    fn ended(&self, plan: &RunPlan, index: usize, what: &str) {
        let Some(heartbeat) = self.heartbeat.as_ref().filter(|_| plan.cells.len() > 1) else {
            return;
        };
        let (number, of) = (index + 1, plan.cells.len());
        let id = &plan.cells[index].plan.id;
        let elapsed = clock_text(self.live.elapsed());
        // A closed stderr does not end the run.
        let _ =
            writeln!(std::io::stderr(), "cell {number} of {of}, {id}: {what}; {elapsed} elapsed");
        heartbeat.postpone();
    }
}

impl RunListener for RunProgress {
    fn event(&mut self, plan: &RunPlan, event: &RunEvent<'_>) {
        let id = |index: usize| plan.cells[index].plan.id.as_str();
        match event {
            RunEvent::CellStarted { index, .. } => {
                self.current = *index;
                self.bar.set_message(id(*index).to_owned());
                self.show(plan);
            }
            RunEvent::Interval { work, .. } => {
                self.show(plan);
                self.show_rates(&plan.cells[self.current], *work);
            }
            RunEvent::CellFinished { index, results } => {
                let what = results_text(&plan.cells[*index], results);
                self.ended(plan, *index, &what);
            }
            RunEvent::CellPassed { .. } => self.show(plan),
            RunEvent::CellFailed { index, message } | RunEvent::DriveLost { index, message } => {
                self.print(&format!("{}: {message}", id(*index)));
                self.ended(plan, *index, &format!("failed: {message}"));
            }
            RunEvent::Problem(message) => self.print(message),
            // Warnings are shown with the results.
            RunEvent::Warned(_)
            | RunEvent::Phase { .. }
            | RunEvent::Telemetry { .. }
            | RunEvent::Host { .. }
            | RunEvent::CellSkipped { .. }
            | RunEvent::CellEnded { .. }
            | RunEvent::Ended => {}
        }
    }
}

fn results_text(cell: &Cell, results: &[CellResult]) -> String {
    let mark = simulated_mark(is_simulated(cell));
    if results.iter().all(|result| result.ios() == 0) {
        return format!("done{mark}");
    }
    let each = results.iter().map(|result| {
        let what = rates(result.iops(), result.mib_per_s());
        match result.errors() {
            0 => format!("{what}{mark}"),
            errors => format!("{what}{mark}, {errors} errors"),
        }
    });
    each.collect::<Vec<_>>().join("; ")
}

fn is_simulated(cell: &Cell) -> bool {
    cell.plan.workload.engine == "sim"
}

#[cfg(test)]
#[path = "../tests/unit/progress.rs"]
mod tests;
