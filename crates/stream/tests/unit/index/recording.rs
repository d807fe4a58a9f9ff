use super::super::reader::tests::part;
use super::*;

#[test]
fn parts_are_ordered_and_cut_to_the_common_run() {
    let parts = vec![part(1, 2, (3, 7), 5, 1), part(0, 2, (2, 8), 6, 1)];
    let (recording, order) = Recording::assemble(parts).unwrap();
    assert_eq!(order, [1, 0]);
    // Drive 0 has chunks 4, 6 .. 14 of the stream, drive 1 has 7, 9 .. 13.
    assert_eq!((recording.from, recording.to), (6, 15));
    assert_eq!(recording.durable, 11);
    assert_eq!(recording.locate(7).0, 1);
}

#[test]
fn required_chunks_without_entries_are_missing() {
    let missing = |parts| Recording::assemble(parts).unwrap().0.missing;
    // Drive 0 has chunks 0, 2 .. of the stream: its sixth, chunk 10, is the first durable one
    // without an entry.
    let short = |durable| vec![part(0, 2, (0, 5), durable, 1), part(1, 2, (0, 8), 8, 1)];
    assert_eq!(missing(short(5)), 0);
    assert_eq!(missing(short(8)), 6);
    // The old end of drive 1 has no entries: 1, 3 and 5, and with them 0, 2 and 4.
    let begun = vec![part(0, 2, (0, 8), 8, 1), part(1, 2, (3, 8), 8, 1)];
    assert_eq!(missing(begun), 0);
    let mut late = part(1, 2, (3, 8), 8, 1);
    late.1.begins = 0;
    assert_eq!(missing(vec![part(0, 2, (0, 8), 8, 1), late]), 6);
    // A header with an absurd count.
    let parts = vec![part(0, 1, (0, 5), u64::MAX, 1)];
    let (recording, _) = Recording::assemble(parts).unwrap();
    assert_eq!((recording.to, recording.missing), (5, u64::MAX - 5));
}

#[test]
fn parts_of_different_recordings_are_rejected() {
    let other = vec![part(0, 2, (0, 1), 0, 1), part(1, 2, (0, 1), 0, 2)];
    assert!(matches!(Recording::assemble(other), Err(IndexError::Mixed { .. })));
    let mut larger = vec![part(0, 2, (0, 1), 0, 1), part(1, 2, (0, 1), 0, 1)];
    larger[1].1.header.layout.chunk_bytes *= 2;
    assert!(matches!(Recording::assemble(larger), Err(IndexError::Mixed { .. })));
    let missing = vec![part(1, 2, (0, 1), 0, 1)];
    assert!(matches!(Recording::assemble(missing), Err(IndexError::Mixed { .. })));
    let twice = vec![part(0, 2, (0, 1), 0, 1), part(0, 2, (0, 1), 0, 1)];
    assert!(matches!(Recording::assemble(twice), Err(IndexError::Mixed { .. })));
}
