use super::*;

const BLOCK: u32 = 4096;

/// A write that never completed: its blocks are not read, and are reported, and the blocks after
/// them are read back.
#[test]
fn the_read_back_continues_after_a_write_that_never_completed() {
    let options = CheckerOptions {
        seed: Some(7),
        pattern: DataPattern::Incompressible,
        interval_bytes: BLOCK,
        offset_bytes: 0,
        size_bytes: 8 * u64::from(BLOCK),
        writes: true,
        reads_back: true,
        max_io_bytes: 4 * BLOCK,
    };
    let mut checker = JobChecker::new(options, &LearnedSeed::default()).unwrap();
    let at = |block: u64| block * u64::from(BLOCK);
    for (block, blocks, completes) in [(0, 2, true), (2, 2, false), (4, 1, true), (6, 2, true)] {
        assert!(checker.begin(true, at(block), blocks * BLOCK));
        if completes {
            checker.finish_write(at(block), blocks * BLOCK, true);
        }
    }
    let read: Vec<_> = std::iter::from_fn(|| checker.next_read_back()).collect();
    assert_eq!(
        read,
        [(at(0), 2 * BLOCK), (at(4), BLOCK), (at(6), 2 * BLOCK)]
    );
    assert_eq!(checker.report().unreadable_blocks, 2);
    assert!(!checker.report().is_clean());
}
