//! Which logical unit each physical unit was written with: a list per superblock, in memory only where it says more than a number.
//!
//! The owners in a superblock of the initial sequential fill follow from its number. A superblock written in order of logical units from its
//! beginning on, as a sequential fill does, is a *run*: the first of them and how many there are. Only what is written otherwise
//! is listed, and only then the operating system gives memory for the list.

/// How a superblock's owners are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// From its number.
    Initial,
    /// As a [`Run`].
    Run,
    /// From its list.
    Listed,
}

/// The first `count` units of a superblock belong to logical units from `first` on, one after the other.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    first: u32,
    count: u32,
}

/// Owners of all superblocks.
#[derive(Debug)]
pub(super) struct Owners {
    kinds: Vec<Kind>,
    /// Meaningless outside [`Kind::Run`] superblocks.
    runs: Vec<Run>,
    /// Superblock after superblock; meaningless outside [`Kind::Listed`] ones.
    table: Vec<u32>,
    /// Was it ever listed, so that its list has memory?
    touched: Vec<bool>,
    superblock_units: usize,
}

impl Clone for Owners {
    /// Copies the lists that have memory only, so that a copy takes no more memory than its original.
    fn clone(&self) -> Owners {
        let mut table = vec![0; self.table.len()];
        for (index, _) in self.touched.iter().enumerate().filter(|&(_, &is)| is) {
            let range = index * self.superblock_units..(index + 1) * self.superblock_units;
            table[range.clone()].copy_from_slice(&self.table[range]);
        }
        Owners {
            kinds: self.kinds.clone(),
            runs: self.runs.clone(),
            table,
            touched: self.touched.clone(),
            ..*self
        }
    }
}

impl Owners {
    /// Of `total` superblocks, initially filled in order.
    pub(super) fn new(total: u32, superblock_units: u32) -> Owners {
        let (total, superblock_units) = (total as usize, superblock_units as usize);
        Owners {
            kinds: vec![Kind::Initial; total],
            runs: vec![Run::default(); total],
            table: vec![0; total * superblock_units],
            touched: vec![false; total],
            superblock_units,
        }
    }

    /// A superblock is opened: what was known of it does not matter any more.
    pub(super) fn open(&mut self, superblock: usize) {
        self.kinds[superblock] = Kind::Run;
        self.runs[superblock] = Run::default();
    }

    /// `count` units of an open superblock, from `within` on, belong to logical units from `first` on.
    #[inline]
    pub(super) fn set_run(&mut self, superblock: usize, within: usize, first: u32, count: u32) {
        if self.kinds[superblock] == Kind::Run {
            let run = &mut self.runs[superblock];
            if run.count == 0 && within == 0 {
                run.first = first;
            }
            if run.count as usize == within && run.first.wrapping_add(run.count) == first {
                run.count += count;
                return;
            }
        }
        let owners = self.list_mut(superblock, within, count as usize);
        for (owner, unit) in owners.iter_mut().zip(first..) {
            *owner = unit;
        }
    }

    /// Units of an open superblock, from `within` on, belong to these.
    #[inline]
    pub(super) fn set(&mut self, superblock: usize, within: usize, units: &[u32]) {
        if self.kinds[superblock] == Kind::Run && self.set_in_order(superblock, within, units) {
            return;
        }
        self.list_mut(superblock, within, units.len())
            .copy_from_slice(units);
    }

    /// [`Owners::set`] of units that go on with a run; `false` where they do not.
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

    /// A unit of an open superblock belongs to this one.
    #[inline]
    pub(super) fn set_one(&mut self, superblock: usize, within: usize, unit: u32) {
        if self.kinds[superblock] != Kind::Listed {
            self.make_list(superblock);
        }
        self.table[superblock * self.superblock_units + within] = unit;
    }

    /// The list of a superblock from `within` on, to be written.
    #[inline]
    fn list_mut(&mut self, superblock: usize, within: usize, count: usize) -> &mut [u32] {
        if self.kinds[superblock] != Kind::Listed {
            self.make_list(superblock);
        }
        let first = superblock * self.superblock_units + within;
        &mut self.table[first..first + count]
    }

    /// Write down what follows from a number or a run.
    #[cold]
    #[inline(never)]
    fn make_list(&mut self, superblock: usize) {
        let from = superblock * self.superblock_units;
        let (first, count) = match self.kinds[superblock] {
            Kind::Initial => (from as u32, self.superblock_units),
            Kind::Run => {
                let run = self.runs[superblock];
                (run.first, run.count as usize)
            }
            Kind::Listed => return,
        };
        for (owner, unit) in self.table[from..from + count].iter_mut().zip(first..) {
            *owner = unit;
        }
        self.kinds[superblock] = Kind::Listed;
        self.touched[superblock] = true;
    }

    /// Owner of a unit that was written.
    #[inline]
    pub(super) fn get(&self, superblock: usize, within: usize) -> u32 {
        let place = superblock * self.superblock_units + within;
        match self.kinds[superblock] {
            Kind::Listed => self.table[place],
            Kind::Initial => place as u32,
            Kind::Run => self.runs[superblock].first + within as u32,
        }
    }

    /// The list of a superblock; `None` where its owners follow one another, from that of [`Owners::get`] of the first on.
    #[inline]
    pub(super) fn list(&self, superblock: usize) -> Option<&[u32]> {
        let first = superblock * self.superblock_units;
        (self.kinds[superblock] == Kind::Listed)
            .then(|| &self.table[first..first + self.superblock_units])
    }

    /// Lists as they lie in memory, for advice on them.
    pub(super) fn table(&self) -> &[u32] {
        &self.table
    }

    /// Bytes of memory in lists.
    pub(super) fn resident_bytes(&self) -> u64 {
        let touched = self.touched.iter().filter(|&&touched| touched).count();
        (touched * self.superblock_units * 4) as u64
    }
}
