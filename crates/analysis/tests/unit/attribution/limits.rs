use super::super::{CellContext, ObservedInterval};
use super::*;
use crate::fixtures::sample;

fn observed(moment: ObservedInterval, context: CellContext) -> ObservedCell {
    ObservedCell { intervals: vec![moment; 10], context }
}

#[test]
fn a_busy_thread_or_no_idle_time_is_the_hosts_limit() {
    let of = |idle, busy| {
        let moment = ObservedInterval {
            host_idle_pct: idle,
            busiest_thread_pct: busy,
            ..ObservedInterval::default()
        };
        host(&observed(moment, CellContext::default()), 0, 10)
    };
    assert_eq!(of(None, None), None);
    assert_eq!(of(Some(60.0), Some(80.0)), None);
    assert!(of(Some(60.0), Some(99.0)).unwrap().contains("99 % of a processor"));
    assert!(of(Some(2.0), None).unwrap().contains("2.0 % idle"));
}

#[test]
fn power_at_the_cap_of_a_lower_state_is_a_limit() {
    let of = |state, mw, cap, unlimited| {
        let moment = ObservedInterval {
            sample: sample(0, 1000, 0, false),
            power_state: Some(state),
            power_mw: Some(mw),
            ..ObservedInterval::default()
        };
        let context = CellContext { power_cap_mw: cap, unlimited, ..CellContext::default() };
        power(&observed(moment, context), 0, 10).map(|(cause, _)| cause)
    };
    let limited = Some(Cause::PowerLimited { state: 2 });
    assert_eq!(of(2, 9_800, Some(10_000), None), limited);
    assert_eq!(of(2, 8_000, Some(10_000), None), None, "below the cap");
    assert_eq!(of(0, 9_800, Some(10_000), None), None, "state 0 is not governed");
    assert_eq!(of(2, 9_800, None, None), None, "nothing to compare with");
    assert_eq!(of(2, 9_800, None, Some((15_000, 1_500.0))), limited);
    let as_fast = Some((10_000, 1_000.0));
    assert_eq!(of(2, 9_800, Some(10_000), as_fast), None, "no faster in 0");
    let faster = Some((15_000, 1_500.0));
    assert_eq!(of(2, 9_800, Some(10_000), faster), limited);
    assert_eq!(of(2, 8_800, Some(10_000), faster), limited, "held below");
    assert_eq!(of(2, 9_800, None, Some((9_900, 1_010.0))), None, "as in state 0");
}
