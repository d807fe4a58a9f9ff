//! Division of 32-bit numbers by a divisor that is known only at start-up, by one multiplication.

/// A divisor prepared for fast division.
///
/// Source: the round-up method with a 64-bit reciprocal: for `n, d < 2^32`, `n / d == (n * ceil(2^64 / d)) >> 64` exactly
/// (D. Lemire, O. Kaser, N. Kurz, "Faster remainder by direct computation", 2019).
#[derive(Clone, Copy, Debug)]
pub struct FastDiv {
    divisor: u32,
    reciprocal: u64,
}

impl FastDiv {
    /// Prepare a divisor; 0 reads as 1.
    pub fn new(divisor: u32) -> FastDiv {
        let divisor = divisor.max(1);
        FastDiv {
            divisor,
            // For 1 the reciprocal would be 2^64; `div` handles it apart.
            reciprocal: (u64::MAX / u64::from(divisor)).wrapping_add(1),
        }
    }

    /// The divisor.
    pub fn divisor(self) -> u32 {
        self.divisor
    }

    /// Quotient and remainder.
    #[inline]
    pub fn div_rem(self, n: u32) -> (u32, u32) {
        if self.divisor == 1 {
            return (n, 0);
        }
        let quotient = ((u128::from(n) * u128::from(self.reciprocal)) >> 64) as u32;
        (quotient, n - quotient * self.divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_division(n: u32, d in 1_u32..) {
            prop_assert_eq!(FastDiv::new(d).div_rem(n), (n / d, n % d));
        }

        #[test]
        fn equals_division_by_small_and_near(k in 0_u32..70_000, d in 1_u32..70_000) {
            for n in [k.wrapping_mul(d), k.wrapping_mul(d).wrapping_sub(1), u32::MAX - k] {
                prop_assert_eq!(FastDiv::new(d).div_rem(n), (n / d, n % d));
            }
        }
    }
}
