use std::io::Write;

use super::*;

const LEN: u64 = 4 << 20;

/// A file beside this program, on storage, with all pages written and cached.
fn cached_file() -> File {
    let program = std::env::current_exe().expect("the path of this program");
    let folder = program.parent().expect("its folder");
    let mut file = tempfile::tempfile_in(folder).expect("a temporary file");
    file.write_all(&vec![7; LEN as usize]).expect("write");
    file
}

#[test]
fn both_system_calls_count_the_pages_of_a_range() {
    let file = cached_file();
    let page_bytes = rustix::param::page_size() as u64;
    for (offset, len) in [(0, LEN), (LEN / 2, LEN / 4), (page_bytes, page_bytes)] {
        let pages = len / page_bytes;
        match cached_pages(&file, offset, len) {
            Ok(found) => assert_eq!(found, pages, "at {offset}"),
            Err(error) => assert_eq!(error.raw_os_error(), Some(libc::ENOSYS)),
        }
        assert_eq!(resident_pages(&file, offset, len).expect("mincore"), pages);
    }
    // Beyond the end there is no page, and nothing is mapped.
    assert_eq!(resident_pages(&file, LEN, LEN).expect("mincore"), 0);
}

#[test]
fn a_dropped_range_is_read_from_the_drive() {
    let file = cached_file();
    assert_eq!(drop_range(&file, 0, LEN), ReadSource::Drive);
    assert_eq!(resident_pages(&file, 0, LEN).expect("mincore"), 0);
}

/// A locked page stays in the cache, and so the drive does not answer.
#[test]
fn pages_that_stay_are_memory_of_the_host() {
    let file = cached_file();
    let bytes = rustix::param::page_size();
    // SAFETY: a new mapping at an address of the kernel's choice, never accessed, unmapped below.
    let base = unsafe {
        let flags = rustix::mm::MapFlags::SHARED;
        rustix::mm::mmap(std::ptr::null_mut(), bytes, rustix::mm::ProtFlags::READ, flags, &file, 0)
    }
    .expect("a mapping");
    // SAFETY: the mapping made above.
    unsafe { rustix::mm::mlock(base, bytes) }.expect("mlock");
    assert_eq!(drop_range(&file, 0, LEN), ReadSource::HostMemory);
    assert_eq!(drop_range(&file, LEN / 2, LEN / 2), ReadSource::Drive);
    // SAFETY: the mapping made above, no longer used.
    unsafe { rustix::mm::munmap(base, bytes) }.expect("munmap");
}
