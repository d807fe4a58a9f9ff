use super::*;
use proptest::prelude::*;

/// Schoolbook multiplication: add shifted copies, then reduce modulo p, highest power first.
fn on_paper(a: u128, b: u128) -> u128 {
    let mut digits = [false; 256];
    for i in 0..128 {
        for j in 0..128 {
            digits[i + j] ^= a >> i & 1 == 1 && b >> j & 1 == 1;
        }
    }
    for power in (128..256).rev() {
        if digits[power] {
            for tap in [128, 7, 2, 1, 0] {
                digits[power - 128 + tap] ^= true;
            }
        }
    }
    (0..128).fold(0, |sum, i| sum | u128::from(digits[i]) << i)
}

fn power(base: u128, mut exponent: u128) -> u128 {
    let (mut square, mut product) = (base, 1);
    while exponent != 0 {
        if exponent % 2 == 1 {
            product = multiply(product, square);
        }
        square = multiply(square, square);
        exponent /= 2;
    }
    product
}

/// The powers of x return to 1 after 2^128 - 1 and not after any proper divisor of it. So they are
/// all elements but zero, each of them has an inverse, p is irreducible and x generates the field.
#[test]
fn the_polynomial_is_primitive() {
    let primes: [u128; 9] = [3, 5, 17, 257, 641, 65_537, 274_177, 6_700_417, 67_280_421_310_721];
    let product = primes.iter().try_fold(1_u128, |a, &q| a.checked_mul(q));
    assert_eq!(product, Some(u128::MAX), "2^128 - 1 = the product");
    for q in primes {
        // Trial division; the largest root is 8.2 million.
        let is_prime =
            (2..).take_while(|d| d * d <= q as u64).all(|d| !(q as u64).is_multiple_of(d));
        assert!(is_prime, "{q}");
        assert_ne!(power(2, u128::MAX / q), 1, "{q}");
    }
    assert_eq!(power(2, u128::MAX), 1);
    assert_eq!(multiply(2, X_INVERSE), 1);
    assert_eq!(multiply(FORWARD[0], BACKWARD[0]), 1);
    assert_eq!(power(2, 128), TAPS);
}

/// The equations in the head of [`super::super`], wire by wire.
fn network(r: u128) -> u128 {
    let bit = |i: usize| r >> i & 1;
    let over = [
        bit(127) ^ bit(126) ^ bit(121),
        bit(127) ^ bit(122),
        bit(123),
        bit(124),
        bit(125),
        bit(126),
        bit(127),
    ];
    (0..128_usize).fold(0_u128, |next, i| {
        let moved = |by: usize| i.checked_sub(by).map_or(0, bit);
        let wrapped = |by: usize| i.checked_sub(by).and_then(|j| over.get(j).copied()).unwrap_or(0);
        let wire = [0, 1, 2, 7].iter().fold(0, |wire, &by| wire ^ moved(by) ^ wrapped(by));
        next | wire << i
    })
}

proptest! {
    #[test]
    fn the_network_is_a_beat(a: u128) {
        prop_assert_eq!(network(a), next_beat(a));
        prop_assert_eq!(network(a), (0..128).fold(a, |register, _| clock(register)));
    }

    #[test]
    fn products_match_worked_examples(a: u128, b: u128) {
        prop_assert_eq!(multiply(a, b), on_paper(a, b));
        prop_assert_eq!(Multiplier::new(b).times(a), on_paper(a, b));
        prop_assert_eq!(clock(a), on_paper(a, 2));
        prop_assert_eq!(next_beat(a), on_paper(a, 0x87));
    }

    #[test]
    fn multiplication_and_inverse_round_trip(a: u128, beats: u64, more in 0_u64..300) {
        prop_assert_eq!(backward(forward(a, beats), beats), a);
        let stepped = (0..more).fold(forward(a, beats), |element, _| next_beat(element));
        prop_assert_eq!(stepped, forward(forward(a, beats), more));
    }
}
