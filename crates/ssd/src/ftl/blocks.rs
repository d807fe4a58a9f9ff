//! Superblocks: what is in them, how much of it is still wanted, and which is the greedy victim.
//!
//! Counts lie in arrays of their own, so that the search for a victim reads a few cache lines; which units are still wanted is a
//! bit per unit, so that garbage collection reads the owners of those only and never the map. The bits say *stale* rather than
//! valid: on a filled drive nothing is, and memory that is all zero costs nothing until it is written.
//!
//! The victim is found by a plain search for the least count. Lists by count would have to be kept up with every host write;
//! the search is one comparison per superblock, many at once, and happens once per superblock written: some thousand
//! comparisons for some thousand host writes or more, less than a nanosecond each.

use super::owners::Owners;

/// A superblock's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Free,
    Open,
    Closed,
}

/// All superblocks of a drive.
#[derive(Clone, Debug)]
pub(super) struct Superblocks {
    /// Units whose newest copy is here.
    valid: Vec<u32>,
    /// 0 for a closed multi-bit superblock, all ones for any that cannot be a victim.
    barred: Vec<u32>,
    /// Units written, padding included.
    written: Vec<u32>,
    state: Vec<State>,
    /// Logical unit of each unit.
    owners: Owners,
    /// Was it ever opened, so that its bits have memory?
    opened: Vec<bool>,
    /// How often each was erased.
    erases: Vec<u32>,
    /// For each closed one, how many were closed before it since power-on.
    closed_at: Vec<u64>,
    closings: u64,
    /// One bit per physical unit: its newest copy is elsewhere. Meaningless for units that are not written.
    stale: Vec<u64>,
    /// Superblocks from this one on are SLC and collected by other rules.
    multi: u32,
    shift: u32,
    superblock_units: u32,
}

impl Superblocks {
    /// `total` free superblocks, the first `multi` of them multi-bit; then `filled_units` are written sequentially.
    pub(super) fn new(
        total: u32,
        multi: u32,
        shift: u32,
        superblock_units: u32,
        filled_units: u32,
    ) -> Superblocks {
        let mut blocks = Superblocks {
            valid: vec![0; total as usize],
            barred: vec![u32::MAX; total as usize],
            written: vec![0; total as usize],
            state: vec![State::Free; total as usize],
            owners: Owners::new(total, superblock_units),
            opened: vec![false; total as usize],
            erases: vec![0; total as usize],
            closed_at: vec![0; total as usize],
            closings: 0,
            stale: vec![0; ((u64::from(total) << shift) as usize).div_ceil(64)],
            multi,
            shift,
            superblock_units,
        };
        let mut left = filled_units;
        let mut index = 0;
        while left > 0 {
            let units = left.min(superblock_units);
            blocks.valid[index] = units;
            blocks.written[index] = units;
            blocks.state[index] = State::Closed;
            blocks.barred[index] = 0;
            left -= units;
            index += 1;
        }
        blocks
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.valid.len()
    }

    /// State of one.
    #[cfg(test)]
    pub(super) fn state(&self, superblock: u32) -> State {
        self.state[superblock as usize]
    }

    /// Is this superblock being written?
    #[inline]
    pub(super) fn is_open(&self, superblock: u32) -> bool {
        self.state[superblock as usize] == State::Open
    }

    /// Is this superblock used in SLC mode?
    pub(super) fn is_slc(&self, superblock: u32) -> bool {
        superblock >= self.multi
    }

    /// Units of one whose newest copy is there.
    pub(super) fn valid(&self, superblock: u32) -> u32 {
        self.valid[superblock as usize]
    }

    /// Units of one that were written.
    pub(super) fn written(&self, superblock: u32) -> u32 {
        self.written[superblock as usize]
    }

    /// So many units of one are written now.
    #[inline]
    pub(super) fn set_written(&mut self, superblock: u32, units: u32) {
        self.written[superblock as usize] = units;
    }

    /// Open a free superblock of that many units.
    pub(super) fn open(&mut self, superblock: u32, units: u32) {
        let index = superblock as usize;
        self.state[index] = State::Open;
        self.valid[index] = 0;
        self.written[index] = 0;
        self.owners.open(index);
        self.opened[index] = true;
        // Every unit is stale until it is placed.
        for_words(superblock << self.shift, units, |word, mask| {
            self.stale[word] |= mask;
        });
    }

    /// An open superblock takes no more.
    pub(super) fn close(&mut self, superblock: u32) {
        self.state[superblock as usize] = State::Closed;
        self.closings += 1;
        self.closed_at[superblock as usize] = self.closings;
        if superblock < self.multi {
            self.barred[superblock as usize] = 0;
        }
    }

    /// A superblock is erased: all its units are gone.
    pub(super) fn erase(&mut self, superblock: u32) {
        let index = superblock as usize;
        self.state[index] = State::Free;
        self.erases[index] += 1;
        self.barred[index] = u32::MAX;
        self.written[index] = 0;
    }

