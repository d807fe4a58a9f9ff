//! Transfer times and rates: integers for the model, floating point for display.

use crate::Nanos;

/// Transfer time of `bytes`, rounded up; a rate of zero means "never", [`Nanos::MAX`].
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
#[path = "../tests/unit/rate.rs"]
mod tests;
