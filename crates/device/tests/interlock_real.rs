//! The interlock on real block devices: zram, loop devices, filesystems, swap, partition tables,
//! LVM, RAID.
//!
//! Needs root; otherwise prints the reason and passes. Every refused drive is compared byte for
//! byte with its previous content.
#![allow(clippy::unwrap_used, reason = "a test whose fixture cannot be set up panics")]

use std::fs::File;
use std::path::{Path, PathBuf};

use assay_device::identity::{DriveKind, list_drives};
use assay_device::interlock::{PermitError, RefusalReason, authorise};

use crate::interlock_fixture;

use interlock_fixture::{
    InterlockFixture, allowed, destroy, info, name, refused, refused_for_good, run, try_run,
};

/// Of ext4: no thread of the kernel writes inode tables after the mount.
const QUIET: &[&str] = &["-o", "noinit_itable"];

#[test]
fn an_empty_drive_needs_its_name_and_is_claimed_by_the_permit() {
    let Some(mut fixture) = InterlockFixture::new() else {
        return;
    };
    let Some(zram) = fixture.zram(64) else { return };
    let serial = name(&zram);
    let drive = info(&zram);
    assert_eq!(
        (drive.kind, drive.capacity_bytes, drive.transport.as_deref()),
        (DriveKind::Block, 64 << 20, Some("zram"))
    );
    assert_eq!(drive.serial, serial);
    assert!(list_drives().iter().any(|d| d.serial == serial));

    let refusal = refused(&zram, &[]);
    assert_eq!(refusal.missing_words(), [serial.as_str()]);
    assert!(refusal.to_string().ends_with(&format!("add: --destroy {serial}")), "{refusal}");
    let refusal = refused(&zram, &[&serial.to_uppercase()]);
    assert!(refusal.to_string().contains("upper and lower case"), "{refusal}");
    refused(&zram, &["zram", "nvme0n1", zram.to_str().unwrap()]);

    run(&["mkswap", zram.to_str().unwrap()]);
    let permit = authorise(&drive, &destroy(&[&serial, "swap"])).unwrap();
    let writable = File::options().read(true).write(true).open(&zram).unwrap();
    permit.check(&writable).unwrap();
    let image = fixture.image("other", 1);
    assert!(matches!(
        permit.check(File::open(&image).unwrap()),
        Err(PermitError::OtherDrive { .. })
    ));
    // The permit holds an exclusive claim on the drive.
    for use_it in ["swapon", "mkswap"] {
        let error = try_run(&[use_it, zram.to_str().unwrap()]).unwrap_err();
        assert!(error.contains("busy"), "{error}");
    }
    let second = refused(&zram, &[&serial, "swap"]);
    assert!(matches!(&second.reasons[..], [RefusalReason::ClaimedElsewhere { .. }]), "{second}");
    drop(permit);
    allowed(&zram, &[&serial, "swap"]);
}

#[test]
fn active_swap_is_never_written_and_dormant_swap_must_be_named() {
    let Some(mut fixture) = InterlockFixture::new() else {
        return;
    };
    let Some(zram) = fixture.zram(64) else { return };
    if !fixture.swapon(&zram) {
        return;
    }
    let refusal = refused_for_good(&zram);
    assert!(
        refusal.reasons.contains(&RefusalReason::Swap { device: zram.display().to_string() }),
        "{refusal}"
    );
    fixture.undo_last();
    let serial = name(&zram);
    assert_eq!(refused(&zram, &[&serial]).missing_words(), ["swap"]);
    allowed(&zram, &[&serial, "swap"]);
}

#[test]
fn a_filesystem_must_be_named_and_a_mounted_one_is_never_written() {
    let Some(mut fixture) = InterlockFixture::new() else {
        return;
    };
    let image = fixture.image("disk.img", 16);
    let Some(device) = fixture.attach(&image, &[]) else {
        return;
    };
    let serial = name(&device);
    allowed(&device, &[&serial]);
    run(&["mkfs.ext4", "-q", "-F", device.to_str().unwrap()]);

    let refusal = refused(&device, &[&serial]);
    assert_eq!(refusal.missing_words(), ["ext4"]);
    assert!(
        refusal.to_string().contains("holds an ext4 filesystem (signature at byte 1080)"),
        "{refusal}"
    );
    assert_eq!(refused(&device, &["ext4"]).missing_words(), [serial.as_str()]);
    assert_eq!(refused(&device, &[&serial, "ext3", "xfs"]).missing_words(), ["ext4"]);
    allowed(&device, &["ext4", &serial]);

    let point = fixture.mount(&device, QUIET);
    let refusal = refused_for_good(&device);
    let expected = RefusalReason::Mounted {
        device: device.display().to_string(),
        mount_point: point.display().to_string(),
        fs_type: "ext4".into(),
    };
    assert!(refusal.reasons.contains(&expected), "{refusal}");
    fixture.undo_last();
    // Read-only mounts are mounts.
    fixture.mount(&device, &["-o", "ro"]);
    refused_for_good(&device);
}

