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
