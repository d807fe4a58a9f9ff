//! Properties of the address stream, and naive oracles for it.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const KIB: u64 = 1024;

fn region(offset_bytes: u64, size_bytes: u64) -> Region {
    Region { offset_bytes, size_bytes }
}

fn single(size_bytes: u32) -> BlockSizes {
    BlockSizes::single(size_bytes).unwrap()
}

/// Default alignment, no zones.
fn plain(pattern: AddressPattern, block_sizes: BlockSizes) -> AccessConfig {
    AccessConfig {
        pattern,
        block_sizes,
        write_sizes: None,
        align_bytes: None,
        zones: None,
        step: AccessStep::Plain,
    }
}

fn generator(pattern: AddressPattern, bs: u32, area: Region, seed: u64) -> AddressGenerator {
    AddressGenerator::new(&plain(pattern, single(bs)), area, seed, 0).unwrap()
}

fn patterns() -> impl Strategy<Value = AddressPattern> {
    prop_oneof![
        Just(AddressPattern::Sequential),
        Just(AddressPattern::Uniform),
        Just(AddressPattern::Cover),
        (0.1_f64..3.0).prop_map(|theta| AddressPattern::Ranked(RankLaw::Zipf { theta })),
        (0.01_f64..0.99).prop_map(|h| AddressPattern::Ranked(RankLaw::Pareto { h })),
        (1.0_f64..99.0).prop_map(|deviation_percent| {
            AddressPattern::Ranked(RankLaw::Normal { deviation_percent })
        }),
        (1_u32..100, 1_u32..100).prop_map(|(access, size)| {
            let text = format!("{access}/{size}:/");
            AddressPattern::Zoned(text.parse().unwrap())
        }),
    ]
}

fn sectors(range: std::ops::Range<u32>) -> impl Strategy<Value = u32> {
    range.prop_map(|sectors| sectors * 512)
}

fn mixes() -> impl Strategy<Value = BlockSizes> {
    proptest::collection::vec((sectors(1..65), 1_u32..100), 1..6).prop_map(|entries| {
        let entries: Vec<(u32, f64)> =
            entries.into_iter().map(|(s, w)| (s, f64::from(w))).collect();
        BlockSizes::mix(&entries).unwrap()
    })
}

