use assay_units::Rng;
use proptest::prelude::*;

use super::*;

/// Che's approximation of the hit ratio of an LRU cache (H. Che, Y. Tung, Z. Wang, Hierarchical web
/// caching systems, IEEE JSAC 20(7), 2002): a block is there when it was asked for within the
/// characteristic time `t`, with `sum (1 - exp(-p t)) = slots`.
fn che(shares: &[f64], slots: f64) -> f64 {
    let filled = |t: f64| shares.iter().map(|p| 1.0 - (-p * t).exp()).sum::<f64>();
    let (mut low, mut high) = (0.0, 1e12);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        match filled(middle) < slots {
            true => low = middle,
            false => high = middle,
        }
    }
    shares.iter().map(|p| p * (1.0 - (-p * low).exp())).sum()
}

#[test]
fn hits_of_a_zipf_workload_are_those_of_ches_approximation() {
    for theta in [0.6, 0.9, 1.1] {
        for slots in [100_u32, 1000, 4000] {
            let weights: Vec<f64> = (1..=20_000).map(|r| f64::from(r).powf(-theta)).collect();
            let sum: f64 = weights.iter().sum();
            let shares: Vec<f64> = weights.iter().map(|w| w / sum).collect();
            let mut cumulated = Vec::new();
            shares.iter().fold(0.0, |sum, share| {
                cumulated.push(sum + share);
                sum + share
            });
            let mut map = LruMap::new(slots);
            let mut rng = Rng::stream(1, "zipf");
            let mut hits = 0;
            for n in 0..300_000 {
                let u = rng.unit_f64();
                let block = cumulated.partition_point(|share| *share < u) as u64;
                hits += u32::from(map.touch(block).is_some() && n >= 100_000);
                map.insert(block);
            }
            let (found, expected) = (f64::from(hits) / 200_000.0, che(&shares, f64::from(slots)));
            assert!((found - expected).abs() < 0.01, "{theta} {slots}: {found} {expected}");
        }
    }
}

proptest! {
    /// As a list that is searched from the end.
    #[test]
    fn the_map_is_a_least_recently_used_list(slots in 1..8_u32, accesses in prop::collection::vec((0..12_u64, any::<bool>()), 0..200)) {
        let mut map = LruMap::new(slots);
        let mut list: Vec<(u64, bool)> = Vec::new();
        for (block, write) in accesses {
            let known = list.iter().position(|(b, _)| *b == block);
            prop_assert_eq!(map.touch(block).is_some(), known.is_some());
            let was_dirty = known.map(|at| list.remove(at).1).unwrap_or(false);
            let (slot, evicted) = map.insert(block);
            let mut expected = None;
            if known.is_none() && list.len() == slots as usize {
                expected = Some(list.remove(0));
            }
            list.push((block, was_dirty || write));
            prop_assert_eq!(evicted.map(|e| (e.block, e.dirty != 0)), expected);
            match write {
                true => map.write(slot, 1),
                false => map.fill(slot, 1),
            }
            prop_assert_eq!(map.used() as usize, list.len());
            prop_assert_eq!(map.dirty_pages() as usize, list.iter().filter(|(_, dirty)| *dirty).count());
        }
        while let Some(cleaned) = map.clean_oldest() {
            let oldest = list.iter_mut().find(|(_, dirty)| *dirty).unwrap();
            prop_assert_eq!(cleaned.block, oldest.0);
            oldest.1 = false;
        }
        prop_assert!(list.iter().all(|(_, dirty)| !dirty));
    }
}