    /// Erase every superblock in which anything was written; returns how many those were.
    pub(super) fn wipe(&mut self) -> u32 {
        let mut erased = 0;
        for superblock in 0..self.state.len() as u32 {
            if self.state[superblock as usize] != State::Free {
                self.valid[superblock as usize] = 0;
                self.erase(superblock);
                erased += 1;
            }
        }
        erased
    }

    /// How many of them are multi-bit: the first ones.
    pub(super) fn multi(&self) -> u32 {
        self.multi
    }

    /// Write `count` units from `first` on to an open superblock, from `physical` on.
    #[inline]
    pub(super) fn place_run(&mut self, physical: u32, first: u32, count: u32) {
        for_words(physical, count, |word, mask| self.stale[word] &= !mask);
        let (index, within) = self.split(physical);
        self.valid[index] += count;
        self.owners.set_run(index, within, first, count);
    }

    /// Write these units to an open superblock, from `physical` on.
    #[inline]
    pub(super) fn place(&mut self, physical: u32, units: &[u32]) {
        let count = units.len() as u32;
        for_words(physical, count, |word, mask| self.stale[word] &= !mask);
        let (index, within) = self.split(physical);
        self.valid[index] += count;
        self.owners.set(index, within, units);
    }

    /// Write one unit to an open superblock.
    #[inline]
    pub(super) fn place_one(&mut self, physical: u32, owner: u32) {
        self.stale[(physical >> 6) as usize] &= !(1 << (physical & 63));
        let (index, within) = self.split(physical);
        self.valid[index] += 1;
        self.owners.set_one(index, within, owner);
    }

    /// Owners of `count` units from `physical` on, which were written one by one.
    #[inline]
    pub(super) fn listed(&self, physical: u32, count: u32) -> &[u32] {
        let (index, within) = self.split(physical);
        let list = self.owners.list(index).unwrap_or(&[]);
        list.get(within..within + count as usize).unwrap_or(&[])
    }

    /// The newest copy of what lies at this address is elsewhere from now on.
    #[inline]
    pub(super) fn invalidate(&mut self, physical: u32) {
        self.stale[(physical >> 6) as usize] |= 1 << (physical & 63);
        self.valid[(physical >> self.shift) as usize] -= 1;
    }

    /// The same for a run within one superblock, of which `valid` units were not stale yet.
    #[inline]
    pub(super) fn invalidate_run(&mut self, physical: u32, count: u32, valid: u32) {
        for_words(physical, count, |word, mask| self.stale[word] |= mask);
        self.valid[(physical >> self.shift) as usize] -= valid;
    }

    /// The logical unit written at this address, if its newest copy is still there.
    #[inline]
    pub(super) fn owner(&self, physical: u32) -> Option<u32> {
        let stale = self.stale[(physical >> 6) as usize] >> (physical & 63) & 1;
        let (index, within) = self.split(physical);
        (stale == 0).then(|| self.owners.get(index, within))
    }

    /// Append the owners of those of `count` units from `physical` on (all written, all in one superblock) that are not stale.
    #[inline]
    pub(super) fn owners(&self, physical: u32, count: u32, found: &mut Vec<u32>) {
        let (index, _) = self.split(physical);
        let base = (index << self.shift) as u32;
        let list = self.owners.list(index).unwrap_or(&[]);
        for_words(physical, count, |word, mask| {
            let mut left = mask & !self.stale[word];
            let start = (word as u32) << 6;
            if left == mask {
                // Nothing is stale, as where data was written in order and is moved in order.
                let within = (start + mask.trailing_zeros() - base) as usize;
                let count = mask.count_ones();
                match list.get(within..within + count as usize) {
                    Some(listed) => found.extend_from_slice(listed),
                    None => {
                        let first = self.owners.get(index, within);
                        found.extend(first..first + count);
                    }
                }
                return;
            }
            while left != 0 {
                let within = (start + left.trailing_zeros() - base) as usize;
                left &= left - 1;
                found.push(match list.get(within) {
                    Some(&unit) => unit,
                    None => self.owners.get(index, within),
                });
            }
        });
    }

    /// The same into a list that is long enough for all of them, and without a branch for each; returns how many there are.
    #[inline]
    pub(super) fn owners_into(&self, physical: u32, count: u32, found: &mut [u32]) -> u32 {
        let (index, within) = self.split(physical);
        let Some(list) = self.owners.list(index).filter(|_| count <= 64) else {
            return self.owners_one_by_one(physical, count, found);
        };
        let listed = &list[within..within + count as usize];
        let found = &mut found[..listed.len()];
        let mut wanted = self.wanted(physical);
        let mut holds = 0;
        for &unit in listed {
            found[holds] = unit;
            holds += (wanted & 1) as usize;
            wanted >>= 1;
        }
        holds as u32
    }

