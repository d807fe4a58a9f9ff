//! Generator and checker against a bitwise oracle.

use super::*;
use proptest::prelude::*;

/// The definition, one bit at a time: a register of 128 flip-flops. At each clock every bit moves
/// up by one, and the bit shifted out is XORed into bits 0, 1, 2 and 7. A beat is the register's
/// content every 128 clocks.
struct Oracle {
    flip_flops: [bool; 128],
}

impl Oracle {
    fn new(seed: u64) -> Oracle {
        // splitmix64's output function of seed + 2^64 / golden ratio, written out.
        let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        let high = z ^ z >> 31;
        let bit = |i: usize| if i < 64 { seed >> i } else { high >> (i - 64) } & 1 == 1;
        Oracle { flip_flops: std::array::from_fn(bit) }
    }

    fn clock(&mut self) {
        let out = self.flip_flops[127];
        self.flip_flops.rotate_right(1);
        for tap in [1, 2, 7] {
            self.flip_flops[tap] ^= out;
        }
    }

    fn stream(seed: u64, beats: usize) -> Vec<u8> {
        let mut oracle = Oracle::new(seed);
        let mut bytes = Vec::new();
        for _ in 0..beats {
            for bits in oracle.flip_flops.chunks(8) {
                bytes.push((0..8).fold(0, |byte, i| byte | u8::from(bits[i]) << i));
            }
            (0..128).for_each(|_| oracle.clock());
        }
        bytes
    }
}

fn made(pattern: Pattern, first_beat: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    pattern.at(first_beat).fill(&mut bytes);
    bytes
}

/// The table in the module's head, and splitmix64's well-known first number of seed 0.
#[test]
fn the_first_beats_are_these() {
    let places = [0, 1, 2, 3, 4, 1 << 32];
    let zero: [u128; 6] = [
        0xe220_a839_7b1d_cdaf_0000_0000_0000_0000,
        0xbeb7_4413_efb7_b7cd_0000_0000_0000_38d9,
        0x62a6_d58c_55dd_e1e3_0000_0000_001c_e91b,
        0x7e1a_ee8f_47e1_5429_0000_0000_0e22_0a51,
        0x7733_ce0f_270c_b85f_0000_0007_3beb_008d,
        0x903c_654b_b1ee_d690_131d_bde2_6b81_fe72,
    ];
    let other: [u128; 6] = [
        0x157a_3807_a48f_aa9d_0123_4567_89ab_cdef,
        0xd77a_abc4_387b_1b53_964a_69f2_69b5_933b,
        0x9930_b140_94ec_e971_c6c3_e4eb_c6c1_51be,
        0x57cb_b689_98f2_26b6_31b9_cb70_30ee_4d57,
        0x42a9_4570_b3cd_aa1a_48c8_c848_e5ad_5cf3,
        0x53b2_bc46_a83b_6a78_47be_5c6d_2a78_386f,
    ];
    let beats = |seed| places.map(|index| Pattern::new(seed).beat(index));
    assert_eq!(beats(0), zero);
    assert_eq!(beats(0x0123_4567_89ab_cdef), other);
    let memory = made(Pattern::new(0x0123_4567_89ab_cdef), 0, 4);
    assert_eq!(memory, [0xef, 0xcd, 0xab, 0x89], "little-endian");
    let documented = include_str!("../../src/pattern/mod.rs");
    for (zero, other) in zero.iter().zip(other) {
        assert!(documented.contains(&format!("| `{zero:032x}` | `{other:032x}` |")));
    }
}

/// 20 KiB from the oracle: five blocks, so that every path of the kernel is in it.
#[test]
fn the_stream_is_that_of_the_flip_flops() {
    for seed in [0, 1, u64::MAX, 0x0123_4567_89ab_cdef] {
        let oracle = Oracle::stream(seed, 1280);
        assert!(made(Pattern::new(seed), 0, oracle.len()) == oracle, "{seed:#x}");
        assert_eq!(Pattern::new(seed).at(0).check(&oracle), Ok(()));
    }
}

/// The relation of the kernel, for any register: see `block`.
#[test]
fn beats_are_sums_of_earlier_ones() {
    for bit in 0..128 {
        let at = |n| field::forward(1 << bit, n);
        assert_eq!(at(128), at(7) ^ at(2) ^ at(1) ^ at(0));
        assert_eq!(at(256), at(14) ^ at(4) ^ at(2) ^ at(0));
    }
}

#[test]
fn every_seed_has_a_unique_start_register() {
    assert_eq!(start(0) as u64, 0);
    for seed in [0, 1, 2, 1 << 63, u64::MAX] {
        assert_ne!(start(seed), 0);
        let far = Pattern::new(seed).beat(u64::MAX);
        assert_eq!(Pattern::of_beat(u64::MAX, far), Some(Pattern::new(seed)));
        assert_eq!(Pattern::of_beat(u64::MAX - 1, far), None);
    }
    assert_eq!(Pattern::of_beat(5, 0), None);
}

