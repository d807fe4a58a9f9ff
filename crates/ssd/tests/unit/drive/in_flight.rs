use super::*;

#[test]
fn identifiers_are_reused_and_unique_in_flight() {
    let sub = |seq| SubCommand {
        offset_bytes: 0,
        len_bytes: 4096,
        tag: 0,
        seq,
        ordinal: 0,
        split: NOT_SPLIT,
        handle: 0,
        queue: 0,
        op: Op::Read,
        kind: CommandKind::Read,
        status: Status::Ok,
        data: DataClass::Incompressible,
        spiked: false,
        verifies: false,
        dropped: false,
        fua: false,
    };
    let mut in_flight = InFlightTable::default();
    let (a, b) = (in_flight.add(sub(1)), in_flight.add(sub(2)));
    assert_ne!(a, b);
    in_flight.set_status(a, Status::WriteFault);
    let taken = *in_flight.take(a);
    assert_eq!((taken.seq, taken.status), (1, Status::WriteFault));
    let c = in_flight.add(sub(3));
    assert_eq!(c, a);
    assert_eq!(
        (in_flight.get(b).seq, in_flight.get(c).seq, in_flight.get(c).status),
        (2, 3, Status::Ok)
    );
}
