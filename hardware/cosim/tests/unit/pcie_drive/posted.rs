use super::*;

fn pending(cid: u16) -> PendingEntry {
    let mut entry = CompletionEntry::default();
    entry.set_cid(cid);
    PendingEntry { queue: 0, entry, fault: None, delay_cycles: 5 }
}

fn posted(entries: u32) -> PostedWrites {
    PostedWrites { queues: vec![Some(HostQueue::new(0x3000, entries))], ..PostedWrites::default() }
}

/// Address, length and identifiers of all packets.
fn drain(posted: &mut PostedWrites, combines: bool) -> Vec<(u64, usize)> {
    let packets = std::iter::from_fn(|| posted.take(256, combines));
    packets.map(|packet| (packet.address, packet.len_bytes)).collect()
}

#[test]
fn data_are_cut_at_the_payload_and_entries_follow_after_their_delay() {
    let mut posted = posted(4);
    posted.data(0xf80, vec![1; 700]);
    posted.entry(10, pending(1), true);
    posted.data(0x2000, vec![2; 16]);
    posted.run(10);
    let packets = drain(&mut posted, false);
    assert_eq!(packets, [(0xf80, 128), (0x1000, 256), (0x1100, 256), (0x1200, 60)]);
    // The data behind the entry do not wait for its delay.
    posted.run(20);
    assert_eq!(drain(&mut posted, false), [(0x2000, 16)]);
    assert_eq!(posted.next_cycle(), Some(25));
    posted.run(25);
    assert_eq!(drain(&mut posted, false), [(0x3000, 16)]);
}

#[test]
fn phases_invert_at_the_end_of_the_queue_and_combined_entries_stay_within_64_bytes() {
    let mut posted = posted(6);
    for cid in 0..9 {
        posted.entry(0, pending(cid), false);
    }
    posted.run(5);
    let packets: Vec<_> = std::iter::from_fn(|| posted.take(256, true)).collect();
    let places: Vec<_> = packets.iter().map(|p| (p.address, p.len_bytes)).collect();
    assert_eq!(places, [(0x3000, 64), (0x3040, 32), (0x3000, 48)]);
    let phases: Vec<_> =
        packets.iter().flat_map(|p| p.data.chunks(16).map(|raw| raw[14] & 1)).collect();
    assert_eq!(phases, [1, 1, 1, 1, 1, 1, 0, 0, 0]);
}

#[test]
fn heads_are_translated_after_lost_and_doubled_entries() {
    let mut posted = posted(8);
    let faults = [None, Some(CompletionFault::Missing), None, Some(CompletionFault::Doubled), None];
    for (cid, fault) in (0..).zip(faults) {
        posted.entry(0, PendingEntry { fault, ..pending(cid) }, false);
        posted.run(5);
        let sent = drain(&mut posted, false).len();
        let expected = match fault {
            Some(CompletionFault::Missing) => 0,
            Some(_) => 2,
            None => 1,
        };
        assert_eq!(sent, expected);
        if cid == 2 {
            let queue = posted.queues[0].as_ref().unwrap();
            assert_eq!((queue.head_of_controller(2), queue.head_of_controller(7)), (3, 0));
        }
    }
    let queue = posted.queues[0].as_ref().unwrap();
    assert_eq!(queue.head_of_controller(5), 5);
    assert_eq!(queue.head_of_controller(9), 9, "invalid for the controller, too");
}
