use std::fs::File;
use std::os::unix::fs::FileExt;

use assay_units::{DataClass, Op};

use super::*;

#[allow(clippy::disallowed_methods, reason = "a temporary file is no drive")]
fn drive() -> (tempfile::TempPath, DriveHandle) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let bytes: Vec<u8> = (0..64 * 4096_u32).map(|at| (at / 4096) as u8).collect();
    file.as_file().write_all_at(&bytes, 0).unwrap();
    let path = file.into_temp_path();
    let open = File::options().read(true).write(true).open(&path).unwrap();
    let handle = DriveHandle::new("file", open, 512).unwrap();
    (path, handle)
}

fn io(op: Op, slot: u32, block: u64) -> Io {
    Io {
        op,
        data: DataClass::Incompressible,
        slot,
        len_bytes: 4096,
        offset_bytes: block * 4096,
        fua: false,
        priority: 0,
    }
}

#[test]
fn every_io_completes_once_with_its_own_data() {
    let (_path, drive) = drive();
    let mut target = ThreadsTarget::new(drive, 8, 4096, BlockingCalls::default()).unwrap();
    let mut block_of = [0_u64; 8];
    let (mut next, mut seen) = (0_u64, 0);
    let mut free: Vec<u32> = (0..8).collect();
    let mut out = Vec::new();
    while seen < 400 {
        let batch: Vec<Io> = free
            .drain(..)
            .map(|slot| {
                block_of[slot as usize] = next % 64;
                next += 1;
                io(Op::Read, slot, (next - 1) % 64)
            })
            .collect();
        target.submit(&batch).unwrap();
        target.reap(1, Nanos::MAX, &mut out).unwrap();
        assert!(!out.is_empty());
        for completion in out.drain(..) {
            assert_eq!(completion.result, 4096);
            let block = block_of[completion.slot as usize] as u8;
            let buffer = target.buffer(completion.slot).unwrap();
            assert!(buffer[..4096].iter().all(|&byte| byte == block));
            free.push(completion.slot);
            seen += 1;
        }
    }
}

#[test]
fn waiting_ends_at_its_time_and_errors_are_of_their_io() {
    let (_path, drive) = drive();
    let mut target = ThreadsTarget::new(drive, 2, 4096, BlockingCalls::default()).unwrap();
    let mut out = Vec::new();
    let until = target.now() + Nanos::from_millis(20);
    target.reap(1, until, &mut out).unwrap();
    assert!(out.is_empty() && target.now() >= until);
    // Longer than its buffer; beyond the end of the file.
    let long = Io { len_bytes: 8192, ..io(Op::Write, 0, 0) };
    target.submit(&[long, io(Op::Read, 1, 64)]).unwrap();
    target.reap(2, Nanos::MAX, &mut out).unwrap();
    out.sort_by_key(|completion| completion.slot);
    let results: Vec<i32> = out.iter().map(|completion| completion.result).collect();
    assert_eq!(results, [-libc::EINVAL, 0]);
}

#[test]
fn writes_reach_the_file_and_flushes_complete() {
    let (path, drive) = drive();
    let mut target = ThreadsTarget::new(drive, 4, 4096, BlockingCalls::new(true, true)).unwrap();
    target.buffer(2).unwrap().fill(0xaa);
    let mut out = Vec::new();
    let write = Io { fua: true, priority: 0, ..io(Op::Write, 2, 5) };
    target.submit(&[write]).unwrap();
    target.reap(1, Nanos::MAX, &mut out).unwrap();
    target.submit(&[io(Op::Flush, 0, 0)]).unwrap();
    target.reap(1, Nanos::MAX, &mut out).unwrap();
    assert_eq!(out.len(), 2);
    assert!(std::fs::read(&path).unwrap()[5 * 4096..6 * 4096].iter().all(|&byte| byte == 0xaa));
    // Dropped with I/Os in flight: it waits for them.
    target.submit(&[io(Op::Read, 0, 0), io(Op::Read, 1, 1)]).unwrap();
    drop(target);
}

/// A file system that promises nothing refuses such writes, so that this shows that they are asked
/// for.
#[test]
#[allow(clippy::disallowed_methods, reason = "a temporary file is no drive")]
fn atomic_writes_are_refused_where_nothing_promises_them() {
    use crate::uring::{UringOptions, UringTarget};
    let open = || {
        let file = tempfile::tempfile_in("/dev/shm").unwrap();
        file.set_len(4096).unwrap();
        DriveHandle::new("shm", file, 512).unwrap()
    };
    let result = |target: &mut dyn FnMut(&[Io], &mut Vec<Completion>)| {
        let mut out = Vec::new();
        target(&[io(Op::Write, 0, 0)], &mut out);
        out[0].result
    };
    let until = Nanos(u64::MAX);
    for (atomic, expected) in [(false, 4096), (true, -libc::EOPNOTSUPP)] {
        let calls = BlockingCalls::default().with_atomic_writes(atomic);
        let mut threads = ThreadsTarget::new(open(), 1, 4096, calls).unwrap();
        let done = result(&mut |batch, out| {
            threads.submit(batch).unwrap();
            threads.reap(1, until, out).unwrap();
        });
        assert_eq!(done, expected);
        let options = UringOptions { atomic_writes: atomic, ..UringOptions::default() };
        let Ok(mut ring) = UringTarget::new(open(), 1, 4096, options) else {
            continue;
        };
        let done = result(&mut |batch, out| {
            ring.submit(batch).unwrap();
            ring.reap(1, until, out).unwrap();
        });
        assert_eq!(done, expected);
    }
}
