//! Interrupt vectors: which are raised, and which wait for more completions (Base 3.5; Interrupt Coalescing, Base 5.27.1.6).

use assay_ssd::coalescing::{CoalescingSetting, TIME_UNIT_NS};

/// The most vectors a controller has: as many as queue pairs with the admin queues' own.
pub const MAX_VECTORS: u16 = 256;

/// A set of interrupt vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VectorSet {
    words: [u64; (MAX_VECTORS / 64) as usize],
}

impl VectorSet {
    /// Add a vector; numbers that no controller has are left out.
    #[inline]
    pub fn insert(&mut self, vector: u16) {
        if let Some(word) = self.words.get_mut(usize::from(vector / 64)) {
            *word |= 1 << (vector % 64);
        }
    }

    /// Is it in the set?
    pub fn contains(&self, vector: u16) -> bool {
        let word = self.words.get(usize::from(vector / 64));
        word.is_some_and(|word| word >> (vector % 64) & 1 != 0)
    }

    /// Is there none?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words == [0; (MAX_VECTORS / 64) as usize]
    }

    /// The vectors, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u16> + use<> {
        let mut words = self.words;
        let mut at = 0;
        std::iter::from_fn(move || {
            while let Some(word) = words.get_mut(at) {
                if *word != 0 {
                    let bit = word.trailing_zeros();
                    *word &= *word - 1;
                    return Some(at as u16 * 64 + bit as u16);
                }
                at += 1;
            }
            None
        })
    }
}

/// A vector whose interrupt waits.
#[derive(Clone, Copy, Debug, Default)]
struct Gathering {
    entries: u16,
    due_ns: u64,
    coalescing_disabled: bool,
}

/// The vectors of a controller.
#[derive(Clone, Debug)]
pub(crate) struct Interrupts {
    vectors: Vec<Gathering>,
    setting: CoalescingSetting,
    raised: VectorSet,
    /// The earliest time at which a vector that waits is due, `u64::MAX` when none waits.
    next_ns: u64,
}

impl Interrupts {
    pub(crate) fn new(vectors: u16, setting: CoalescingSetting) -> Interrupts {
        Interrupts {
            vectors: vec![Gathering::default(); usize::from(vectors)],
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

    pub(crate) fn setting(&self) -> CoalescingSetting {
        self.setting
    }

    /// Is coalescing disabled for this vector? `None` when there is no such vector.
    pub(crate) fn is_disabled(&self, vector: u16) -> Option<bool> {
        let gathering = self.vectors.get(usize::from(vector))?;
        Some(gathering.coalescing_disabled)
    }

    pub(crate) fn disable(&mut self, vector: u16, disabled: bool) {
        if let Some(gathering) = self.vectors.get_mut(usize::from(vector)) {
            gathering.coalescing_disabled = disabled;
        }
    }

    /// A completion entry was written at `at_ns`; those of the admin queue never wait.
    #[inline]
    pub(crate) fn note(&mut self, vector: u16, at_ns: u64, is_admin: bool) {
        if is_admin || !self.setting.is_on() {
            self.raised.insert(vector);
            return;
        }
        self.gather(vector, at_ns);
    }

    #[inline(never)]
    fn gather(&mut self, vector: u16, at_ns: u64) {
        let Some(gathering) = self.vectors.get_mut(usize::from(vector)) else {
            return;
        };
        if gathering.entries > 0 && gathering.due_ns <= at_ns {
            // Told before this entry came.
            gathering.entries = 0;
            self.raised.insert(vector);
        }
        gathering.entries += 1;
        if gathering.coalescing_disabled || gathering.entries > u16::from(self.setting.threshold) {
            gathering.entries = 0;
            self.raised.insert(vector);
        } else if gathering.entries == 1 {
            gathering.due_ns = at_ns + u64::from(self.setting.time_100us) * TIME_UNIT_NS;
            self.next_ns = self.next_ns.min(gathering.due_ns);
        }
    }

    /// When a vector that waits is due next.
    #[inline]
    pub(crate) fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// Raise those that are due by `until_ns`.
    #[inline]
    pub(crate) fn expire(&mut self, until_ns: u64) {
        if self.next_ns > until_ns {
            return;
        }
        self.next_ns = u64::MAX;
        for (vector, gathering) in (0..).zip(&mut self.vectors) {
            if gathering.entries == 0 {
                continue;
            }
            if gathering.due_ns <= until_ns {
                gathering.entries = 0;
                self.raised.insert(vector);
            } else {
                self.next_ns = self.next_ns.min(gathering.due_ns);
            }
        }
    }

    /// What was raised since the last call.
    #[inline]
    pub(crate) fn take(&mut self) -> VectorSet {
        std::mem::take(&mut self.raised)
    }

    /// A controller reset: nothing waits, nothing is raised.
    pub(crate) fn reset(&mut self, setting: CoalescingSetting) {
        *self = Interrupts::new(self.count(), setting);
    }
}

#[cfg(test)]
#[path = "../tests/unit/interrupts.rs"]
mod tests;
