use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use assay_units::Nanos;

/// How often a paused run looks whether it was stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

#[derive(Debug, Default)]
pub(crate) struct CellFlags {
    /// Its workers end: the cell is skipped, or the run is stopped.
    pub(crate) ended: AtomicBool,
    skipped: AtomicBool,
}

impl CellFlags {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotBegun {
    Asked,
    /// The next cell could end after the date that the run was given.
    TooLong,
}

/// Requests to a run in progress. All methods return at once and may be called from any thread.
#[derive(Debug, Default)]
pub struct Control {
    paused: Mutex<bool>,
    resumed: Condvar,
    running: Mutex<Vec<Arc<CellFlags>>>,
    ends_after_cell: AtomicBool,
    /// No cell is begun that could end later, whole seconds since 1970, UTC.
    until_unix_s: OnceLock<u64>,
}

impl Control {
    /// Pause each drive when its present cell has ended, or resume.
    pub fn pause(&self, pause: bool) {
        *self.paused.lock().unwrap_or_else(PoisonError::into_inner) = pause;
        self.resumed.notify_all();
    }

    pub fn is_paused(&self) -> bool {
        *self.paused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn skip(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        for cell in running.iter() {
            cell.skipped.store(true, Ordering::SeqCst);
            cell.ended.store(true, Ordering::SeqCst);
        }
    }

    /// After the run's stop flag was set; without this call they end with their interval.
    pub fn stopped(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        for cell in running.iter() {
            cell.ended.store(true, Ordering::SeqCst);
        }
        self.resumed.notify_all();
    }

    /// End the run when the cells that run now have ended; those of other drives too.
    pub fn end_after_cell(&self) {
        self.ends_after_cell.store(true, Ordering::SeqCst);
        self.resumed.notify_all();
    }

    /// Only the first call has an effect.
    pub fn end_by(&self, unix_s: u64) {
        let _ = self.until_unix_s.set(unix_s);
    }

    /// Whether a cell that takes at most `longest` may not be begun now.
    pub(crate) fn not_begun(&self, longest: Nanos, now_unix_s: u64) -> Option<NotBegun> {
        if self.ends_after_cell.load(Ordering::SeqCst) {
            return Some(NotBegun::Asked);
        }
        let until = *self.until_unix_s.get()?;
        // The present second has begun: it counts as past.
        let end = now_unix_s.saturating_add(longest.0.div_ceil(1_000_000_000));
        (end >= until).then_some(NotBegun::TooLong)
    }

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

    pub(crate) fn end(&self, flags: &Arc<CellFlags>) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|other| !Arc::ptr_eq(other, flags));
    }

    /// Wait to the end of a pause or of the run.
    pub(crate) fn wait_while_paused(&self, stop: &AtomicBool) {
        let mut paused = self.paused.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = || stop.load(Ordering::Relaxed) || self.ends_after_cell.load(Ordering::SeqCst);
        while *paused && !ends() {
            let waited = self.resumed.wait_timeout(paused, POLL_INTERVAL);
            paused = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/live/control.rs"]
mod tests;
