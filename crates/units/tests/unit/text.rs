use super::*;

#[test]
fn words_fill_lines() {
    assert_eq!(word_lines("", 9), [""]);
    assert_eq!(word_lines("a  b\nc d", 5), ["a b c", "d"]);
    assert_eq!(word_lines("a longest b c", 5), ["a", "longest", "b c"]);
    // Characters, not bytes.
    assert_eq!(word_lines("\u{b5}s \u{b5}s \u{b5}s", 5), ["\u{b5}s \u{b5}s", "\u{b5}s"]);
    assert_eq!(word_lines("a b", 0), ["a", "b"]);
}

#[test]
fn sizes_are_parsed_as_by_fio() {
    for (text, bytes) in [
        ("512", 512),
        ("4k", 4096),
        ("4K", 4096),
        ("4KiB", 4096),
        ("4kb", 4096),
        ("128 KiB", 131_072),
        ("1.5g", 1_610_612_736),
        ("16GiB", 17_179_869_184),
    ] {
        assert_eq!(parse_size(text), Ok(bytes), "{text}");
    }
}

#[test]
fn errors_of_sizes_name_the_cause() {
    assert!(matches!(parse_size(""), Err(ParseError::NoNumber { .. })));
    assert!(matches!(parse_size("k4"), Err(ParseError::NoNumber { .. })));
    assert!(matches!(parse_size("-4k"), Err(ParseError::NoNumber { .. })));
    assert!(matches!(parse_size("1.2.3"), Err(ParseError::NoNumber { .. })));
    assert!(matches!(parse_size("4q"), Err(ParseError::UnknownUnit { .. })));
    assert!(matches!(parse_size("99999999p"), Err(ParseError::TooLarge { .. })));
}

#[test]
fn durations() {
    assert_eq!(parse_duration("500ms"), Ok(Nanos::from_millis(500)));
    assert_eq!(parse_duration("5"), Ok(Nanos::from_secs(5)));
    assert_eq!(parse_duration("1.5s"), Ok(Nanos::from_millis(1500)));
    assert_eq!(parse_duration("2m"), Ok(Nanos::from_secs(120)));
    assert!(parse_duration("soon").is_err());
    assert!(parse_duration("5 fortnights").is_err());
}

#[test]
fn sizes_are_formatted() {
    for (bytes, long, compact) in [
        (512, "512 B", "512"),
        (4096, "4 KiB", "4k"),
        (1536, "1.50 KiB", "1536"),
        (1 << 34, "16 GiB", "16g"),
        (128_035_676_160, "119 GiB", "125034840k"),
    ] {
        assert_eq!(format_size(bytes), long);
        assert_eq!(compact_size(bytes), compact);
    }
    assert_eq!(group_digits(1_234_567), "1,234,567");
    assert_eq!(group_digits(12), "12");
}

#[test]
fn typing_errors_have_a_suggestion() {
    let known = "samsung-951, intel-600p, wd-black";
    assert_eq!(did_you_mean("samsng-951", known), "; did you mean \"samsung-951\"?");
    assert_eq!(did_you_mean("Intel600p", known), "; did you mean \"intel-600p\"?");
    assert_eq!(did_you_mean("xyz", known), "");
    assert_eq!(did_you_mean("", known), "");
}

#[test]
fn characters_that_act_on_a_terminal_are_shown_as_replaced() {
    assert_eq!(
        printable("SN\u{1b}[2J\u{202e}gpj.\u{2066}\n\u{9b}31m"),
        "SN\u{fffd}[2J\u{fffd}gpj.\u{fffd}\u{fffd}\u{fffd}31m"
    );
    // Letters of every script, combining marks and emoji are text.
    let text = "Größe \u{645}\u{631}\u{62d} \u{65e5}\u{672c} e\u{301} \u{1f600} ÷ \u{b5}s";
    assert_eq!(printable(text), text);
}

#[test]
fn colours_and_line_breaks_of_terminal_text_stay() {
    let ours = "\u{1b}[1m\u{1b}[31mred\u{1b}[0m\tx\n\u{1b}[38;5;200my\u{1b}[m\n";
    assert_eq!(printable_lines(ours), ours);
    // Cursor movement, a title, an unfinished sequence, a carriage return.
    let hostile = "a\u{1b}[2Jb\u{1b}]0;t\u{7}c\r\u{1b}[31\u{202e}d\u{1b}";
    assert_eq!(
        printable_lines(hostile),
        "a\u{fffd}[2Jb\u{fffd}]0;t\u{fffd}c\u{fffd}\u{fffd}[31\u{fffd}d\u{fffd}"
    );
}

#[test]
fn bytes_in_hexadecimal() {
    assert_eq!(hexadecimal(&[0, 0x0a, 0xff]), "000aff");
    assert_eq!(hexadecimal(&[]), "");
}

/// Rates of links and converters are quoted in bits.
#[test]
fn rates_in_bytes_and_in_bits() {
    for (text, bytes) in [
        ("480MB/s", 480_000_000),
        ("1.5GiB/s", 3 << 29),
        ("100k", 102_400),
        ("3.84Gb/s", 480_000_000),
        ("3.84Gbit/s", 480_000_000),
        ("3.84Gbps", 480_000_000),
        ("100 Mbit/s", 12_500_000),
        ("8 kb/s", 1_000),
    ] {
        assert_eq!(parse_rate(text), Ok(bytes), "{text}");
    }
    for text in ["480mb/s", "1gb", "5 xb/s"] {
        let error = parse_rate(text).unwrap_err().to_string();
        assert!(error.contains("800MB/s") && error.contains("6.4Gb/s"), "{error}");
    }
}
