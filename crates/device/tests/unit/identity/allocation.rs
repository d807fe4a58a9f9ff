use std::os::unix::fs::FileExt;

use super::*;

const MIB: u64 = 1 << 20;

/// A file beside this program, on a file system of storage.
fn file() -> (tempfile::TempPath, File) {
    let program = std::env::current_exe().unwrap();
    let file = tempfile::NamedTempFile::new_in(program.parent().unwrap()).unwrap();
    let (file, path) = file.into_parts();
    (path, file)
}

#[test]
fn holes_and_unwritten_extents_are_on_no_drive() {
    let (path, file) = file();
    file.set_len(8 * MIB).unwrap();
    let of = |offset, len| allocation(&path, offset, len).unwrap();
    assert_eq!(of(0, 8 * MIB).unwritten_bytes, 8 * MIB);
    file.write_all_at(&vec![7; MIB as usize], 2 * MIB).unwrap();
    file.sync_all().unwrap();
    assert_eq!(of(0, 8 * MIB).unwritten_bytes, 7 * MIB);
    assert_eq!((of(2 * MIB, MIB).unwritten_bytes, of(2 * MIB, MIB).len_bytes), (0, MIB));
    assert_eq!(of(MIB, 2 * MIB).unwritten_bytes, MIB);
    let mode = rustix::fs::FallocateFlags::empty();
    if rustix::fs::fallocate(&file, mode, 0, 8 * MIB).is_ok() {
        assert_eq!(of(0, 8 * MIB).unwritten_bytes, 7 * MIB, "allocated, not written");
    }
    // Beyond the end there is nothing.
    assert_eq!(of(8 * MIB, MIB), Allocation::default());
}

#[test]
fn a_file_in_many_fragments_is_counted_whole() {
    let (path, file) = file();
    const FRAGMENTS: u64 = 1200;
    for number in 0..FRAGMENTS {
        file.write_all_at(&[7; 4096], number * 8192).unwrap();
    }
    file.set_len(FRAGMENTS * 8192).unwrap();
    file.sync_all().unwrap();
    let found = allocation(&path, 0, u64::MAX).unwrap();
    assert_eq!(found.unwritten_bytes, FRAGMENTS * 4096);
    assert_eq!(by_seeking(&file, 0, FRAGMENTS * 8192).unwrap(), (FRAGMENTS * 4096, 0));
}
