//! Progress bars on stderr with the estimated time left; hidden if stderr is no terminal.

use std::path::Path;
use std::time::Duration;

use assay_io::Nanos;
use assay_store::model::{CellPlan, CellResult, Warning};
use assay_suite::execute::{IntervalWork, Progress};
use assay_suite::expand::{Cell, RunPlan};
use assay_units::rate;
use assay_units::text::format_size;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal::Output;

/// Assumed rate of cells without a runtime, bytes per second.
const ASSUMED_BYTES_PER_S: u64 = 500 << 20;

/// A bar of `steps` with the time left; hidden if stderr is no terminal.
pub fn bar(output: Output, steps: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
    if !output.shows_progress() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    let template = "{elapsed_precise} [{bar:28}] {percent:>3} %  {eta:>6} left  {wide_msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// A message with the elapsed time, for work whose length is not known; hidden if stderr is no terminal.
pub fn spinner(output: Output) -> ProgressBar {
    let bar = bar(output, 0);
    if let Ok(style) = ProgressStyle::with_template("{elapsed_precise} {wide_msg}") {
        bar.set_style(style);
    }
    bar
}

pub struct RunProgress {
    pub bar: ProgressBar,
    /// Expected duration of each cell, milliseconds.
    weights_ms: Vec<u64>,
    /// Of the cells passed.
    done_ms: u64,
    current: usize,
    simulated: Vec<bool>,
}

fn weight_ms(cell: &Cell) -> u64 {
    if cell.plan.skipped.is_some() {
        return 0;
    }
    let by_bytes = || {
        let bytes = cell.workloads.iter().filter_map(|w| w.planned_bytes());
        rate::transfer_time(bytes.sum(), ASSUMED_BYTES_PER_S)
    };
    let span = cell.planned_span().unwrap_or_else(by_bytes);
    (span.0 / 1_000_000).max(1)
}

impl RunProgress {
    /// The bar of a plan; prints the run folder.
    pub fn new(output: Output, plan: &RunPlan, folder: &Path) -> RunProgress {
        let weights_ms: Vec<u64> = plan.cells.iter().map(weight_ms).collect();
        let bar = bar(output, weights_ms.iter().sum());
        bar.println(format!("writing to {}", folder.display()));
        let engines = plan.cells.iter().map(|c| &c.plan.workload.engine);
        RunProgress {
            bar,
            done_ms: 0,
            current: 0,
            simulated: engines.map(|engine| engine == "sim").collect(),
            weights_ms,
        }
    }
}

impl Progress for RunProgress {
    fn cell_started(&mut self, index: usize, _total: usize, cell: &Cell) {
        self.current = index;
        self.bar.set_message(cell.plan.id.clone());
    }

    fn interval(&mut self, _drive: usize, work: IntervalWork) {
        let weight = self.weights_ms[self.current];
        let by_time = work.end.0 / 1_000_000;
        let by_bytes = rate::transfer_time(work.cell_bytes, ASSUMED_BYTES_PER_S).0 / 1_000_000;
        // By time if the cell has a runtime, else by bytes.
        let within = match by_time > weight {
            true => by_bytes,
            false => by_time.max(by_bytes),
        };
        self.bar.set_position(self.done_ms + within.min(weight));
        if work.span > Nanos::ZERO {
            let what = match self.simulated[self.current] {
                true => "simulated, ",
                false => "",
            };
            let per_second = |count: u64| rate::per_second(count, work.span);
            let (iops, bytes) = (per_second(work.ios), per_second(work.bytes));
            let (message, size) = (self.bar.message(), format_size(bytes as u64));
            let name = message.split("  ").next().unwrap_or_default();
            let message = format!("{name}  {what}{iops:.0} IOPS, {size}/s");
            self.bar.set_message(message);
        }
    }

    fn cell_finished(&mut self, _plan: &CellPlan, _results: &[CellResult]) {
        // Shown at the end.
    }

    fn cell_passed(&mut self, index: usize) {
        self.done_ms += self.weights_ms[index];
        self.bar.set_position(self.done_ms);
    }

    fn cell_failed(&mut self, plan: &CellPlan, message: &str) {
        self.bar.println(format!("{}: {message}", plan.id));
    }

    fn problem(&mut self, message: &str) {
        self.bar.println(message);
    }

    fn warned(&mut self, _warning: &Warning) {
        // Shown with the results.
    }
}
