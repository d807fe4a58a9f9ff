use super::*;

/// After what fills a cache.
fn numbers(blocks: u64, count: u64) -> Vec<u64> {
    let mut order = SteadyOrder::new(blocks, 7);
    let lead: Vec<u64> = (0..blocks / AREA_PER_LEAD).map(|_| order.next()).collect();
    let numbers: Vec<u64> = (0..count).map(|_| order.next()).collect();
    assert_eq!(numbers[..lead.len()], lead);
    numbers
}

/// Valid fractions of equal parts of what was written, the oldest first.
fn valid_fractions(written: &[u64], blocks: u64, parts: usize) -> Vec<f64> {
    let mut latest = vec![0; blocks as usize];
    for (at, &block) in written.iter().enumerate() {
        latest[block as usize] = at;
    }
    let length = written.len() / parts;
    let part = |part: usize| {
        let places = part * length..(part + 1) * length;
        let valid = places.filter(|&at| latest[written[at] as usize] == at);
        valid.count() as f64 / length as f64
    };
    (0..parts).map(part).collect()
}

/// Valid fraction of what is collected next, by Desnoyers' relation `(1 - v) / -ln(v) = 1 / alpha`
/// of space to data.
fn collected_valid(alpha: f64) -> f64 {
    let (mut low, mut high) = (1e-9_f64, 1.0 - 1e-9);
    for _ in 0..100 {
        let middle: f64 = f64::midpoint(low, high);
        match (1.0 - middle) / -middle.ln() < 1.0 / alpha {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}

#[test]
fn every_block_is_written_once_before_any_is_written_again() {
    for blocks in [1, 63, 64, 1000, 20_001] {
        let mut first = numbers(blocks, blocks);
        first.sort_unstable();
        assert_eq!(first, (0..blocks).collect::<Vec<_>>());
    }
}

#[test]
fn at_every_spare_ratio_valid_fractions_decay_exponentially_to_that_of_the_collected_region() {
    let blocks = 200_000;
    for spare_pct in [2, 5, 10, 28, 50] {
        let written = numbers(blocks, blocks * (100 + spare_pct) / 100);
        let found = valid_fractions(&written, blocks, 40);
        let alpha = written.len() as f64 / blocks as f64;
        let oldest = collected_valid(alpha);
        for (part, valid) in found.iter().enumerate() {
            // The exponent of the middle of the part.
            let age = 1.0 - (part as f64 + 0.5) / 40.0;
            let expected = oldest.powf(age);
            assert!(
                (valid - expected).abs() < 0.02,
                "{spare_pct} % spare, part {part}: {valid}, expected {expected}"
            );
        }
    }
}

/// Original and overwrite are at least as far apart as the largest cache that is allowed for.
#[test]
fn no_block_is_written_again_within_a_thirty_second_of_the_area() {
    let blocks = 100_000;
    let written = numbers(blocks, blocks * 3 / 2);
    let mut latest = vec![None; blocks as usize];
    let mut nearest = usize::MAX;
    for (at, &block) in written.iter().enumerate() {
        if let Some(before) = latest[block as usize].replace(at) {
            nearest = nearest.min(at - before);
        }
    }
    assert!(nearest >= 100_000 / 32 - 100_000 / 256, "{nearest}");
}

#[test]
fn workers_share_one_order() {
    let mut alone = SteadyOrder::new(5000, 7);
    let alone: Vec<u64> = (0..7000).map(|_| alone.next()).collect();
    let mut shared: Vec<SteadyOrder> = (0..3).map(|_| SteadyOrder::new(5000, 7)).collect();
    for (worker, order) in (0..).zip(&mut shared) {
        order.share(worker, 3);
    }
    let together = (0..7000).map(|at| shared[at % 3].next());
    assert_eq!(together.collect::<Vec<_>>(), alone);
}

#[test]
fn the_order_begins_anew_at_its_end() {
    let numbers = numbers(100, 900);
    assert_eq!(numbers[..100], numbers[400..500]);
}
