//! fio 3.42's `sprandom`: one write of a drive's physical capacity that leaves the blocks of each
//! region valid in the share that steady random writing does, by fio's own estimate of it.
//!
//! Valid fractions of regions of equal size, the first written least, follow from the write
//! amplification of an over-provisioning ratio: P. Desnoyers, "Analytic Models of SSD Write
//! Performance", ACM Transactions on Storage 10(2), 2014, of which fio takes a rough fit. Each
//! block of a region is drawn with the share that is to become invalid, and those are written
//! again with the next region: at its begin, or, where the drive has a cache, at its end.

use std::collections::VecDeque;

use super::random::{ShiftRegister, Tausworthe};

/// Shares are drawn in steps of so many to the whole.
const STEPS: f64 = 10_000.0;

/// The options `spr_num_regions`, `spr_op` and `spr_cs`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpRandom {
    pub regions: u32,
    /// Spare space over the data.
    pub over_provisioning: f64,
    /// Zero: without a cache.
    pub cache_bytes: u64,
}

impl SpRandom {
    /// What a job writes: the data and as much again as is spare, in whole blocks.
    pub fn physical_bytes(&self, data_bytes: u64, block_bytes: u64) -> u64 {
        let spare = (data_bytes as f64 * self.over_provisioning).ceil() as u64;
        let bytes = data_bytes.saturating_add(spare);
        bytes - bytes % block_bytes.max(1)
    }

    pub fn region_bytes(&self, data_bytes: u64, block_bytes: u64) -> u64 {
        self.physical_bytes(data_bytes, block_bytes) / u64::from(self.regions.max(1))
    }

    /// Valid fraction of each region when all are written, in the order of writing.
    fn valid_fractions(&self) -> Vec<f64> {
        let amplification = 0.5 / self.over_provisioning + 0.7;
        let least = 1.0 - 1.0 / amplification;
        let count = self.regions as usize;
        let evenly = |from: f64, to: f64| {
            let step = (to - from) / (count as f64 - 1.0);
            let at = move |index: usize| from + index as f64 * step;
            (0..count).map(move |index| if index == 0 { from } else { at(index) })
        };
        // Space is taken in inverse proportion to what is valid in it.
        let valid: Vec<f64> = evenly(1.0, least).collect();
        let space = valid.iter().scan(0.0, |sum, valid| {
            *sum += 1.0 / valid;
            Some(*sum)
        });
        let space: Vec<f64> = space.collect();
        let (first, last) = (space[0], space[count - 1]);
        let at = |place: f64| {
            let next = space.partition_point(|&end| end < place);
            match next {
                0 => valid[0],
                next if next >= count => valid[count - 1],
                next => {
                    let (from, to) = (space[next - 1], space[next]);
                    let share = (place - from) / (to - from);
                    valid[next - 1] + (valid[next] - valid[next - 1]) * share
                }
            }
        };
        let mut fractions: Vec<f64> = evenly(first, last).map(at).collect();
        fractions.reverse();
        fractions
    }
}

/// The blocks that a thread writes.
#[derive(Clone, Debug)]
pub(super) struct Regions {
    /// By region, of [`STEPS`]: how many of its blocks are to become invalid.
    invalid: Vec<u64>,
    draws: Tausworthe,
    blocks_each: u64,
    region: usize,
    /// Of the region, before blocks of the one before it have to be written.
    left: u64,
    /// Blocks of the region before that are written again.
    due: VecDeque<u64>,
    /// Of this region.
    drawn: Vec<u64>,
    /// They are written at the end of the region.
    defers: bool,
}

impl Regions {
    pub(super) fn new(of: &SpRandom, data_bytes: u64, block_bytes: u64, seed: u64) -> Regions {
        let blocks_each = of.region_bytes(data_bytes, block_bytes) / block_bytes.max(1);
        let fractions = of.valid_fractions().into_iter();
        Regions {
            invalid: fractions.map(|valid| ((1.0 - valid) * STEPS).round() as u64).collect(),
            draws: Tausworthe::new(seed, false),
            blocks_each,
            region: 0,
            left: blocks_each,
            due: VecDeque::new(),
            drawn: Vec::new(),
            defers: of.cache_bytes > 0,
        }
    }

    /// `sprandom_get_next_offset`; `None` at the end of the job.
    pub(super) fn next(&mut self, fresh: &mut ShiftRegister) -> Option<u64> {
        let is_due = !self.defers || self.left == 0;
        if is_due && let Some(block) = self.due.pop_front() {
            self.draw(block);
            return Some(block);
        }
        if self.left == 0 {
            if self.region >= self.invalid.len() {
                return None;
            }
            self.region += 1;
            self.left = self.blocks_each.saturating_sub(self.drawn.len() as u64);
            self.due.extend(self.drawn.drain(..));
        }
        let Some(block) = fresh.next() else {
            return self.due.pop_front().filter(|_| self.defers);
        };
        self.left = self.left.saturating_sub(1);
        self.draw(block);
        Some(block)
    }

    fn draw(&mut self, block: u64) {
        // What is drawn of the writes behind the last region is not written any more.
        let share = self.invalid.get(self.region).copied().unwrap_or(0);
        if ((STEPS + 1.0) * self.draws.share()) as u64 <= share {
            self.drawn.push(block);
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/access/fio/sprandom.rs"]
mod tests;
