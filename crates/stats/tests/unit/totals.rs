use super::*;
use crate::Recorder;

#[test]
fn totals_exclude_the_ramp() {
    let mut recorder = Recorder::new(Nanos(0), Nanos::SECOND, Nanos::SECOND, false);
    let mut totals = JobTotals::default();
    for second in 1..=3 {
        for _ in 0..second {
            recorder.record(Op::Read, 1 << 20, Nanos(77), Nanos(77));
        }
        totals.add(&recorder.roll(recorder.boundary()));
    }
    assert_eq!(totals.elapsed(), Nanos::from_secs(2));
    assert_eq!(totals.summary(Op::Read).ios, 5);
    assert_eq!(totals.summary(Op::Read).iops, 2.5);
    assert_eq!(totals.summary(Op::Write), OpSummary::default());
    assert_eq!((totals.errors(), totals.bytes()), (0, 5 << 20));
}
