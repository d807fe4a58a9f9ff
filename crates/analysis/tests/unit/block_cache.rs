use super::*;

fn span(readings: &[(bool, u64, u64)]) -> CounterSpan {
    let mut span = CounterSpan::default();
    for &(ramp, hits, reads) in readings {
        span.add(ramp, Some((hits, reads)));
    }
    span
}

#[test]
fn hits_are_counted_from_the_end_of_the_ramp() {
    let readings = [(true, 0, 1000), (true, 100, 2000), (false, 850, 3000), (false, 1000, 3200)];
    assert_eq!(hit_pct(&span(&readings), 1200), Some(75.0));
}

#[test]
fn counters_that_lack_most_reads_give_no_figure() {
    let readings = [(true, 0, 0), (false, 30, 40)];
    assert_eq!(hit_pct(&span(&readings), 80), Some(75.0));
    assert_eq!(hit_pct(&span(&readings), 81), None);
    assert_eq!(hit_pct(&span(&readings[..1]), 0), None, "one reading");
    assert_eq!(hit_pct(&span(&[(true, 5, 9), (false, 5, 9)]), 0), None, "no read");
    assert_eq!(hit_pct(&span(&[(true, 5, 9), (false, 1, 19)]), 10), None, "reset");
    assert_eq!(hit_pct(&CounterSpan::default(), 0), None);
    assert_eq!(hit_pct(&span(&readings), 0), None, "a cell of writes, reads counted late");
}