#[test]
fn use_of_a_partition_blocks_its_drive_and_not_its_siblings() {
    let Some(mut fixture) = InterlockFixture::new() else {
        return;
    };
    let image = fixture.image("disk.img", 32);
    let image_text = image.to_str().unwrap();
    run(&[
        "parted", "-s", image_text, "mklabel", "gpt", "mkpart", "a", "1MiB", "12MiB", "mkpart",
        "b", "12MiB", "24MiB",
    ]);
    let Some(device) = fixture.attach(&image, &["--partscan"]) else {
        return;
    };
    let [first, second] = [1, 2].map(|n| PathBuf::from(format!("{}p{n}", device.display())));
    // A kernel built without GPT support takes the table from partx instead.
    if !first.exists()
        && let Err(e) = try_run(&["partx", "--add", device.to_str().unwrap()])
    {
        println!("skipped: no partitions on loop devices here: {e}");
        return;
    }
    assert!(first.exists() && second.exists());
    let drive = name(&device);
    assert_eq!(info(&first).partition_of.as_deref(), Some(drive.as_str()));
    assert_eq!(info(&first).capacity_bytes, 11 << 20);
    assert_eq!(refused(&device, &[&drive]).missing_words(), ["gpt"]);
    allowed(&device, &[&drive, "gpt"]);
    allowed(&first, &[&name(&first)]);

    run(&["mkfs.ext4", "-q", "-F", first.to_str().unwrap()]);
    // Signatures in the partitions must be named as well.
    let refusal = refused(&device, &[&drive, "gpt"]);
    assert_eq!(refusal.missing_words(), ["ext4"]);
    assert!(
        refusal.to_string().contains(&format!("{} holds an ext4 filesystem", first.display())),
        "{refusal}"
    );
    assert_eq!(refused(&first, &[&name(&first)]).missing_words(), ["ext4"]);
    allowed(&device, &[&drive, "gpt", "ext4"]);

    fixture.mount(&first, QUIET);
    let refusal = refused_for_good(&device);
    assert!(refusal.reasons.iter().any(
        |r| matches!(r, RefusalReason::Mounted { device, .. } if *device == first.display().to_string())
    ));
    refused_for_good(&first);
    allowed(&second, &[&name(&second)]);
    fixture.undo_last();

    if !fixture.swapon(&second) {
        return;
    }
    refused_for_good(&device);
    refused_for_good(&second);
    allowed(&first, &[&name(&first), "ext4"]);
    fixture.undo_last();
    allowed(&device, &[&drive, "gpt", "ext4", "swap"]);
}

#[test]
fn backing_devices_of_a_loop_device_are_checked() {
    let Some(mut fixture) = InterlockFixture::new() else {
        return;
    };
    let Some(zram) = fixture.zram(32) else { return };
    let Some(device) = fixture.attach(&zram, &[]) else {
        return;
    };
    let refusal = refused_for_good(&zram);
    assert!(
        matches!(&refusal.reasons[0], RefusalReason::BacksLoop { loop_device, .. } if *loop_device == name(&device)),
        "{refusal}"
    );
    // Its permit claims the device underneath as well.
    run(&["mkswap", zram.to_str().unwrap()]);
    let permit = authorise(&info(&device), &destroy(&[&name(&device), "swap"])).unwrap();
    let error = try_run(&["swapon", zram.to_str().unwrap()]).unwrap_err();
    assert!(error.contains("busy"), "{error}");
    drop(permit);
    if !fixture.swapon(&zram) {
        return;
    }
    let refusal = refused_for_good(&device);
    assert!(
        refusal.reasons.contains(&RefusalReason::Swap { device: zram.display().to_string() }),
        "{refusal}"
    );
}

#[test]
fn lvm_physical_volumes_must_be_named() {
    let Some(mut fixture) = InterlockFixture::new() else {
        return;
    };
    let image = fixture.image("pv.img", 16);
    let Some(device) = fixture.attach(&image, &[]) else {
        return;
    };
    let config = "devices { use_devicesfile=0 } global { event_activation=0 }";
    if let Err(e) = try_run(&["pvcreate", "-y", "--config", config, device.to_str().unwrap()]) {
        println!("skipped: pvcreate does not work here: {e}");
        return;
    }
    assert_eq!(refused(&device, &[&name(&device)]).missing_words(), ["LVM2_member"]);
    allowed(&device, &[&name(&device), "lvm2_member"]);
}

#[test]
fn members_of_a_running_raid_are_never_written() {
    let Some(mut fixture) = InterlockFixture::new() else {
        return;
    };
    if !Path::new("/proc/mdstat").exists() {
        println!("skipped: this kernel has no md; holders are tested on made-up sysfs trees");
        return;
    }
    let (a, b) = (fixture.image("a.img", 16), fixture.image("b.img", 16));
    let (Some(a), Some(b)) = (fixture.attach(&a, &[]), fixture.attach(&b, &[])) else {
        return;
    };
    let (a_text, b_text) = (a.to_str().unwrap(), b.to_str().unwrap());
    run(&[
        "mdadm",
        "--create",
        "/dev/md/assay",
        "--run",
        "--level=1",
        "--raid-devices=2",
        "--metadata=1.2",
        a_text,
        b_text,
    ]);
    let refusals = [&a, &b]
        .map(|member| authorise(&info(member), &destroy(&[&name(member), "linux_raid_member"])));
    run(&["mdadm", "--stop", "/dev/md/assay"]);
    for refusal in refusals {
        let refusal = refusal.unwrap_err();
        assert!(
            refusal.reasons.iter().any(|r| matches!(r, RefusalReason::Held { .. })),
            "{refusal}"
        );
    }
    assert_eq!(refused(&a, &[&name(&a)]).missing_words(), ["linux_raid_member"]);
}

#[test]
fn a_drive_set_read_only_is_refused() {
    let Some(mut fixture) = InterlockFixture::new() else {
        return;
    };
    let image = fixture.image("disk.img", 4);
    let Some(device) = fixture.attach(&image, &["--read-only"]) else {
        return;
    };
    let refusal = refused_for_good(&device);
    assert_eq!(refusal.reasons, [RefusalReason::ReadOnly { drive: device.display().to_string() }]);
}
