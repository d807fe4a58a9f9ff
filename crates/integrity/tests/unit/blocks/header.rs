use super::*;
use proptest::prelude::*;

fn header() -> impl Strategy<Value = BlockHeader> {
    let code = prop_oneof![Just(0), Just(1), 1050_u32..=20_000];
    (code, any::<(u64, u64, u64, u32, u64)>()).prop_map(|(code, fields)| BlockHeader {
        pattern: pattern_of(code).unwrap(),
        seed: fields.0,
        offset_bytes: fields.1,
        generation: fields.2,
        len_bytes: fields.3,
        payload_checksum: fields.4,
    })
}

proptest! {
    #[test]
    fn round_trips(header in header()) {
        prop_assert_eq!(BlockHeader::decode(&header.encode()), Some(header));
        let pattern = Some(header.pattern);
        let BlockHeader { seed, offset_bytes, generation, len_bytes, .. } = header;
        let claim = HeaderClaim { seed, offset_bytes, generation, len_bytes, pattern };
        prop_assert_eq!(HeaderClaim::read(&header.encode(), 0), Some(claim));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), with_magic: bool) {
        let mut bytes = bytes;
        if with_magic && bytes.len() >= 8 {
            bytes[..8].copy_from_slice(&MAGIC);
        }
        prop_assert!(BlockHeader::decode(&bytes).is_none());
        prop_assert_eq!(HeaderClaim::read(&bytes, 0).is_some(), with_magic && bytes.len() >= HEADER_BYTES);
    }

    #[test]
    fn flipped_bits_invalidate_a_block(header in header(), bit in 0_usize..HEADER_BYTES * 8) {
        let mut bytes = header.encode();
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(BlockHeader::decode(&bytes).is_none());
    }
}

#[test]
fn the_layout_on_the_medium_is_fixed() {
    let header = BlockHeader {
        pattern: DataPattern::Zero,
        seed: 0x1122_3344_5566_7788,
        offset_bytes: 0x10_0000,
        generation: 3,
        len_bytes: 4096,
        payload_checksum: 0xdead_beef,
    };
    let bytes = header.encode();
    assert_eq!(&bytes[..8], b"ASSAYBLK");
    assert_eq!(bytes[8..16], [1, 0, 64, 0, 1, 0, 0, 0]);
    assert_eq!(bytes[16..24], [0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]);
    assert_eq!(bytes[24..32], [0, 0, 0x10, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[32..40], [3, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[40..48], [0, 0x10, 0, 0, 0, 0, 0, 0]);
    // A later version, with a valid checksum, is not read.
    let mut later = bytes;
    later[8] = 2;
    let checksum = xxh3_64(&later[..56]);
    later[56..].copy_from_slice(&checksum.to_le_bytes());
    assert_eq!(BlockHeader::decode(&later), None);
    assert_eq!(BlockHeader::decode(&bytes[..63]), None);
}
