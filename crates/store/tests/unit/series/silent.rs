use super::*;

const SECOND: Nanos = Nanos::SECOND;

fn point(index: u32, op: Op) -> OpSample {
    let start = Nanos(u64::from(index) * SECOND.0);
    OpSample { ios: 5, ..silent(index, index == 0, start, start + SECOND, op) }
}

fn spans(indices: &[u32]) -> Spans {
    let span = |&n: &u32| {
        let start = Nanos(u64::from(n) * SECOND.0);
        ((n, n > 0), (start, start + SECOND))
    };
    indices.iter().map(span).collect()
}

/// [`fill_gaps`] of intervals with these indices.
fn filled(series: Vec<OpSample>, indices: &[u32], ramp: Nanos) -> Vec<OpSample> {
    let mut budget = SilentBudget::new(indices.len());
    fill_gaps(series, &spans(indices), ramp, &mut budget)
}

/// [`fill_end`] of a series that ends with the cell.
fn ended(series: &mut Vec<OpSample>, elapsed: Nanos, ramp: Nanos) {
    fill_end(series, elapsed, ramp, &mut SilentBudget::new(0));
}

/// Index, start in seconds, I/Os, operation.
fn seen(series: &[OpSample]) -> Vec<(u32, u64, u64, Op)> {
    let of = |p: &OpSample| (p.index, p.start.0 / SECOND.0, p.ios, p.op);
    series.iter().map(of).collect()
}

#[test]
fn empty_intervals_and_gaps_are_zero_points() {
    let series = vec![point(0, Op::Read), point(1, Op::Read), point(5, Op::Write)];
    // 2 is recorded empty; 3, 4 and all after 6 are not recorded.
    let mut all = filled(series, &[0, 1, 2, 5, 6], SECOND);
    ended(&mut all, Nanos(7 * SECOND.0), SECOND);
    let expected = [
        (0, 0, 5, Op::Read),
        (1, 1, 5, Op::Read),
        (2, 2, 0, Op::Read),
        (3, 3, 0, Op::Read),
        (4, 4, 0, Op::Read),
        (5, 5, 5, Op::Write),
        (6, 6, 0, Op::Write),
        (7, 7, 0, Op::Write),
    ];
    assert_eq!(seen(&all), expected);
    assert!(all.iter().all(|p| p.ramp == (p.index == 0) && p.elapsed() == SECOND));
}

#[test]
fn a_series_without_gaps_is_unchanged() {
    let series: Vec<_> = (0..4).flat_map(|n| [point(n, Op::Read), point(n, Op::Write)]).collect();
    let mut all = filled(series.clone(), &[0, 1, 2, 3], SECOND);
    // Half a second more is part of the last interval, not another one.
    ended(&mut all, Nanos(3 * SECOND.0 + SECOND.0 / 3), SECOND);
    assert_eq!(seen(&all), seen(&series));
}

#[test]
fn leading_and_total_inactivity_are_represented() {
    let first = filled(vec![point(2, Op::Write)], &[0, 1, 2], Nanos::ZERO);
    assert_eq!(first.len(), 3);
    assert_eq!((first[0].ios, first[0].op), (0, Op::Write));
    assert!(filled(Vec::new(), &[0, 1], Nanos::ZERO).is_empty());
    let mut none = Vec::new();
    ended(&mut none, SECOND, Nanos::ZERO);
    assert!(none.is_empty());
}

#[test]
fn a_damaged_index_creates_no_gap() {
    let far = vec![point(1, Op::Read), point(4_000_000_000, Op::Read)];
    assert_eq!(filled(far, &[1, 4_000_000_000], Nanos::ZERO).len(), 2);
}

#[test]
fn many_far_indices_fill_no_more_than_the_budget_of_the_series() {
    // Each is 3,000 after the one before: within an hour, but all together are no stalls.
    let indices: Vec<u32> = (0..1_000).map(|n| n * 3_000).collect();
    let series: Vec<OpSample> = indices.iter().map(|&n| point(n, Op::Read)).collect();
    let mut budget = SilentBudget::new(indices.len());
    let all = fill_gaps(series, &spans(&indices), Nanos::ZERO, &mut budget);
    let most = indices.len() as u64 * (1 + SILENT_PER_RECORDED) + MAX_SILENT;
    assert!(all.len() as u64 <= most, "{}", all.len());
    assert_eq!(all.len() as u64 + budget.refused, 999 * 3_000 + 1);
    // No sample is lost, and their order stays.
    assert_eq!(all.iter().filter(|p| p.ios > 0).count(), 1_000);
    assert!(all.is_sorted_by_key(|p| p.start));
}
