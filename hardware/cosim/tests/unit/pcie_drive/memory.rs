use super::*;

fn read(memory: &BusMemory, address: u64, len: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0xee; len];
    memory.read(address, &mut bytes).ok().map(|()| bytes)
}

#[test]
fn what_was_read_is_there_until_the_controller_has_fetched_the_command() {
    let mut memory = BusMemory::default();
    let mut entry = SubmissionEntry::default();
    entry.set_cid(77);
    let bytes = FetchedBytes {
        entry_address: 0x2040,
        entry,
        lists: vec![(0x8000, (0..24).collect())],
        // The same page twice, with other bytes each time.
        pages: vec![(0x10_0000, 4), (0x20_0000, 4), (0x10_0000, 4)],
        data: (100..112).collect(),
    };
    memory.announce(5, bytes);
    assert_eq!(read(&memory, 0x8008, 16), Some((8..24).collect()));
    assert!(memory.take_fetched().is_none(), "the entry was not read");
    assert_eq!(read(&memory, 0x2040, 64).unwrap()[2], 77);
    for (address, first) in [(0x10_0000, 100), (0x20_0000, 104), (0x10_0000, 108), (0x20_0000, 104)]
    {
        assert_eq!(read(&memory, address, 4), Some((first..first + 4).collect()));
    }
    for (address, len) in [(0x2000, 64), (0x2080, 1), (0x8010, 16), (0x10_0000, 8), (0x10_1000, 4)]
    {
        assert_eq!(read(&memory, address, len), None, "{address:#x}");
    }
    assert_eq!(memory.take_fetched().unwrap().0, 5);
    assert!(memory.take_fetched().is_none());
    for address in [0x2040, 0x8008, 0x10_0000] {
        assert_eq!(read(&memory, address, 4), None, "{address:#x} is forgotten");
    }
}

#[test]
fn held_bytes_stay_until_each_of_their_commands_has_ended() {
    let mut memory = BusMemory::default();
    memory.hold(0x8000, vec![1; 8]);
    memory.hold(0x8000, vec![2; 8]);
    memory.hold(0x9000, vec![3; 8]);
    assert_eq!(read(&memory, 0x8004, 4), Some(vec![2; 4]));
    memory.release(0x8000);
    assert_eq!(read(&memory, 0x8000, 8), Some(vec![2; 8]));
    memory.release(0x8000);
    assert_eq!(read(&memory, 0x8000, 8), None);
    assert_eq!(read(&memory, 0x9000, 8), Some(vec![3; 8]));
}
