use super::*;

#[test]
fn every_block_counts_once_and_partly_written_ones_not_at_all() {
    for concurrent in [false, true] {
        every_block_counts_once(concurrent);
    }
}

fn every_block_counts_once(concurrent: bool) {
    let span = Region { offset_bytes: 8192, size_bytes: 100 * 4096 };
    let map = CoverageMap::new(span, 4096, 100, concurrent).unwrap();
    assert_eq!(map.written_pct(), 0.0);
    for _ in 0..2 {
        map.wrote(8192, 4096);
        map.wrote(8192 + 99 * 4096, 4096);
    }
    assert_eq!(map.written_pct(), 2.0);
    map.wrote(8192 + 10 * 4096, 10 * 4096);
    assert_eq!(map.written_pct(), 12.0);
    map.wrote(8192 + 63 * 4096, 2 * 4096);
    assert_eq!(map.written_pct(), 14.0);
    (0..100).for_each(|block| map.wrote(8192 + block * 4096, 4096));
    assert_eq!(map.written_pct(), 100.0);
}

#[test]
fn ranges_are_the_blocks_one_by_one() {
    const BLOCKS: u64 = 300;
    let span = Region { offset_bytes: 0, size_bytes: BLOCKS * 512 };
    let mut rng = assay_units::Rng::stream(45, "coverage");
    for concurrent in [false, true] {
        let map = CoverageMap::new(span, 512, BLOCKS, concurrent).unwrap();
        let mut written = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let first = rng.below(BLOCKS);
            let blocks = rng.below(BLOCKS - first + 1).min(rng.below(200));
            map.wrote(first * 512, (blocks * 512) as u32);
            written.extend(first..first + blocks);
            let share = written.len() as f64 * 100.0 / BLOCKS as f64;
            assert_eq!(map.written_pct(), share, "{blocks} blocks from {first}");
        }
    }
}

#[test]
fn a_worker_that_has_ended_has_noted_all_of_its_writes() {
    let span = Region { offset_bytes: 0, size_bytes: 1000 * 512 };
    let map = CoverageMap::new(span, 512, 1000, false).map(Arc::new).unwrap();
    let mut notes = CoverageNotes::new(map.clone());
    for block in 0..100 {
        notes.note(block * 512, 512);
    }
    drop(notes);
    assert_eq!(map.written_pct(), 10.0);
}
