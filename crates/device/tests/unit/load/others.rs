use std::fs;

use super::*;

/// A system with one drive of two partitions, whose counters the test sets.
struct Machine {
    folder: tempfile::TempDir,
    root: SystemRoot,
    file: File,
}

impl Machine {
    fn new() -> Machine {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "").unwrap();
        let file = File::open(at("file")).unwrap();
        let number = split_device_number(file.metadata().unwrap().dev());
        fs::create_dir_all(at("sys/block/d/d1")).unwrap();
        fs::create_dir_all(at("sys/dev/block")).unwrap();
        fs::create_dir_all(at("proc/self")).unwrap();
        fs::write(at("sys/block/d/dev"), "1:2\n").unwrap();
        fs::write(at("sys/block/d/d1/dev"), format!("{number}\n")).unwrap();
        fs::write(at("sys/block/d/d1/partition"), "1\n").unwrap();
        let link = at(&format!("sys/dev/block/{number}"));
        std::os::unix::fs::symlink(at("sys/block/d/d1"), link).unwrap();
        let root = SystemRoot::at(folder.path());
        Machine { folder, root, file }
    }

    /// Bytes that the drive and this process have moved.
    fn set(&self, device: [u64; 2], own: [u64; 2]) {
        let [read, written] = device.map(|bytes| bytes / 512);
        let stat = format!("9 9 {read} 9 9 9 {written} 9 9 9 9\n");
        fs::write(self.folder.path().join("sys/block/d/stat"), stat).unwrap();
        let io = format!("rchar: 9\nread_bytes: {}\nwrite_bytes: {}\n", own[0], own[1]);
        fs::write(self.folder.path().join("proc/self/io"), io).unwrap();
    }
}

const MIB: u64 = 1 << 20;

#[test]
fn what_this_process_did_not_move_others_did() {
    let machine = Machine::new();
    machine.set([100 * MIB, 7 * MIB], [3 * MIB, 0]);
    let start = || OthersWatch::start(&machine.root, [&machine.file, &machine.file].into_iter());
    let watch = start().unwrap();
    machine.set([1100 * MIB, 7 * MIB], [1003 * MIB, 0]);
    assert_eq!(watch.end(&machine.root), None, "all of it was its own");
    machine.set([1100 * MIB, 107 * MIB], [903 * MIB, 0]);
    let found = OthersIo { read_bytes: 100 * MIB, written_bytes: 100 * MIB, share_pct: 18 };
    assert_eq!(watch.end(&machine.root), Some(found));
    machine.set([1100 * MIB, 11 * MIB], [1003 * MIB, 0]);
    assert_eq!(watch.end(&machine.root), None, "four MiB may be metadata");
    fs::remove_file(machine.folder.path().join("proc/self/io")).unwrap();
    assert!(start().is_none() && watch.end(&machine.root).is_none());
}
