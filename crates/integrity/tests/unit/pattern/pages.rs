use super::*;
use assay_ssd::InitialState;
use assay_ssd::data::DataStore;
use assay_units::Rng;
use proptest::prelude::*;
use std::sync::Arc;

fn stream(seed: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    Pattern::new(seed).at(0).fill(&mut bytes);
    bytes
}

#[test]
fn pattern_pages_take_four_bytes() {
    let pages = Arc::new(PatternPages::new());
    let mut store = DataStore::new(1, InitialState::Fresh, false).regenerate();
    store.set_generator(pages.clone());
    let first = 3 << 20;
    let mut written = stream(9, 4 << 20);
    store.write(first, &written);
    assert!(store.resident_bytes() >= 4 << 20, "not announced");
    pages.announce(9, first);
    written[5 * 4096 + 1000] ^= 4;
    store.write(first, &written);
    assert_eq!(store.resident_bytes(), 1024 * 4 + 4096, "one damaged page");
    // More later streams than are recognised change nothing.
    (10..200).for_each(|seed| pages.announce(seed, 0));
    let mut read = vec![0; 4 << 20];
    store.read(first, &mut read);
    assert!(read == written);
}

proptest! {
    /// A drive that regenerates pages returns the same as one that stores them, whatever is
    /// written, damaged, overwritten and discarded.
    #[test]
    fn regenerated_and_stored_pages_are_equal(seed: u64) {
        let mut rng = Rng::new(seed);
        let pages = Arc::new(PatternPages::new());
        let mut whole = DataStore::new(1, InitialState::Filled, true);
        let mut made = DataStore::new(1, InitialState::Filled, true).regenerate();
        made.set_generator(pages.clone());
        for seed in 0..30 {
            let first = rng.below(3) * 512;
            if rng.below(4) > 0 {
                pages.announce(seed, first);
            }
            let at = rng.below(64) * 1024;
            let mut bytes = vec![0; 1024 * (1 + rng.below(30) as usize)];
            let generator = &mut Pattern::new(seed).at(at.saturating_sub(first) / 16);
            generator.fill(&mut bytes);
            match rng.below(6) {
                0 => bytes[1023] ^= 1,
                1 => bytes.rotate_left(16),
                _ => {}
            }
            let discard = rng.below(8) == 0;
            for store in [&mut whole, &mut made] {
                if discard {
                    store.discard(at, bytes.len() as u64);
                } else {
                    store.write(at, &bytes);
                }
            }
        }
        let (mut kept, mut again) = (vec![0; 96 << 10], vec![1; 96 << 10]);
        whole.read(0, &mut kept);
        made.read(0, &mut again);
        prop_assert!(kept == again);
        whole.read_stale(0, &mut kept);
        made.read_stale(0, &mut again);
        prop_assert!(kept == again);
    }
}