    #[inline(never)]
    fn owners_one_by_one(&self, physical: u32, count: u32, found: &mut [u32]) -> u32 {
        let units = (physical..physical + count).filter_map(|physical| self.owner(physical));
        let holds = units.zip(found).map(|(unit, place)| *place = unit);
        holds.count() as u32
    }

    /// A bit for each of the 64 units from `physical` on: is it not stale?
    #[inline]
    fn wanted(&self, physical: u32) -> u64 {
        let (word, low) = ((physical >> 6) as usize, physical & 63);
        let here = self.stale[word] >> low;
        let next = self.stale.get(word + 1).copied().unwrap_or(0);
        // Twice, because a shift by 64 is none.
        !(here | next << 1 << (63 - low))
    }

    /// The closed multi-bit superblock with the fewest valid units, the first of equals; `None` when none would free anything.
    pub(super) fn victim(&self) -> Option<u32> {
        let cost = |(&valid, &barred): (&u32, &u32)| valid | barred;
        let multi = self.multi as usize;
        let costs = || {
            self.valid[..multi]
                .iter()
                .zip(&self.barred[..multi])
                .map(cost)
        };
        let least = costs().fold(u32::MAX, u32::min);
        if least >= self.superblock_units {
            return None;
        }
        costs()
            .position(|cost| cost == least)
            .map(|index| index as u32)
    }

    /// The closed multi-bit superblock with the greatest `age * (1 - u) / (1 + u)`, `u` its valid share and its age the number of
    /// superblocks closed since; the first of equals; `None` when none would free anything.
    pub(super) fn aged_victim(&self) -> Option<u32> {
        let units = u64::from(self.superblock_units);
        let score = |index: usize| {
            let valid = u64::from(self.valid[index]);
            let age = self.closings - self.closed_at[index] + 1;
            // Ages stay below 2^30 superblocks and units below 2^24, so that this fits.
            age.min(1 << 30) * ((units - valid) << 8) / (units + valid)
        };
        self.candidates()
            .filter(|&index| self.valid[index] < self.superblock_units)
            .max_by_key(|&index| (score(index), std::cmp::Reverse(index)))
            .map(|index| index as u32)
    }

    /// The closed multi-bit superblock erased least often, the first of equals, if that is `gap` or more below the most worn one.
    pub(super) fn least_worn(&self, gap: u32) -> Option<u32> {
        let most = self.erases[..self.multi as usize].iter().max()?;
        self.candidates()
            .min_by_key(|&index| self.erases[index])
            .filter(|&index| most - self.erases[index] >= gap)
            .map(|index| index as u32)
    }

    /// Erase counts of the least and the most worn multi-bit superblock.
    #[cfg(test)]
    pub(super) fn wear(&self) -> (u32, u32) {
        let counts = &self.erases[..self.multi as usize];
        let (least, most) = (counts.iter().min(), counts.iter().max());
        (
            least.copied().unwrap_or_default(),
            most.copied().unwrap_or_default(),
        )
    }

    fn candidates(&self) -> impl Iterator<Item = usize> {
        (0..self.multi as usize).filter(|&index| self.barred[index] == 0)
    }

    /// Ask memory for the bits of these addresses at once.
    #[inline]
    pub(super) fn touch(&self, physical: u32) -> u64 {
        self.stale
            .get((physical >> 6) as usize)
            .copied()
            .unwrap_or(0)
    }

    /// Bytes of memory for owners and bits.
    pub(super) fn resident_bytes(&self) -> u64 {
        let opened = self.opened.iter().filter(|&&opened| opened).count() as u64;
        let units = u64::from(self.superblock_units);
        self.owners.resident_bytes() + opened * units.div_ceil(8)
    }

    /// Owners and bits as they lie in memory, for advice on them.
    pub(super) fn tables(&self) -> (&[u32], &[u64]) {
        (self.owners.table(), &self.stale)
    }

    #[inline]
    fn split(&self, physical: u32) -> (usize, usize) {
        (
            (physical >> self.shift) as usize,
            (physical & ((1 << self.shift) - 1)) as usize,
        )
    }
}

/// The words of a bit array that hold `count` bits from `first` on, and which bits of each.
#[inline(always)]
fn for_words(first: u32, count: u32, mut each: impl FnMut(usize, u64)) {
    let mut word = (first >> 6) as usize;
    let low = first & 63;
    if count > 0 && low + count <= 64 {
        each(word, (u64::MAX >> (64 - count)) << low);
        return;
    }
    let (mut low, mut left) = (low, count);
    while left > 0 {
        let bits = (64 - low).min(left);
        each(word, (u64::MAX >> (64 - bits)) << low);
        word += 1;
        low = 0;
        left -= bits;
    }
}

#[cfg(test)]
#[path = "../../tests/unit/ftl/blocks.rs"]
mod tests;
