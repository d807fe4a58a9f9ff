use super::*;
use assay_io::null::NullTarget;

#[test]
fn nothing_longer_than_a_slot_is_submitted() {
    let mut queue = StreamQueue::new("null:", NullTarget::new(2), 2, 8192);
    let slot = queue.take_slot().unwrap();
    let read =
        |queue: &mut StreamQueue<'_>, len_bytes| queue.submit(slot, None, Op::Read, 0, len_bytes);
    let refused = read(&mut queue, 8193);
    assert!(matches!(refused, Err(TargetError::Io { .. })));
    assert_eq!(queue.in_flight(), 0);
    read(&mut queue, 8192).unwrap();
    assert_eq!(queue.in_flight(), 1);
}