/// Beat numbers cover all of 2^64: the position wraps like a 64-bit counter.
#[test]
fn the_last_beat_is_followed_by_the_first() {
    let mut generator = Pattern::new(3).at(u64::MAX);
    let mut bytes = [0; 16];
    generator.fill(&mut bytes);
    assert_eq!(u128::from_le_bytes(bytes), Pattern::new(3).beat(u64::MAX));
    assert_eq!(generator.position(), 0);
}

proptest! {
    #[test]
    fn any_beat_is_the_one_reached_by_iteration(seed: u64, first in 0_u64..1 << 60, count in 1_usize..700) {
        let pattern = Pattern::new(seed);
        let mut beat = pattern.beat(first);
        let bytes = made(pattern, first, count * BEAT_BYTES);
        for (n, found) in bytes.chunks(BEAT_BYTES).enumerate() {
            prop_assert_eq!(found, beat.to_le_bytes());
            prop_assert_eq!(pattern.beat(first + n as u64), beat);
            beat = field::next_beat(beat);
        }
    }

    /// Any division of the stream, alignment and partial beats give the oracle's bytes.
    #[test]
    fn pieces_of_any_length_make_the_stream(
        seed: u64, shift in 0_usize..64, first in 0_usize..300, lengths in prop::collection::vec(0_usize..9000, 1..6),
    ) {
        let beats = first + lengths.iter().map(|len| len.div_ceil(BEAT_BYTES)).sum::<usize>();
        let oracle = Oracle::stream(seed, beats);
        let mut generator = Pattern::new(seed).at(first as u64);
        let mut checker = Pattern::new(seed).at(first as u64);
        let mut at = first;
        for len in lengths {
            let mut bytes = vec![0xa5; shift + len + 1];
            generator.fill(&mut bytes[shift..shift + len]);
            let (before, made) = bytes.split_at(shift);
            prop_assert!(made[..len] == oracle[at * BEAT_BYTES..][..len]);
            prop_assert!(before.iter().chain(&made[len..]).all(|&byte| byte == 0xa5), "written outside");
            prop_assert_eq!(checker.check(&made[..len]), Ok(()));
            at += len.div_ceil(BEAT_BYTES);
            prop_assert_eq!((generator.position(), checker.position()), (at as u64, at as u64));
        }
    }

    /// The checker stops at the first wrong beat, continues at the given one, and counts all.
    #[test]
    fn the_first_wrong_beat_is_found(
        seed: u64, first in 0_u64..1 << 40, len in 1_usize..40_000, cut in 0_usize..5000,
        damage in prop::collection::btree_map(0_usize..40_000, 1_u8..=255, 0..5),
    ) {
        let pattern = Pattern::new(seed);
        let right = made(pattern, first, len);
        let mut bytes = right.clone();
        for (at, mask) in damage {
            bytes[at % len] ^= mask;
        }
        let wrong: Vec<u64> = (0..len.div_ceil(BEAT_BYTES))
            .filter(|n| {
                let end = len.min((n + 1) * BEAT_BYTES);
                right[n * BEAT_BYTES..end] != bytes[n * BEAT_BYTES..end]
            })
            .map(|n| first + n as u64)
            .collect();

        let mut checker = pattern.at(first);
        let mut found = Vec::new();
        // A first piece of its own, so that blocks lie anywhere in the rest.
        let cut = (cut - cut % BEAT_BYTES).min(len - len % BEAT_BYTES);
        for (begin, end) in [(0, cut), (cut, len)] {
            let mut at = begin;
            while let Err(mismatch) = checker.check(&bytes[at..end]) {
                at += mismatch.offset_bytes as usize;
                prop_assert_eq!(mismatch.beat, first + (at / BEAT_BYTES) as u64);
                prop_assert_eq!(checker.position(), mismatch.beat);
                let given = BEAT_BYTES.min(end - at);
                prop_assert_eq!(mismatch.found, register::word(&bytes[at..], given));
                prop_assert_eq!(mismatch.expected, register::word(&right[at..], given));
                found.push(mismatch.beat);
                at = end.min(at + BEAT_BYTES);
                checker.seek(mismatch.beat + 1);
            }
        }
        prop_assert_eq!(&found, &wrong);
        prop_assert_eq!(checker.position(), first + len.div_ceil(BEAT_BYTES) as u64);

        let mut counter = pattern.at(first);
        let mut counts = [&bytes[..cut], &bytes[cut..]].map(|bytes| counter.count_wrong(bytes)).into_iter();
        let (a, b) = (counts.next().unwrap(), counts.next().unwrap());
        prop_assert_eq!(a.beats + b.beats, wrong.len() as u64);
        prop_assert_eq!(a.first.or(b.first).map(|mismatch| mismatch.beat), wrong.first().copied());
        prop_assert_eq!(counter.position(), checker.position());
    }

    #[test]
    fn seeking_equals_starting_there(seed: u64, first in 0_u64..10_000, to in 0_u64..20_000, used in 0_usize..9000) {
        let pattern = Pattern::new(seed);
        let mut generator = pattern.at(first);
        generator.fill(&mut vec![0; used]);
        generator.seek(to);
        prop_assert_eq!(generator.position(), to);
        let mut bytes = [0; 5000];
        generator.fill(&mut bytes);
        prop_assert!(bytes[..] == made(pattern, to, 5000));
    }
}
