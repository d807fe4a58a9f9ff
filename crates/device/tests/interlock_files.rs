//! The interlock on regular files and on files that are not drives; signature detection compared
//! with `wipefs`.
//!
//! Tests that need root or a missing program print the reason and pass.
#![allow(clippy::unwrap_used, reason = "a test whose fixture cannot be set up panics")]

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use assay_device::identity::{DriveInfo, DriveKind, IdentityError, identify, list_drives};
use assay_device::interlock::{PermitError, RefusalReason, authorise};
use assay_device::signature;

use crate::interlock_fixture;

use interlock_fixture::{
    InterlockFixture, allowed, destroy, info, name, refused, refused_for_good, run, try_run,
};

#[test]
fn an_mbr_table_must_be_named() {
    let Some(fixture) = InterlockFixture::new() else {
        return;
    };
    let image = fixture.image("disk.img", 16);
    run(&[
        "parted",
        "-s",
        image.to_str().unwrap(),
        "mklabel",
        "msdos",
        "mkpart",
        "primary",
        "1MiB",
        "8MiB",
    ]);
    assert_eq!(refused(&image, &["disk.img"]).missing_words(), ["dos"]);
    allowed(&image, &["disk.img", "dos"]);
}

#[test]
fn a_file_is_confirmed_by_name_and_may_hold_a_disk_image() {
    let Some(mut fixture) = InterlockFixture::new() else {
        return;
    };
    let image = fixture.image("disk.img", 16);
    let file = info(&image);
    assert_eq!((file.kind, file.serial.as_str()), (DriveKind::File, "disk.img"));
    assert!(file.filesystem.is_some_and(|fs| !fs.fs_type.is_empty()));
    refused(&image, &[]);
    refused(&image, &[image.to_str().unwrap()]);
    allowed(&image, &["disk.img"]);
    run(&["mkfs.ext2", "-q", "-F", image.to_str().unwrap()]);
    assert_eq!(refused(&image, &["disk.img"]).missing_words(), ["ext2"]);
    allowed(&image, &["disk.img", "ext2"]);

    // The same file under another name is the same file.
    let alias = fixture.path("alias.img");
    fs::hard_link(&image, &alias).unwrap();
    let link = fixture.path("link.img");
    std::os::unix::fs::symlink(&image, &link).unwrap();
    assert_eq!(info(&link).serial, "disk.img", "a symbolic link is followed");
    let Some(device) = fixture.attach(&image, &[]) else {
        return;
    };
    for path in [&image, &alias, &link] {
        let refusal = refused(path, &[&info(path).serial, "ext2"]);
        let backs = |r: &RefusalReason| matches!(r, RefusalReason::BacksLoop { loop_device, .. } if *loop_device == name(&device));
        assert!(refusal.reasons.iter().any(backs) && !refusal.can_be_overridden(), "{refusal}");
    }
    allowed(&device, &[&name(&device), "ext2"]);
    // A second loop device on the same file: the first is no longer free to write, even though
    // nothing is mounted from it.
    let Some(second) = fixture.attach(&image, &[]) else {
        return;
    };
    fixture.mount(&second, &["-o", "ro"]);
    refused_for_good(&device);
}

#[test]
fn an_active_swap_file_is_never_written() {
    let Some(mut fixture) = InterlockFixture::new() else {
        return;
    };
    let swap = fixture.image("swapfile", 8);
    fs::set_permissions(&swap, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    if !fixture.swapon(&swap) {
        return;
    }
    let refusal = refused_for_good(&swap);
    assert!(
        refusal.reasons.contains(&RefusalReason::Swap { device: swap.display().to_string() }),
        "{refusal}"
    );
    fixture.undo_last();
    allowed(&swap, &["swapfile", "swap"]);
}

/// A child says `locked`, and holds a lock on the file until its input ends.
#[track_caller]
fn refused_while_locked(child: &mut std::process::Child, image: &Path) {
    let mut line = String::new();
    let stdout = child.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).unwrap();
    assert_eq!(line, "locked\n");
    let name = image.file_name().unwrap().to_str().unwrap();
    let result = authorise(&info(image), &destroy(&[name]));
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(
        result.unwrap_err().reasons,
        [RefusalReason::Locked { device: image.display().to_string(), pid: Some(child.id()) }]
    );
}

#[test]
fn a_file_locked_by_another_program_is_never_written() {
    let Some(fixture) = InterlockFixture::new() else {
        return;
    };
    let image = fixture.image("vm.img", 1);
    // A record lock, as of a virtual machine, held until the end of the process.
    let script = "use Fcntl; open(F, '+<', $ARGV[0]) or die; my $lock = pack('s s x4 q q l', \
                  F_WRLCK, 0, 0, 0, 0); fcntl(F, F_SETLK, $lock) or die; $| = 1; print \
                  \"locked\\n\"; <STDIN>;";
    let child = std::process::Command::new("perl")
        .args(["-e", script])
        .arg(&image)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        println!("skipped: no perl to hold a lock");
        return;
    };
    refused_while_locked(&mut child, &image);
    allowed(&image, &["vm.img"]);
}

