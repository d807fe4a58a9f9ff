use super::*;

#[test]
fn read_only_bits_and_strobes() {
    let mut space = ConfigSpace::new(&LinkOptions::new(3, 4));
    space.write_root(0, u32::MAX, 15);
    assert_eq!(space.read_root(0), 0x000c_1b36);
    space.write_root(0x18, 0x1122_3344, 0b0010);
    assert_eq!(space.read_root(0x18), 0x3300);
    space.write_endpoint(0x10, u32::MAX, 15);
    assert_eq!(space.read_endpoint(0x10), 0xffff_c004);
    assert_eq!(space.read_endpoint(0x0ffc), 0);
}

#[test]
fn bars_are_claimed_within_window_and_memory_space() {
    let mut space = ConfigSpace::new(&LinkOptions::new(3, 4));
    assert!(!space.is_in_window(0x1000_0000));
    space.write_root(0x20, 0x1000_1000, 15);
    space.write_root(4, 2, 15);
    assert!(space.is_in_window(0x1000_0000) && space.is_in_window(0x100f_ffff));
    assert!(!space.is_in_window(0x1010_0000) && !space.is_in_window(0x0fff_ffff));
    space.write_endpoint(0x10, 0x1000_4000, 15);
    assert_eq!(space.bar_offset(0x1000_4010), None);
    space.write_endpoint(4, 2, 15);
    assert_eq!(space.bar_offset(0x1000_4010), Some(0x10));
    assert_eq!(space.bar_offset(0x1000_8000), None);
    space.write_endpoint(0x14, 1, 15);
    assert_eq!(space.bar_offset(0x1000_4010), None, "a BAR above 4 GiB");
}

#[test]
fn sizes_follow_device_control() {
    let mut space = ConfigSpace::new(&LinkOptions::new(4, 4));
    let sizes = |space: &ConfigSpace| {
        let payloads = (space.root_payload_bytes(), space.endpoint_payload_bytes());
        (payloads, space.read_request_bytes())
    };
    assert_eq!(sizes(&space), ((128, 128), 512));
    space.write_root(0x88, 2 << 5, 3);
    space.write_endpoint(0xa8, 1 << 5 | 5 << 12, 3);
    assert_eq!(sizes(&space), ((512, 256), 4096));
    space.reset_endpoint();
    assert_eq!(sizes(&space), ((512, 128), 512));
}

#[test]
fn more_than_32_tags_need_extended_tags() {
    for (tags, initial, enabled) in [(16, 16, 16), (32, 32, 32), (64, 32, 64), (256, 32, 256)] {
        let link = LinkOptions { tags, ..LinkOptions::new(4, 4) };
        let mut space = ConfigSpace::new(&link);
        assert_eq!(space.read_endpoint(0xa4) >> 5 & 1 != 0, tags > 32);
        assert_eq!(space.read_tags(), initial);
        space.write_endpoint(0xa8, 1 << 8, 3);
        assert_eq!(space.read_tags(), enabled);
        assert_eq!(space.read_endpoint(0xa8) >> 8 & 1 != 0, tags > 32);
        space.reset_endpoint();
        assert_eq!(space.read_tags(), initial);
    }
}

#[test]
fn configuration_accesses_reach_one_device() {
    let mut space = ConfigSpace::new(&LinkOptions::new(3, 4));
    assert_eq!(space.target(0), ConfigTarget::Root);
    assert_eq!(space.target(1 << 20), ConfigTarget::Nothing);
    space.write_root(0x18, 0x0005_0500, 15);
    assert_eq!(space.target(5 << 20), ConfigTarget::Endpoint);
    for address in [1 << 20, 5 << 20 | 1 << 15, 5 << 20 | 1 << 12, 1 << 12] {
        assert_eq!(space.target(address), ConfigTarget::Nothing, "{address:#x}");
    }
}
