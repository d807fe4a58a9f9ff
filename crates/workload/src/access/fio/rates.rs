//! Rates of reads, writes and trims, each for itself: `rate_ddir` and `usec_for_io` of fio 3.33.

use assay_units::Nanos;

use super::PerDirection;

#[derive(Clone, Debug)]
pub(super) struct Rates {
    bytes_per_second: PerDirection<u64>,
    bytes: PerDirection<u64>,
}

impl Rates {
    pub(super) fn new(bytes_per_second: PerDirection<u64>) -> Rates {
        Rates { bytes_per_second, bytes: [0; 3] }
    }

    pub(super) fn issued(&mut self, direction: usize, bytes: u64) {
        self.bytes[direction] += bytes;
    }

    /// When the bytes issued so far are due.
    fn due(&self, direction: usize) -> Nanos {
        let Some(rate) = Some(self.bytes_per_second[direction]).filter(|&rate| rate > 0) else {
            return Nanos::ZERO;
        };
        let nanos = u128::from(self.bytes[direction]) * 1_000_000_000 / u128::from(rate);
        Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// The direction that is behind its rate, the drawn one first; or when the first of them is.
    pub(super) fn turn(
        &self,
        drawn: usize,
        other: Option<usize>,
        since: Nanos,
    ) -> Result<usize, Nanos> {
        let own = self.due(drawn);
        if own <= since {
            return Ok(drawn);
        }
        match other.map(|other| (other, self.due(other))) {
            Some((other, due)) if due <= since => Ok(other),
            Some((_, due)) => Err(own.min(due)),
            None => Err(own),
        }
    }
}
