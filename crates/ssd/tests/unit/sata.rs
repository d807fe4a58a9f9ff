use super::*;
use crate::Profile;
use crate::link::{Link, payload_bytes_per_second};
use crate::sourced::tests::assumed;

fn sata() -> LinkProfile {
    let mut link = Profile::builtin("samsung-951").unwrap().link;
    link.generation.value = 3;
    link.lanes.value = 1;
    link.max_payload_bytes.value = 8192;
    link.packet_overhead_bytes.value = 0;
    link.sata = Some(SataProfile { frame_ns: assumed(500), queue_depth: assumed(32) });
    link
}

#[test]
fn a_transfer_includes_frame_overhead_and_directions_share_the_link() {
    assert_eq!(payload_bytes_per_second(&sata()), 600_000_000);
    let data_path = Profile::builtin("samsung-951").unwrap().data_path;
    let mut link = Link::new(&sata(), &data_path, None);
    // 12 KiB: 20.48 us of bytes, a DMA Setup FIS and two Data FISes.
    assert_eq!(link.send_to_host(0, 0, 12_288), 20_481 + 1500, "rounded up");
    assert_eq!(link.send_to_drive(0, 0, 12_288), 2 * 21_981, "after the first");
}
