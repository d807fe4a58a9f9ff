//! Undo journal for power loss: what was written and is not yet on the medium.
//!
//! A write is durable when its program has ended, or earlier with power-loss protection. Until then
//! the journal keeps the previous content of each 4 KiB unit; units of one command may differ (a
//! torn write), as the atomic write unit at power fail is one unit (NVM Express Base Specification
//! 1.4, section 6.4, AWUPF). Of a write that the drive promises to be atomic no unit is durable
//! before all are. Units become durable in the order of entry to the buffer. Deallocated and zeroed
//! ranges are durable at once. The map keeps new addresses: no observable timing depends on them.

use std::collections::{BTreeMap, BTreeSet};

use crate::data::{Page, remove_range};

const FEW: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WriteProgress {
    /// Waiting, or its data was never accepted.
    Submitted,
    /// In the write buffer, with its sequence number since power-on.
    Buffered(u64),
    Safe,
}

#[derive(Clone, Debug)]
struct Entry {
    seq: u64,
    progress: WriteProgress,
    /// Its units are durable together.
    atomic: bool,
    before: Page,
}

impl Entry {
    fn is_programmed(&self, durable_units: u64) -> bool {
        match self.progress {
            WriteProgress::Submitted => false,
            WriteProgress::Buffered(place) => place < durable_units,
            WriteProgress::Safe => true,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct UndoJournal {
    /// Per unit, writes not known to be durable and those before, in order of submission.
    units: BTreeMap<u64, Vec<Entry>>,
    entries: usize,
    limit: usize,
    /// Units accepted before their writes were recorded: command, unit, progress.
    early: Vec<(u64, u64, WriteProgress)>,
}

impl UndoJournal {
    pub fn new() -> UndoJournal {
        UndoJournal { limit: FEW, ..UndoJournal::default() }
    }

    /// Call in order of submission, then [`UndoJournal::catch_up`].
    pub fn record(&mut self, seq: u64, unit: u64, before: Page, atomic: bool) {
        self.entries += 1;
        self.units.entry(unit).or_default().push(Entry {
            seq,
            progress: WriteProgress::Submitted,
            atomic,
            before,
        });
    }

    /// A unit is accepted into the buffer as number `place`, or durable at once (`None`).
    pub fn accept(&mut self, seq: u64, unit: u64, place: Option<u64>) {
        let progress = place.map_or(WriteProgress::Safe, WriteProgress::Buffered);
        if !self.apply(seq, unit, progress) {
            self.early.push((seq, unit, progress));
        }
    }

    /// Apply early entries; the rest are of writes whose bytes are not kept.
    pub fn catch_up(&mut self) {
        for (seq, unit, progress) in std::mem::take(&mut self.early) {
            self.apply(seq, unit, progress);
        }
    }

    fn apply(&mut self, seq: u64, unit: u64, progress: WriteProgress) -> bool {
        let writes = self.units.get_mut(&unit);
        let entry = writes.and_then(|writes| writes.iter_mut().find(|entry| entry.seq == seq));
        entry.map(|entry| entry.progress = progress).is_some()
    }

    pub fn drop_range(&mut self, first: u64, end: u64) {
        let dropped = remove_range(&mut self.units, first, end);
        self.entries -= dropped.values().map(Vec::len).sum::<usize>();
    }

    pub fn is_long(&self) -> bool {
        self.entries >= self.limit
    }

    /// Atomic writes of which a unit is not durable.
    fn incomplete(&self, durable_units: u64) -> BTreeSet<u64> {
        let entries = self.units.values().flatten();
        let waiting = entries.filter(|entry| entry.atomic && !entry.is_programmed(durable_units));
        waiting.map(|entry| entry.seq).collect()
    }

    /// The first `durable_units` buffered units are on the medium.
    pub fn prune(&mut self, durable_units: u64) {
        let incomplete = self.incomplete(durable_units);
        self.units.retain(|_, writes| {
            writes.drain(..after_last_safe(writes, durable_units, &incomplete));
            !writes.is_empty()
        });
        self.entries = self.units.values().map(Vec::len).sum();
        self.limit = FEW.max(2 * self.entries);
    }

    /// Units that revert and their content; with `capacitors` all buffered units are durable.
    pub fn power_loss(&mut self, durable_units: u64, capacitors: bool) -> Vec<(u64, Page)> {
        self.catch_up();
        let durable_units = if capacitors { u64::MAX } else { durable_units };
        let incomplete = self.incomplete(durable_units);
        self.entries = 0;
        let units = std::mem::take(&mut self.units);
        let lost = units.into_iter().filter_map(|(unit, mut writes)| {
            let kept = after_last_safe(&writes, durable_units, &incomplete);
            (kept < writes.len()).then(|| (unit, writes.swap_remove(kept).before))
        });
        lost.collect()
    }
}

/// Number of writes up to the last durable one, which supersedes those before it.
fn after_last_safe(writes: &[Entry], durable_units: u64, incomplete: &BTreeSet<u64>) -> usize {
    let is_safe =
        |entry: &Entry| entry.is_programmed(durable_units) && !incomplete.contains(&entry.seq);
    let last = writes.iter().rposition(is_safe);
    last.map_or(0, |last| last + 1)
}

#[cfg(test)]
#[path = "../tests/unit/volatile.rs"]
mod tests;
