use super::*;

#[test]
fn every_block_counts_once_and_partly_written_ones_not_at_all() {
    let span = Region {
        offset_bytes: 8192,
        size_bytes: 100 * 4096,
    };
    let map = CoverageMap::new(span, 4096, 100).unwrap();
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
