//! Vendor-specific logs: known bytes, and arbitrary ones.

use proptest::prelude::*;

use super::*;

/// A page as a drive returns it: attribute, normalised value, raw value at their places.
fn intel_page(attributes: &[(u8, [u8; 6])]) -> [u8; 512] {
    let mut page = [0; 512];
    for (item, (key, raw)) in page.chunks_exact_mut(12).zip(attributes) {
        item[0] = *key;
        item[3] = 100;
        item[5..11].copy_from_slice(raw);
    }
    page
}

#[test]
fn intel_counts_in_units_of_32_mib_and_attributes_are_found_by_key() {
    let wear = [0x10, 0, 0x34, 0x01, 0x20, 0];
    let page = intel_page(&[
        (0xab, [0; 6]),
        (0xad, wear),
        (0xf5, [3, 0, 0, 0, 0, 0]),
        (0xf4, [1, 1, 0, 0, 0, 0]),
    ]);
    let found = VendorLog::Intel.counters(&page).unwrap();
    let expected = VendorCounters {
        media_written_bytes: 257 * (32 << 20),
        media_unit_bytes: 32 << 20,
        host_written_bytes: Some(3 * (32 << 20)),
        media_read_bytes: None,
        erases: Some((16, 308)),
        mean_erases: Some(32),
        bad_blocks: None,
    };
    assert_eq!(found, expected);
    // Without one of the counters, or with one twice, the layout is not this one.
    for attributes in [
        &[(0xf4, [1; 6])][..],
        &[(0xf5, [1; 6])],
        &[(0xf4, [1; 6]), (0xf5, [1; 6]), (0xf4, [2; 6])],
    ] {
        assert_eq!(VendorLog::Intel.counters(&intel_page(attributes)), None);
    }
    // Wear whose mean is not between least and most is left out.
    let page = intel_page(&[(0xad, [9, 0, 5, 0, 7, 0]), (0xf4, [0; 6]), (0xf5, [0; 6])]);
    assert_eq!(VendorLog::Intel.counters(&page).unwrap().erases, None);
}

#[test]
fn wdc_counts_bytes() {
    let mut page = [0; 512];
    page[0..8].copy_from_slice(&5_000_000_u64.to_le_bytes());
    page[16..24].copy_from_slice(&7_000_000_u64.to_le_bytes());
    // Normalised, then raw in 48 bits.
    page[32..40].copy_from_slice(&(12_u64 << 16 | 99).to_le_bytes());
    page[65..69].copy_from_slice(&300_u32.to_le_bytes());
    page[69..73].copy_from_slice(&200_u32.to_le_bytes());
    let found = VendorLog::Wdc.counters(&page).unwrap();
    let expected = VendorCounters {
        media_written_bytes: 5_000_000,
        media_unit_bytes: 1,
        host_written_bytes: None,
        media_read_bytes: Some(7_000_000),
        erases: Some((200, 300)),
        mean_erases: None,
        bad_blocks: Some(12),
    };
    assert_eq!(found, expected);
    page[511] = 1;
    assert_eq!(VendorLog::Wdc.counters(&page), None, "reserved bytes");
    page[511] = 0;
    page[15] = 1;
    assert_eq!(VendorLog::Wdc.counters(&page), None, "more than 64 bits");
}

#[test]
fn only_vendors_with_a_published_layout_have_a_log() {
    assert_eq!(VendorLog::of_vendor(0x8086), Some(VendorLog::Intel));
    assert_eq!(VendorLog::of_vendor(0x025e), Some(VendorLog::Intel));
    assert_eq!(VendorLog::of_vendor(0x15b7), Some(VendorLog::Wdc));
    assert_eq!(VendorLog::of_vendor(0x144d), None);
}

proptest! {
    #[test]
    fn any_page_gives_counters_or_none(bytes in prop::collection::vec(any::<u8>(), 512), zero_from in 0_usize..=512) {
        let mut page: [u8; 512] = bytes.try_into().unwrap();
        page[zero_from..].fill(0);
        if let Some(found) = VendorLog::Intel.counters(&page) {
            prop_assert_eq!(found.media_written_bytes % (32 << 20), 0);
            prop_assert!(found.erases.is_none_or(|(least, most)| least <= most));
        }
        if let Some(found) = VendorLog::Wdc.counters(&page) {
            prop_assert!(found.erases.unwrap().0 <= found.erases.unwrap().1);
        }
    }

    #[test]
    fn raw_values_come_back(media: u32, host: u32, wear: [u16; 3], at in 0_usize..40) {
        let raw = |units: u32| {
            let [a, b, c, d] = units.to_le_bytes();
            [a, b, c, d, 0, 0]
        };
        let [[a, b], [c, d], [e, f]] = wear.map(u16::to_le_bytes);
        let mut log = IntelSmartLog::default();
        let mut items = log.items();
        for (place, (key, raw)) in [(0xf4, raw(media)), (0xf5, raw(host)), (0xad, [a, b, c, d, e, f])].into_iter().enumerate() {
            items[(at + place) % 42].set_key(key).set_raw(raw);
        }
        log.set_items(items);
        let found = VendorLog::Intel.counters(log.as_bytes()).unwrap();
        prop_assert_eq!(found.media_written_bytes, u64::from(media) << 25);
        prop_assert_eq!(found.host_written_bytes, Some(u64::from(host) << 25));
        let ordered = wear[0] <= wear[2] && wear[2] <= wear[1];
        prop_assert_eq!(found.erases.is_some(), ordered);
    }
}