#[test]
fn a_file_locked_as_a_whole_by_another_program_is_never_written() {
    let Some(fixture) = InterlockFixture::new() else {
        return;
    };
    let image = fixture.image("db.img", 1);
    for shared in ["--exclusive", "--shared"] {
        let child = std::process::Command::new("flock")
            .arg(shared)
            .arg(&image)
            .args(["sh", "-c", "echo locked; read end"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn();
        let Ok(mut child) = child else {
            println!("skipped: no flock(1) to hold a lock");
            return;
        };
        refused_while_locked(&mut child, &image);
        allowed(&image, &["db.img"]);
    }
    // A lock of this process, as of a script that calls it.
    let own = File::open(&image).unwrap();
    own.lock().unwrap();
    allowed(&image, &["db.img"]);
}

#[test]
fn a_permit_locks_its_file_and_is_checked_at_every_opening() {
    let Some(mut fixture) = InterlockFixture::new() else {
        return;
    };
    let image = fixture.image("disk.img", 8);
    let locked = || try_run(&["flock", "-n", image.to_str().unwrap(), "true"]).is_err();
    let permit = authorise(&info(&image), &destroy(&["disk.img"])).unwrap();
    assert!(locked());
    permit.check(File::open(&image).unwrap()).unwrap();
    // The kernel attaches a loop device to a locked file.
    if fixture.attach(&image, &[]).is_some() {
        let error = permit.check(File::open(&image).unwrap()).unwrap_err();
        assert!(matches!(error, PermitError::InUse { .. }), "{error}");
    }
    drop(permit);
    assert!(!locked());
}

#[test]
fn what_is_in_the_partitions_of_an_image_must_be_named() {
    let Some(fixture) = InterlockFixture::new() else {
        return;
    };
    for (table, words) in [("gpt", ["gpt", "ext4"]), ("msdos", ["dos", "ext4"])] {
        let image = fixture.image("disk.img", 32);
        let path = image.to_str().unwrap();
        run(&["parted", "-s", path, "mklabel", table, "mkpart", "primary", "1MiB", "24MiB"]);
        run(&["mkfs.ext4", "-q", "-F", "-E", "offset=1048576", path, "16M"]);
        assert_eq!(refused(&image, &["disk.img"]).missing_words(), words);
        allowed(&image, &["disk.img", words[0], words[1]]);
    }
}

#[test]
fn a_recording_must_be_named() {
    let Some(fixture) = InterlockFixture::new() else {
        return;
    };
    // Any part of it tells: headers at both ends, index blocks behind the first.
    for (magic, at) in [
        (b"ASSAYREC", 0),
        (b"ASSAYREC", 4096),
        (b"ASSAYIDX", 8192),
        (b"ASSAYIDX", 12_288),
        (b"ASSAYREC", (3 << 20) - 4096),
        (b"ASSAYREC", (3 << 20) - (128 << 10) - 4096),
    ] {
        let image = fixture.image("disk.img", 3);
        let file = File::options().write(true).open(&image).unwrap();
        file.write_all_at(magic, at).unwrap();
        let missing = refused(&image, &["disk.img"]).missing_words();
        assert_eq!(missing, ["assay-recording"], "at {at}");
    }
}

#[test]
fn a_drive_replaced_under_its_name_is_detected() {
    let Some(fixture) = InterlockFixture::new() else {
        return;
    };
    let image = fixture.image("disk.img", 1);
    let before = info(&image);
    // A copy made before the first is removed cannot have its inode number.
    let other = fixture.image("other.img", 1);
    fs::rename(&other, &image).unwrap();
    let refusal = authorise(&before, &destroy(&["disk.img"])).unwrap_err();
    assert!(matches!(&refusal.reasons[..], [RefusalReason::Changed { .. }]), "{refusal}");
    // And so is a modified record.
    let mut forged = info(&image);
    forged.serial = "mine".into();
    assert!(authorise(&forged, &destroy(&["mine"])).is_err());
    let permit = authorise(&info(&image), &destroy(&["disk.img"])).unwrap();
    fs::remove_file(&image).unwrap();
    let replaced = fixture.image("disk.img", 1);
    assert!(matches!(
        permit.check(File::open(replaced).unwrap()),
        Err(PermitError::OtherDrive { .. })
    ));
}

#[test]
fn null_and_simulated_drives_need_no_confirmation_and_their_permit_opens_no_device() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for kind in [DriveKind::Null, DriveKind::Simulated] {
        let mut drive = DriveInfo::new(kind, "sim:x", "x", 1 << 30);
        // A forged record of a simulated drive with a real path does not permit that path.
        drive.path = Some(file.path().to_path_buf());
        let permit = authorise(&drive, &[]).unwrap();
        assert!(matches!(permit.check(file.as_file()), Err(PermitError::OtherDrive { .. })));
    }
}

#[test]
fn files_that_are_not_drives_are_rejected() {
    let dir = tempfile::TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("empty"), "").unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    std::os::unix::fs::symlink(at("nowhere"), at("dangling")).unwrap();
    assert!(matches!(identify(&at("none")), Err(IdentityError::Missing { .. })));
    assert!(matches!(identify(&at("dangling")), Err(IdentityError::Missing { .. })));
    assert!(matches!(identify(dir.path()), Err(IdentityError::Directory { .. })));
    assert!(matches!(identify(&at("empty")), Err(IdentityError::ZeroSize { .. })));
    assert!(matches!(
        identify(&at("socket")),
        Err(IdentityError::NotADrive { what: "socket", .. })
    ));
    assert!(matches!(
        identify(Path::new("/dev/zero")),
        Err(IdentityError::NotADrive { what: "character device", .. })
    ));
    assert!(matches!(
        identify(&at("empty").join("x")),
        Err(IdentityError::Io { .. } | IdentityError::Missing { .. })
    ));
    for error in [
        identify(&at("none")),
        identify(dir.path()),
        identify(&at("empty")),
        identify(Path::new("/dev/zero")),
    ] {
        let message = error.unwrap_err().to_string();
        assert!(message.contains(['/', '`']) && message.len() > 40, "no advice: {message}");
    }
}

