use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

proptest! {
    /// Filling and addressing single words are the same function, for any length and start.
    #[test]
    fn fill_is_the_words(key: u64, position: u64, len in 0_usize..200) {
        let noise = Noise::new(key);
        let mut buffer = vec![0; len];
        noise.fill(position, &mut buffer);
        for (i, bytes) in buffer.chunks(8).enumerate() {
            let word = noise.word(position.wrapping_add(i as u64)).to_le_bytes();
            prop_assert_eq!(bytes, &word[..bytes.len()]);
        }
    }

    #[test]
    fn noise_readers_continue_at_their_position(key: u64, first in 0_usize..100) {
        let noise = Noise::new(key);
        let mut reader = NoiseReader::new(noise);
        let mut buffer = vec![0; first * 8];
        reader.fill(&mut buffer);
        prop_assert_eq!(reader.next_u64(), noise.word(first as u64));
    }
}

/// Every bit is set half of the time, every byte value is equally frequent, neighbouring words are
/// uncorrelated.
#[test]
fn noise_is_noise() {
    for key in [0, 1, u64::MAX, 0x8000_0000_0000_0000] {
        let noise = Noise::new(key);
        const WORDS: u64 = 100_000;
        let mut ones = [0_u32; 64];
        let mut same = [0_u32; 64];
        let mut bytes = [0_u32; 256];
        for i in 0..WORDS {
            let word = noise.word(i);
            let agree = !(word ^ noise.word(i + 1));
            for bit in 0..64 {
                ones[bit] += (word >> bit & 1) as u32;
                same[bit] += (agree >> bit & 1) as u32;
            }
            for byte in word.to_le_bytes() {
                bytes[usize::from(byte)] += 1;
            }
        }
        for count in ones.iter().chain(&same) {
            let deviation = (f64::from(*count) - 50_000.0).abs();
            assert!(deviation < 5.0 * 158.1, "key {key:#x}: {count} of {WORDS}");
        }
        let expected = 8.0 * WORDS as f64 / 256.0;
        let chi2: f64 = bytes.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
        // 255 degrees of freedom: mean 255, standard deviation 22.6.
        assert!(chi2 < 255.0 + 5.0 * 22.6, "key {key:#x}: chi-squared {chi2}");
    }
}

#[test]
fn neighbouring_keys_are_uncorrelated() {
    let words: BTreeSet<u64> =
        (0..64).flat_map(|key| (0..256).map(move |i| Noise::new(key).word(i))).collect();
    assert_eq!(words.len(), 64 * 256);
    assert_ne!(Noise::stream(1, "a"), Noise::stream(1, "b"));
}
