//! Rates without floating point in the model, and with it only for people.

use crate::Nanos;

/// How long `bytes` take at `bytes_per_second`, rounded up: a transfer never finishes early.
///
/// A rate of zero means "never" and gives [`Nanos::MAX`].
pub fn transfer_time(bytes: u64, bytes_per_second: u64) -> Nanos {
    if bytes_per_second == 0 {
        return if bytes == 0 { Nanos::ZERO } else { Nanos::MAX };
    }
    let ns = (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(bytes_per_second));
    Nanos(u64::try_from(ns).unwrap_or(u64::MAX))
}

/// Events per second; 0 over no time.
pub fn per_second(count: u64, elapsed: Nanos) -> f64 {
    if elapsed == Nanos::ZERO {
        return 0.0;
    }
    count as f64 * 1e9 / elapsed.0 as f64
}

/// MiB per second; 0 over no time.
pub fn mib_per_second(bytes: u64, elapsed: Nanos) -> f64 {
    per_second(bytes, elapsed) / crate::MIB as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfer_time_rounds_up_and_handles_the_edges() {
        assert_eq!(transfer_time(4096, 4_096_000_000), Nanos(1_000));
        assert_eq!(transfer_time(1, 3_000_000_000), Nanos(1));
        assert_eq!(transfer_time(0, 0), Nanos::ZERO);
        assert_eq!(transfer_time(1, 0), Nanos::MAX);
        assert_eq!(transfer_time(u64::MAX, 1), Nanos::MAX);
    }

    #[test]
    fn rates_over_no_time_are_zero() {
        assert_eq!(per_second(5, Nanos::ZERO), 0.0);
        assert_eq!(mib_per_second(3 << 20, Nanos::SECOND), 3.0);
    }
}
