//! What a person at the terminal asks of a run: a pause before the next cell, the end of a cell, the end of the run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How often a paused run looks whether it was stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Flags of one cell that runs.
#[derive(Debug, Default)]
pub(crate) struct CellFlags {
    /// Its workers end: the cell is skipped, or the run is stopped.
    pub(crate) ended: AtomicBool,
    /// It was skipped.
    skipped: AtomicBool,
}

impl CellFlags {
    /// Was the cell skipped?
    pub(crate) fn is_skipped(&self) -> bool {
        self.skipped.load(Ordering::SeqCst)
    }

    /// End the cell if the run is stopped.
    pub(crate) fn forward(&self, stop: &AtomicBool) {
        if stop.load(Ordering::Relaxed) {
            self.ended.store(true, Ordering::Relaxed);
        }
    }
}

/// Requests to a run in progress. All methods return at once and may be called from any thread.
#[derive(Debug, Default)]
pub struct Control {
    paused: Mutex<bool>,
    resumed: Condvar,
    running: Mutex<Vec<Arc<CellFlags>>>,
}

impl Control {
    /// Pause each drive when its present cell has ended, or resume.
    pub fn pause(&self, pause: bool) {
        *self.paused.lock().unwrap_or_else(PoisonError::into_inner) = pause;
        self.resumed.notify_all();
    }

    /// Whether a pause is requested.
    pub fn is_paused(&self) -> bool {
        *self.paused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Skip the cells that run now: what was measured of them is kept in the journal, they have no result.
    pub fn skip(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        for cell in running.iter() {
            cell.skipped.store(true, Ordering::SeqCst);
            cell.ended.store(true, Ordering::SeqCst);
        }
    }

    /// End the cells that run now, after the run's stop flag was set; without this call they end with their interval.
    pub fn stopped(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        for cell in running.iter() {
            cell.ended.store(true, Ordering::SeqCst);
        }
        self.resumed.notify_all();
    }

    /// A cell starts.
    pub(crate) fn begin(&self, stop: &AtomicBool) -> Arc<CellFlags> {
        let flags = Arc::new(CellFlags::default());
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.push(Arc::clone(&flags));
        drop(running);
        // After it was added: a stop before that is seen here, a later one by `stopped`.
        if stop.load(Ordering::SeqCst) {
            flags.ended.store(true, Ordering::SeqCst);
        }
        flags
    }

    /// It ended.
    pub(crate) fn end(&self, flags: &Arc<CellFlags>) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|other| !Arc::ptr_eq(other, flags));
    }

    /// Wait to the end of a pause or of the run.
    pub(crate) fn wait_while_paused(&self, stop: &AtomicBool) {
        let mut paused = self.paused.lock().unwrap_or_else(PoisonError::into_inner);
        while *paused && !stop.load(Ordering::Relaxed) {
            let waited = self.resumed.wait_timeout(paused, POLL_INTERVAL);
            paused = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/live/control.rs"]
mod tests;