#[test]
fn an_unattached_loop_device_is_rejected_with_advice() {
    let Some(_fixture) = InterlockFixture::new() else {
        return;
    };
    let free = (0..256).map(|n| PathBuf::from(format!("/dev/loop{n}"))).find(|p| {
        p.exists() && !Path::new("/sys/block").join(name(p)).join("loop/backing_file").exists()
    });
    let Some(free) = free else {
        println!("skipped: no free loop device");
        return;
    };
    let message = identify(&free).unwrap_err().to_string();
    assert!(message.contains("zero size") && message.contains("losetup"), "{message}");
    assert!(!list_drives().iter().any(|d| d.name == name(&free)));
}

/// Built-in detection and libblkid must use the same names; otherwise a user would confirm one
/// signature twice.
#[test]
fn signature_names_are_those_of_wipefs() {
    let Some(fixture) = InterlockFixture::new() else {
        return;
    };
    let made: [(&str, &[&str]); 7] = [
        ("ext2", &["mkfs.ext2", "-q", "-F"]),
        ("ext3", &["mkfs.ext3", "-q", "-F"]),
        ("ext4", &["mkfs.ext4", "-q", "-F"]),
        ("jbd", &["mkfs.ext4", "-q", "-F", "-O", "journal_dev"]),
        ("swap", &["mkswap"]),
        ("gpt", &["parted", "-s"]),
        ("dos", &["parted", "-s"]),
    ];
    for (word, command) in made {
        let image = fixture.image(word, 16);
        let mut command = command.to_vec();
        command.push(image.to_str().unwrap());
        match word {
            "gpt" => command.extend(["mklabel", "gpt"]),
            "dos" => command.extend(["mklabel", "msdos"]),
            _ => {}
        }
        run(&command);
        let window = signature::Window::read(&File::open(&image).unwrap(), 0, 16 << 20).unwrap();
        let mut own: Vec<String> = signature::detect(&window).into_iter().map(|f| f.word).collect();
        own.dedup();
        assert_eq!(own, [word]);
        if Path::new("/usr/sbin/wipefs").exists() || Path::new("/sbin/wipefs").exists() {
            let theirs = signature::wipefs(&image);
            assert!(
                !theirs.is_empty() && theirs.iter().all(|f| f.word == word),
                "{word}: {theirs:?}"
            );
        } else {
            println!("skipped: no wipefs to compare with");
        }
        // A signature removed by wipefs is no longer detected.
        run(&["wipefs", "-afq", image.to_str().unwrap()]);
        let window = signature::Window::read(&File::open(&image).unwrap(), 0, 16 << 20).unwrap();
        assert_eq!(signature::detect(&window), [], "{word}");
    }
}

/// A signature known only to libblkid is protected, too.
#[test]
fn signatures_known_only_to_wipefs_must_be_named() {
    let Some(fixture) = InterlockFixture::new() else {
        return;
    };
    let image = fixture.image("disk.img", 4);
    // fs/romfs/romfs_fs.h (include/uapi/linux): ROMSB_WORD0 and ROMSB_WORD1 at the start.
    let file = File::options().write(true).open(&image).unwrap();
    file.write_all_at(b"-rom1fs-", 0).unwrap();
    let theirs = signature::wipefs(&image);
    if theirs.is_empty() {
        println!("skipped: no wipefs, or one without romfs");
        return;
    }
    assert_eq!(refused(&image, &["disk.img"]).missing_words(), ["romfs"]);
    allowed(&image, &["disk.img", "romfs"]);
}

/// A name that is not UTF-8 must not make a manifest fail.
#[test]
fn any_file_name_can_be_stored() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().join(std::ffi::OsStr::from_bytes(b"odd\xFF.img"));
    fs::write(&path, [0; 4096]).unwrap();
    let drive = info(&path);
    assert_eq!(drive.serial, "odd\u{FFFD}.img");
    assert!(serde_json::to_string(&drive).unwrap().contains("odd\u{FFFD}.img"));
    allowed(&path, &["odd\u{FFFD}.img"]);
}
