use super::*;

/// The drives with published figures.
fn drives() -> std::collections::BTreeSet<String> {
    let tables = [RANDOM_READ, SEQUENTIAL_READ, FIGURES, LATENCIES, STREAMER, CONSISTENCY];
    let tables = tables.map(|(name, text)| CsvTable::parse(name, text).expect("whole").rows);
    let rows = tables.iter().flatten();
    rows.map(|row| row.text("drive").expect("a drive").to_owned()).collect()
}

#[test]
fn every_row_of_every_file_is_a_measurement() {
    let mut count = 0;
    for drive in drives() {
        let figures = published(&drive).expect("the files are whole");
        assert!(!figures.is_empty(), "{drive}");
        let mut keys: Vec<String> = figures.iter().map(Measurement::key).collect();
        assert!(figures.iter().all(|f| f.value > 0.0), "{drive}");
        count += keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), figures.len(), "{drive}: a figure twice");
    }
    assert!(count > 190, "{count}");
    assert!(published("no such drive").expect("no rows").is_empty());
}

#[test]
fn figures_are_found_by_profile() {
    let figures = published("samsung-951").expect("the files are whole");
    let value = |key: &str| figures.iter().find(|f| f.key() == key).map(|f| f.value);
    assert_eq!(value("randread bs=32k threads=64 depth=1, mib_per_s"), Some(1660.0));
    assert_eq!(value("read bs=64k threads=1 depth=1, mib_per_s"), Some(1090.0));
    let optane = published("intel-optane-p4800x").expect("the files are whole");
    let tail =
        optane.iter().find(|f| f.metric == ReferenceMetric::P99_999Us).expect("a far percentile");
    assert_eq!(tail.tolerance, Tolerance::Relative(0.25));
    let streams = published("mle-brief-960gb").expect("the files are whole");
    let first = &streams[0];
    assert_eq!(first.procedure.key(), "chunks write n=1");
    assert!((first.value - 21.87).abs() < 0.01, "{}", first.value);
}
