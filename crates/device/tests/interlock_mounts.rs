//! The interlock on files that the kernel uses by another name: in an overlay, or mounted as they
//! are (EROFS, Linux 6.12). Tests that need root print the reason and pass.

use std::fs;
use std::path::{Path, PathBuf};

use assay_device::interlock::{RefusalReason, authorise};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use crate::interlock_fixture::{InterlockFixture, allowed, destroy, info, refused, run, try_run};

/// Checks one overlay, mounted by this command in the fixture's folder; its layers are there.
fn checks_overlay(layers: &str, folder: &str) {
    let Some(mut fixture) = InterlockFixture::new() else {
        return;
    };
    for folder in ["lower", "layers", "layers/upper", "layers/work", "merged"] {
        fs::create_dir(fixture.path(folder)).unwrap();
    }
    fixture.image("layers/upper/disk.img", 16);
    let merged = fixture.path("merged").display().to_string();
    let root = fixture.path("").display().to_string();
    let layers = layers.replace("ROOT", root.trim_end_matches('/'));
    let script =
        format!("cd '{root}{folder}' && mount -t overlay overlay -o '{layers}' '{merged}'");
    if let Err(error) = try_run(&["sh", "-c", &script]) {
        println!("skipped: no overlays here: {error}");
        return;
    }
    fixture.undo_with(&["umount", &merged]);
    let [upper, merged] =
        ["layers/upper/disk.img", "merged/disk.img"].map(|name| fixture.path(name));
    for (path, user) in [(&upper, &merged), (&merged, &upper)] {
        allowed(path, &["disk.img"]);
        if fixture.attach(user, &[]).is_none() {
            return;
        }
        let backs = |r: &RefusalReason| matches!(r, RefusalReason::BacksLoop { .. });
        let refusal = refused(path, &["disk.img"]);
        assert!(refusal.reasons.iter().any(backs), "{refusal}");
        fixture.undo_last();
        let mut holder = std::process::Command::new("flock")
            .arg(user)
            .args(["sh", "-c", "echo locked; read line"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = std::io::BufReader::new(holder.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut output, &mut line).unwrap();
        let locked = |r: &RefusalReason| matches!(r, RefusalReason::Locked { .. });
        let refusal = refused(path, &["disk.img"]);
        assert!(refusal.reasons.iter().any(locked), "{refusal}");
        drop(holder.stdin.take());
        holder.wait().unwrap();
        // While a permit is held, the other path is locked too, if it can be found.
        let permit = authorise(&info(path), &destroy(&["disk.img"])).unwrap();
        let taken = try_run(&["flock", "-n", user.to_str().unwrap(), "true"]);
        assert!(taken.is_err() || !folder.is_empty(), "{user:?} is free");
        drop(permit);
    }
}

/// The path in an overlay and that in its layer are one file: what uses one of them uses both.
#[test]
fn a_file_in_use_by_its_path_in_an_overlay_is_in_use() {
    let layers = "lowerdir=ROOT/lower,upperdir=ROOT/layers/upper,workdir=ROOT/layers/work";
    checks_overlay(layers, "");
}

#[test]
fn layers_by_relative_paths_are_layers() {
    // Above the mount point, and in a folder that the table of mounts does not name.
    checks_overlay("lowerdir=lower,upperdir=layers/upper,workdir=layers/work", "");
    checks_overlay("lowerdir=../lower,upperdir=upper,workdir=work", "layers");
}

/// A minimal EROFS image (fs/erofs/erofs_fs.h): superblock at 1024, an empty root folder.
fn erofs(path: &Path) {
    let mut image = vec![0u8; 1 << 20];
    let fields: [(usize, &[u8]); 8] = [
        (1024, &0xE0F5_E1E2_u32.to_le_bytes()),
        (1024 + 12, &[12]),                       // log2 of the block size
        (1024 + 16, &1u64.to_le_bytes()),         // inodes
        (1024 + 36, &256u32.to_le_bytes()),       // blocks
        (1024 + 40, &1u32.to_le_bytes()),         // block of the inodes
        (4096 + 4, &0o040_755_u16.to_le_bytes()), // mode of the root folder
        (4096 + 6, &2u16.to_le_bytes()),          // its links
        (4096 + 20, &2u32.to_le_bytes()),         // its number
    ];
    for (at, bytes) in fields {
        image[at..at + bytes.len()].copy_from_slice(bytes);
    }
    fs::write(path, image).unwrap();
}

/// mount(2) of this name; mount(8) would attach a loop device.
struct Mounted(PathBuf);

impl Mounted {
    fn at(source: &Path, point: PathBuf) -> Option<Mounted> {
        fs::create_dir_all(&point).unwrap();
        let mounted = mount(source, &point, "erofs", MountFlags::RDONLY, None);
        mounted.map_err(|e| println!("skipped: no mounts of files: {e}")).ok()?;
        Some(Mounted(point))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        unmount(&self.0, UnmountFlags::empty()).unwrap();
    }
}

#[test]
fn a_file_that_is_mounted_by_any_name_is_never_written() {
    let Some(fixture) = InterlockFixture::new() else {
        return;
    };
    let image = fixture.path("disk.img");
    let alias = fixture.path("alias.img");
    let words = ["disk.img", "erofs"];
    let sources: [fn(&Path, &Path); 3] = [
        |_, _| (),
        |image, alias| fs::hard_link(image, alias).unwrap(),
        |image, alias| std::os::unix::fs::symlink(image, alias).unwrap(),
    ];
    for (number, make) in sources.into_iter().enumerate() {
        erofs(&image);
        assert_eq!(refused(&image, &["disk.img"]).missing_words(), ["erofs"]);
        allowed(&image, &words);
        make(&image, &alias);
        let source = [&image, &alias, &alias][number];
        let Some(mounted) = Mounted::at(source, fixture.path("point")) else {
            return;
        };
        let in_use = |refusal: assay_device::interlock::Refusal| {
            assert!(!refusal.can_be_overridden(), "{refusal}");
            assert_eq!(refusal.reasons.len(), 1, "{refusal}");
        };
        in_use(refused(&image, &words));
        // The name that was mounted is gone.
        match number {
            0 => fs::rename(&image, &alias).unwrap(),
            _ => fs::remove_file(&alias).unwrap(),
        }
        let (path, name) = match number {
            0 => (&alias, "alias.img"),
            _ => (&image, "disk.img"),
        };
        let refusal = refused(path, &[name, "erofs"]);
        let open = |r: &RefusalReason| matches!(r, RefusalReason::OpenElsewhere { .. });
        assert!(refusal.reasons.iter().any(open), "{refusal}");
        in_use(refusal);
        drop(mounted);
        allowed(path, &[name, "erofs"]);
        let _ = fs::remove_file(&alias);
    }
}

/// `flock FILE assay ...` has the file open too.
#[test]
fn a_caller_may_hold_the_lock_of_an_erofs_image() {
    let Some(fixture) = InterlockFixture::new() else {
        return;
    };
    let image = fixture.path("disk.img");
    erofs(&image);
    let held = fs::File::open(&image).unwrap();
    assert!(authorise(&info(&image), &destroy(&["disk.img", "erofs"])).is_err());
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    allowed(&image, &["disk.img", "erofs"]);
}

#[test]
fn file_systems_in_partitions_that_the_kernel_does_not_show_must_be_named() {
    let Some(mut fixture) = InterlockFixture::new() else {
        return;
    };
    let image = fixture.image("disk.img", 64);
    let path = image.to_str().unwrap();
    let make = |table: &[&str], offset: &str| {
        fs::write(path, vec![0; 64 << 20]).unwrap();
        run(&[&["parted", "-s", path, "mklabel"], table].concat());
        let offset = format!("offset={offset}");
        run(&["mkfs.ext4", "-q", "-F", "-E", &offset, path, "8M"]);
    };
    let logical = ["msdos", "mkpart", "extended", "1MiB", "60MiB"];
    let logical = [&logical[..], &["mkpart", "logical", "2MiB", "20MiB"]].concat();
    let missing = |path: &Path, words: &[&str]| refused(path, words).missing_words();
    make(&logical, "2097152");
    assert_eq!(missing(&image, &["disk.img", "dos"]), ["ext4"]);
    // A GPT of which only the copy at the end is left.
    let gpt = ["gpt", "mkpart", "a", "1MiB", "20MiB"];
    make(&gpt, "1048576");
    assert_eq!(missing(&image, &["disk.img", "gpt"]), ["ext4"]);
    let table = fs::File::options().write(true).open(&image).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&table, &[0; 34 * 512], 0).unwrap();
    assert_eq!(missing(&image, &["disk.img", "gpt"]), ["ext4"]);
    // On a block device that the kernel has not scanned.
    make(&gpt, "1048576");
    let Some(device) = fixture.attach(&image, &[]) else {
        return;
    };
    let name = crate::interlock_fixture::name(&device);
    assert_eq!(missing(&device, &[&name, "gpt"]), ["ext4"]);
}
