use std::os::unix::fs::MetadataExt;

use super::*;

/// A /proc of its own with a process and its parent.
struct Tree(tempfile::TempDir);

impl Tree {
    fn new() -> Tree {
        let tree = Tree(tempfile::tempdir().unwrap());
        let own = std::process::id();
        tree.file(&format!("{own}/stat"), &format!("{own} (a) b) S 41 1 1"));
        tree.file("41/stat", "41 (flock) S 1 1 1");
        tree.file("1/stat", "1 (init) S 0 1 1");
        tree
    }

    fn file(&self, name: &str, text: &str) {
        let path = self.0.path().join("proc").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn root(&self) -> SystemRoot {
        SystemRoot::at(self.0.path())
    }
}

const FILE: (DeviceNumber, u64) = (DeviceNumber { major: 254, minor: 1 }, 77);

#[test]
fn a_lock_that_an_ancestor_has_open_is_its_own() {
    let tree = Tree::new();
    let line = |pid: u32| format!("5: FLOCK  ADVISORY  WRITE {pid} fe:01:77 0 EOF");
    let held = |pid| holders(&tree.root(), &parse_locks(&line(pid)), FILE, Path::new("x"));
    assert_eq!(held(41), [Some(41)], "no caller has it open");
    // The process that locked may have ended, and its caller still has the lock open.
    tree.file("41/fdinfo/9", &format!("pos:\t0\nflags:\t0100000\nlock:\t{}\n", line(40)));
    assert_eq!(held(40), []);
    assert_eq!(held(50), [Some(50)]);
    // Record locks are not inherited.
    let record = parse_locks("5: POSIX  ADVISORY  WRITE 41 fe:01:77 0 EOF");
    assert_eq!(holders(&tree.root(), &record, FILE, Path::new("x")), [Some(41)]);
}

#[test]
fn where_device_numbers_differ_the_file_is_asked() {
    let tree = Tree::new();
    let file = tempfile::NamedTempFile::new().unwrap();
    let inode = file.as_file().metadata().unwrap().ino();
    let btrfs = DeviceNumber { major: 0, minor: 44 };
    let locks = parse_locks(&format!("5: FLOCK  ADVISORY  WRITE 50 00:2b:{inode} 0 EOF"));
    let held = || holders(&tree.root(), &locks, (btrfs, inode), file.path());
    assert_eq!(held(), [], "a lock on another file with this inode");
    file.as_file().lock().unwrap();
    assert_eq!(held(), [Some(50)]);
    // A lock of another PID namespace is in no table.
    let on_a_disk = (FILE.0, inode);
    assert_eq!(holders(&tree.root(), &locks, on_a_disk, file.path()), [None]);
    file.as_file().unlock().unwrap();
    assert_eq!(holders(&tree.root(), &locks, on_a_disk, file.path()), []);
}
