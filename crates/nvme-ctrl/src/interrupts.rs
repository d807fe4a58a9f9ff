//! Interrupt vectors and their coalescing (Base 3.5, 5.27.1.6).

use assay_ssd::coalescing::{CoalescingSetting, TIME_UNIT_NS};

/// One per queue pair, the admin queues included.
pub const MAX_VECTORS: u16 = 256;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VectorSet {
    words: [u64; (MAX_VECTORS / 64) as usize],
}

impl VectorSet {
    /// Numbers of [`MAX_VECTORS`] and above are ignored.
    #[inline]
    pub fn insert(&mut self, vector: u16) {
        if let Some(word) = self.words.get_mut(usize::from(vector / 64)) {
            *word |= 1 << (vector % 64);
        }
    }

    pub fn contains(&self, vector: u16) -> bool {
        let word = self.words.get(usize::from(vector / 64));
        word.is_some_and(|word| word >> (vector % 64) & 1 != 0)
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words == [0; (MAX_VECTORS / 64) as usize]
    }

    /// Ascending.
    pub fn iter(&self) -> impl Iterator<Item = u16> + use<> {
        (0..).zip(self.words).flat_map(|(index, word): (u16, u64)| {
            // Each step clears the lowest bit.
            let rest = std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)));
            let bits = rest.take_while(|&rest| rest != 0).map(u64::trailing_zeros);
            bits.map(move |bit| index * 64 + bit as u16)
        })
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Aggregation {
    entries: u16,
    due_ns: u64,
    coalescing_disabled: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Interrupts {
    vectors: Vec<Aggregation>,
    pub(crate) setting: CoalescingSetting,
    raised: VectorSet,
    /// Earliest deadline of an aggregation, `u64::MAX` for none.
    pub(crate) next_ns: u64,
}

impl Interrupts {
    pub(crate) fn new(vectors: u16, setting: CoalescingSetting) -> Interrupts {
        Interrupts {
            vectors: vec![Aggregation::default(); usize::from(vectors)],
            setting,
            raised: VectorSet::default(),
            next_ns: u64::MAX,
        }
    }

    pub(crate) fn count(&self) -> u16 {
        self.vectors.len() as u16
    }

    pub(crate) fn set(&mut self, setting: CoalescingSetting) {
        self.setting = setting;
        if !setting.is_on() {
            self.expire(u64::MAX);
        }
    }

    /// `None` for an unknown vector.
    pub(crate) fn is_coalescing_disabled(&self, vector: u16) -> Option<bool> {
        let aggregation = self.vectors.get(usize::from(vector))?;
        Some(aggregation.coalescing_disabled)
    }

    pub(crate) fn disable_coalescing(&mut self, vector: u16, disabled: bool) {
        if let Some(aggregation) = self.vectors.get_mut(usize::from(vector)) {
            aggregation.coalescing_disabled = disabled;
        }
    }

    /// A completion entry was written. Admin completions are not coalesced.
    #[inline]
    pub(crate) fn on_completion(&mut self, vector: u16, at_ns: u64, is_admin: bool) {
        if is_admin || !self.setting.is_on() {
            self.raised.insert(vector);
            return;
        }
        self.aggregate(vector, at_ns);
    }

    #[inline(never)]
    fn aggregate(&mut self, vector: u16, at_ns: u64) {
        let Some(aggregation) = self.vectors.get_mut(usize::from(vector)) else {
            return;
        };
        if aggregation.entries > 0 && aggregation.due_ns <= at_ns {
            // Raised at its deadline, before this entry.
            aggregation.entries = 0;
            self.raised.insert(vector);
        }
        aggregation.entries += 1;
        if aggregation.coalescing_disabled
            || aggregation.entries > u16::from(self.setting.threshold)
        {
            aggregation.entries = 0;
            self.raised.insert(vector);
        } else if aggregation.entries == 1 {
            aggregation.due_ns = at_ns + u64::from(self.setting.time_100us) * TIME_UNIT_NS;
            self.next_ns = self.next_ns.min(aggregation.due_ns);
        }
    }

    #[inline]
    pub(crate) fn expire(&mut self, until_ns: u64) {
        if self.next_ns > until_ns {
            return;
        }
        self.next_ns = u64::MAX;
        for (vector, aggregation) in (0..).zip(&mut self.vectors) {
            if aggregation.entries == 0 {
                continue;
            }
            if aggregation.due_ns <= until_ns {
                aggregation.entries = 0;
                self.raised.insert(vector);
            } else {
                self.next_ns = self.next_ns.min(aggregation.due_ns);
            }
        }
    }

    /// Vectors raised since the last call.
    #[inline]
    pub(crate) fn take(&mut self) -> VectorSet {
        std::mem::take(&mut self.raised)
    }

    pub(crate) fn reset(&mut self, setting: CoalescingSetting) {
        *self = Interrupts::new(self.count(), setting);
    }
}

#[cfg(test)]
#[path = "../tests/unit/interrupts.rs"]
mod tests;
