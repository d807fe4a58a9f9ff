//! Background work of an idle drive: SLC folding, garbage collection, refresh and patrol. Each task
//! starts at an instant that follows from drive state alone, so polling does not affect the result.
//!
//! # Bound
//! The command that ends an idle period waits for what the dies were given before it. So a task is
//! a part of a superblock ([`QUANTUM_ROWS`]), and none is begun while the flash is further behind
//! than [`MOST_BACKLOG_NS`]: folding has engines of its own, but each folded group makes garbage
//! collection move several groups on the dies, which a full drive cannot do at the engines' pace.

use super::patrol::IDLE_AFTER_NS;
use super::{FOLD, Ftl, SlcCache};

/// Collection and refresh of an idle drive move the data of so many rows, a program per die each,
/// and look for commands between: a fraction of a second. With four, the wait at each begin took
/// a third of what idle time gives a drive back (PTS, host idle recovery).
const QUANTUM_ROWS: u32 = 64;
/// How far the dies may be behind when another group is folded: enough that none of them waits for
/// work, as a group occupies one die for some milliseconds.
const MOST_BACKLOG_NS: u64 = 20_000_000;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BackgroundState {
    quiet_since_ns: u64,
    begun_ns: u64,
    known_ns: u64,
    /// When the flash is done with the last victim and can empty the next; `u64::MAX`: never.
    gc_ns: u64,
    /// When the next superblock can be refreshed; `u64::MAX`: never.
    refresh_ns: u64,
    stuck: bool,
}

impl BackgroundState {
    pub(super) fn new() -> BackgroundState {
        BackgroundState { quiet_since_ns: u64::MAX, ..BackgroundState::default() }
    }
}

impl Ftl {
    /// Least idle time before background work.
    pub fn background_after_ns(&self) -> u64 {
        let fold_ns = self.slc.as_ref().map_or(u64::MAX, SlcCache::idle_span_ns);
        let gc_ns = self.gc.idle_after_ns.unwrap_or(u64::MAX);
        fold_ns.min(gc_ns).min(IDLE_AFTER_NS)
    }

    /// Quick test for background work due by `now_ns`; may be falsely true.
    #[inline]
    pub fn may_run_background(&self, quiet_since_ns: u64, now_ns: u64) -> bool {
        let folds = self.slc.as_ref();
        folds.is_some_and(|slc| slc.may_fold(quiet_since_ns, now_ns))
            || (self.gc.idle_after_ns).is_some_and(|after_ns| quiet_since_ns + after_ns < now_ns)
            || quiet_since_ns + IDLE_AFTER_NS < now_ns
    }

    /// Run the next task due; returns the interval of its energy. Intervals do not go back in time.
    pub fn run_background(&mut self, quiet_since_ns: u64, now_ns: u64) -> Option<(u64, u64)> {
        if self.background.quiet_since_ns != quiet_since_ns {
            let after_ns = self.gc.idle_after_ns;
            self.background = BackgroundState {
                quiet_since_ns,
                begun_ns: quiet_since_ns,
                known_ns: quiet_since_ns,
                gc_ns: after_ns.map_or(u64::MAX, |ns| quiet_since_ns + ns),
                refresh_ns: quiet_since_ns + IDLE_AFTER_NS,
                stuck: false,
            };
        }
        loop {
            let (fold_ns, gc_ns) = (self.next_fold_ns(), self.next_gc_ns());
            let patrol_ns = self.next_patrol_ns(quiet_since_ns);
            let patrol_ns = patrol_ns.max(self.background.begun_ns);
            let refresh_ns = self.next_refresh_ns();
            let next_ns = fold_ns.min(gc_ns).min(refresh_ns).min(patrol_ns);
            if next_ns == u64::MAX {
                return None;
            }
            let done = if fold_ns == next_ns {
                self.idle_fold(fold_ns, now_ns)?
            } else if refresh_ns == next_ns {
                self.idle_refresh(refresh_ns, now_ns)?
            } else if gc_ns == next_ns {
                self.idle_gc(gc_ns, now_ns)?
            } else {
                self.idle_patrol(patrol_ns, now_ns)?
            };
            if done.is_some() {
                return done;
            }
        }
    }

