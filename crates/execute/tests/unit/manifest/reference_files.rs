use super::*;

#[test]
fn every_row_of_the_files_is_converted() {
    let of_file = |text: &'static str| -> Vec<&str> {
        let drives = text.lines().skip(1);
        drives.filter_map(|line| line.split(',').next()).collect()
    };
    for drive in of_file(LATENCIES) {
        let count = of_file(LATENCIES).iter().filter(|d| **d == drive).count();
        let found = published_figures(drive);
        let with = found.iter().filter(|p| p.rw == "randread");
        assert_eq!(with.count(), count, "{drive}");
    }
    let optane = &published_figures("intel-optane-p4800x")[1];
    assert_eq!((optane.numjobs, optane.iodepth, optane.bs_bytes), (4, 4, 4096));
    assert_eq!((optane.latency_us["p99.999"], optane.latency_us["p50"]), (81.0, 25.0));
    assert!((optane.mib_per_s - 584_800.0 / 256.0).abs() < 1e-6);
    let [hour] = published_figures("plextor-m8pe-gn").try_into().unwrap();
    assert_eq!(hour.mib_per_s, 12_000.0 / 256.0);
    assert!(hour.source.contains("almost 10000"), "{}", hour.source);
    assert!(published_figures("samsung-951").is_empty());
}
