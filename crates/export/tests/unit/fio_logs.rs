use super::*;

/// Values of fio 3.33's `plat_val_to_idx` (stat.c): exact up to 127, then 64 bins for each power of
/// two.
#[test]
fn bins_are_fios() {
    for (ns, bin) in [
        (0, 0),
        (1, 1),
        (63, 63),
        (127, 127),
        (128, 128),
        (129, 128),
        (130, 129),
        (255, 191),
        (256, 192),
        (1_000, 317),
        (1_000_000, 954),
        (u64::MAX, BINS - 1),
    ] {
        assert_eq!(bin_of(ns), bin, "{ns} ns");
    }
    // 2^(6 + 28) ns, the end of the last group but one.
    assert_eq!(bin_of((1 << 34) - 1), BINS - 1);
}

#[test]
fn every_completion_is_in_a_bin() {
    let mut histogram = Histogram::new();
    for ns in [5, 5, 700, 80_000, 9_000_000, 30_000_000_000] {
        histogram.record(Nanos(ns));
    }
    // A histogram that comes in parts has the bins of the whole.
    let (mut mean, mut occupied) = (Mean::default(), Vec::new());
    for part in [&histogram, &histogram] {
        mean.add(part);
        add_to_bins(&mut occupied, part);
    }
    assert_eq!((mean.count, mean.ns()), (12, histogram.mean_ns()));
    let text = all_bins(&occupied);
    let bins: Vec<u64> = text.split(", ").skip(1).map(|ios| ios.parse().unwrap()).collect();
    assert_eq!(bins.len(), 1856);
    assert_eq!(bins.iter().sum::<u64>(), 12);
    assert_eq!(bins[5], 4);
    assert_eq!(all_bins(&[]), ", 0".repeat(1856));
}
