use super::*;
use assay_units::Rng;
use proptest::prelude::*;

fn frequencies(sizes: &BlockSizes, draws: u32) -> Vec<f64> {
    let mut rng = Rng::new(11);
    let mut counts = vec![0_u32; sizes.count()];
    for _ in 0..draws {
        counts[sizes.pick(&mut rng)] += 1;
    }
    counts.iter().map(|&n| f64::from(n) / f64::from(draws)).collect()
}

#[test]
fn fio_bssplit_is_parsed_by_its_rules() {
    let sizes: BlockSizes = "4k/60:64k/40".parse().unwrap();
    assert_eq!(sizes.entries().collect::<Vec<_>>(), [(4096, 60.0), (65536, 40.0)]);
    let shared: BlockSizes = "4k/50:1k/:32k".parse().unwrap();
    assert_eq!(shared.entries().collect::<Vec<_>>(), [(1024, 25.0), (4096, 50.0), (32768, 25.0)]);
    let single: BlockSizes = "128k".parse().unwrap();
    assert!(single.is_single());
    assert_eq!(single.to_string(), "128k");
    assert_eq!(single.min_bytes(), 131_072);
    // Equal sizes are merged; weight 0 is dropped.
    let merged: BlockSizes = "4k/30:4096/30:8k/40:16k/0".parse().unwrap();
    assert_eq!(merged.entries().collect::<Vec<_>>(), [(4096, 60.0), (8192, 40.0)]);
    assert!((merged.mean_bytes() - 5734.4).abs() < 1e-6);
    assert_eq!(sizes.common_power_of_two(), 4096);
    let odd: BlockSizes = "1536".parse().unwrap();
    assert_eq!(odd.common_power_of_two(), 512);
}

#[test]
fn bad_mixes_are_refused_with_a_reason() {
    for text in
        ["", "4k/60:64k/50", "4k/60:64k/30", "4k/x", "0", "8m", "4k/-5:8k/105", ":", "4k/nan"]
    {
        assert!(text.parse::<BlockSizes>().is_err(), "{text:?}");
    }
    assert!(matches!(BlockSizes::mix(&[]), Err(AccessError::EmptyMix)));
    assert!(matches!(
        BlockSizes::mix(&[(512, 1.0); MAX_MIX_ENTRIES + 1]),
        Err(AccessError::MixTooLong { .. })
    ));
}

#[test]
fn round_trip_of_the_text_form() {
    let sizes: BlockSizes = "4k/60:64k/40".parse().unwrap();
    assert_eq!(sizes.to_string(), "4k/60:64k/40");
    assert_eq!(sizes.to_string().parse(), Ok(sizes));
}

proptest! {
    /// The alias table draws every size in proportion to its weight.
    #[test]
    fn draws_follow_the_weights(weights in proptest::collection::vec(0_u32..100, 1..12)) {
        prop_assume!(weights.iter().any(|&w| w > 0));
        let entries: Vec<(u32, f64)> =
            weights.iter().zip(1..).map(|(&w, i)| (512 * i, f64::from(w))).collect();
        let sizes = BlockSizes::mix(&entries).unwrap();
        let total: f64 = sizes.entries().map(|e| e.1).sum();
        let draws = 40_000;
        for ((_, weight), found) in sizes.entries().zip(frequencies(&sizes, draws)) {
            let p = weight / total;
            let sigma = (p * (1.0 - p) / f64::from(draws)).sqrt();
            prop_assert!((found - p).abs() <= 7.0 * sigma + 1e-9, "{found} for {p}");
        }
    }
}
