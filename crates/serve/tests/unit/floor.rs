use super::*;

#[test]
fn a_floor_is_what_is_beyond_the_model() {
    let model: Vec<Nanos> = (0..100).map(|n| Nanos(80_000 + n)).collect();
    let mut seen: Vec<Nanos> = model.iter().map(|&time| time + Nanos(40_000)).collect();
    let floor = |mean_ns, p50_ns, p99_ns| Floor {
        mean_ns,
        p50_ns,
        p99_ns,
    };
    assert_eq!(
        Floor::between(seen.clone(), model.clone()),
        floor(40_000, 40_000, 40_000)
    );
    // One in a hundred that waited long moves the mean and the 99th percentile.
    seen[7].0 += 1_000_000;
    seen.reverse();
    let late = Floor::between(seen, model.clone());
    assert_eq!((late.mean_ns, late.p50_ns), (50_000, 40_001));
    assert_eq!(late.p99_ns, 1_039_908);
    assert_eq!(Floor::between(model.clone(), model), floor(0, 0, 0));
    assert_eq!(Floor::between(Vec::new(), Vec::new()), floor(0, 0, 0));
}
