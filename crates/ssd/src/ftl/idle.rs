//! What an idle drive does by itself: folding and collection, in order of time.
//!
//! One chore at a time, each begun at an instant that follows from the drive's state alone, never from when somebody looks. So the
//! same chores are done whether an idle time is lived through at once or in many pieces.

use super::{FOLD, Ftl, SlcCache};

/// How far an idle drive is with what it does by itself. Times in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Idle {
    /// Since when the host is silent; all else is of that silence.
    quiet_since_ns: u64,
    /// When the latest chore began.
    begun_ns: u64,
    /// When the latest chore was known of.
    known_ns: u64,
    /// When the next victim can be emptied: the flash is done with the one before. `u64::MAX` when none can be.
    collect_ns: u64,
    /// Is there no flash left to fold into?
    stuck: bool,
}

impl Idle {
    /// Of no silence yet.
    pub(super) fn new() -> Idle {
        Idle {
            quiet_since_ns: u64::MAX,
            begun_ns: 0,
            known_ns: 0,
            collect_ns: 0,
            stuck: false,
        }
    }
}

impl Ftl {
    /// Is there anything that an idle drive does?
    pub fn housekeeps(&self) -> bool {
        self.slc.is_some() || self.idle_collect_after_ns().is_some()
    }

    /// May there be a chore by `now_ns`, the host having been silent since `quiet_since_ns`? Quick, and sure only when it says no.
    #[inline]
    pub fn may_keep_house(&self, quiet_since_ns: u64, now_ns: u64) -> bool {
        let folds = self.slc.as_ref();
        folds.is_some_and(|slc| slc.may_fold(quiet_since_ns, now_ns))
            || (self.idle_collect_after_ns())
                .is_some_and(|after_ns| quiet_since_ns.saturating_add(after_ns) < now_ns)
    }

    /// Do the next chore of an idle drive, if it is due by `now_ns`, the host having been silent since `quiet_since_ns`. Returns from
    /// when to when to account it, in nanoseconds, never from before what was returned last; `None` when there is nothing more to do by
    /// then.
    pub fn keep_house(&mut self, quiet_since_ns: u64, now_ns: u64) -> Option<(u64, u64)> {
        if self.idle.quiet_since_ns != quiet_since_ns {
            let after_ns = self.idle_collect_after_ns();
            self.idle = Idle {
                quiet_since_ns,
                begun_ns: quiet_since_ns,
                known_ns: quiet_since_ns,
                collect_ns: after_ns.map_or(u64::MAX, |ns| quiet_since_ns.saturating_add(ns)),
                stuck: false,
            };
        }
        loop {
            let (fold_ns, collect_ns) = (self.next_fold_ns(), self.next_collection_ns());
            if fold_ns == u64::MAX && collect_ns == u64::MAX {
                return None;
            }
            // Whatever is first comes first, even where the other could be done by now.
            let done = if fold_ns <= collect_ns {
                self.idle_fold(fold_ns, now_ns)?
            } else {
                self.idle_collect(collect_ns, now_ns)?
            };
            if done.is_some() {
                return done;
            }
        }
    }

    /// When the next fold would begin, `u64::MAX` when there is none.
    fn next_fold_ns(&self) -> u64 {
        match &self.slc {
            Some(slc) if !slc.is_empty() && !self.idle.stuck => {
                let quiet_ns = self.idle.quiet_since_ns;
                slc.idle_fold_ns(quiet_ns).max(self.idle.begun_ns)
            }
            _ => u64::MAX,
        }
    }

    /// When the next victim would be emptied, `u64::MAX` when none would.
    fn next_collection_ns(&self) -> u64 {
        if self.free.len() >= self.high_superblocks() {
            return u64::MAX;
        }
        self.idle.collect_ns.max(self.idle.begun_ns)
    }

    /// A fold that begins at `begin_ns`: `None` when it would not be done by `now_ns`, `Some(None)` when nothing could be folded.
    fn idle_fold(&mut self, begin_ns: u64, now_ns: u64) -> Option<Option<(u64, u64)>> {
        let before = self.slc.as_ref()?.progress();
        let end_ns = begin_ns.saturating_add(self.slc.as_ref()?.fold_ns());
        if end_ns > now_ns {
            return None;
        }
        self.idle.begun_ns = begin_ns;
        self.settle();
        self.fold(self.frontiers[FOLD].group_units, begin_ns);
        self.idle.stuck = self.slc.as_ref().map(SlcCache::progress) == Some(before);
        // Somebody may have looked while it went on: known of only when it is done.
        self.idle.known_ns = self.idle.known_ns.max(end_ns);
        Some((!self.idle.stuck).then_some((self.idle.known_ns, self.idle.known_ns)))
    }

    /// A victim emptied from `begin_ns` on: `None` when that is not before `now_ns`, `Some(None)` when nothing could be moved.
    fn idle_collect(&mut self, begin_ns: u64, now_ns: u64) -> Option<Option<(u64, u64)>> {
        if begin_ns >= now_ns {
            return None;
        }
        self.idle.begun_ns = begin_ns;
        self.settle();
        if !self.scan(self.superblock_units, begin_ns, begin_ns) {
            self.idle.collect_ns = u64::MAX;
            return Some(None);
        }
        let end_ns = begin_ns.max(self.nand.idle_ns());
        self.idle.collect_ns = end_ns;
        self.idle.known_ns = self.idle.known_ns.max(begin_ns);
        Some(Some((self.idle.known_ns, end_ns.max(self.idle.known_ns))))
    }
}
