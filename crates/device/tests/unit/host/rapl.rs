use super::*;

#[test]
fn packages_are_summed_and_counters_wrap() {
    let dir = tempfile::tempdir().unwrap();
    let zone = |name: &str, text: &str, energy: u64| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("name"), text).unwrap();
        std::fs::write(path.join("energy_uj"), format!("{energy}\n")).unwrap();
        std::fs::write(path.join("max_energy_range_uj"), "1000000\n").unwrap();
    };
    zone("intel-rapl:0", "package-0\n", 100_000);
    zone("intel-rapl:1", "package-1\n", 900_000);
    zone("intel-rapl:0:0", "core\n", 5);
    let mut energy = PackageEnergy::in_dir(dir.path());
    zone("intel-rapl:0", "package-0\n", 600_000);
    zone("intel-rapl:1", "package-1\n", 400_000);
    // Half a joule each, the second past its range.
    let watts = energy.mean_w(Nanos::from_millis(500)).unwrap();
    assert!((watts - 2.0).abs() < 1e-9, "{watts}");
    assert_eq!(PackageEnergy::in_dir(&dir.path().join("none")).mean_w(Nanos::SECOND), None);
}
