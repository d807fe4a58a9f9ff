//! One stream of what happens in a run, from which everything that is shown follows.

use std::borrow::Cow;
use std::cell::RefCell;

use assay_io::Telemetry;
use assay_stats::{HostLoad, Interval};
use assay_store::model::{CellResult, Warning};
use assay_units::{Nanos, Op};

use crate::live::{Live, Phase};
use assay_suite::expand::RunPlan;

/// An event of a run. Cells are named by their index in the plan.
#[derive(Clone, Debug)]
pub enum RunEvent<'a> {
    CellStarted {
        index: usize,
        beside: bool,
    },
    /// What drives do now, besides measuring.
    Phase {
        drives: &'a [usize],
        phase: Phase,
    },
    /// What a drive completed in an interval; several events of one interval add up.
    Interval {
        drive: usize,
        work: IntervalWork,
        /// The counts; absent where the event has left the thread that measured it.
        interval: Option<&'a Interval>,
    },
    Telemetry {
        drive: usize,
        at: Nanos,
        telemetry: &'a Telemetry,
    },
    Host {
        drives: &'a [usize],
        load: HostLoad,
    },
    CellFinished {
        index: usize,
        results: Cow<'a, [CellResult]>,
    },
    CellSkipped {
        index: usize,
    },
    /// A cell has no results and counts as failed.
    CellFailed {
        index: usize,
        message: Cow<'a, str>,
    },
    /// A cell is left unfinished: one of its drives is gone.
    DriveLost {
        index: usize,
        message: Cow<'a, str>,
    },
    /// A cell's drives are free. `purged` after a complete purge.
    CellEnded {
        index: usize,
        purged: bool,
    },
    /// The run is past a cell, executed or not.
    CellPassed {
        index: usize,
    },
    Warned(Cow<'a, Warning>),
    /// An error outside any cell.
    Problem(Cow<'a, str>),
    Ended,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntervalWork {
    pub end: Nanos,
    pub span: Nanos,
    pub ios: u64,
    pub bytes: u64,
    pub written_bytes: u64,
}

impl IntervalWork {
    pub(crate) fn new(interval: &Interval) -> IntervalWork {
        let mut work = IntervalWork {
            end: interval.end,
            span: interval.end - interval.start,
            ..IntervalWork::default()
        };
        for (op, counts) in &interval.ops {
            if op.counts_in_iops() {
                work.ios += counts.ios;
            }
            work.bytes += counts.bytes;
            if *op == Op::Write {
                work.written_bytes += counts.bytes;
            }
        }
        work
    }
}

impl RunEvent<'_> {
    /// `None` of an event that concerns only the live figures.
    pub(crate) fn deferred(&self) -> Option<RunEvent<'static>> {
        let text = |message: &str| Cow::Owned(message.to_owned());
        Some(match self {
            &RunEvent::CellStarted { index, beside } => RunEvent::CellStarted { index, beside },
            &RunEvent::Interval { drive, work, .. } => {
                RunEvent::Interval { drive, work, interval: None }
            }
            RunEvent::CellFinished { index, results } => {
                RunEvent::CellFinished { index: *index, results: Cow::Owned(results.to_vec()) }
            }
            RunEvent::CellFailed { index, message } => {
                RunEvent::CellFailed { index: *index, message: text(message) }
            }
            RunEvent::DriveLost { index, message } => {
                RunEvent::DriveLost { index: *index, message: text(message) }
            }
            &RunEvent::CellPassed { index } => RunEvent::CellPassed { index },
            RunEvent::Warned(warning) => RunEvent::Warned(Cow::Owned(warning.clone().into_owned())),
            RunEvent::Problem(message) => RunEvent::Problem(text(message)),
            RunEvent::Phase { .. }
            | RunEvent::Telemetry { .. }
            | RunEvent::Host { .. }
            | RunEvent::CellSkipped { .. }
            | RunEvent::CellEnded { .. }
            | RunEvent::Ended => return None,
        })
    }
}

/// Receives the events of a run in the order of its journal, after the live figures have them.
pub trait RunListener {
    fn event(&mut self, plan: &RunPlan, event: &RunEvent<'_>);
}

pub(crate) struct Events<'a> {
    pub(crate) plan: &'a RunPlan,
    pub(crate) live: &'a Live,
    listener: RefCell<&'a mut dyn RunListener>,
}

impl<'a> Events<'a> {
    pub(crate) fn new(
        plan: &'a RunPlan,
        live: &'a Live,
        listener: &'a mut dyn RunListener,
    ) -> Events<'a> {
        Events { plan, live, listener: RefCell::new(listener) }
    }

    pub(crate) fn emit(&self, event: &RunEvent<'_>) {
        self.live.event(&self.plan.cells, event);
        self.pass_on(event);
    }

    /// Only to the listener, of an event that the live figures have.
    pub(crate) fn pass_on(&self, event: &RunEvent<'_>) {
        self.log(event);
        self.listener.borrow_mut().event(self.plan, event);
    }

    /// What becomes of cells, as events of `tracing`.
    fn log(&self, event: &RunEvent<'_>) {
        let id = |index: usize| self.plan.cells.get(index).map(|cell| &*cell.plan.id);
        match event {
            RunEvent::CellStarted { index, .. } => {
                tracing::info!(cell = id(*index), "cell started");
            }
            RunEvent::CellFinished { index, .. } => {
                tracing::info!(cell = id(*index), "cell finished");
            }
            RunEvent::CellSkipped { index } => tracing::info!(cell = id(*index), "cell skipped"),
            RunEvent::CellFailed { index, message } => {
                tracing::info!(cell = id(*index), why = ?message, "cell failed");
            }
            RunEvent::DriveLost { index, message } => {
                tracing::warn!(cell = id(*index), why = ?message, "drive lost");
            }
            RunEvent::Phase { drives, phase } => tracing::debug!(?drives, ?phase, "phase"),
            RunEvent::Warned(warning) => {
                let Warning { cell, drive, message, .. } = &**warning;
                tracing::info!(cell, drive, why = ?message, "warning of the run");
            }
            RunEvent::Problem(message) => tracing::info!(why = ?message, "problem of the run"),
            _ => {}
        }
    }

    pub(crate) fn phase(&self, drives: &[usize], phase: Phase) {
        self.emit(&RunEvent::Phase { drives, phase });
    }

    pub(crate) fn warned(&self, warning: &Warning) {
        self.emit(&RunEvent::Warned(Cow::Borrowed(warning)));
    }

    pub(crate) fn problem(&self, message: &str) {
        self.emit(&RunEvent::Problem(Cow::Borrowed(message)));
    }
}
