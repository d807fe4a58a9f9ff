use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn index_and_chunks_share_the_range_and_waste_little(first in 0_u64..10, range_chunks in 0_u64..200_000, chunk in prop::sample::select(vec![4096_u32, 8192, 65536, 131_072, 1 << 20]), ring: bool) {
        let first = first * u64::from(chunk);
        let reserved = |chunks| index_bytes(index_blocks(chunks, ring)).div_ceil(u64::from(chunk));
        match IndexLayout::new(first, range_chunks, chunk, ring) {
            None => prop_assert!(range_chunks <= 1 + reserved(1)),
            Some(layout) => {
                let end = layout.chunk_address(layout.chunks - 1) + u64::from(chunk);
                let tail = layout.tail.unwrap();
                prop_assert!(end <= tail && tail + BLOCK_BYTES == first + range_chunks * u64::from(chunk));
                prop_assert!(layout.block_address(layout.index_blocks - 1, 1) + BLOCK_BYTES <= layout.data_first);
                prop_assert!(layout.data_first.is_multiple_of(u64::from(chunk)));
                // One chunk more would not fit.
                prop_assert!(layout.chunks + 1 + reserved(layout.chunks + 1) + 1 > range_chunks);
            }
        }
    }
}
