//! Independent plane reads: the planes of a die sense different pages at the same time, each begun
//! at its own time.
//!
//! Without them the planes of a die sense together, and only pages of the same address in their
//! blocks (ELETT-SMP; SETMP), so that reads of different addresses follow one another whatever
//! their planes. Dies of three generations have independent reads: Micron's of 176 layers by the
//! title of its paper (ISSCC2022-MU), Intel's of 144 (FMR40, on ISSCC2021), and about the sixth of
//! V-NAND (SSDBOOK2). Programs and erases take all planes of a die still: they share its pumps
//! (SSDBOOK2). Keys: docs/sources.md.
//!
//! Reads of a die whose times overlap are a *period*: it begins when the die has ended or suspended
//! what it did, and programs wait for its end. So a read that comes during a period waits for its
//! planes alone.
//!
//! # Non-goals
//! A longer sense beside other senses (shared pumps and sources of current); a limit on planes that
//! sense at once.

use std::ops::Range;

/// The planes of all dies. Times in nanoseconds.
#[derive(Clone, Debug)]
pub struct PlaneReads {
    planes: usize,
    page_sectors: u32,
    /// End of the last read of each plane, die by die.
    free_ns: Vec<u64>,
    /// Start of the last period of each die.
    begun_ns: Vec<u64>,
}

impl PlaneReads {
    /// Idle planes with pages of `page_sectors` sectors.
    pub fn new(dies: usize, planes: u8, page_sectors: u32) -> PlaneReads {
        let planes = usize::from(planes);
        PlaneReads {
            planes,
            page_sectors,
            free_ns: vec![0; dies * planes],
            begun_ns: vec![0; dies],
        }
    }

    /// The planes of a die that `sectors` sectors from sector `first` of its multi-plane page on
    /// touch; all for `None`.
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

    /// When a read of these planes begins that is issued in the period of its die, which ends at
    /// `period_ends_ns`; `None` when it is issued later.
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

    /// A read occupies its planes until `end_ns`; with `begun_ns`, it is the first of a period.
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
