use super::*;

const SECOND: Nanos = Nanos::SECOND;

fn point(index: u32, op: Op) -> OpSample {
    let start = Nanos(u64::from(index) * SECOND.0);
    OpSample {
        ios: 5,
        ..silent(index, index == 0, start, start + SECOND, op)
    }
}

fn spans(indices: &[u32]) -> Spans {
    let span = |&n: &u32| {
        let start = Nanos(u64::from(n) * SECOND.0);
        ((n, n > 0), (start, start + SECOND))
    };
    indices.iter().map(span).collect()
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
    let mut filled = fill_gaps(series, &spans(&[0, 1, 2, 5, 6]), SECOND);
    fill_end(&mut filled, Nanos(7 * SECOND.0), SECOND);
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
    assert_eq!(seen(&filled), expected);
    assert!(
        filled
            .iter()
            .all(|p| p.ramp == (p.index == 0) && p.elapsed() == SECOND)
    );
}

#[test]
fn a_series_without_gaps_is_unchanged() {
    let series: Vec<_> = (0..4)
        .flat_map(|n| [point(n, Op::Read), point(n, Op::Write)])
        .collect();
    let mut filled = fill_gaps(series.clone(), &spans(&[0, 1, 2, 3]), SECOND);
    // Half a second more is part of the last interval, not another one.
    fill_end(&mut filled, Nanos(3 * SECOND.0 + SECOND.0 / 3), SECOND);
    assert_eq!(seen(&filled), seen(&series));
}

#[test]
fn leading_and_total_inactivity_are_represented() {
    let first = fill_gaps(vec![point(2, Op::Write)], &spans(&[0, 1, 2]), Nanos::ZERO);
    assert_eq!(first.len(), 3);
    assert_eq!((first[0].ios, first[0].op), (0, Op::Write));
    assert!(fill_gaps(Vec::new(), &spans(&[0, 1]), Nanos::ZERO).is_empty());
    let mut none = Vec::new();
    fill_end(&mut none, SECOND, Nanos::ZERO);
    assert!(none.is_empty());
}

#[test]
fn a_damaged_index_creates_no_gap() {
    let far = vec![point(1, Op::Read), point(4_000_000_000, Op::Read)];
    assert_eq!(
        fill_gaps(far, &spans(&[1, 4_000_000_000]), Nanos::ZERO).len(),
        2
    );
}
