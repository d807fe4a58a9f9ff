//! Independent plane reads: the planes of a die sense different pages at overlapping times.
//!
//! Other dies sense all planes together, and only pages of the same address (ELETT-SMP; SETMP).
//! Three generations have independent reads: Micron's of 176 layers by the title of its paper
//! (ISSCC2022-MU), Intel's of 144 (FMR40, on ISSCC2021), and about the sixth of V-NAND (SSDBOOK2).
//! Programs and erases take all planes still, which share their pumps (SSDBOOK2). Keys:
//! docs/sources.md.
//!
//! Reads of a die whose times overlap are a *period*: it begins when the die has ended or suspended
//! what it did, and programs wait for its end. A read during a period waits for its planes alone.
//!
//! # Non-goals
//! Slower senses beside others (shared pumps and current); a limit on planes that sense at once.

use std::ops::Range;

#[derive(Clone, Debug)]
pub struct PlaneReads {
    planes: usize,
    page_sectors: u32,
    free_ns: Vec<u64>,
    begun_ns: Vec<u64>,
}

impl PlaneReads {
    pub fn new(dies: usize, planes: u8, page_sectors: u32) -> PlaneReads {
        let planes = usize::from(planes);
        PlaneReads {
            planes,
            page_sectors,
            free_ns: vec![0; dies * planes],
            begun_ns: vec![0; dies],
        }
    }

    /// Planes that `sectors` sectors from `first` of the multi-plane page on touch; all for `None`.
    #[inline]
    pub fn span(&self, die: usize, first: Option<u32>, sectors: u32) -> Range<usize> {
        let (from, to) = match first {
            Some(first) => {
                let last = first + sectors.max(1) - 1;
                let [from, last] = [first, last].map(|sector| sector / self.page_sectors);
                (from as usize, (last as usize + 1).min(self.planes))
            }
            None => (0, self.planes),
        };
        die * self.planes + from..die * self.planes + to
    }

    /// When a read issued in its die's period begins; `None` when issued later.
    #[inline]
    pub fn begin(
        &self,
        die: usize,
        span: Range<usize>,
        issue_ns: u64,
        period_ends_ns: u64,
    ) -> Option<u64> {
        let free_ns = self.free_ns[span].iter().max().copied();
        let in_period_ns = issue_ns.max(self.begun_ns[die]);
        (issue_ns < period_ends_ns).then(|| in_period_ns.max(free_ns.unwrap_or(0)))
    }

    /// Planes are busy until `end_ns`; with `begun_ns`, the read is the first of a period.
    #[inline]
    pub fn occupy(&mut self, die: usize, span: Range<usize>, begun_ns: Option<u64>, end_ns: u64) {
        if let Some(begun_ns) = begun_ns {
            self.begun_ns[die] = begun_ns;
        }
        self.free_ns[span].fill(end_ns);
    }
}

#[cfg(test)]
#[path = "../tests/unit/planes.rs"]
mod tests;
