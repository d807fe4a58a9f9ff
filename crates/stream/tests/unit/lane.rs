use super::*;
use assay_io::null::NullTarget;

#[test]
fn nothing_longer_than_a_slot_is_submitted() {
    let mut lane = Lane::new("null:", NullTarget::new(2), 2, 8192);
    let slot = lane.take_slot().unwrap();
    let read =
        |lane: &mut Lane<'_>, len_bytes| lane.submit(slot, Purpose::Index, Op::Read, 0, len_bytes);
    let refused = read(&mut lane, 8193);
    assert!(matches!(refused, Err(TargetError::Io { .. })));
    assert_eq!(lane.in_flight(), 0);
    read(&mut lane, 8192).unwrap();
    assert_eq!(lane.in_flight(), 1);
}
