use super::*;

const MIB: u64 = 1 << 20;

#[test]
fn segments_are_equal_span_the_range_and_do_not_touch() {
    let (first, range) = (4 * MIB, 1000 * MIB);
    let segments = Segments::new(100, 200 * MIB, (first, range), 4096).unwrap();
    assert_eq!(segments.segment_bytes(), 2 * MIB);
    let starts: Vec<u64> = (0..100).map(|n| segments.place(first + n * 2 * MIB)).collect();
    assert!(starts.windows(2).all(|pair| pair[0] + 2 * MIB + 4096 <= pair[1]));
    assert!(starts[0] >= first && starts[99] + 2 * MIB <= first + range);
    // Each in its tenth of a megabyte-share, at a place of its own.
    let places: std::collections::BTreeSet<u64> =
        starts.iter().enumerate().map(|(n, start)| start - first - n as u64 * 10 * MIB).collect();
    assert!(places.len() > 90, "{}", places.len());
    // Within a segment offsets follow each other.
    assert_eq!(segments.place(first + 2 * MIB + 8192), starts[1] + 8192);
    // The same for every job.
    let again = Segments::new(100, 200 * MIB, (first, range), 4096).unwrap();
    assert_eq!(segments, again);
}

#[test]
fn areas_that_do_not_divide_or_fit_are_refused() {
    for (count, area, expected) in
        [(3, 200 * MIB, "not so many segments"), (100, 1000 * MIB, "gap between its segments")]
    {
        let error = Segments::new(count, area, (0, 1000 * MIB), 4096).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}
