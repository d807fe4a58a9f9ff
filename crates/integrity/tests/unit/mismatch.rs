use super::*;

fn run(first: u64, end: u64, origin: OriginClass) -> MismatchRun<OriginClass> {
    MismatchRun { granules: first..end, origin }
}

#[test]
fn whole_units_are_classified_by_their_origin() {
    use MismatchClass as M;
    use OriginClass as O;
    for (origin, whole, part) in [
        (O::Earlier, M::Stale, M::Torn),
        (O::Elsewhere, M::Misplaced, M::Torn),
        (O::Blank, M::Lost, M::Torn),
        (O::Foreign, M::Lost, M::Corrupt),
        (O::Damaged, M::Corrupt, M::Corrupt),
        (O::Unknown, M::Corrupt, M::Corrupt),
    ] {
        assert_eq!(classify(&[run(8, 16, origin)], &(8..16)), Some(whole));
        assert_eq!(classify(&[run(9, 16, origin)], &(8..16)), Some(part));
        let both = [run(8, 10, O::Earlier), run(10, 16, origin)];
        assert_eq!(classify(&both, &(8..16)), Some(part));
    }
    assert_eq!(classify::<OriginClass>(&[], &(0..8)), None);
    assert_eq!(M::Stale.name(), "stale");
}
