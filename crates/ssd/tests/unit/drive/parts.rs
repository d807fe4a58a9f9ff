use super::*;

#[test]
fn numbers_are_used_again_and_never_twice_at_once() {
    let part = |seq| Part {
        offset_bytes: 0,
        len_bytes: 4096,
        tag: 0,
        seq,
        ordinal: 0,
        split: WHOLE,
        queue: 0,
        op: Op::Read,
        way: Way::Read,
        status: Status::Ok,
        data: DataClass::Incompressible,
        spiked: false,
        verifies: false,
        dropped: false,
    };
    let mut parts = Parts::default();
    let (a, b) = (parts.add(part(1)), parts.add(part(2)));
    assert_ne!(a, b);
    parts.set_status(a, Status::WriteFault);
    let taken = *parts.take(a);
    assert_eq!((taken.seq, taken.status), (1, Status::WriteFault));
    let c = parts.add(part(3));
    assert_eq!(c, a);
    assert_eq!(
        (parts.get(b).seq, parts.get(c).seq, parts.get(c).status),
        (2, 3, Status::Ok)
    );
}
