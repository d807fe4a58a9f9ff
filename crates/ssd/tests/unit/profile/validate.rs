use super::*;

/// The profile with throttle levels, with a changed thermal section.
#[test]
fn contradicting_throttle_levels_are_refused() {
    let text = Profile::builtin_text("mydigitalssd-bpx").unwrap();
    for (from, to, reason) in [
        ("[80.0, 100.0]", "[80.0, 100.0]", ""),
        ("[80.0, 100.0]", "[80.0]", "1 to 8 levels"),
        ("[80.0, 100.0]", "[100.0, 80.0]", "must rise"),
        ("[78.0, 96.0]", "[81.0, 96.0]", "must rise"),
        ("[78.0, 96.0]", "[nan, 96.0]", "must rise"),
        ("[73, 100]", "[73, 101]", "at most 100"),
        (
            "throttle_on_celsius       = { value = 0.0",
            "throttle_on_celsius       = { value = 70.0",
            "must be 0 where",
        ),
        (
            "idle_jitter_k             = { value = 3.0",
            "idle_jitter_k             = { value = -3.0",
            "idle_jitter_k",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        match Profile::from_toml(&text.replacen(from, to, 1)) {
            Ok(_) => assert_eq!(reason, ""),
            Err(error) => {
                let error = error.to_string();
                assert!(!reason.is_empty() && error.contains(reason), "{error}");
            }
        }
    }
}

/// Numbers that would overflow the model's arithmetic are rejected, by the profile or by the flash.
#[test]
fn numbers_beyond_the_arithmetic_are_refused() {
    let text = Profile::builtin_text("intel-600p").unwrap();
    for (section, number, value, reason) in [
        ("ftl", "gc_low_superblocks", u64::from(u32::MAX), "gc_low_superblocks must be"),
        ("slc", "bytes", 1 << 60, "must not exceed 8 TiB"),
        ("slc", "read_ns", 0, "below slc.read_ns"),
        ("power", "command_nj", 1 << 60, "must not exceed 10 mJ"),
        ("nand", "blocks_per_plane", u64::from(u32::MAX), "exceed"),
    ] {
        let mut table: toml::Table = toml::from_str(text).unwrap();
        table[section][number]["value"] = toml::Value::Integer(value as i64);
        let error = match Profile::from_table(table) {
            Ok(profile) => {
                crate::Drive::new(profile, crate::DriveOptions::default()).unwrap_err().to_string()
            }
            Err(error) => error.to_string(),
        };
        assert!(error.contains(reason), "{error}");
    }
}

/// A part of a plane that a host's read senses: a stripe has at most one on each plane, so that a
/// sense reads all that is asked of its page.
#[test]
fn a_part_of_a_plane_divides_page_and_stripe() {
    // Two planes of 16 KiB; a stripe has 4 KiB of each.
    let text = Profile::builtin_text("toshiba-rd400").unwrap();
    for (stripe_bytes, single_bytes, valid) in [
        (8192, 4096, true),
        (8192, 8192, true),
        (32_768, 16_384, true),
        (16_384, 4096, false),
        (8192, 16_384, false),
        (8192, 2048, false),
        (16_384, 12_288, false),
        (32_768, 32_768, false),
    ] {
        let mut table: toml::Table = toml::from_str(text).unwrap();
        table["nand"]["stripe_bytes"]["value"] = toml::Value::Integer(stripe_bytes);
        table["nand"]["single_plane_bytes"]["value"] = toml::Value::Integer(single_bytes);
        assert_eq!(Profile::from_table(table).is_ok(), valid, "{stripe_bytes} {single_bytes}");
    }
}
