//! Superblock states, valid counts and victim selection.
//!
//! Validity is one inverted bit (*stale*) per unit, so that a filled drive is zeroed memory, which
//! costs nothing until written. The greedy victim is found by a vectorised linear search: less than
//! a nanosecond per host write, where lists by count would need an update.

use super::reverse_map::ReverseMap;

/// The most units that [`Superblocks::valid_units_into`] takes without branches.
pub(super) const WORD_UNITS: u32 = u64::BITS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SuperblockState {
    Free,
    Open,
    Closed,
    Retired,
}

#[derive(Clone, Debug)]
pub(super) struct Superblocks {
    pub(super) valid: Vec<u32>,
    /// 0 for a closed multi-bit superblock, all ones for what cannot be a victim.
    ineligible: Vec<u32>,
    pub(super) written: Vec<u32>,
    pub(super) state: Vec<SuperblockState>,
    reverse_map: ReverseMap,
    /// Ever opened, so that its stale bits have memory.
    opened: Vec<bool>,
    pub(super) erases: Vec<u32>,
    closed_at: Vec<u64>,
    closings: u64,
    /// One bit per physical unit: its newest copy is elsewhere. Undefined for unwritten units.
    stale: Vec<u64>,
    /// SLC superblocks start here; they are folded, not garbage collected.
    pub(super) multi: u32,
    shift: u32,
    superblock_units: u32,
}

impl Superblocks {
    /// The first `multi` of `total` superblocks are multi-bit; `filled_units` are written in order.
    pub(super) fn new(
        total: u32,
        multi: u32,
        shift: u32,
        superblock_units: u32,
        filled_units: u32,
    ) -> Superblocks {
        let mut blocks = Superblocks {
            valid: vec![0; total as usize],
            ineligible: vec![u32::MAX; total as usize],
            written: vec![0; total as usize],
            state: vec![SuperblockState::Free; total as usize],
            reverse_map: ReverseMap::new(total, superblock_units),
            opened: vec![false; total as usize],
            erases: vec![0; total as usize],
            closed_at: vec![0; total as usize],
            closings: 0,
            stale: vec![0; ((u64::from(total) << shift) as usize).div_ceil(64)],
            multi,
            shift,
            superblock_units,
        };
        let starts = (0..filled_units).step_by(superblock_units as usize);
        for (index, start) in starts.enumerate() {
            let units = superblock_units.min(filled_units - start);
            blocks.valid[index] = units;
            blocks.written[index] = units;
            blocks.state[index] = SuperblockState::Closed;
            blocks.ineligible[index] = 0;
        }
        blocks
    }

    pub(super) fn len(&self) -> usize {
        self.valid.len()
    }

    #[inline]
    pub(super) fn is_open(&self, superblock: u32) -> bool {
        self.state[superblock as usize] == SuperblockState::Open
    }

    pub(super) fn is_slc(&self, superblock: u32) -> bool {
        superblock >= self.multi
    }

    pub(super) fn open(&mut self, superblock: u32, units: u32) {
        let index = superblock as usize;
        self.state[index] = SuperblockState::Open;
        self.valid[index] = 0;
        self.written[index] = 0;
        self.reverse_map.open(index);
        self.opened[index] = true;
        for_words(superblock << self.shift, units, |word, mask| {
            self.stale[word] |= mask;
        });
    }

    pub(super) fn close(&mut self, superblock: u32) {
        self.state[superblock as usize] = SuperblockState::Closed;
        self.closings += 1;
        self.closed_at[superblock as usize] = self.closings;
        if superblock < self.multi {
            self.ineligible[superblock as usize] = 0;
        }
    }

    pub(super) fn erase(&mut self, superblock: u32) {
        let index = superblock as usize;
        self.state[index] = SuperblockState::Free;
        self.erases[index] += 1;
        self.ineligible[index] = u32::MAX;
        self.written[index] = 0;
    }

