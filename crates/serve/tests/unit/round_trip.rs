use super::*;

#[test]
fn overhead_is_measured_less_modelled_latency() {
    let model: Vec<Nanos> = (0..100).map(|n| Nanos(80_000 + n)).collect();
    let mut measured: Vec<Nanos> = model.iter().map(|&time| time + Nanos(40_000)).collect();
    let overhead = |mean_ns, p50_ns, p99_ns| RoundTripOverhead { mean_ns, p50_ns, p99_ns };
    assert_eq!(
        RoundTripOverhead::between(measured.clone(), model.clone()),
        overhead(40_000, 40_000, 40_000)
    );
    // One outlier in a hundred changes the mean and the 99th percentile.
    measured[7].0 += 1_000_000;
    measured.reverse();
    let late = RoundTripOverhead::between(measured, model.clone());
    assert_eq!((late.mean_ns, late.p50_ns), (50_000, 40_001));
    assert_eq!(late.p99_ns, 1_039_908);
    assert_eq!(RoundTripOverhead::between(model.clone(), model), overhead(0, 0, 0));
    assert_eq!(RoundTripOverhead::between(Vec::new(), Vec::new()), overhead(0, 0, 0));
}
