use super::*;

fn target(percentile: f64) -> LatencyTarget {
    LatencyTarget {
        limit: Nanos(100_000),
        window: Nanos::from_millis(10),
        percentile,
        runs_on: false,
    }
}

/// A server of one I/O per 10 us: with `n` in flight each takes `n` times as long. One in `slow`
/// takes a millisecond. Returns the depth found, and what was measured: I/Os, and the most that was
/// in flight.
fn search(target: LatencyTarget, most: u32, slow: u64) -> (Option<u32>, u64, usize) {
    const SERVICE: Nanos = Nanos(10_000);
    let mut search = DepthSearch::new(target, most, Nanos::ZERO);
    let mut in_flight: std::collections::VecDeque<Nanos> = [].into();
    let (mut now, mut ios, mut measured, mut widest, mut measures) = (Nanos::ZERO, 0, 0, 0, false);
    while !search.is_done() && ios < 1_000_000 {
        while search.may_issue(in_flight.len() as u32) {
            in_flight.push_back(now);
        }
        widest = widest.max(if measures { in_flight.len() } else { 0 });
        let issued = in_flight.pop_front().expect("a search never stops by itself");
        now += SERVICE;
        ios += 1;
        measured += u64::from(measures);
        let extra = if ios % slow == 0 { Nanos::MILLISECOND } else { Nanos::ZERO };
        let latency = now - issued + extra;
        measures |= search.completed(latency, in_flight.len() as u32, now) == SearchStep::Measure;
    }
    (search.found(), measured, widest)
}

#[test]
fn the_depth_is_the_highest_that_the_limit_allows() {
    for most in [16, 32, 37, 128] {
        let (found, measured, widest) = search(target(100.0), most, u64::MAX);
        assert_eq!(found, Some(10), "{most}");
        // A window of 10 ms.
        assert!((995..=1005).contains(&measured), "{measured}");
        assert_eq!(widest, 10);
    }
    // As fio: the depth of the job, where it is below what the limit allows.
    assert_eq!(search(target(100.0), 8, u64::MAX).0, Some(8));
}

#[test]
fn some_slow_ios_are_allowed_by_the_percentile() {
    assert_eq!(search(target(99.0), 64, 200).0, Some(10));
    // Half a percent is too much for 99.9 %: not even one in flight.
    let (found, measured, widest) = search(target(99.9), 64, 200);
    assert_eq!((found, widest), (Some(0), 1));
    assert!(measured > 900, "the depth of one is measured: {measured}");
}

#[test]
fn a_search_that_runs_on_never_ends() {
    let target = LatencyTarget { runs_on: true, ..target(100.0) };
    let (found, measured, _) = search(target, 64, u64::MAX);
    assert!((9..=11).contains(&found.unwrap()), "{found:?}");
    assert_eq!(measured, 0);
}

/// Threads measure together: one that has found its depth goes on until the other has.
#[test]
fn threads_wait_for_each_other() {
    let left = Searchers(Arc::new(AtomicU32::new(2)));
    let mut searches = [100.0, 100.0].map(|percentile| {
        DepthSearch::new(target(percentile), 1, Nanos::ZERO).with_searchers(Some(left.clone()))
    });
    let mut now = Nanos::ZERO;
    let mut completed = |search: &mut DepthSearch| {
        now += Nanos::from_millis(6);
        search.completed(Nanos(10_000), 0, now)
    };
    let [first, second] = &mut searches;
    for _ in 0..20 {
        assert_eq!(completed(first), SearchStep::Continue);
    }
    assert_eq!((first.found(), first.is_done()), (Some(1), false));
    while second.found().is_none() {
        completed(second);
    }
    assert_eq!(completed(first), SearchStep::Measure);
    while !first.is_done() {
        assert_eq!(completed(first), SearchStep::Continue);
    }
}