    pub(super) fn retire(&mut self, superblock: u32) {
        debug_assert_eq!(self.state[superblock as usize], SuperblockState::Free);
        self.state[superblock as usize] = SuperblockState::Retired;
    }

    pub(super) fn is_retired(&self, superblock: u32) -> bool {
        self.state[superblock as usize] == SuperblockState::Retired
    }

    pub(super) fn is_closed(&self, superblock: u32) -> bool {
        self.state[superblock as usize] == SuperblockState::Closed
    }

    pub(super) fn erase_all(&mut self) -> Vec<u32> {
        let is_used = |state| matches!(state, SuperblockState::Open | SuperblockState::Closed);
        let all = 0..self.state.len() as u32;
        let used: Vec<u32> = all.filter(|&s| is_used(self.state[s as usize])).collect();
        for &superblock in &used {
            self.valid[superblock as usize] = 0;
            self.erase(superblock);
        }
        used
    }

    /// Write `count` consecutive units from `first` on at `physical`, in an open superblock.
    #[inline]
    pub(super) fn place_run(&mut self, physical: u32, first: u32, count: u32) {
        for_words(physical, count, |word, mask| self.stale[word] &= !mask);
        let (index, within) = self.split(physical);
        self.valid[index] += count;
        self.reverse_map.set_run(index, within, first, count);
    }

    #[inline]
    pub(super) fn place(&mut self, physical: u32, units: &[u32]) {
        let count = units.len() as u32;
        for_words(physical, count, |word, mask| self.stale[word] &= !mask);
        let (index, within) = self.split(physical);
        self.valid[index] += count;
        self.reverse_map.set(index, within, units);
    }

    #[inline]
    pub(super) fn place_one(&mut self, physical: u32, unit: u32) {
        self.stale[(physical >> 6) as usize] &= !(1 << (physical & 63));
        let (index, within) = self.split(physical);
        self.valid[index] += 1;
        self.reverse_map.set_one(index, within, unit);
    }

    #[inline]
    pub(super) fn listed(&self, physical: u32, count: u32) -> &[u32] {
        let (index, within) = self.split(physical);
        let list = self.reverse_map.list(index).unwrap_or(&[]);
        list.get(within..within + count as usize).unwrap_or(&[])
    }

    #[inline]
    pub(super) fn invalidate(&mut self, physical: u32) {
        self.stale[(physical >> 6) as usize] |= 1 << (physical & 63);
        self.valid[(physical >> self.shift) as usize] -= 1;
    }

    /// Mark a run within one superblock stale, of which `valid` units were valid.
    #[inline]
    pub(super) fn invalidate_run(&mut self, physical: u32, count: u32, valid: u32) {
        for_words(physical, count, |word, mask| self.stale[word] |= mask);
        self.valid[(physical >> self.shift) as usize] -= valid;
    }

    #[inline]
    pub(super) fn valid_unit(&self, physical: u32) -> Option<u32> {
        let stale = self.stale[(physical >> 6) as usize] >> (physical & 63) & 1;
        let (index, within) = self.split(physical);
        (stale == 0).then(|| self.reverse_map.get(index, within))
    }

    /// Append the valid units among `count` (all written, in one superblock) from `physical` on.
    #[inline]
    pub(super) fn valid_units(&self, physical: u32, count: u32, found: &mut Vec<u32>) {
        let (index, _) = self.split(physical);
        let base = (index << self.shift) as u32;
        let list = self.reverse_map.list(index).unwrap_or(&[]);
        for_words(physical, count, |word, mask| {
            let mut left = mask & !self.stale[word];
            let start = (word as u32) << 6;
            if left == mask {
                let within = (start + mask.trailing_zeros() - base) as usize;
                let count = mask.count_ones();
                match list.get(within..within + count as usize) {
                    Some(listed) => found.extend_from_slice(listed),
                    None => {
                        let first = self.reverse_map.get(index, within);
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
                    None => self.reverse_map.get(index, within),
                });
            }
        });
    }

