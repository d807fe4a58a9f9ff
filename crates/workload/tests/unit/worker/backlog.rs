use super::*;

/// Extents that overlap are read once, in address order; what was read back already is not read
/// again.
#[test]
fn each_block_is_read_once() {
    let mut backlog = Backlog::new(NonZeroU32::new(4).unwrap());
    for extent in [(8192, 8192), (0, 4096), (4096, 8192)] {
        assert!(!backlog.wrote(extent.0, extent.1));
    }
    assert!(backlog.wrote(8192, 4096));
    backlog.begin(false);
    assert_eq!(backlog.next(), Some((0, 4096)));
    backlog.begin(false);
    let rest: Vec<(u64, u32)> = std::iter::from_fn(|| backlog.next()).collect();
    assert_eq!(rest, [(4096, 8192), (12288, 4096)]);
    assert!(!backlog.wrote(0, 4096), "it is empty again");
}
