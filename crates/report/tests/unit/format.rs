use super::*;

#[test]
fn figures_keep_three_digits_and_group_thousands() {
    for (value, text) in [
        (0.0, "0"),
        (0.001, "1.0e-3"),
        (4.561, "4.56"),
        (9.996, "10.0"),
        (45.64, "45.6"),
        (99.96, "100"),
        (1662.64, "1,663"),
        (-12.34, "-12.3"),
        (f64::NAN, "n/a"),
    ] {
        assert_eq!(figure(value), text);
    }
    assert_eq!(micros(81_234.0), "81.2");
    assert_eq!(ratio(3.1214), "3.12\u{d7}");
}

#[test]
fn durations_capacities_and_stamps() {
    assert_eq!(duration(250_000_000), "250 ms");
    assert_eq!(duration(5_000_000_000), "5 s");
    assert_eq!(duration(2_500_000_000), "2.5 s");
    assert_eq!(duration(5_400_000_000_000), "1 h 30 min");
    assert_eq!(capacity(128_035_676_160), "128 GB (119 GiB)");
    assert_eq!(capacity(1 << 28), "256 MiB");
    assert_eq!(capacity(0), "unknown");
    assert_eq!(stamp("2026-11-21T03:15:14.123Z"), "2026-11-21 03:15 UTC");
    assert_eq!(stamp("now"), "now");
    assert_eq!(humanise("zero_blocks_pct"), "zero blocks, %");
    assert_eq!(humanise("zstd_ratio"), "zstd ratio");
    assert_eq!(humanise("temperature_max_c"), "temperature max, °C");
}

#[test]
fn text_has_no_control_characters() {
    assert_eq!(printable("a\u{1b}[31mb\n"), "a\u{fffd}[31mb\u{fffd}");
}

#[test]
fn drawing_keeps_five_digits() {
    for (value, kept) in [
        (123_456.7, 123_460.0),
        (0.001_234_567, 0.001_234_6),
        (-98_765.4, -98_765.0),
        (0.0, 0.0),
        (f64::INFINITY, 0.0),
    ] {
        assert!((for_drawing(value) - kept).abs() < 1e-9, "{value}");
    }
}

#[test]
fn short_titles_are_whole_where_two_would_be_equal() {
    let titles = ["Sequential read, 4 KiB", "Sequential read, large blocks", "Random read, 4 KiB"];
    let short = titles.map(|title| short_title_among(title, titles));
    assert_eq!(short, [titles[0], titles[1], "Random read"]);
    // The same title twice is one title.
    assert_eq!(short_title_among(titles[2], [titles[2], titles[2]]), "Random read");
}
