use super::*;
use crate::{Drive, DriveOptions};

fn builtin(name: &str) -> Profile {
    Profile::builtin(name).expect("a built-in profile")
}

fn flash_bytes(profile: &Profile, blocks_apart: u32) -> u64 {
    let nand = &profile.nand;
    let blocks =
        u64::from(nand.blocks_per_plane.value - blocks_apart) * u64::from(nand.planes.value);
    let pages = u64::from(nand.dies.value) * blocks * u64::from(nand.pages_per_block.value);
    pages * nand.page_bytes.value
}

#[test]
fn every_drive_keeps_its_spare_share_and_what_sets_its_rates() {
    for name in Profile::names() {
        let whole = builtin(name);
        for n in [2, 7, 16, 64] {
            let Ok(small) = whole.clone().shrunk(n) else {
                assert!(whole.identity.capacity_bytes.value / u64::from(n) < 4 << 30, "{name} {n}");
                continue;
            };
            let share = |profile: &Profile| profile.identity.capacity_bytes.value as f64;
            let capacity = share(&whole) / share(&small) / f64::from(n);
            assert!((capacity - 1.0).abs() < 1e-4, "{name} {n}: {capacity}");
            let same = |small: &Profile| {
                let nand = &small.nand;
                let geometry = (nand.dies.value, nand.channels.value, nand.planes.value);
                let times = (nand.read_ns.value.clone(), nand.erase_ns.value);
                (geometry, times, small.buffer.clone(), small.firmware.clone())
            };
            assert_eq!(same(&small), same(&whole), "{name} {n}");
            if whole.in_place.is_none() {
                let apart = whole.ftl.gc_low_superblocks.value + OPEN_SUPERBLOCKS;
                let flash = flash_bytes(&whole, apart) as f64 / flash_bytes(&small, apart) as f64;
                let spare = flash / f64::from(n);
                assert!((spare - 1.0).abs() < 0.004, "{name} {n}: {spare}");
                let slices = small.nand.slices.expect("of flash");
                let pages = small.nand.pages_per_block.value * slices;
                let whole_pages = whole.nand.pages_per_block.value;
                assert!(pages.abs_diff(whole_pages) * 20 < whole_pages, "{name} {n}");
            }
            Drive::new(small, DriveOptions::default())
                .unwrap_or_else(|e| panic!("{name} {n}: {e}"));
        }
    }
}

#[test]
fn caches_and_slow_clocks_are_an_nth() {
    let (whole, small) = (builtin("samsung-980-pro"), builtin("samsung-980-pro").shrunk(32));
    let (whole, small) = (whole.slc.unwrap(), small.unwrap().slc.unwrap());
    assert_eq!(small.bytes.value, whole.bytes.value / 32);
    let borrowed = |slc: &crate::profile::SlcProfile| slc.borrowed_bytes.as_ref().unwrap().value;
    assert_eq!(borrowed(&small), borrowed(&whole) / 32);
    assert_eq!(small.idle_fold_after_ns.value, whole.idle_fold_after_ns.value / 32);
}

#[test]
fn too_much_is_refused_with_the_most_that_works() {
    let error = builtin("plextor-m8pe-y").shrunk(5000).unwrap_err().to_string();
    let most = error.split("shrink=").nth(2).and_then(|rest| rest.split(' ').next());
    let most: u32 = most.and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{error}"));
    assert!(builtin("plextor-m8pe-y").shrunk(most).is_ok(), "{error}");
    assert!(builtin("plextor-m8pe-y").shrunk(most + 1).is_err(), "{error}");
    assert!(most >= 64, "{error}");
    assert!(builtin("plextor-m8pe-y").shrunk(0).is_err());
}

#[test]
fn shrink_1_is_the_whole_drive() {
    let whole = builtin("plextor-m8pe-y");
    assert_eq!(whole.clone().shrunk(1), Ok(whole));
}

/// As rare among writes as in the whole drive, and as long.
#[test]
fn blocks_are_erased_with_the_last_slice() {
    let small = builtin("plextor-m8pe-y").shrunk(64).expect("small enough");
    let blocks = small.nand.blocks_per_plane.value;
    let mut nand = crate::nand::Nand::new(&small.nand, None, blocks, 0);
    for superblock in 1..64 {
        nand.erase(superblock, None, 0);
        assert_eq!(nand.idle_ns(), 0, "{superblock}");
    }
    nand.erase(64, None, 0);
    assert_eq!(nand.idle_ns(), small.nand.erase_ns.value);
}
