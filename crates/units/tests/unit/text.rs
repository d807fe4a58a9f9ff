use super::*;

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
    assert!(matches!(
        parse_size("-4k"),
        Err(ParseError::NoNumber { .. })
    ));
    assert!(matches!(
        parse_size("1.2.3"),
        Err(ParseError::NoNumber { .. })
    ));
    assert!(matches!(
        parse_size("4q"),
        Err(ParseError::UnknownUnit { .. })
    ));
    assert!(matches!(
        parse_size("99999999p"),
        Err(ParseError::TooLarge { .. })
    ));
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
    assert_eq!(
        did_you_mean("samsng-951", known),
        "; did you mean \"samsung-951\"?"
    );
    assert_eq!(
        did_you_mean("Intel600p", known),
        "; did you mean \"intel-600p\"?"
    );
    assert_eq!(did_you_mean("xyz", known), "");
    assert_eq!(did_you_mean("", known), "");
}
