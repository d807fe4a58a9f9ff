use super::*;
use crate::identity::{DeviceNumber, DriveKind};

#[test]
fn counters_of_bcache_are_read_from_sysfs() {
    let dir = tempfile::TempDir::new().unwrap();
    let node = dir.path().join("sys/devices/virtual/block/bcache0");
    let stats = node.join("bcache/stats_total");
    std::fs::create_dir_all(&stats).unwrap();
    std::fs::create_dir_all(node.join("bcache0p1")).unwrap();
    std::fs::create_dir_all(dir.path().join("sys/dev/block")).unwrap();
    for (number, path) in [("252:0", node.clone()), ("252:1", node.join("bcache0p1"))] {
        std::fs::write(path.join("dev"), number).unwrap();
        let link = dir.path().join("sys/dev/block").join(number);
        std::os::unix::fs::symlink(path, link).unwrap();
    }
    std::fs::write(node.join("bcache0p1/partition"), "1").unwrap();
    let of = |minor: u32| {
        let mut info = DriveInfo::new(DriveKind::Block, "/dev/bcache0", "bcache0", 1 << 30);
        info.device = Some(DeviceNumber { major: 252, minor });
        block_cache_at(&SystemRoot::at(dir.path()), &info)
    };
    assert_eq!(of(0), None, "a device without the counters");
    std::fs::write(stats.join("cache_hits"), "750\n").unwrap();
    std::fs::write(stats.join("cache_misses"), "250\n").unwrap();
    std::fs::write(node.join("bcache/dirty_data"), "1.5M\n").unwrap();
    let expected = BlockCache { read_hits: 750, reads: 1000, dirty_bytes: Some(3 << 19) };
    assert_eq!(of(0), Some(expected));
    assert_eq!(of(1), Some(expected), "a partition of it");
}

#[test]
fn rounded_sizes_are_powers_of_1024() {
    let sizes = [("0", 0), ("512", 512), ("4.0k", 4096), ("1.5M", 3 << 19), ("12.0G", 12 << 30)];
    for (text, bytes) in sizes {
        assert_eq!(rounded_bytes(text), Some(bytes), "{text}");
    }
    for text in ["", "k", "1.5x", "-1k", "1e30Y", "nan", "\u{b5}"] {
        assert_eq!(rounded_bytes(text), None, "{text}");
    }
}

/// The example of the kernel's documentation of dm-cache, between another target and the end.
#[test]
fn the_status_of_dm_cache_is_parsed() {
    let mut bytes = Vec::new();
    let mut add = |kind: &str, text: &str| {
        let (at, mut body) = (bytes.len(), text.as_bytes().to_vec());
        body.resize((body.len() + 8) / 8 * 8, 0);
        bytes.extend_from_slice(&[0; 20]);
        bytes.extend_from_slice(&((at + 40 + body.len()) as u32).to_ne_bytes());
        let mut name = kind.as_bytes().to_vec();
        name.resize(16, 0);
        bytes.extend_from_slice(&name);
        bytes.extend_from_slice(&body);
    };
    add("linear", "");
    add(
        "cache",
        "8 72/4096 128 5/16384 1073 17 200 3 0 12 7 1 writeback 2 migration_threshold 2048 smq 0 \
         rw -",
    );
    let targets = targets_of(2, &bytes);
    let kinds: Vec<&str> = targets.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["linear", "cache"]);
    let expected = BlockCache { read_hits: 1073, reads: 1090, dirty_bytes: Some(7 * 128 * 512) };
    assert_eq!(of_status(&targets[1].1), Some(expected));
    assert_eq!(of_status("Fail"), None);
    assert_eq!(of_status("8 72/4096 128"), None);
    // Cut off anywhere, or with offsets that lead nowhere.
    for end in 0..bytes.len() {
        assert!(targets_of(9, &bytes[..end]).len() <= 2);
    }
    assert!(targets_of(u32::MAX, &[0xff; 400]).len() < 400);
}
