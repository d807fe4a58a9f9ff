//! Structural numbers: layouts by the rules of a profile, and removal.

use super::*;
use crate::template::ReferenceDrive;
use assay_ssd::Profile;

#[test]
fn every_layout_is_a_valid_drive_and_another_one() {
    for name in ["samsung-951", "toshiba-rd400", "mydigitalssd-bpx", "wd-black"] {
        let drive = ReferenceDrive::new(name).unwrap();
        let all = layouts(&drive.table);
        assert!(all.len() > 3, "{name}: {all:?}");
        for one in all {
            let mut table = drive.table.clone();
            apply(&mut table, &layout(&drive.table, one));
            assert_eq!(layout_of(&table), Some(one), "{name}");
            assert_ne!(table, drive.table, "{name}: {one:?}");
            Profile::from_table(table).unwrap_or_else(|e| panic!("{name} {one:?}: {e}"));
        }
    }
}

#[test]
fn the_layouts_of_the_shipped_drives_are_reached_from_each_other() {
    let table = |name| ReferenceDrive::new(name).unwrap().table;
    // A mapping unit on each plane, one plane sensed after the other.
    let mut drive = table("samsung-951");
    apply(&mut drive, &shape(&table("samsung-951"), (16_384, 2, 16)));
    assert!(layouts(&drive).contains(&(8192, Some(4096))));
    // All planes at once again: the number is taken out.
    let before = table("toshiba-rd400");
    let mut drive = before.clone();
    apply(&mut drive, &layout(&before, (32_768, None)));
    assert_eq!(get(&drive, SINGLE), None);
    assert_eq!(get(&drive, STRIPE), None);
}

#[test]
fn only_changed_numbers_remain() {
    let table = ReferenceDrive::new("toshiba-rd400").unwrap().table;
    let same = shape(&table, (16_384, 2, 16));
    assert_eq!(same.len(), 4);
    assert!(changed(&table, same).is_empty());
    let halved = changed(&table, shape(&table, (8192, 2, 16)));
    let paths: Vec<&str> = halved.keys().map(String::as_str).collect();
    assert_eq!(paths, ["nand.blocks_per_plane", "nand.page_bytes"]);
}
