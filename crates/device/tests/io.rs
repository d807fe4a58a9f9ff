//! I/O engines on real files: bytes, errors, time.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

use assay_device::identity::identify;
use assay_device::interlock::{WritePermit, authorise};
use assay_device::open::{OpenError, open_drive};
use assay_io::drive_handle::DriveHandle;
use assay_io::sync::SyncTarget;
use assay_io::uring::{UringOptions, UringTarget};
use assay_io::{Completion, DataClass, Io, Nanos, Op, Target};

const BLOCK: u32 = 4096;
const BLOCKS: u64 = 64;

/// A file whose block `n` holds the byte `n`.
fn file(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("drive.img");
    let bytes: Vec<u8> = (0..BLOCKS).flat_map(|n| [n as u8; BLOCK as usize]).collect();
    fs::write(&path, bytes).unwrap();
    path
}

fn open(path: &Path, write: bool) -> (DriveHandle, Option<WritePermit>) {
    let info = identify(path).unwrap();
    let permit = write.then(|| authorise(&info, &["drive.img".to_owned()]).unwrap());
    (open_drive(&info, info.direct_io, permit.as_ref()).unwrap(), permit)
}

fn io(op: Op, slot: u32, block: u64) -> Io {
    Io {
        op,
        data: DataClass::Incompressible,
        slot,
        len_bytes: BLOCK,
        offset_bytes: block * u64::from(BLOCK),
        fua: false,
        priority: 0,
    }
}

/// Submit, and wait for all.
fn all<T: Target>(target: &mut T, batch: &[Io]) -> Vec<Completion> {
    let mut done = Vec::new();
    target.submit(batch).unwrap();
    while done.len() < batch.len() {
        target.reap(1, Nanos::MAX, &mut done).unwrap();
    }
    done.sort_by_key(|c| c.slot);
    done
}

/// The same test for both real engines.
fn with_engines(
    write: bool,
    test: impl Fn(&mut dyn FnMut(&[Io]) -> Vec<Completion>, &Path, &dyn Fn(u32) -> u8),
) {
    let folder = tempfile::tempdir().unwrap();
    for uring in [false, true] {
        let path = file(folder.path());
        let (drive, _permit) = open(&path, write);
        if uring {
            let target = UringTarget::new(drive, 16, BLOCK, UringOptions::default()).unwrap();
            assert!(target.has_fixed_buffers());
            run(target, &path, &test);
        } else {
            run(SyncTarget::new(drive, 16, BLOCK).unwrap(), &path, &test);
        }
    }
}

fn run<T: Target>(
    target: T,
    path: &Path,
    test: &impl Fn(&mut dyn FnMut(&[Io]) -> Vec<Completion>, &Path, &dyn Fn(u32) -> u8),
) {
    let target = std::cell::RefCell::new(target);
    // Every write carries its slot number plus 100.
    let mut submit = |batch: &[Io]| {
        let mut target = target.borrow_mut();
        for io in batch.iter().filter(|io| io.op == Op::Write) {
            target.buffer(io.slot).unwrap().fill(100 + io.slot as u8);
        }
        all(&mut *target, batch)
    };
    let first_byte = |slot: u32| target.borrow_mut().buffer(slot).unwrap()[17];
    test(&mut submit, path, &first_byte);
}

#[test]
fn reads_fill_their_slots() {
    with_engines(false, |submit, _, byte| {
        let batch: Vec<Io> =
            (0..16).map(|slot| io(Op::Read, slot, 63 - u64::from(slot) * 3)).collect();
        for done in submit(&batch) {
            assert!(done.moved(BLOCK), "{done:?}");
            assert_eq!(byte(done.slot), 63 - done.slot as u8 * 3);
        }
    });
}

#[test]
fn writes_change_only_their_range() {
    with_engines(true, |submit, path, _| {
        let done = submit(&[io(Op::Write, 3, 10), io(Op::Write, 5, 63)]);
        assert!(done.iter().all(|c| c.moved(BLOCK)));
        assert!(submit(&[io(Op::Flush, 0, 0)])[0].result >= 0);
        let bytes = fs::read(path).unwrap();
        for (block, bytes) in bytes.chunks(BLOCK as usize).enumerate() {
            let expected = match block {
                10 => 103,
                63 => 105,
                n => n as u8,
            };
            assert!(bytes.iter().all(|&b| b == expected), "block {block}");
        }
    });
}

#[test]
fn discard_and_write_zeroes_give_zeroes() {
    with_engines(true, |submit, path, _| {
        for (op, block) in [(Op::Discard, 7), (Op::WriteZeroes, 9)] {
            let done = submit(&[io(op, 0, block)]);
            assert!(done[0].moved(BLOCK), "{op:?}: {done:?}");
        }
        let bytes = fs::read(path).unwrap();
        let block = |n: usize| &bytes[n * BLOCK as usize..][..BLOCK as usize];
        assert!(block(7).iter().chain(block(9)).all(|&b| b == 0));
        assert!(block(8).iter().all(|&b| b == 8));
    });
}