prop_compose! {
    fn configs()(pattern in patterns(), mix in mixes(), own in proptest::option::of(mixes()), align in proptest::option::of(sectors(1..40)),
                 zones in proptest::option::of((1_u64..200_000, 1_u64..300, 0_u64..100))) -> AccessConfig {
        let block_sizes = match pattern {
            AddressPattern::Cover => single(mix.max_bytes()),
            _ => mix,
        };
        let write_sizes = own.filter(|_| pattern != AddressPattern::Cover);
        let zones = zones.map(|(size_bytes, range, skip)| StridedZones {
            size_bytes, range_bytes: range * 512, skip_bytes: skip * 512,
        });
        AccessConfig { pattern, block_sizes, write_sizes, align_bytes: align, zones, step: AccessStep::Plain }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Any configuration is refused, or every I/O is inside the region and aligned.
    #[test]
    fn addresses_are_in_the_area_and_aligned(config in configs(), offset in 0_u64..1000, size in 0_u64..200_000, seed: u64) {
        let area = region(offset * 512, size);
        let made = AddressGenerator::new(&config, area, seed, 1);
        if matches!(made, Err(AccessError::EmptyZone { .. })) {
            prop_assert!(matches!(config.pattern, AddressPattern::Zoned(_)));
            return Ok(());
        }
        let Ok(mut generator) = made else {
            let least = config.zones.map_or(size, |zones| zones.range_bytes.min(size));
            let too_long = config.zones.is_some_and(|zones| zones.range_bytes > size);
            prop_assert!(too_long || u64::from(config.max_bytes()) > least);
            return Ok(());
        };
        let align = u64::from(config.effective_align_bytes());
        for number in 0..300 {
            let write = number % 7 < 3;
            let (at, len) = generator.next(write);
            let own = config.write_sizes.as_ref().filter(|_| write);
            prop_assert!(own.unwrap_or(&config.block_sizes).entries().any(|(s, _)| s == len));
            prop_assert!(at >= area.offset_bytes);
            prop_assert!(at + u64::from(len) <= area.offset_bytes + area.size_bytes);
            let relative = at - area.offset_bytes;
            let relative = match config.zones {
                Some(zones) => {
                    let within = relative % (zones.range_bytes + zones.skip_bytes);
                    prop_assert!(within + u64::from(len) <= zones.range_bytes, "in the gap");
                    within
                }
                None => relative,
            };
            let grid = match config.pattern {
                AddressPattern::Sequential => 512,
                _ => align,
            };
            prop_assert_eq!(relative % grid, 0);
            let common = u64::from(config.grid_bytes());
            prop_assert_eq!((at - area.offset_bytes) % common, 0);
            prop_assert_eq!(u64::from(len) % common, 0);
        }
    }

    #[test]
    fn same_seed_same_sequence(config in configs(), seed: u64) {
        let area = region(0, 8 << 20);
        let make = || AddressGenerator::new(&config, area, seed, 2);
        let (Ok(mut first), Ok(mut second)) = (make(), make()) else {
            // Blocks larger than a zone; refusals are covered by the property above.
            return Ok(());
        };
        for _ in 0..64 {
            prop_assert_eq!(first.next(false), second.next(false));
        }
    }

    /// One pass of a cover visits every block exactly once, and the next pass has another order.
    #[test]
    fn cover_visits_each_block_once_per_pass(blocks in 1_u64..600, tail in 0_u64..4096, seed: u64) {
        let area = region(4096, blocks * 4096 + tail);
        let mut generator = generator(AddressPattern::Cover, 4096, area, seed);
        let mut orders = Vec::new();
        for _ in 0..3 {
            let mut order = Vec::new();
            for _ in 0..blocks {
                order.push(generator.next(false).0);
            }
            orders.push(order.clone());
            order.sort_unstable();
            prop_assert!(order.into_iter().eq((0..blocks).map(|i| 4096 + i * 4096)));
        }
        prop_assert!(blocks < 20 || orders[0] != orders[1] && orders[1] != orders[2]);
    }

    /// A sequential stream is contiguous up to the last block that fits, and wraps to the start.
    #[test]
    fn sequential_is_contiguous(mix in mixes(), size in 32_768_u64..400_000, seed: u64) {
        let least = u64::from(mix.min_bytes());
        let config = plain(AddressPattern::Sequential, mix);
        let mut generator = AddressGenerator::new(&config, region(512, size), seed, 0).unwrap();
        let mut position = 512;
        for _ in 0..500 {
            let (at, len) = generator.next(false);
            prop_assert_eq!(at, position);
            position += u64::from(len);
            if 512 + size - position < least {
                position = 512;
            }
        }
    }

    /// Naive implementation of fio's rule: transfer `size` within the range (repeatedly if it is
    /// larger), then advance by range and skip; from the first zone again where no whole zone is
    /// left.
    #[test]
    fn strided_matches_a_naive_oracle(
        blocks_per_range in 1_u64..8, zone_size in 1_u64..100_000, skip in 0_u64..40, size in 32_768_u64..500_000,
    ) {
        let zones = StridedZones { size_bytes: zone_size, range_bytes: blocks_per_range * 4096, skip_bytes: skip * 512 };
        let mut config = plain(AddressPattern::Sequential, single(4096));
        config.zones = Some(zones);
        let mut generator = AddressGenerator::new(&config, region(0, size), 1, 0).unwrap();
        let (mut zone_start, mut within, mut moved) = (0, 0, 0);
        for _ in 0..300 {
            prop_assert_eq!(generator.next(false), (zone_start + within, 4096));
            within += 4096;
            moved += 4096;
            if within == zones.range_bytes {
                within = 0;
            }
            if moved >= zones.size_bytes {
                (moved, within) = (0, 0);
                zone_start += zones.range_bytes + zones.skip_bytes;
                if zone_start + zones.range_bytes > size {
                    zone_start = 0;
                }
            }
        }
    }
}

#[test]
fn uniform_is_uniform() {
    const BLOCKS: usize = 200;
    let mut generator =
        generator(AddressPattern::Uniform, 4096, region(0, BLOCKS as u64 * 4096), 3);
    let mut counts = [0_u32; BLOCKS];
    for _ in 0..100_000 {
        counts[(generator.next(false).0 / 4096) as usize] += 1;
    }
    let expected = 100_000.0 / BLOCKS as f64;
    let chi2: f64 = counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
    // 199 degrees of freedom: mean 199, standard deviation 20.
    assert!((119.0..299.0).contains(&chi2), "chi-squared {chi2}");
}

/// With a mix, each size is uniform over all offsets where it fits, up to the end of the region.
#[test]
fn a_uniform_mix_reaches_the_last_offset_of_each_size() {
    let config = plain(AddressPattern::Uniform, "4k/50:16k/50".parse().unwrap());
    let mut generator = AddressGenerator::new(&config, region(0, 64 * KIB), 5, 0).unwrap();
    let mut last: BTreeMap<u32, u64> = BTreeMap::new();
    for _ in 0..5000 {
        let (at, len) = generator.next(false);
        let entry = last.entry(len).or_default();
        *entry = (*entry).max(at);
    }
    assert_eq!(last, BTreeMap::from([(4096, 60 * KIB), (16_384, 48 * KIB)]));
}

/// The hottest blocks have the shares of Zipf's law, are spread over the region, and are the same
/// for every worker.
#[test]
fn zipf_blocks_have_their_shares_and_are_spread() {
    const BLOCKS: u64 = 4096;
    const DRAWS: u32 = 400_000;
    for theta in [0.9, 1.0, 1.2] {
        let config = plain(AddressPattern::Ranked(RankLaw::Zipf { theta }), single(4096));
        let area = region(0, BLOCKS * 4096);
        let mut hottest = Vec::new();
        for worker in 0..2 {
            let mut generator = AddressGenerator::new(&config, area, 77, worker).unwrap();
            let mut counts = vec![(0_u32, 0_u64); BLOCKS as usize];
            for _ in 0..DRAWS {
                let block = generator.next(false).0 / 4096;
                counts[block as usize].0 += 1;
                counts[block as usize].1 = block;
            }
            counts.sort_unstable_by(|a, b| b.cmp(a));
            let norm: f64 = (1..=BLOCKS).map(|k| (k as f64).powf(-theta)).sum();
            for (rank, &(count, _)) in counts.iter().take(10).enumerate() {
                let p = ((rank + 1) as f64).powf(-theta) / norm;
                let sigma = (f64::from(DRAWS) * p).sqrt();
                let error = (f64::from(count) - f64::from(DRAWS) * p).abs();
                assert!(error < 5.0 * sigma, "theta {theta} rank {rank}: {count}, off by {error}");
            }
            let top: Vec<u64> = counts.iter().take(5).map(|&(_, block)| block).collect();
            let span = top.iter().max().unwrap() - top.iter().min().unwrap();
            assert!(span > BLOCKS / 8, "hot blocks lie together: {top:?}");
            hottest.push(top);
        }
        assert_eq!(hottest[0], hottest[1], "workers disagree on what is hot");
    }
}

#[test]
fn workers_have_different_sequences() {
    for pattern in [
        AddressPattern::Uniform,
        AddressPattern::Cover,
        AddressPattern::Ranked(RankLaw::Zipf { theta: 0.8 }),
    ] {
        let config = plain(pattern.clone(), single(4096));
        let mut first = AddressGenerator::new(&config, region(0, 1 << 30), 1, 0).unwrap();
        let mut second = AddressGenerator::new(&config, region(0, 1 << 30), 1, 1).unwrap();
        let same = (0..100).filter(|_| first.next(false) == second.next(false)).count();
        assert!(same < 50, "{pattern:?}: {same} of 100 the same");
    }
}

#[test]
fn invalid_options_are_refused() {
    let make = |config: &AccessConfig, area| AddressGenerator::new(config, area, 0, 0).map(|_| ());
    let base = plain(AddressPattern::Sequential, single(4096));
    assert!(matches!(make(&base, region(0, 4095)), Err(AccessError::BlockLargerThanArea { .. })));
    assert!(matches!(make(&base, region(0, 0)), Err(AccessError::BlockLargerThanArea { .. })));
    assert!(matches!(make(&base, region(100, 1 << 20)), Err(AccessError::BadRegion { .. })));
    assert!(matches!(make(&base, region(1 << 63, 4096)), Err(AccessError::BadRegion { .. })));
    assert!(matches!(
        make(&base, region(u64::MAX - 511, u64::MAX)),
        Err(AccessError::BadRegion { .. })
    ));
    for align in [0, 100] {
        let config = AccessConfig { align_bytes: Some(align), ..base.clone() };
        assert!(matches!(make(&config, region(0, 1 << 20)), Err(AccessError::BadAlign { .. })));
    }
    let mix = plain(AddressPattern::Cover, "4k/50:8k/50".parse().unwrap());
    assert!(matches!(make(&mix, region(0, 1 << 20)), Err(AccessError::CoverWithMix { .. })));
    let zipf = plain(AddressPattern::Ranked(RankLaw::Zipf { theta: 0.0 }), single(4096));
    assert!(matches!(make(&zipf, region(0, 1 << 20)), Err(AccessError::BadTheta { .. })));
    for (size_bytes, range_bytes, skip_bytes) in [
        (0, 4096, 0),
        (4096, 0, 0),
        (1, 2 << 20, 0),
        (1, 4096, 100),
        (1, 4100, 0),
        (1, 4096, u64::MAX),
    ] {
        let zones = Some(StridedZones { size_bytes, range_bytes, skip_bytes });
        let config = AccessConfig { zones, ..base.clone() };
        assert!(matches!(make(&config, region(0, 1 << 20)), Err(AccessError::BadZones { .. })));
    }
}

/// fio's `rw=read:-8k` with 4 KiB blocks: from the last but one block backwards, then again.
#[test]
fn streams_with_gaps_wrap_around() {
    let offsets = |gap_bytes: i64, count: usize| -> Vec<u64> {
        let config = AccessConfig {
            step: AccessStep::Gap(gap_bytes),
            ..plain(AddressPattern::Sequential, single(4096))
        };
        let area = region(8192, 5 * 4096);
        let mut generator = AddressGenerator::new(&config, area, 1, 0).unwrap();
        (0..count).map(|_| (generator.next(false).0 - 8192) / 4096).collect()
    };
    assert_eq!(offsets(-8192, 6), [3, 2, 1, 0, 3, 2]);
    assert_eq!(offsets(4096, 5), [0, 2, 4, 0, 2]);
    let config = AccessConfig {
        step: AccessStep::Gap(100),
        ..plain(AddressPattern::Sequential, single(4096))
    };
    assert!(matches!(
        AddressGenerator::new(&config, region(0, 1 << 20), 1, 0),
        Err(AccessError::BadGap { .. })
    ));
}

/// fio's `rw=randread:4`: every fourth offset is random, the others follow.
#[test]
fn runs_continue_random_offsets() {
    let config =
        AccessConfig { step: AccessStep::Run(4), ..plain(AddressPattern::Uniform, single(4096)) };
    let area = region(0, 1 << 30);
    let mut generator = AddressGenerator::new(&config, area, 1, 0).unwrap();
    let offsets: Vec<u64> = (0..4000).map(|_| generator.next(false).0).collect();
    let follows = offsets.windows(2).filter(|pair| pair[1] == pair[0] + 4096).count();
    assert!((2990..=3001).contains(&follows), "{follows}");
    assert!(offsets.iter().all(|&offset| offset + 4096 <= 1 << 30));
}

/// Threads that work in one region write each block once per pass of all of them together, whatever
/// share of a pass each of them does.
#[test]
fn threads_share_their_covering_passes() {
    for (blocks, workers, passes) in
        [(1000_u64, 4_u32, 1_u64), (1000, 3, 3), (64, 16, 2), (5, 8, 8)]
    {
        let config = plain(AddressPattern::Cover, single(4096));
        let area = region(0, blocks * 4096);
        let mut written = vec![0_u64; blocks as usize];
        let mut orders = Vec::new();
        for worker in 0..workers {
            let generator = AddressGenerator::new(&config, area, 9, worker).unwrap();
            let mut generator = generator.sharing_passes(9, worker, workers);
            // The places of the passes that are this worker's.
            let all = blocks * passes;
            let own = (all + u64::from(workers - 1 - worker)) / u64::from(workers);
            let order: Vec<u64> = (0..own).map(|_| generator.next(true).0 / 4096).collect();
            order.iter().for_each(|&block| written[block as usize] += 1);
            orders.push(order);
        }
        assert!(
            written.iter().all(|&times| times == passes),
            "{blocks} blocks, {workers} threads: {written:?}"
        );
        let sorted = |order: &Vec<u64>| order.windows(2).all(|pair| pair[0] < pair[1]);
        assert!(blocks < 100 || !orders.iter().any(sorted), "not in order");
    }
}
