//! The highest queue depth that a latency allows, as `lat_target_check` of fio 3.33's io_u.c.
//!
//! From one I/O in flight the depth doubles while enough I/Os of a window are fast enough, and is
//! bisected once they are not; I/Os in flight complete before a lower depth begins. When the depth
//! stays, it is measured for a window of its own, and the job ends. fio searches in each thread by
//! itself, and so do threads here; they measure together, once all have found their depth. Where
//! one I/O in flight is too slow already, fio goes on until the runtime ends; here it is measured.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use assay_units::Nanos;

use crate::plan::Workload;

/// `latency_target` and the options beside it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyTarget {
    /// An I/O is fast enough when it takes no longer.
    pub limit: Nanos,
    /// How long a depth is tried.
    pub window: Nanos,
    /// I/Os of a window that have to be fast enough, percent.
    pub percentile: f64,
    /// Goes on to adjust the depth until the runtime ends; all of it is measured.
    pub runs_on: bool,
}

/// Threads of a job that have not found their depth.
#[derive(Clone, Debug)]
pub struct Searchers(Arc<AtomicU32>);

impl Searchers {
    /// `None` of a job that searches for nothing.
    pub fn new(workload: &Workload) -> Option<Searchers> {
        let target = workload.latency_target.filter(|target| !target.runs_on);
        target.map(|_| Searchers(Arc::new(AtomicU32::new(workload.numjobs))))
    }

    fn all_found(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

/// What a completion changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchStep {
    Continue,
    /// What completes from now on is measured.
    Measure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Searching,
    /// The depth is known, but not by all threads.
    Found,
    Measuring,
    Done,
}

#[derive(Clone, Debug)]
pub(super) struct DepthSearch {
    target: LatencyTarget,
    searchers: Option<Searchers>,
    state: State,
    /// The most I/Os in flight; the depth of the job at most.
    depth: u32,
    /// Not even one in flight is fast enough.
    is_too_slow: bool,
    most: u32,
    low: u32,
    high: u32,
    /// Windows that met the limit just below the lowest depth that did not.
    stable: u32,
    /// I/Os in flight complete before any is issued.
    drains: bool,
    window_start: Nanos,
    ios: u64,
    slow: u64,
}

impl DepthSearch {
    pub(super) fn new(target: LatencyTarget, most: u32, start: Nanos) -> DepthSearch {
        DepthSearch {
            target,
            searchers: None,
            state: State::Searching,
            depth: 1,
            is_too_slow: false,
            most,
            low: 1,
            high: most,
            stable: 0,
            drains: false,
            window_start: start,
            ios: 0,
            slow: 0,
        }
    }

    pub(super) fn with_searchers(self, searchers: Option<Searchers>) -> DepthSearch {
        DepthSearch { searchers, ..self }
    }

    #[inline]
    pub(super) fn may_issue(&self, in_flight: u32) -> bool {
        in_flight < self.depth && !self.drains
    }

    pub(super) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// The depth that it found, 0 where not even one is fast enough; `None` while it is looking.
    pub(super) fn found(&self) -> Option<u32> {
        let is_known = self.state != State::Searching || self.target.runs_on;
        is_known.then_some(if self.is_too_slow { 0 } else { self.depth })
    }

    /// Counts an I/O of the workload. `in_flight` is what is left.
    #[inline]
    pub(super) fn completed(&mut self, latency: Nanos, in_flight: u32, now: Nanos) -> SearchStep {
        self.ios += 1;
        let is_slow = latency > self.target.limit;
        self.slow += u64::from(is_slow);
        // While it drains, what is left of the depth before counts for nothing.
        let is_over = now - self.window_start >= self.target.window;
        let is_refuted = is_slow && self.target.percentile >= 100.0;
        if !self.drains && (is_over || is_refuted && self.state == State::Searching) {
            self.end_window(now);
        }
        if self.drains && in_flight == 0 {
            self.drains = false;
            self.begin_window(now);
        }
        self.begin_measuring(now)
    }

    fn begin_window(&mut self, now: Nanos) {
        (self.window_start, self.ios, self.slow) = (now, 0, 0);
    }

    fn end_window(&mut self, now: Nanos) {
        match self.state {
            State::Searching => {
                let fast_pct = (self.ios - self.slow) as f64 / self.ios as f64 * 100.0;
                match fast_pct >= self.target.percentile {
                    true => self.raise(),
                    false => self.lower(),
                }
            }
            State::Measuring => self.state = State::Done,
            State::Found | State::Done => {}
        }
        self.begin_window(now);
    }

    fn raise(&mut self) {
        let before = self.depth;
        self.low = before;
        if before + 1 == self.high {
            // A limit that was missed by chance is tried again.
            self.stable += 1;
            if self.stable >= 3 {
                (self.high, self.stable) = (self.high + 1, 0);
            }
        }
        let next = match self.high == self.most {
            true => before.saturating_mul(2),
            false => before.midpoint(self.high),
        };
        self.depth = next.min(self.most);
        self.is_too_slow = false;
        if self.depth == before {
            self.find();
        }
    }

    fn find(&mut self) {
        if self.target.runs_on {
            return;
        }
        (self.state, self.drains) = (State::Found, true);
        if let Some(Searchers(left)) = &self.searchers {
            left.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn lower(&mut self) {
        if self.depth == 1 {
            self.is_too_slow = true;
            self.find();
            return;
        }
        self.high = self.depth;
        if self.depth == self.low {
            self.low -= 1;
        }
        self.depth = self.depth.midpoint(self.low).max(1);
        (self.stable, self.drains) = (0, true);
    }

    fn begin_measuring(&mut self, now: Nanos) -> SearchStep {
        let all_found = (self.searchers.as_ref()).is_none_or(Searchers::all_found);
        if self.state != State::Found || self.drains || !all_found {
            return SearchStep::Continue;
        }
        self.state = State::Measuring;
        self.begin_window(now);
        SearchStep::Measure
    }
}

#[cfg(test)]
#[path = "../../tests/unit/worker/depth_search.rs"]
mod tests;
