//! Drive state cache on real block devices. Needs root; otherwise prints the reason and passes.
#![allow(clippy::unwrap_used, reason = "a test whose fixture cannot be set up panics")]

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use assay_execute::drive_state_cache::{DriveStateCache, PreconditioningRecord, StateValidity};
use assay_workload::access::Region;

use crate::interlock_fixture;

use interlock_fixture::{InterlockFixture, info, name, run, try_run};

const MIB: u64 = 1 << 20;
const AREA: Region = Region { offset_bytes: 0, size_bytes: 8 * MIB };

fn write(device: &Path, mib: u64, byte: u8) {
    let mut file = File::options().write(true).open(device).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    for _ in 0..mib {
        file.write_all(&vec![byte; MIB as usize]).unwrap();
    }
    file.sync_all().unwrap();
}

fn condition(cache: &DriveStateCache, device: &Path) {
    write(device, 8, 5);
    let done = PreconditioningRecord {
        name: "once".to_owned(),
        offset_bytes: 0,
        size_bytes: 8 * MIB,
        block_sizes: "1m".to_owned(),
        bytes: 8 * MIB,
    };
    cache.record_preconditioning(&info(device), done).unwrap();
}

fn sees_others_on(fixture: &InterlockFixture, device: &Path, counts_discards: bool) {
    let cache = DriveStateCache::at(fixture.path("state"));
    let ask = || cache.lookup(&info(device), "once", AREA);
    let valid = |bytes: u64| {
        let is = ask();
        assert!(
            matches!(is, StateValidity::Valid { written_since_bytes, .. } if written_since_bytes == bytes),
            "{is:?}"
        );
    };
    condition(&cache, device);
    valid(0);
    // Reads do not change the write trace.
    fs::read(device).unwrap();
    valid(0);
    // Own writes are recorded.
    write(device, 6, 9);
    cache.record_writes(&info(device), 6 * MIB).unwrap();
    valid(6 * MIB);
    // Foreign writes are detected, also together with own writes.
    write(device, 1, 1);
    let is = ask();
    assert!(
        matches!(&is, StateValidity::Stale(why) if why.contains("1048576 bytes were written to it by others")),
        "{is:?}"
    );
    condition(&cache, device);
    valid(0);
    write(device, 8, 1);
    cache.record_writes(&info(device), 2 * MIB).unwrap();
    assert!(matches!(ask(), StateValidity::Stale(_)), "{:?}", ask());
    // Foreign discards are detected.
    condition(&cache, device);
    valid(0);
    if let Err(error) = try_run(&["blkdiscard", "-f", device.to_str().unwrap()]) {
        println!("skipped: no discards here: {error}");
    } else if counts_discards {
        let is = ask();
        assert!(matches!(&is, StateValidity::Stale(why) if why.contains("discarded")), "{is:?}");
    }
    // An own purge is recorded.
    cache.record_purge(&info(device), "all blocks discarded", false).unwrap();
    let is = cache.lookup_purge(&info(device));
    assert!(matches!(is, StateValidity::Valid { written_since_bytes: 0, .. }), "{is:?}");
}

#[test]
fn foreign_writes_to_a_loop_device_are_detected() {
    let Some(mut fixture) = InterlockFixture::new() else {
        return;
    };
    let image = fixture.image("image", 16);
    let Some(device) = fixture.attach(&image, &[]) else {
        return;
    };
    sees_others_on(&fixture, &device, true);
    // Another backing file is another drive.
    let cache = DriveStateCache::at(fixture.path("state"));
    condition(&cache, &device);
    let other = fixture.image("other", 16);
    fixture.undo_last();
    run(&["losetup", device.to_str().unwrap(), other.to_str().unwrap()]);
    let is = cache.lookup(&info(&device), "once", AREA);
    run(&["losetup", "-d", device.to_str().unwrap()]);
    assert!(matches!(is, StateValidity::Stale(_)), "{is:?}");
}

#[test]
fn foreign_writes_to_zram_are_detected() {
    let Some(mut fixture) = InterlockFixture::new() else {
        return;
    };
    let Some(device) = fixture.zram(32) else {
        return;
    };
    // Newer kernels count zram I/O only with iostats enabled.
    let iostats = format!("/sys/block/{}/queue/iostats", name(&device));
    let _ = fs::write(&iostats, "1");
    // zram's driver does not count discards.
    sees_others_on(&fixture, &device, false);
    let cache = DriveStateCache::at(fixture.path("state"));
    condition(&cache, &device);
    // Without statistics the state is unknown.
    if fs::write(&iostats, "0").is_ok() {
        let is = cache.lookup(&info(&device), "once", AREA);
        assert!(
            matches!(&is, StateValidity::Unknown(why) if why.contains("does not count")),
            "{is:?}"
        );
    }
}
