//! Flexible Data Placement: data of one handle shares superblocks.

use crate::common;

use assay_ssd::{Drive, DriveError, DriveOptions, Profile};
use assay_units::{KIB, MIB, Nanos, Op, Rng};
use common::{command, drive, one};

/// A small data-centre drive: superblocks of 12 MiB, and a sixth of the flash spare.
fn small(handles: Option<u16>) -> Drive {
    let mut profile = Profile::builtin("samsung-pm9d3a").expect("a built-in profile");
    profile.nand.channels.value = 4;
    profile.nand.dies.value = 4;
    profile.nand.pages_per_block.value = 48;
    profile.nand.blocks_per_plane.value = 102;
    profile.buffer.bytes.value = 8 * MIB;
    profile.identity.capacity_bytes.value = 1024 * MIB;
    let options = DriveOptions { placement_handles: handles, ..DriveOptions::default() };
    Drive::new(profile, options).expect("a drive")
}

/// Write amplification of a cache: small objects overwritten at random in a tenth of the drive,
/// large ones as a circular log in the rest; each by its handle.
fn amplification(drive: &mut Drive, [small, large]: [u16; 2]) -> f64 {
    let capacity = drive.identity().capacity_bytes;
    let hot = capacity / 10 / MIB * MIB;
    let mut rng = Rng::new(7);
    let (mut at, mut now, mut out) = (hot, Nanos::ZERO, Vec::new());
    let mut before = drive.telemetry(now);
    let rounds = 40 * capacity / (2 * 64 * KIB);
    for round in 0..rounds {
        if round == rounds / 2 {
            before = drive.telemetry(now);
        }
        // As many bytes of both.
        for n in 0..17 {
            let (handle, io) = match n {
                0 => {
                    let io = command(n, Op::Write, at, 64 << 10);
                    at += 64 * KIB;
                    if at >= capacity {
                        at = hot;
                    }
                    (large, io)
                }
                _ => {
                    let offset = rng.below(hot / 4096) * 4096;
                    (small, command(n, Op::Write, offset, 4096))
                }
            };
            drive.select_placement(handle);
            drive.submit(now, io);
        }
        drive.advance(Nanos(u64::MAX - 1), &mut out);
        now = out.iter().map(|done| done.at).max().expect("completions");
        assert!(out.drain(..).all(|done| done.status.is_ok()));
    }
    let health = drive.telemetry(now);
    (health.nand_bytes_written - before.nand_bytes_written) as f64
        / (health.host_bytes_written - before.host_bytes_written) as f64
}

#[test]
fn separate_handles_lower_write_amplification() {
    let mixed = amplification(&mut small(None), [0, 0]);
    let one = amplification(&mut small(Some(4)), [1, 1]);
    let separate = amplification(&mut small(Some(4)), [1, 2]);
    println!("mixed {mixed:.3}, one handle {one:.3}, separate {separate:.3}");
    assert!((one / mixed - 1.0).abs() < 0.03, "{one} and {mixed}");
    assert!(mixed > 1.15, "{mixed}");
    assert!(separate - 1.0 < 0.5 * (mixed - 1.0), "{separate} and {mixed}");
}

#[test]
fn reclaim_units_fill_by_handle() {
    let mut drive = small(Some(3));
    let size = drive.reclaim_unit_bytes();
    assert_eq!(size, 4 * 4 * 16 * KIB * 48);
    let left = |drive: &Drive| {
        let units = drive.reclaim_units();
        units.iter().map(|unit| unit.left_bytes).collect::<Vec<_>>()
    };
    assert_eq!(left(&drive), [size; 3]);
    let mut now = Nanos::ZERO;
    for (handle, bytes) in [(0, 64 * KIB), (2, 128 * KIB), (9, 4 * KIB), (2, 64 * KIB)] {
        drive.select_placement(handle);
        now = one(&mut drive, now, command(0, Op::Write, 0, bytes as u32)).at;
    }
    // Handle 9 does not exist: the default one.
    assert_eq!(left(&drive), [size - 68 * KIB, size, size - 192 * KIB], "per handle");
    // Under capacitors a flush pads nothing: only the group that handle 2 filled is programmed.
    let flushed = one(&mut drive, now, command(0, Op::Flush, 0, 0)).at;
    let programmed = drive.telemetry(flushed).nand_bytes_written;
    assert_eq!(programmed, drive.profile().nand.group_bytes());
}

