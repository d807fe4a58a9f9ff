use super::*;

#[test]
fn a_sequential_stream_is_detected_and_prefetched() {
    let mut ahead = Prefetcher::new(256, 2, 2);
    assert_eq!(ahead.lookup(1000, 64), None, "new");
    assert_eq!(ahead.lookup(1064, 64), None, "one continuation is not enough");
    let hit = ahead.lookup(1128, 64).unwrap();
    assert_eq!((hit.bytes, hit.ahead), (0, (1192, 1448)));
    ahead.add(hit.stream, 1300, 7);
    ahead.add(hit.stream, 1448, 9);
    let hit = ahead.lookup(1192, 64).unwrap();
    assert_eq!((hit.bytes, hit.ready_ns), (64, 7));
    assert_eq!(hit.ahead, (1448, 1512));
    let hit = ahead.lookup(1256, 64).unwrap();
    assert_eq!((hit.bytes, hit.ready_ns), (64, 9), "crosses both pieces");
}

/// A stream that replaces one further up the drive is unaffected by it.
#[test]
fn a_second_stream_at_lower_addresses_is_prefetched() {
    let mut ahead = Prefetcher::new(256, 1, 1);
    for start in [1 << 40, 0] {
        assert_eq!(ahead.lookup(start, 64), None);
        let hit = ahead.lookup(start + 64, 64).unwrap();
        assert_eq!(hit.ahead, (start + 128, start + 384));
    }
}

#[test]
fn random_reads_start_no_stream_and_writes_end_one() {
    let mut ahead = Prefetcher::new(256, 2, 1);
    for n in 0..100 {
        assert_eq!(ahead.lookup(n * 1000, 64), None);
    }
    let hit = ahead.lookup(99_064, 64).unwrap();
    ahead.add(hit.stream, 99_384, 5);
    ahead.invalidate(99_200, 8);
    assert_eq!(ahead.lookup(99_128, 64).unwrap().bytes, 0);
    assert_eq!(Prefetcher::new(0, 2, 1).lookup(0, 64), None);
}
