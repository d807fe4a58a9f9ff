//! What a drive forgets when its power fails: a journal of what was written and is not on the medium yet.
//!
//! A write is acknowledged when its data is in the write buffer; it is safe when the program that takes it out of there has ended,
//! or earlier where capacitors let the drive finish that without power. Until then the journal keeps, for each 4 KiB unit, what stood
//! there before. When power fails, units that are not safe get that back: each unit is as one of the writes left it, never a mixture,
//! and units of one command may part company (a torn write), as the drive's atomic write unit at power fail is one unit (NVM
//! Express Base Specification 1.4, section 6.4, AWUPF).
//!
//! Units become safe in the order in which they entered the buffer: a drive logs changes of its map in that order. Deallocated
//! and zeroed ranges change the map alone, and are safe at once.
//!
//! # Non-goals
//! The model's own map stays as it was: where a lost unit lies changes no time that anybody could measure. Without kept data there
//! is nothing to lose, and no journal.
//!
//! # Cost
//! One page per unit in the write buffer, or a few thousand where that is small.

use std::collections::BTreeMap;

use crate::data::Page;

/// So many entries are kept before it is worth looking which are safe.
const FEW: usize = 1024;

/// Where a unit that was written is on its way to the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// The command waits, or its data was never taken.
    Submitted,
    /// In the write buffer, as the unit of this number since power-on.
    Buffered(u64),
    /// Recorded without a program.
    Safe,
}

/// One write of one unit.
#[derive(Clone, Debug)]
struct Entry {
    seq: u64,
    progress: Progress,
    before: Page,
}

/// The journal of a drive.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    /// Per unit, its writes that are not known to be safe and those before them, in order of submission.
    units: BTreeMap<u64, Vec<Entry>>,
    entries: usize,
    /// Look for safe ones when there are so many.
    limit: usize,
    /// Units taken into the buffer before their writes were noted: command, unit, progress.
    early: Vec<(u64, u64, Progress)>,
}

impl Journal {
    /// Nothing written.
    pub fn new() -> Journal {
        Journal {
            limit: FEW,
            ..Journal::default()
        }
    }

    /// The command `seq` writes to a unit that holds `before`. Call in order of submission, then [`Journal::catch_up`].
    pub fn note(&mut self, seq: u64, unit: u64, before: Page) {
        self.entries += 1;
        self.units.entry(unit).or_default().push(Entry {
            seq,
            progress: Progress::Submitted,
            before,
        });
    }

    /// A unit of command `seq` is taken into the buffer as number `place`, or recorded at once (`None`).
    pub fn take(&mut self, seq: u64, unit: u64, place: Option<u64>) {
        let progress = place.map_or(Progress::Safe, Progress::Buffered);
        if !self.apply(seq, unit, progress) {
            self.early.push((seq, unit, progress));
        }
    }

    /// Everything that was taken has been noted, or never will be (its bytes are not kept).
    pub fn catch_up(&mut self) {
        for (seq, unit, progress) in std::mem::take(&mut self.early) {
            self.apply(seq, unit, progress);
        }
    }

    fn apply(&mut self, seq: u64, unit: u64, progress: Progress) -> bool {
        let writes = self.units.get_mut(&unit);
        match writes.and_then(|writes| writes.iter_mut().find(|entry| entry.seq == seq)) {
            Some(entry) => {
                entry.progress = progress;
                true
            }
            None => false,
        }
    }

    /// Units `first..end` were deallocated or zeroed: nothing before that comes back.
    pub fn forget(&mut self, first: u64, end: u64) {
        let mut tail = self.units.split_off(&first);
        let mut beyond = tail.split_off(&end);
        self.units.append(&mut beyond);
        self.entries -= tail.values().map(Vec::len).sum::<usize>();
    }

    /// Is it time to call [`Journal::prune`]?
    pub fn is_long(&self) -> bool {
        self.entries >= self.limit
    }

    /// Drop what is safe, now that the first `safe_units` units of the buffer are on the medium.
    pub fn prune(&mut self, safe_units: u64) {
        self.units.retain(|_, writes| {
            writes.drain(..after_last_safe(writes, |progress| is_safe(progress, safe_units)));
            !writes.is_empty()
        });
        self.entries = self.units.values().map(Vec::len).sum();
        self.limit = FEW.max(2 * self.entries);
    }

    /// Power fails with the first `safe_units` units of the buffer on the medium: what goes back to what, by unit. With capacitors
    /// everything in the buffer is safe.
    pub fn lose(&mut self, safe_units: u64, capacitors: bool) -> Vec<(u64, Page)> {
        self.catch_up();
        let safe_units = if capacitors { u64::MAX } else { safe_units };
        self.entries = 0;
        let units = std::mem::take(&mut self.units);
        let lost = units.into_iter().filter_map(|(unit, mut writes)| {
            let kept = after_last_safe(&writes, |progress| is_safe(progress, safe_units));
            (kept < writes.len()).then(|| (unit, writes.swap_remove(kept).before))
        });
        lost.collect()
    }
}

fn is_safe(progress: Progress, safe_units: u64) -> bool {
    match progress {
        Progress::Submitted => false,
        Progress::Buffered(place) => place < safe_units,
        Progress::Safe => true,
    }
}

/// How many writes there are up to the last one that is safe: it decides what those before it left.
fn after_last_safe(writes: &[Entry], safe: impl Fn(Progress) -> bool) -> usize {
    let last = writes.iter().rposition(|entry| safe(entry.progress));
    last.map_or(0, |last| last + 1)
}

#[cfg(test)]
#[path = "../tests/unit/volatile.rs"]
mod tests;
