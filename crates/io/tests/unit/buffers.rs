use super::*;

#[test]
fn slots_are_aligned_disjoint_and_zeroed() {
    let mut buffers = Buffers::new(3, 512).unwrap();
    assert_eq!((buffers.slots(), buffers.slot_bytes()), (3, 4096));
    for slot in 0..3 {
        assert!(buffers.slot(slot).iter().all(|&b| b == 0));
        assert_eq!(buffers.pointer(slot) as usize % 4096, 0);
        buffers.slot(slot).fill(slot as u8 + 1);
    }
    for slot in 0..3 {
        assert!(buffers.slot(slot).iter().all(|&b| b == slot as u8 + 1));
    }
}

#[test]
#[should_panic(expected = "in flight")]
fn a_slot_in_flight_cannot_be_borrowed() {
    let mut buffers = Buffers::new(1, 4096).unwrap();
    buffers.mark_in_flight(0);
    let _ = buffers.slot(0);
}

#[test]
#[should_panic(expected = "submitted twice")]
fn a_slot_in_flight_cannot_be_submitted_again() {
    let mut buffers = Buffers::new(1, 4096).unwrap();
    buffers.mark_in_flight(0);
    buffers.mark_in_flight(0);
}

#[test]
fn unavailable_memory_is_an_error() {
    assert!(matches!(Buffers::new(u32::MAX, u32::MAX), Err(TargetError::Buffers { .. })));
}