    fn next_fold_ns(&self) -> u64 {
        match &self.slc {
            Some(slc) if !slc.is_empty() && !self.background.stuck => {
                let quiet_ns = self.background.quiet_since_ns;
                let flash_ns = self.nand.idle_ns().saturating_sub(MOST_BACKLOG_NS);
                slc.idle_fold_ns(quiet_ns).max(flash_ns).max(self.background.begun_ns)
            }
            _ => u64::MAX,
        }
    }

    fn next_gc_ns(&self) -> u64 {
        if self.free.len() >= self.gc.high as usize {
            return u64::MAX;
        }
        self.background.gc_ns.max(self.background.begun_ns)
    }

    fn quantum_units(&self) -> u32 {
        self.nand.row_units() * QUANTUM_ROWS
    }

    fn next_refresh_ns(&self) -> u64 {
        match self.gc.may_refresh() {
            true => self.background.refresh_ns.max(self.background.begun_ns),
            false => u64::MAX,
        }
    }

    fn idle_patrol(&mut self, begin_ns: u64, now_ns: u64) -> Option<Option<(u64, u64)>> {
        if begin_ns >= now_ns {
            return None;
        }
        self.background.begun_ns = begin_ns;
        self.visit(begin_ns);
        let known_ns = self.background.known_ns.max(begin_ns);
        self.background.known_ns = known_ns;
        Some(Some((known_ns, known_ns)))
    }

    /// `None` if `begin_ns` is not before `now_ns`, `Some(None)` when nothing could move.
    fn idle_refresh(&mut self, begin_ns: u64, now_ns: u64) -> Option<Option<(u64, u64)>> {
        if begin_ns >= now_ns {
            return None;
        }
        self.background.begun_ns = begin_ns;
        self.apply_map_updates();
        if !self.refresh_in_step(self.quantum_units(), begin_ns, begin_ns) {
            self.background.refresh_ns = u64::MAX;
            return Some(None);
        }
        let end_ns = begin_ns.max(self.nand.idle_ns());
        self.background.refresh_ns = end_ns;
        let known_ns = self.background.known_ns.max(begin_ns);
        self.background.known_ns = known_ns;
        Some(Some((known_ns, end_ns.max(known_ns))))
    }

    /// `None` if the fold ends after `now_ns`, `Some(None)` when nothing could be folded.
    fn idle_fold(&mut self, begin_ns: u64, now_ns: u64) -> Option<Option<(u64, u64)>> {
        let before = self.slc.as_ref()?.progress();
        let end_ns = begin_ns + self.slc.as_ref()?.fold_ns;
        if end_ns > now_ns {
            return None;
        }
        self.background.begun_ns = begin_ns;
        self.apply_map_updates();
        self.fold(self.write_points[FOLD].group_units, begin_ns);
        self.background.stuck = self.slc.as_ref().map(SlcCache::progress) == Some(before);
        // Accounted at its end, because earlier steps may have been polled already.
        let known_ns = self.background.known_ns.max(end_ns);
        self.background.known_ns = known_ns;
        Some((!self.background.stuck).then_some((known_ns, known_ns)))
    }

    fn idle_gc(&mut self, begin_ns: u64, now_ns: u64) -> Option<Option<(u64, u64)>> {
        if begin_ns >= now_ns {
            return None;
        }
        self.background.begun_ns = begin_ns;
        self.apply_map_updates();
        if !self.scan(self.quantum_units(), begin_ns, begin_ns) {
            self.background.gc_ns = u64::MAX;
            return Some(None);
        }
        let end_ns = begin_ns.max(self.nand.idle_ns());
        self.background.gc_ns = end_ns;
        let known_ns = self.background.known_ns.max(begin_ns);
        self.background.known_ns = known_ns;
        Some(Some((known_ns, end_ns.max(known_ns))))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/ftl/background.rs"]
mod tests;
