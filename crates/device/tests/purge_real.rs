//! Discards on real block devices. Needs root; otherwise prints the reason and passes.
#![allow(clippy::unwrap_used, reason = "a test whose fixture cannot be set up panics")]

use std::fs;
use std::path::Path;

use assay_device::interlock::authorise;
use assay_device::open::open_drive;
use assay_device::purge::{PurgeError, discard_all};

use crate::interlock_fixture;

use interlock_fixture::{InterlockFixture, destroy, info, name, run};

fn purge(device: &Path) -> Result<(), PurgeError> {
    let drive = info(device);
    let permit = authorise(&drive, &destroy(&[&drive.serial])).unwrap();
    let open = open_drive(&drive, false, Some(&permit)).unwrap();
    discard_all(&open, drive.capacity_bytes)
}

#[test]
fn a_purged_zram_holds_no_pages() {
    let Some(mut fixture) = InterlockFixture::new() else {
        return;
    };
    let Some(zram) = fixture.zram(32) else { return };
    let Some(other) = fixture.zram(32) else {
        return;
    };
    let noise: Vec<u8> =
        (0..8_u32 << 20).map(|n| (n.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
    for device in [&zram, &other] {
        fs::write(device, &noise).unwrap();
        run(&["sync", device.to_str().unwrap()]);
    }
    let stored = |device: &Path| {
        let stat = fs::read_to_string(format!("/sys/block/{}/mm_stat", name(device))).unwrap();
        let first = stat.split_whitespace().next().unwrap();
        first.parse::<u64>().unwrap()
    };
    assert!(stored(&zram) >= 8 << 20);
    let drive = info(&zram);
    let reading = open_drive(&drive, false, None).unwrap();
    assert!(matches!(
        discard_all(&reading, drive.capacity_bytes),
        Err(PurgeError::ReadOnly { .. })
    ));
    assert!(stored(&zram) >= 8 << 20);
    purge(&zram).unwrap();
    assert_eq!(stored(&zram), 0);
    assert!(stored(&other) >= 8 << 20, "another device was touched");
    assert!(fs::read(&zram).unwrap().iter().all(|&byte| byte == 0));
}

#[test]
fn a_purged_loop_device_punches_a_hole_or_reports_an_error() {
    let Some(mut fixture) = InterlockFixture::new() else {
        return;
    };
    let image = fixture.image("image", 8);
    fs::write(&image, vec![9_u8; 8 << 20]).unwrap();
    let Some(device) = fixture.attach(&image, &[]) else {
        return;
    };
    match purge(&device) {
        Ok(()) => {
            assert!(fs::read(&device).unwrap().iter().all(|&byte| byte == 0));
            assert_eq!(fs::metadata(&image).unwrap().len(), 8 << 20);
        }
        // A file system without holes.
        Err(PurgeError::Unsupported { .. }) => {
            assert!(fs::read(&device).unwrap().iter().all(|&byte| byte == 9));
        }
        Err(error) => panic!("{error}"),
    }
}
