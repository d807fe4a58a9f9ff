use assay_units::Nanos;

use super::*;

#[test]
fn faults_affect_only_their_ordinal() {
    let fault = |kind, ordinal| Fault { kind, ordinal };
    let mut plan = FaultPlan::new(
        vec![
            fault(FaultKind::ReadError, 2),
            fault(FaultKind::DropWrite, 1),
            fault(FaultKind::LatencySpike(Nanos(50)), 3),
            fault(FaultKind::StaleRead, 1),
        ],
        0,
    );
    let ok = FaultEffects::default();
    assert_eq!(plan.next(Op::Read), (1, ok));
    assert_eq!(plan.next(Op::Flush), (0, ok));
    let dropped = FaultEffects { write: WriteEffect::Dropped, ..ok };
    assert_eq!(plan.next(Op::Write), (1, dropped));
    let failed = FaultEffects { status: Status::UnrecoveredReadError, spike_ns: 50, ..ok };
    assert_eq!(plan.next(Op::Read), (2, failed));
    assert_eq!(plan.next(Op::Write), (2, ok));
    assert!(plan.first_bad().is_none());
    assert!(plan.is_stale(1) && !plan.is_stale(2) && plan.has_stale());
}

#[test]
fn bad_media_fails_until_rewritten() {
    let kind = FaultKind::MediaError { offset_bytes: 1000, len_bytes: 100 };
    let mut plan = FaultPlan::new(vec![Fault { kind, ordinal: 0 }], 0);
    let mut meets = |op, offset, len| plan.hits_bad_media(op, offset, len);
    assert!(meets(Op::Read, 1099, 1) && meets(Op::Read, 0, 5000));
    assert!(!meets(Op::Read, 1100, 50) && !meets(Op::Read, 900, 100));
    assert!(!meets(Op::Write, 1020, 30));
    assert!(!meets(Op::Read, 1020, 30));
    assert!(meets(Op::Read, 1019, 2) && meets(Op::Read, 1049, 2));
    assert!(!meets(Op::Discard, 0, 2000));
    assert!(plan.first_bad().is_none());
}

#[test]
fn flushes_and_the_whole_drive_fail_by_ordinal_too() {
    let fault = |kind, ordinal| Fault { kind, ordinal };
    let mut plan = FaultPlan::new(
        vec![
            fault(FaultKind::DropFlush, 2),
            fault(FaultKind::PowerLoss, 1),
            fault(FaultKind::SurpriseRemoval, 2),
        ],
        0,
    );
    let dropped: Vec<bool> = (0..3).map(|_| plan.next(Op::Flush).1.dropped).collect();
    assert_eq!(dropped, [false, true, false]);
    assert_eq!(plan.next(Op::Write).1.drive, Some(FaultKind::PowerLoss));
    assert_eq!(plan.next(Op::Read).1.drive, Some(FaultKind::SurpriseRemoval));
    assert_eq!(plan.next(Op::Read).1.drive, None);
}
