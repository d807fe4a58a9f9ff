use super::*;

#[test]
fn the_histogram_adds_up_to_all_operations() {
    // 100 at 10 us, 50 more up to 11 us, 50 at 1 ms.
    let cumulative = [(Nanos(10_000), 100), (Nanos(11_000), 150), (Nanos(1_000_000), 200)];
    let bins = histogram(&cumulative);
    let shares: Vec<f64> = bins.iter().map(|bin| bin.1).collect();
    // 10 and 11 us are in one bin of a twentieth of a decade.
    assert_eq!(shares, [75.0, 25.0]);
    for (bin, us) in bins.iter().zip([10.0, 1000.0]) {
        assert!((bin.0 / us).log10().abs() <= 1.0 / BINS_PER_DECADE, "{bin:?}");
    }
    assert_eq!(histogram(&[]), Vec::new());
}
