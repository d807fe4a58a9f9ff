use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn patterns_are_parsed_and_printed() {
    assert_eq!("incompressible".parse(), Ok(DataPattern::Incompressible));
    assert_eq!("zero".parse(), Ok(DataPattern::Zero));
    let pattern: DataPattern = "compress=2.5".parse().unwrap();
    assert_eq!(pattern.to_string(), "compress=2.5");
    assert_eq!(pattern.data_class(), DataClass::Compressible { permille: 400 });
    assert_eq!(DataPattern::Zero.data_class(), DataClass::Zero);
    assert_eq!(DataPattern::default().data_class(), DataClass::Incompressible);
    for bad in [
        "",
        "random",
        "compress",
        "compress=",
        "compress=x",
        "compress=1",
        "compress=1.04",
        "compress=0.5",
    ] {
        assert!(bad.parse::<DataPattern>().is_err(), "{bad:?}");
    }
    for bad in ["compress=20.1", "compress=-2", "compress=nan", "compress=inf", "compress=1e300"] {
        assert!(matches!(bad.parse::<DataPattern>(), Err(DataError::BadRatio { .. })), "{bad:?}");
    }
}

#[test]
fn incompressible_data_does_not_compress() {
    let mut filler = Filler::new(DataPattern::Incompressible, 1, 0);
    let mut data = vec![0; 1 << 20];
    filler.fill(&mut data);
    let compressed = zstd::bulk::compress(&data, 9).unwrap();
    assert!(compressed.len() > data.len(), "{} bytes", compressed.len());
}

#[test]
fn a_share_of_the_buffers_repeats() {
    for percent in [0_u32, 30, 100] {
        let filler = Filler::new(DataPattern::Incompressible, 1, 0);
        let mut filler = filler.with_repeats(RepeatedData { percent, blocks: 0 }, 1, 0);
        let mut buffer = vec![0; 4096];
        let distinct: std::collections::HashSet<Vec<u8>> = (0..4000)
            .map(|_| {
                filler.fill(&mut buffer);
                buffer.clone()
            })
            .collect();
        let repeated = 100.0 - distinct.len() as f64 / 40.0;
        assert!((repeated - f64::from(percent)).abs() < 2.5, "{percent}: {repeated}");
    }
}

#[test]
fn zero_fills_overwrite_the_buffer() {
    let mut filler = Filler::new(DataPattern::Zero, 1, 0);
    let mut data = vec![7; 4096];
    filler.fill(&mut data);
    assert!(data.iter().all(|&byte| byte == 0));
}

fn patterns() -> impl Strategy<Value = DataPattern> {
    prop_oneof![
        Just(DataPattern::Incompressible),
        (1050_u32..=20_000).prop_map(|permille| DataPattern::Compressible {
            ratio: Ratio::try_from(permille).unwrap()
        }),
    ]
}

/// So many of the writes have the data of a block of the working set, which new writes have, too.
#[test]
fn repeats_of_a_working_set_are_of_its_blocks() {
    let filler = Filler::new(DataPattern::Incompressible, 1, 0);
    let mut filler = filler.with_repeats(RepeatedData { percent: 60, blocks: 20 }, 1, 0);
    let mut times: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
    for _ in 0..2000 {
        let mut buffer = vec![0; 512];
        filler.fill(&mut buffer);
        *times.entry(buffer).or_default() += 1;
    }
    let repeated: Vec<u32> = times.values().copied().filter(|&times| times > 1).collect();
    assert_eq!(repeated.len(), 20);
    assert!((1150..1300).contains(&repeated.iter().sum::<u32>()), "{repeated:?}");
    assert!(repeated.iter().all(|&times| times > 25), "{repeated:?}");
}

proptest! {
    /// No 512-byte sector repeats: not within a worker, between workers, or between seeds.
    #[test]
    fn no_sector_repeats(pattern in patterns(), seed: u64) {
        let mut seen = BTreeSet::new();
        let mut count = 0;
        for (seed, worker) in [(seed, 0), (seed, 1), (seed ^ 1, 0)] {
            let mut filler = Filler::new(pattern, seed, worker);
            for len in [4096, 512, 16_384, 4096] {
                let mut buffer = vec![0; len];
                filler.fill(&mut buffer);
                for sector in buffer.chunks_exact(512) {
                    count += 1;
                    seen.insert(sector.to_vec());
                }
            }
        }
        prop_assert_eq!(seen.len(), count);
    }

    #[test]
    fn same_seed_same_bytes(pattern in patterns(), seed: u64, lens in proptest::collection::vec(0_usize..10_000, 1..5)) {
        let (mut a, mut b) = (Filler::new(pattern, seed, 3), Filler::new(pattern, seed, 3));
        for len in lens {
            let (mut x, mut y) = (vec![0; len], vec![0xff; len]);
            a.fill(&mut x);
            b.fill(&mut y);
            prop_assert_eq!(x, y);
        }
    }

    #[test]
    fn text_round_trips(pattern in patterns()) {
        prop_assert_eq!(pattern.to_string().parse(), Ok(pattern));
    }
}
