/// Division of 32-bit numbers by a run-time constant with one multiplication.
///
/// With `m = floor((2^64 - 1) / d)`, `n / d == ((n + 1) * m) >> 64` for all `n, d < 2^32` (A. D.
/// Robison, "N-bit unsigned division via N-bit multiply-add", 2005): the product is `(n + 1) / d`
/// less at most `1 / d`, so it stays at or above the quotient.
#[derive(Clone, Copy, Debug)]
pub struct FastDiv {
    pub divisor: u32,
    reciprocal: u64,
}

impl FastDiv {
    /// A divisor of 0 is taken as 1.
    pub fn new(divisor: u32) -> FastDiv {
        let divisor = divisor.max(1);
        FastDiv { divisor, reciprocal: u64::MAX / u64::from(divisor) }
    }

    #[inline]
    pub fn div_rem(self, n: u32) -> (u32, u32) {
        let product = u128::from(u64::from(n) + 1) * u128::from(self.reciprocal);
        let quotient = (product >> 64) as u32;
        (quotient, n - quotient * self.divisor)
    }
}

#[cfg(test)]
#[path = "../tests/unit/fastdiv.rs"]
mod tests;
