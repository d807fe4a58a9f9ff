use super::*;
use proptest::prelude::*;

fn media(capacity_bytes: u64) -> DriveExtent {
    DriveExtent { drive: "drive".to_owned(), capacity_bytes, min_io_bytes: 512 }
}

fn range(
    first: Option<u64>,
    last: Option<u64>,
    chunk_bytes: u32,
    capacity_bytes: u64,
) -> Result<StreamRange, RangeError> {
    let request = RangeRequest { first, last, chunk_bytes };
    StreamRange::new(&request, &[media(capacity_bytes)])
}

#[test]
fn the_default_range_is_all_whole_chunks() {
    let whole = range(None, None, 4096, 10_000).unwrap();
    assert_eq!((whole.first, whole.last, whole.chunks()), (0, 4096, 2));
}

#[test]
fn each_range_error_has_its_status_bit() {
    let bit = |result: Result<StreamRange, RangeError>| result.unwrap_err().status();
    assert_eq!(bit(range(Some(1), None, 4096, 1 << 20)), StatusBits::UNALIGNED);
    assert_eq!(bit(range(None, Some(100), 4096, 1 << 20)), StatusBits::UNALIGNED);
    assert_eq!(bit(range(Some(8192), Some(4096), 4096, 1 << 20)), StatusBits::FIRST_AFTER_LAST);
    assert_eq!(bit(range(None, Some(1 << 20), 4096, 1 << 20)), StatusBits::OUT_OF_RANGE);
    assert_eq!(bit(range(Some(1 << 20), None, 4096, 1 << 20)), StatusBits::OUT_OF_RANGE);
    assert_eq!(bit(range(None, None, 4096, 4095)), StatusBits::OUT_OF_RANGE);
    assert_eq!(bit(range(None, None, 1000, 1 << 20)), StatusBits::UNALIGNED);
    assert_eq!(bit(range(None, None, 0, 1 << 20)), StatusBits::UNALIGNED);
    assert_eq!(bit(range(None, None, 8 << 20, 1 << 30)), StatusBits::UNALIGNED);
    assert!(range(None, Some((1 << 20) - 4096), 4096, 1 << 20).is_ok());
}

#[test]
fn the_smallest_of_several_drives_decides() {
    let request = RangeRequest { first: None, last: None, chunk_bytes: 4096 };
    let both = StreamRange::new(&request, &[media(1 << 20), media(1 << 16)]).unwrap();
    assert_eq!((both.drives, both.last, both.chunks()), (2, (1 << 16) - 4096, 32));
    assert_eq!(both.locate(0), (0, 0));
    assert_eq!(both.locate(3), (1, 4096));
    assert_eq!(both.locate(32), (0, 0));
}

proptest! {
    /// Chunk locations are unique and inside the range; a ring repeats them.
    #[test]
    fn chunk_locations_are_a_bijection(first in 0_u64..8, chunks in 1_u64..50, drives in 1_usize..5) {
        let chunk = 4096_u64;
        let media = vec![media(1 << 20); drives];
        let request = RangeRequest { first: Some(first * chunk), last: Some((first + chunks - 1) * chunk), chunk_bytes: 4096 };
        let range = StreamRange::new(&request, &media).unwrap();
        let places: std::collections::BTreeSet<_> = (0..range.chunks()).map(|n| range.locate(n)).collect();
        prop_assert_eq!(places.len() as u64, range.chunks());
        for n in 0..range.chunks() {
            let (drive, address) = range.locate(n);
            prop_assert!(drive < drives && address >= range.first && address <= range.last);
            prop_assert_eq!(range.locate(n + range.chunks()), (drive, address));
        }
    }

    /// No request panics.
    #[test]
    fn any_request_gives_a_range_or_an_error(first in any::<Option<u64>>(), last in any::<Option<u64>>(), chunk in any::<u32>(), capacity in any::<u64>()) {
        if let Ok(range) = range(first, last, chunk, capacity) {
            prop_assert!(range.last + u64::from(chunk) <= capacity);
            prop_assert!(range.bytes() <= capacity);
        }
    }
}
