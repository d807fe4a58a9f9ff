//! Placement identifiers of one thread's writes (Flexible Data Placement): in turn, or at random.

use assay_units::Rng;

/// The identifiers, and which comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacementIds {
    ids: Vec<u16>,
    next: usize,
    random: Option<Rng>,
}

impl PlacementIds {
    /// Chosen at random with `random`, else each in turn.
    pub fn new(ids: Vec<u16>, random: Option<Rng>) -> PlacementIds {
        PlacementIds { ids, next: 0, random }
    }

    /// Of the next write; the default one (0) without identifiers.
    #[inline]
    pub fn next_id(&mut self) -> u16 {
        if let [only] = self.ids[..] {
            return only;
        }
        let at = match &mut self.random {
            Some(random) => random.below(self.ids.len().max(1) as u64) as usize,
            None => self.next % self.ids.len().max(1),
        };
        self.next = at + 1;
        self.ids.get(at).copied().unwrap_or(0)
    }
}