/// What is written by several handles is read from where it is, and a purge empties all of them.
#[test]
fn data_of_all_handles_is_kept_read_and_purged() {
    let mut profile = small(None).profile().clone();
    profile.name = "small".to_owned();
    let options =
        DriveOptions { placement_handles: Some(4), keep_data: true, ..DriveOptions::default() };
    let mut drive = Drive::new(profile, options).expect("a drive");
    let (mut rng, mut now, mut out) = (Rng::new(3), Nanos::ZERO, Vec::new());
    let mut model = vec![0_u8; 256];
    for n in 0..40_000_u64 {
        let page = rng.below(256);
        let byte = (n % 251) as u8 + 1;
        drive.select_placement(rng.below(4) as u16);
        drive.submit_write(now, command(0, Op::Write, page * 4096, 4096), &[byte; 4096]);
        drive.advance(Nanos(u64::MAX - 1), &mut out);
        now = out.drain(..).map(|done| done.at).max().expect("done");
        model[page as usize] = byte;
        if n % 10_000 == 5_000 {
            drive.power_loss(now);
        }
    }
    for (page, &byte) in (0_u64..).zip(&model) {
        let done = one(&mut drive, now, command(0, Op::Read, page * 4096, 4096));
        now = done.at;
        let mut bytes = [0; 4096];
        assert!(drive.read_data(&done, page * 4096, &mut bytes));
        assert_eq!(bytes, [byte; 4096], "page {page}");
    }
    let purged = drive.purge(now).expect("present");
    let size = drive.reclaim_unit_bytes();
    assert!(drive.reclaim_units().iter().all(|unit| unit.left_bytes == size));
    let done = one(&mut drive, purged, command(0, Op::Write, 0, 4096));
    assert!(done.status.is_ok());
}

#[test]
fn drives_that_cannot_place_data_refuse_it() {
    for (name, handles) in [
        // No power-loss protection; an SLC cache; media written in place; too many.
        ("samsung-951", 8),
        ("samsung-980-pro", 8),
        ("intel-optane-p4800x", 8),
        ("samsung-pm9d3a", 1_000),
    ] {
        let options = DriveOptions { placement_handles: Some(handles), ..DriveOptions::default() };
        let profile = Profile::builtin(name).expect("a built-in profile");
        let error = Drive::new(profile, options).expect_err(name);
        assert!(matches!(error, DriveError::NoPlacement { .. }), "{error}");
    }
    let mut options = DriveOptions::default();
    options.set("fdp", "8").expect("a known option");
    assert_eq!(drive("samsung-pm9d3a", options.clone()).placement_handles(), 8);
    assert!(options.set("fdp", "0").is_err());
}

/// A host that leaves its reclaim units early wastes their rest: more superblocks are erased for
/// the same writes, and no data is lost.
#[test]
fn reclaim_units_left_early_cost_erases() {
    let erased = |renews: bool| {
        let mut drive = small(Some(4));
        let mut rng = Rng::new(3);
        let (mut now, mut out) = (Nanos::ZERO, Vec::new());
        let units = drive.identity().capacity_bytes / 4096;
        for round in 0..2_000 {
            for n in 0..64 {
                drive.select_placement((n % 4) as u16);
                let offset = rng.below(units) * 4096;
                drive.submit(now, command(n, Op::Write, offset, 4096));
            }
            drive.advance(Nanos(u64::MAX - 1), &mut out);
            now = out.iter().map(|done| done.at).max().expect("completions");
            assert!(out.drain(..).all(|done| done.status.is_ok()));
            if renews && round % 20 == 0 {
                let left = drive.renew_reclaim_unit(now, (round / 20 % 4) as u16);
                assert!(left.is_some_and(|bytes| bytes < drive.reclaim_unit_bytes()));
            }
        }
        assert_eq!(drive.renew_reclaim_unit(now, 4), None);
        drive.telemetry(now).superblocks_erased
    };
    let (full, early) = (erased(false), erased(true));
    assert!(early > full + 40, "{early} {full}");
}
