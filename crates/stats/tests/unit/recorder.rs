use super::*;

const SECOND: Nanos = Nanos::SECOND;

fn recorder(ramp: Nanos) -> Recorder {
    Recorder::new(Nanos(500), SECOND, ramp, false)
}

fn read(recorder: &mut Recorder) {
    recorder.record(Op::Read, 4096, Nanos(1_000), Nanos(1_000));
}

#[test]
fn rolls_at_boundaries_and_counts_once() {
    let mut r = recorder(Nanos::ZERO);
    assert_eq!(r.boundary(), Nanos(500) + SECOND);
    read(&mut r);
    read(&mut r);
    let first = r.roll(Nanos(500) + SECOND);
    assert_eq!((first.index, first.ramp), (0, false));
    assert_eq!((first.start, first.end), (Nanos::ZERO, SECOND));
    assert_eq!(first.ops[0].1.ios, 2);
    read(&mut r);
    let second = r.roll(Nanos(500) + Nanos(1_500_000_000));
    assert_eq!(second.index, 1);
    assert_eq!((second.start, second.end), (SECOND, Nanos(1_500_000_000)));
    assert_eq!(second.ops[0].1.ios, 1);
}

#[test]
fn the_ramp_ends_on_its_own_boundary() {
    let mut r = recorder(Nanos::from_millis(1_300));
    read(&mut r);
    assert!(r.roll(r.boundary()).ramp);
    read(&mut r);
    let rest_of_ramp = r.roll(r.boundary());
    assert_eq!((rest_of_ramp.index, rest_of_ramp.ramp), (1, true));
    assert_eq!(rest_of_ramp.end, Nanos::from_millis(1_300));
    read(&mut r);
    let measured = r.roll(r.boundary());
    assert_eq!((measured.index, measured.ramp), (1, false));
    assert_eq!((measured.start, measured.end), (Nanos::from_millis(1_300), Nanos::from_secs(2)));
}

#[test]
fn a_worker_delayed_for_seconds_leaves_a_gap() {
    let mut r = recorder(Nanos::ZERO);
    read(&mut r);
    let late = r.roll(Nanos(500) + Nanos::from_millis(4_200));
    assert_eq!((late.index, late.end), (0, SECOND));
    assert_eq!(r.boundary(), Nanos(500) + Nanos::from_secs(5));
    read(&mut r);
    assert_eq!(r.roll(r.boundary()).index, 4);
}

#[test]
fn errors_have_no_latency() {
    let mut r = recorder(Nanos::ZERO);
    r.record_error(Op::Write, -61);
    let interval = r.roll(r.boundary());
    assert_eq!(interval.ops[0].0, Op::Write);
    assert_eq!((interval.ops[0].1.errors, interval.ops[0].1.latency.count()), (1, 0));
    assert!(!interval.is_empty());
}

#[test]
fn merging_adds_workers() {
    let mut a = recorder(Nanos::ZERO);
    let mut b = recorder(Nanos::ZERO);
    a.record_error(Op::Read, -61);
    b.record_error(Op::Read, -61);
    b.record_error(Op::Read, 512);
    read(&mut a);
    read(&mut b);
    b.record(Op::Write, 512, Nanos(9), Nanos(9));
    let mut merged = a.roll(a.boundary());
    merged.merge(&b.roll(b.boundary()));
    assert_eq!(merged.ops.len(), 2);
    assert_eq!(merged.ops[0].1.errors, 3);
    assert_eq!(
        merged.ops[0].1.causes.text(),
        "2 unrecovered medium error (ENODATA), 1 came back short"
    );
    assert_eq!(merged.ops[0].1.ios, 2);
    assert_eq!(merged.ops[1].1.bytes, 512);
}
