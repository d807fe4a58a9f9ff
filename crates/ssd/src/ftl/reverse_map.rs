//! Reverse map (P2L): the logical unit of each physical unit. Superblocks of the initial fill
//! follow from their number, and one written sequentially is a *run*; only others are listed and
//! use memory.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Initial,
    Run,
    Listed,
}

#[derive(Clone, Copy, Debug, Default)]
struct Run {
    first: u32,
    count: u32,
}

#[derive(Debug)]
pub(super) struct ReverseMap {
    encodings: Vec<Encoding>,
    runs: Vec<Run>,
    pub(super) table: Vec<u32>,
    /// Whether the superblock was ever listed, so that its list has memory.
    touched: Vec<bool>,
    superblock_units: usize,
}

impl Clone for ReverseMap {
    /// Copies only lists with memory, so that a clone uses no more than its original.
    fn clone(&self) -> ReverseMap {
        let mut table = vec![0; self.table.len()];
        for (index, _) in self.touched.iter().enumerate().filter(|&(_, &is)| is) {
            let range = index * self.superblock_units..(index + 1) * self.superblock_units;
            table[range.clone()].copy_from_slice(&self.table[range]);
        }
        ReverseMap {
            encodings: self.encodings.clone(),
            runs: self.runs.clone(),
            table,
            touched: self.touched.clone(),
            ..*self
        }
    }
}

impl ReverseMap {
    pub(super) fn new(total: u32, superblock_units: u32) -> ReverseMap {
        let (total, superblock_units) = (total as usize, superblock_units as usize);
        ReverseMap {
            encodings: vec![Encoding::Initial; total],
            runs: vec![Run::default(); total],
            table: vec![0; total * superblock_units],
            touched: vec![false; total],
            superblock_units,
        }
    }

    pub(super) fn open(&mut self, superblock: usize) {
        self.encodings[superblock] = Encoding::Run;
        self.runs[superblock] = Run::default();
    }

    #[inline]
    pub(super) fn set_run(&mut self, superblock: usize, within: usize, first: u32, count: u32) {
        if self.encodings[superblock] == Encoding::Run {
            let run = &mut self.runs[superblock];
            if run.count == 0 && within == 0 {
                run.first = first;
            }
            if run.count as usize == within && run.first.wrapping_add(run.count) == first {
                run.count += count;
                return;
            }
        }
        let entries = self.list_mut(superblock, within, count as usize);
        for (entry, unit) in entries.iter_mut().zip(first..) {
            *entry = unit;
        }
    }

    #[inline]
    pub(super) fn set(&mut self, superblock: usize, within: usize, units: &[u32]) {
        if self.encodings[superblock] == Encoding::Run
            && self.set_in_order(superblock, within, units)
        {
            return;
        }
        self.list_mut(superblock, within, units.len()).copy_from_slice(units);
    }

    /// `false` if the units do not continue the run.
    #[inline(never)]
    fn set_in_order(&mut self, superblock: usize, within: usize, units: &[u32]) -> bool {
        let run = self.runs[superblock];
        let Some(&first) = units.first() else {
            return true;
        };
        let goes_on = run.count as usize == within
            && (within == 0 || run.first.wrapping_add(run.count) == first)
            && units.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        if goes_on {
            self.set_run(superblock, within, first, units.len() as u32);
        }
        goes_on
    }

    #[inline]
    pub(super) fn set_one(&mut self, superblock: usize, within: usize, unit: u32) {
        if self.encodings[superblock] != Encoding::Listed {
            self.make_list(superblock);
        }
        self.table[superblock * self.superblock_units + within] = unit;
    }

    #[inline]
    fn list_mut(&mut self, superblock: usize, within: usize, count: usize) -> &mut [u32] {
        if self.encodings[superblock] != Encoding::Listed {
            self.make_list(superblock);
        }
        let first = superblock * self.superblock_units + within;
        &mut self.table[first..first + count]
    }

    #[cold]
    #[inline(never)]
    fn make_list(&mut self, superblock: usize) {
        let from = superblock * self.superblock_units;
        let (first, count) = match self.encodings[superblock] {
            Encoding::Initial => (from as u32, self.superblock_units),
            Encoding::Run => {
                let run = self.runs[superblock];
                (run.first, run.count as usize)
            }
            Encoding::Listed => return,
        };
        for (entry, unit) in self.table[from..from + count].iter_mut().zip(first..) {
            *entry = unit;
        }
        self.encodings[superblock] = Encoding::Listed;
        self.touched[superblock] = true;
    }

    #[inline]
    pub(super) fn get(&self, superblock: usize, within: usize) -> u32 {
        let place = superblock * self.superblock_units + within;
        match self.encodings[superblock] {
            Encoding::Listed => self.table[place],
            Encoding::Initial => place as u32,
            Encoding::Run => self.runs[superblock].first + within as u32,
        }
    }

    /// `None` where entries are consecutive from [`ReverseMap::get`] of the first on.
    #[inline]
    pub(super) fn list(&self, superblock: usize) -> Option<&[u32]> {
        let first = superblock * self.superblock_units;
        (self.encodings[superblock] == Encoding::Listed)
            .then(|| &self.table[first..first + self.superblock_units])
    }

    pub(super) fn resident_bytes(&self) -> u64 {
        let touched = self.touched.iter().filter(|&&touched| touched).count();
        (touched * self.superblock_units * 4) as u64
    }
}
