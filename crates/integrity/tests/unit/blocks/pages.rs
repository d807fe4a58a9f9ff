use super::*;
use crate::data::{DataPattern, Ratio};
use assay_ssd::InitialState;
use assay_ssd::data::DataStore;
use assay_units::Rng;
use proptest::prelude::*;
use std::sync::Arc;

fn patterns() -> impl Strategy<Value = DataPattern> {
    prop_oneof![
        Just(DataPattern::Incompressible),
        Just(DataPattern::Zero),
        (1050_u32..=20_000).prop_map(|permille| DataPattern::Compressible {
            ratio: Ratio::try_from(permille).unwrap()
        }),
    ]
}

proptest! {
    /// A page recognised by its header is regenerated exactly, whatever its pattern and block
    /// length.
    #[test]
    fn pages_are_regenerated(
        pattern in patterns(), shift in 9_u32..=12, seed: u64, page in 0_u64..1 << 30, generation in 1..=MAX_GENERATION,
    ) {
        let verifier = Verifier::new(seed, 1 << shift, pattern).unwrap();
        let offset = page * 4096;
        let mut written = [0; 4096];
        verifier.stamp(&mut written, offset, generation);
        let (family, serial) = VerifyBlocks.recognise(offset, &written).unwrap();
        let mut again = [7; 4096];
        VerifyBlocks.generate(family, serial, offset, &mut again);
        prop_assert!(again == written);
        prop_assert_eq!(VerifyBlocks.recognise(offset + 4096, &written), None);
    }

    /// A store that regenerates pages returns the same as one that stores them, whatever is
    /// written, damaged and discarded.
    #[test]
    fn regenerated_and_stored_pages_are_equal(pattern in patterns(), shift in 9_u32..=13, seed: u64) {
        let verifier = Verifier::new(seed, 1 << shift, pattern).unwrap();
        let mut whole = DataStore::new(1, InitialState::Filled, true);
        let mut made = DataStore::new(1, InitialState::Filled, true).regenerate();
        made.set_generator(Arc::new(VerifyBlocks));
        let mut rng = Rng::new(seed);
        for generation in 1..60 {
            let blocks = 1 + rng.below(16);
            let offset = rng.below(64) << shift;
            let mut bytes = vec![0; (blocks as usize) << shift];
            verifier.stamp(&mut bytes, offset, generation);
            match rng.below(6) {
                0 => bytes[0] ^= 0x10,
                1 => bytes[(1 << shift) - 1] ^= 1,
                2 => bytes.rotate_left(512),
                _ => {}
            }
            let discard = rng.below(8) == 0;
            for store in [&mut whole, &mut made] {
                if discard {
                    store.discard(offset, bytes.len() as u64);
                } else {
                    store.write(offset, &bytes);
                }
            }
        }
        let (mut kept, mut again) = (vec![0; 80 << shift], vec![1; 80 << shift]);
        whole.read(0, &mut kept);
        made.read(0, &mut again);
        prop_assert!(kept == again);
        whole.read_stale(0, &mut kept);
        made.read_stale(0, &mut again);
        prop_assert!(kept == again);
    }
}

/// Four bytes per 4 KiB; a damaged page is stored whole.
#[test]
fn regenerated_pages_take_four_bytes() {
    let verifier = Verifier::new(7, 4096, DataPattern::Incompressible).unwrap();
    let mut store = DataStore::new(1, InitialState::Fresh, false).regenerate();
    store.set_generator(Arc::new(VerifyBlocks));
    let mut written = vec![0; 16 << 20];
    verifier.stamp(&mut written, 0, 1);
    written[5 * 4096 + 1000] ^= 4;
    store.write(0, &written);
    assert_eq!(store.resident_bytes(), 4096 * 4 + 4096);
    let mut read = vec![0; 16 << 20];
    store.read(0, &mut read);
    assert!(read == written);
}

#[test]
fn foreign_pages_are_not_recognised() {
    assert_eq!(VerifyBlocks.recognise(0, &[0; 4096]), None);
    let verifier = Verifier::new(1, 65_536, DataPattern::Incompressible).unwrap();
    let mut long = vec![0; 65_536];
    verifier.stamp(&mut long, 0, 1);
    let first: &[u8; 4096] = long[..4096].try_into().unwrap();
    assert_eq!(VerifyBlocks.recognise(0, first), None);
    let mut page = [7; 4096];
    VerifyBlocks.generate([1, 3], 1, 0, &mut page);
    assert_eq!(page, [7; 4096]);
}
