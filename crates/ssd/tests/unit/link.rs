use super::*;
use crate::Profile;

#[test]
fn generation_3_x4_bandwidth_is_in_the_published_range() {
    let mut link = Profile::builtin("samsung-951").unwrap().link;
    link.generation.value = 3;
    link.lanes.value = 4;
    link.max_payload_bytes.value = 128;
    for (overhead, low, high) in [(20, 3_390, 3_420), (28, 3_220, 3_240)] {
        link.packet_overhead_bytes.value = overhead;
        let mb = payload_bytes_per_second(&link) / 1_000_000;
        assert!((low..=high).contains(&mb), "{mb} MB/s at {overhead}");
    }
    link.max_payload_bytes.value = 256;
    link.packet_overhead_bytes.value = 24;
    let mb = payload_bytes_per_second(&link) / 1_000_000;
    assert!((3_550..=3_650).contains(&mb), "{mb} MB/s");
}

#[test]
fn link_directions_are_independent_and_long_commands_are_staged() {
    let profile = Profile::builtin("samsung-951").unwrap();
    let mut link = Link::new(&profile.link, &profile.data_path, None);
    let up = link.send_to_host(0, 0, 1 << 20);
    assert_eq!(link.send_to_drive(0, 0, 1 << 20), up);
    assert_eq!(link.send_to_host(0, 0, 1 << 20), 2 * up);
    let short = link.through_data_path(0, 0, (4096, 0), link.route(4096));
    let long = link.through_data_path(0, short, (4096, 0), link.route(1 << 20)) - short;
    assert!(long >= short, "{long} >= {short}");
}