    /// Branch-free; `found` holds at least `count`. Returns how many are valid.
    #[inline]
    pub(super) fn valid_units_into(&self, physical: u32, count: u32, found: &mut [u32]) -> u32 {
        let (index, within) = self.split(physical);
        let Some(list) = self.reverse_map.list(index).filter(|_| count <= WORD_UNITS) else {
            return self.valid_units_one_by_one(physical, count, found);
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
    fn valid_units_one_by_one(&self, physical: u32, count: u32, found: &mut [u32]) -> u32 {
        let units = (physical..physical + count).filter_map(|physical| self.valid_unit(physical));
        let holds = units.zip(found).map(|(unit, place)| *place = unit);
        holds.count() as u32
    }

    #[inline]
    fn wanted(&self, physical: u32) -> u64 {
        let (word, low) = ((physical >> 6) as usize, physical & 63);
        let here = self.stale[word] >> low;
        let next = self.stale.get(word + 1).copied().unwrap_or(0);
        // Two shifts, because a shift by 64 is undefined.
        !(here | next << 1 << (63 - low))
    }

    /// Closed multi-bit superblock with the fewest valid units, if emptying it frees anything.
    pub(super) fn victim(&self) -> Option<u32> {
        let cost = |(&valid, &ineligible): (&u32, &u32)| valid | ineligible;
        let multi = self.multi as usize;
        let (valid, ineligible) = (&self.valid[..multi], &self.ineligible[..multi]);
        let costs = || valid.iter().zip(ineligible).map(cost);
        let least = costs().fold(u32::MAX, u32::min);
        if least >= self.superblock_units {
            return None;
        }
        let index = costs().position(|cost| cost == least);
        index.map(|index| index as u32)
    }

    /// Greatest `age * (1 - u) / (1 + u)`: `u` valid share, age in closings.
    pub(super) fn aged_victim(&self) -> Option<u32> {
        let units = u64::from(self.superblock_units);
        let score = |index: usize| {
            let valid = u64::from(self.valid[index]);
            let age = self.closings - self.closed_at[index] + 1;
            // Ages below 2^30 and units below 2^24 fit.
            age.min(1 << 30) * ((units - valid) << 8) / (units + valid)
        };
        let frees = |index: &usize| self.valid[*index] < self.superblock_units;
        let candidates = self.candidates().filter(frees);
        let best = candidates.max_by_key(|&index| (score(index), std::cmp::Reverse(index)));
        best.map(|index| index as u32)
    }

    /// Closed multi-bit superblock with the fewest erases, at least `gap` below the most worn one.
    pub(super) fn least_worn(&self, gap: u32) -> Option<u32> {
        let most = self.erases[..self.multi as usize].iter().max()?;
        let least = self.candidates().min_by_key(|&index| self.erases[index])?;
        (most - self.erases[least] >= gap).then_some(least as u32)
    }

    fn candidates(&self) -> impl Iterator<Item = usize> {
        (0..self.multi as usize).filter(|&index| self.ineligible[index] == 0)
    }

    #[inline]
    pub(super) fn touch(&self, physical: u32) -> u64 {
        let word = self.stale.get((physical >> 6) as usize);
        word.copied().unwrap_or(0)
    }

    pub(super) fn resident_bytes(&self) -> u64 {
        let opened = self.opened.iter().filter(|&&opened| opened).count() as u64;
        let units = u64::from(self.superblock_units);
        self.reverse_map.resident_bytes() + opened * units.div_ceil(8)
    }

    pub(super) fn tables(&self) -> (&[u32], &[u64]) {
        (&self.reverse_map.table, &self.stale)
    }

    #[inline]
    fn split(&self, physical: u32) -> (usize, usize) {
        let within = physical & ((1 << self.shift) - 1);
        ((physical >> self.shift) as usize, within as usize)
    }
}

/// Word index and mask of each word that holds some of the `count` bits from `first` on.
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
