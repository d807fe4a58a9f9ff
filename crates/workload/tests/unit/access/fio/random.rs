use std::collections::BTreeSet;

use super::*;

/// From a program around fio's `rand.h` and `hash.h`.
#[test]
fn numbers_are_those_of_fio() {
    let drawn = |wide| {
        let mut random = Tausworthe::new(12345, wide);
        [(); 3].map(|()| random.next())
    };
    assert_eq!(drawn(false), [750_007_146, 526_675_063, 2_706_987_276]);
    let wide = [4_951_114_974_099_929_336, 8_578_927_949_826_897_785, 16_169_695_897_909_706_882];
    assert_eq!(drawn(true), wide);
    for (name, hash) in [
        ("t.img", 3_373_818_887),
        ("/dev/nvme0n1", 1_437_019_758),
        ("/a/long/name/of/a/file.0.0", 4_185_053_658),
    ] {
        assert_eq!(jenkins_hash(name.as_bytes()), hash, "{name}");
    }
}

#[test]
fn a_shift_register_draws_every_block_once() {
    for blocks in [1, 2, 7, 8, 100, 255, 256, 4097] {
        let mut register = ShiftRegister::new(blocks, 0xb189_9bed);
        let drawn: BTreeSet<u64> = std::iter::from_fn(|| register.next()).collect();
        assert!(drawn.into_iter().eq(0..blocks), "{blocks}");
    }
}

/// The state of ones is no part of the register's cycle: drawing from it would not end.
#[test]
fn a_register_draws_each_block_once_from_any_seed() {
    for blocks in [1, 6, 7, 8, 100] {
        for seed in [0, 3, 7, 15, 127, u64::MAX] {
            let mut register = ShiftRegister::new(blocks, seed);
            let mut drawn: Vec<u64> = std::iter::from_fn(|| register.next()).collect();
            drawn.sort_unstable();
            assert_eq!(drawn, (0..blocks).collect::<Vec<_>>(), "{blocks} {seed}");
        }
    }
}
