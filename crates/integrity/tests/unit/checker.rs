use crate::mismatch::MismatchClass;

use super::*;

const BLOCK: u32 = 4096;

fn writer() -> JobChecker {
    writer_of(false)
}

fn writer_of(atomic: bool) -> JobChecker {
    JobChecker::new(CheckerOptions {
        seed: Some(7),
        pattern: DataPattern::Incompressible,
        interval_bytes: BLOCK,
        offset_bytes: 0,
        size_bytes: 8 * u64::from(BLOCK),
        writes: true,
        reads_back: true,
        max_io_bytes: 4 * BLOCK,
        atomic,
    })
    .unwrap()
}

fn at(block: u64) -> u64 {
    block * u64::from(BLOCK)
}

fn next_read_back(checker: &mut JobChecker) -> Option<(u64, u32)> {
    loop {
        let (offset_bytes, len_bytes) = checker.next_written()?;
        if checker.begin_read_back(offset_bytes, len_bytes) {
            return Some((offset_bytes, len_bytes));
        }
    }
}

/// Blocks whose write never completed are not read, are not judged, and the blocks after them are
/// read back.
#[test]
fn the_read_back_continues_after_a_write_that_never_completed() {
    let mut checker = writer();
    for (block, blocks, completes) in [(0, 2, true), (2, 2, false), (4, 1, true), (6, 2, true)] {
        assert_eq!(checker.begin(true, at(block), blocks * BLOCK), Begin::Begun);
        if completes {
            checker.finish_write(at(block), blocks * BLOCK, true);
        }
    }
    let read: Vec<_> = std::iter::from_fn(|| next_read_back(&mut checker)).collect();
    assert_eq!(read, [(at(0), 2 * BLOCK), (at(4), BLOCK), (at(6), 2 * BLOCK)]);
    let report = checker.report();
    assert_eq!(report.not_judged()[&Unjudged::WriteFailed], 2);
    assert!(report.is_clean() && report.judged_blocks() == 0);
}

/// Whatever a failed write left is neither right nor wrong, and a later write that succeeds is.
#[test]
fn blocks_of_failed_writes_are_not_judged() {
    let mut checker = writer();
    let mut buffer = vec![0; BLOCK as usize];
    for fails in [true, false] {
        assert_eq!(checker.begin(true, at(3), BLOCK), Begin::Begun);
        checker.stamp(&mut buffer, at(3));
        checker.finish_write(at(3), BLOCK, !fails);
        for content in [vec![0xff; BLOCK as usize], buffer.clone()] {
            assert_eq!(checker.begin(false, at(3), BLOCK), Begin::Begun);
            checker.finish_read(at(3), BLOCK, Some(&content), true);
        }
        let report = checker.report();
        assert_eq!(report.not_judged()[&Unjudged::WriteFailed], 2);
        assert_eq!(report.judged_blocks(), if fails { 0 } else { 2 });
        assert_eq!(report.is_clean(), fails);
    }
}

/// Memory of the host proves nothing right, and what is wrong there is wrong.
#[test]
fn what_memory_supplies_is_no_proof() {
    let mut checker = writer();
    let mut buffer = vec![0; BLOCK as usize];
    assert_eq!(checker.begin(true, at(0), BLOCK), Begin::Begun);
    checker.stamp(&mut buffer, at(0));
    checker.finish_write(at(0), BLOCK, true);
    assert_eq!(checker.begin(false, at(0), BLOCK), Begin::Begun);
    checker.finish_read(at(0), BLOCK, Some(&buffer), false);
    let report = checker.report();
    assert_eq!((report.judged_blocks(), report.is_clean()), (0, true));
    assert_eq!(report.not_judged()[&Unjudged::HostMemory], 1);
    assert_eq!(checker.begin(false, at(0), BLOCK), Begin::Begun);
    checker.finish_read(at(0), BLOCK, Some(&vec![0; BLOCK as usize]), false);
    assert_eq!(checker.report().findings(), 1);
}

/// The first sectors of a failed write over a block of zeroes: torn where writes are atomic, not
/// judged elsewhere. Whole, and absent, are right in both.
#[test]
fn a_failed_atomic_write_is_whole_or_absent() {
    for (kept_bytes, atomic, torn) in
        [(1024, true, 1), (1024, false, 0), (BLOCK, true, 0), (0, true, 0)]
    {
        let mut checker = writer_of(atomic);
        assert_eq!(checker.begin(true, 0, BLOCK), Begin::Begun);
        let mut block = vec![0; BLOCK as usize];
        checker.stamp(&mut block, 0);
        checker.finish_write(0, BLOCK, false);
        block[kept_bytes as usize..].fill(0);
        assert_eq!(next_read_back(&mut checker), Some((0, BLOCK)));
        checker.finish_read(0, BLOCK, Some(&block), true);
        let report = checker.report();
        let found = report.count(MismatchClass::Torn);
        assert_eq!((found, report.intact_blocks), (torn, u64::from(atomic) - torn), "{kept_bytes}");
        let unjudged = report.not_judged().get(&Unjudged::WriteFailed).copied();
        assert_eq!(unjudged.unwrap_or(0), u64::from(!atomic));
    }
}
