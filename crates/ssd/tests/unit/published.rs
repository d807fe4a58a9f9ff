use super::*;

#[test]
fn every_row_is_a_figure() {
    for (text, random) in [(RANDOM_READ, true), (SEQUENTIAL_READ, false)] {
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("drive,threads,block_bytes,mib_per_s"));
        for line in lines {
            let (_, figure) = row(line, random).unwrap_or_else(|| panic!("{line}"));
            assert!(figure.mib_per_s > 0.0 && figure.block_bytes.is_power_of_two());
        }
    }
}

#[test]
fn every_published_stream_is_found() {
    let rates = stream_rates("mle-brief-960gb");
    assert_eq!(rates.len(), STREAMS.lines().count() - 1);
    assert!(rates.iter().all(|r| r.chunk_bytes == 131_072));
    let whole = rates.iter().find(|r| r.write && r.stream_bytes > 1 << 33);
    let rate = whole.map_or(0.0, |r| r.mib_per_s);
    assert!((rate - 441.7).abs() < 0.1, "{rate}");
    assert!(stream_rates("samsung-951").is_empty());
}

#[test]
fn figures_are_found_by_profile() {
    let figures = read_bandwidths("samsung-951");
    let found = |random, threads, block_bytes| {
        let same = |f: &&ReadBandwidth| {
            (f.random, f.threads, f.block_bytes) == (random, threads, block_bytes)
        };
        figures.iter().find(same).map(|f| f.mib_per_s)
    };
    assert_eq!(found(true, 64, 32_768), Some(1660.0));
    assert_eq!(found(false, 1, 65_536), Some(1090.0));
    assert!(read_bandwidths("no such drive").is_empty());
}
