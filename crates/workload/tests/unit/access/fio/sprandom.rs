use super::super::random::{SPRANDOM_OFF, Seeds};
use super::*;

/// Blocks that fio 3.42 wrote (`--ioengine=null --sprandom=1 --write_iolog`): how many, and the
/// digest of their order.
struct Recorded {
    data_bytes: u64,
    block_bytes: u64,
    options: SpRandom,
    seed: Option<u64>,
    writes: usize,
    digest: u64,
}

fn options(regions: u32, over_provisioning: f64, cache_bytes: u64) -> SpRandom {
    SpRandom { regions, over_provisioning, cache_bytes }
}

fn recorded() -> [Recorded; 5] {
    let of = |mib: u64, kib: u64, options, seed, writes, digest| Recorded {
        data_bytes: mib << 20,
        block_bytes: kib << 10,
        options,
        seed,
        writes,
        digest,
    };
    [
        of(16, 4, options(100, 0.15, 0), None, 4703, 0x9713_5c0f_735d_7b2f),
        of(64, 4, options(50, 0.07, 0), None, 17530, 0x197b_36cb_10ca_de78),
        of(64, 4, options(100, 0.25, 64 << 10), None, 20480, 0x250c_6578_86b1_d7d0),
        of(100, 16, options(20, 0.5, 0), Some(42), 9578, 0x68d8_4f89_854b_e286),
        of(37, 8, options(10, 0.0945, 0), None, 5169, 0x4681_08e3_b7c5_a9d4),
    ]
}

fn written(of: &Recorded) -> Vec<u64> {
    let seeds = Seeds { fixed_offsets: false, all_repeat: false, seed: of.seed, thread: 1 };
    let (data, block) = (of.data_bytes, of.block_bytes);
    let mut fresh = ShiftRegister::new(data / block, seeds.of_offsets());
    let seed = seeds.of_thread()[SPRANDOM_OFF];
    let mut regions = Regions::new(&of.options, data, block, seed);
    let most = of.options.physical_bytes(data, block) / block;
    let blocks = std::iter::from_fn(|| regions.next(&mut fresh));
    blocks.take(most as usize).collect()
}

#[test]
fn the_order_is_that_of_fio() {
    for of in recorded() {
        let blocks = written(&of);
        let digest = |sum: u64, block: &u64| sum.wrapping_mul(31).wrapping_add(*block);
        let found = (blocks.len(), blocks.iter().fold(0, digest));
        assert_eq!(found, (of.writes, of.digest), "{:?}", of.options);
    }
}

/// The blocks of the last regions are valid, and all data are written.
#[test]
fn a_region_is_valid_in_the_share_that_it_is_to_be() {
    let of = Recorded {
        data_bytes: 512 << 20,
        block_bytes: 4096,
        options: options(50, 0.15, 0),
        seed: None,
        writes: 0,
        digest: 0,
    };
    let blocks = written(&of);
    let mut last = vec![None; (of.data_bytes / of.block_bytes) as usize];
    for (at, &block) in blocks.iter().enumerate() {
        last[block as usize] = Some(at);
    }
    let data = last.iter().flatten().count() as f64 / last.len() as f64;
    assert!(data > 0.99, "{data}");
    let each = (of.options.region_bytes(of.data_bytes, of.block_bytes) / of.block_bytes) as usize;
    let wanted = of.options.valid_fractions();
    for (region, wanted) in wanted.iter().enumerate().take(48) {
        let of_region = (region * each)..((region + 1) * each).min(blocks.len());
        let valid = of_region.clone().filter(|&at| last[blocks[at] as usize] == Some(at));
        let valid = valid.count() as f64 / of_region.len() as f64;
        assert!((valid - wanted).abs() < 0.05, "{region}: {valid}, {wanted}");
    }
}
