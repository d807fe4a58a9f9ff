use super::*;
use crate::profile::builtin::BUILTIN;

fn builtin(name: &str) -> Profile {
    Profile::builtin(name).unwrap()
}

/// Share of flash that is not capacity.
fn spare(profile: &Profile) -> f64 {
    let nand = &profile.nand;
    let planes = f64::from(nand.dies.value) * f64::from(nand.planes.value);
    let blocks = planes * f64::from(nand.blocks_per_plane.value);
    let raw = blocks * f64::from(nand.pages_per_block.value) * nand.page_bytes.value as f64;
    1.0 - profile.identity.capacity_bytes.value as f64 / raw
}

#[test]
fn a_capacity_has_its_dies_and_the_spare_share_of_the_family() {
    let mut made = 0;
    for (name, _) in BUILTIN {
        let whole = builtin(name);
        let bytes = whole.identity.capacity_bytes.value;
        for (numerator, denominator) in [(1, 4), (1, 2), (3, 4), (2, 1)] {
            let wanted = bytes / denominator * numerator;
            let Ok(other) = whole.clone().of_capacity(wanted) else {
                continue;
            };
            let held = other.identity.capacity_bytes.value;
            assert!(held <= wanted && wanted - held < 65_536, "{name}: {held} of {wanted}");
            let dies = u64::from(whole.dies()) * numerator / denominator;
            assert_eq!(u64::from(other.dies()), dies, "{name}");
            assert_eq!(other.capacity_chosen, Some(held));
            if whole.in_place.is_none() {
                let (before, after) = (spare(&whole), spare(&other));
                assert!((before - after).abs() < 0.01, "{name}: {before} {after}");
            }
            made += 1;
        }
    }
    assert!(made > 60, "{made}");
    let whole = builtin("intel-p4510");
    let same = whole.clone().of_capacity(whole.identity.capacity_bytes.value);
    assert_eq!(same.unwrap(), whole);
}

#[test]
fn a_refusal_names_the_least_that_can_be_made() {
    let whole = builtin("intel-p4510");
    let error = whole.clone().of_capacity(1 << 30).unwrap_err().to_string();
    assert!(error.contains("is the least") && error.contains("capacity=1.07 GB"), "{error}");
    let least = whole.least_capacity_bytes();
    assert!(whole.clone().of_capacity(least).unwrap().dies() <= 2);
    assert!(whole.of_capacity(least / 2).is_err());
}
