//! Arithmetic in GF(2^128), the field of the pattern's register.
//!
//! An element is a `u128` whose bit *i* is the coefficient of x^i; addition is XOR, products are
//! taken modulo p(x) = x^128 + x^7 + x^2 + x + 1. The unit tests prove that p is primitive.
//!
//! # Non-goals
//! No secrets: not constant-time.

/// x^128 modulo p: x^7 + x^2 + x + 1.
pub const TAPS: u128 = 0x87;
/// x^-1 modulo p: (p(x) - 1) / x = x^127 + x^6 + x + 1.
const X_INVERSE: u128 = 1 << 127 | 1 << 6 | 1 << 1 | 1;

/// One clock of the LFSR: multiply by x.
pub const fn clock(register: u128) -> u128 {
    // All ones if the top bit is shifted out.
    let carry = ((register as i128) >> 127) as u128;
    register << 1 ^ carry & TAPS
}

/// One beat, 128 clocks: multiply by x^128 = x^7 + x^2 + x + 1.
pub const fn next_beat(register: u128) -> u128 {
    // The at most 7 bits shifted out, to be multiplied by x^128.
    let over = register >> 127 ^ register >> 126 ^ register >> 121;
    register ^ register << 1 ^ register << 2 ^ register << 7 ^ fold(over)
}

const fn fold(over: u128) -> u128 {
    over ^ over << 1 ^ over << 2 ^ over << 7
}

/// The product of two elements.
pub const fn multiply(a: u128, b: u128) -> u128 {
    // The sixteen multiples of `a` by polynomials of degree 3, then Horner's scheme over the
    // nibbles of `b`.
    let mut multiples = [0_u128; 16];
    multiples[1] = a;
    let mut n = 2;
    while n < 16 {
        multiples[n] = clock(multiples[n / 2]) ^ multiples[n % 2];
        n += 1;
    }
    let mut product = 0;
    let mut shift = 128;
    while shift > 0 {
        shift -= 4;
        let nibble = (b >> shift) as usize % 16;
        product = product << 4 ^ fold(product >> 124) ^ multiples[nibble];
    }
    product
}

/// x^(128 * 2^k) for k = 0...63, or the powers of the inverse.
const fn powers(first: u128) -> [u128; 64] {
    let mut powers = [first; 64];
    let mut k = 1;
    while k < 64 {
        powers[k] = multiply(powers[k - 1], powers[k - 1]);
        k += 1;
    }
    powers
}

static FORWARD: [u128; 64] = powers(TAPS);
static BACKWARD: [u128; 64] = {
    // x^-128 is x^-1 squared seven times.
    let mut first = X_INVERSE;
    let mut n = 0;
    while n < 7 {
        first = multiply(first, first);
        n += 1;
    }
    powers(first)
};

/// `element` times x^(128 * `beats`).
pub fn forward(element: u128, beats: u64) -> u128 {
    along(element, beats, &FORWARD)
}

/// `element` times x^(-128 * `beats`).
pub fn backward(element: u128, beats: u64) -> u128 {
    along(element, beats, &BACKWARD)
}

fn along(element: u128, mut beats: u64, powers: &[u128; 64]) -> u128 {
    let mut product = element;
    while beats != 0 {
        product = multiply(product, powers[beats.trailing_zeros() as usize]);
        beats &= beats - 1;
    }
    product
}

/// Multiplication by a constant: tables of 64 KiB, a lookup per byte.
pub struct Multiplier {
    tables: Box<[[u128; 256]]>,
}

impl Multiplier {
    pub fn new(factor: u128) -> Multiplier {
        let mut tables = vec![[0_u128; 256]; 16].into_boxed_slice();
        let mut power = factor;
        for table in &mut tables {
            for bit in 0..8 {
                for low in 0..1 << bit {
                    table[1 << bit | low] = power ^ table[low];
                }
                power = clock(power);
            }
        }
        Multiplier { tables }
    }

    pub fn times(&self, element: u128) -> u128 {
        let bytes = element.to_le_bytes();
        let products = self.tables.iter().zip(bytes);
        products.fold(0, |sum, (table, byte)| sum ^ table[usize::from(byte)])
    }
}

#[cfg(test)]
#[path = "../../tests/unit/pattern/field.rs"]
mod tests;