#[test]
fn a_read_beyond_the_end_is_short_and_a_write_without_permission_fails() {
    with_engines(false, |submit, path, _| {
        let done = submit(&[io(Op::Read, 0, BLOCKS), io(Op::Read, 1, 1)]);
        assert!(!done[0].moved(BLOCK) && done[1].moved(BLOCK), "{done:?}");
        let before = fs::read(path).unwrap();
        let done = submit(&[io(Op::Write, 0, 1)]);
        assert!(done[0].result < 0, "a handle opened for reading took a write");
        assert_eq!(fs::read(path).unwrap(), before);
    });
}

#[test]
fn reap_returns_at_its_deadline_and_polls_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let (drive, _) = open(&file(folder.path()), false);
    let mut target = UringTarget::new(drive, 4, BLOCK, UringOptions::default()).unwrap();
    let mut done = Vec::new();
    target.reap(0, Nanos::MAX, &mut done).unwrap();
    let until = target.now() + Nanos::from_millis(5);
    target.reap(1, until, &mut done).unwrap();
    assert!(target.now() >= until && done.is_empty());
    target.submit(&[io(Op::Read, 0, 0)]).unwrap();
    // Polling also starts submitted I/Os.
    while done.is_empty() {
        target.reap(0, Nanos::ZERO, &mut done).unwrap();
    }
    assert!(done[0].moved(BLOCK));
}

#[test]
fn sqpoll_and_plain_rings_agree() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path());
    let (drive, _) = open(&path, false);
    let options = UringOptions { sqpoll: true, ..UringOptions::default() };
    let mut target = UringTarget::new(drive, 8, BLOCK, options).unwrap();
    let batch: Vec<Io> = (0..8).map(|slot| io(Op::Read, slot, u64::from(slot) + 20)).collect();
    for done in all(&mut target, &batch) {
        assert!(done.moved(BLOCK));
        assert_eq!(target.buffer(done.slot).unwrap()[0], 20 + done.slot as u8);
    }
}

/// An open loop only polls while no I/O is due: one poll must start submitted I/Os, whether or not
/// the kernel's thread slept.
#[test]
fn a_poll_wakes_a_sleeping_sqpoll_thread() {
    let folder = tempfile::tempdir().unwrap();
    let (drive, _) = open(&file(folder.path()), false);
    let options = UringOptions { sqpoll: true, ..UringOptions::default() };
    let mut target = UringTarget::new(drive, 4, BLOCK, options).unwrap();
    let mut done = Vec::new();
    // It sleeps after 50 ms without work.
    let asleep = target.now() + Nanos::from_millis(300);
    target.reap(1, asleep, &mut done).unwrap();
    target.submit(&[io(Op::Read, 0, 5)]).unwrap();
    let given_up = target.now() + Nanos::from_secs(20);
    while done.is_empty() && target.now() < given_up {
        target.reap(0, Nanos::ZERO, &mut done).unwrap();
    }
    assert!(done.iter().any(|completion| completion.moved(BLOCK)));
}

#[test]
#[should_panic(expected = "submitted twice")]
fn a_slot_has_one_io_in_flight() {
    let folder = tempfile::tempdir().unwrap();
    let (drive, _) = open(&file(folder.path()), false);
    let mut target = UringTarget::new(drive, 4, BLOCK, UringOptions::default()).unwrap();
    let _ = target.submit(&[io(Op::Read, 1, 0), io(Op::Read, 1, 1)]);
}

#[test]
fn a_permit_opens_its_own_drive_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path());
    let info = identify(&path).unwrap();
    let permit = authorise(&info, &["drive.img".to_owned()]).unwrap();
    let other = folder.path().join("other.img");
    fs::copy(&path, &other).unwrap();
    let other_info = identify(&other).unwrap();
    let refused = open_drive(&other_info, other_info.direct_io, Some(&permit));
    assert!(matches!(refused, Err(OpenError::Permit(_))), "{refused:?}");
    // Replaced by another file of the same name.
    fs::remove_file(&path).unwrap();
    fs::copy(&other, &path).unwrap();
    let replaced = open_drive(&info, info.direct_io, Some(&permit));
    assert!(matches!(replaced, Err(OpenError::Permit(_))), "{replaced:?}");
    let untouched = fs::File::open(&other).unwrap();
    let mut byte = [0];
    untouched.read_exact_at(&mut byte, 4096).unwrap();
    assert_eq!(byte, [1]);
}

#[test]
fn an_io_longer_than_its_buffer_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path());
    let long = [Io { len_bytes: 2 * BLOCK, ..io(Op::Read, 0, 0) }];
    let (drive, _) = open(&path, false);
    let mut blocking = SyncTarget::new(drive, 2, BLOCK).unwrap();
    assert_eq!(all(&mut blocking, &long)[0].result, -libc::EINVAL);
    let (drive, _) = open(&path, false);
    let mut ring = UringTarget::new(drive, 2, BLOCK, UringOptions::default()).unwrap();
    assert!(ring.submit(&long).is_err());
    // The slot is still free, and memory behind its buffer unchanged.
    assert!(all(&mut ring, &[io(Op::Read, 0, 7)])[0].moved(BLOCK));
    assert_eq!(ring.buffer(1).unwrap()[0], 0);
}
