use super::*;

/// A flash profile with every optional section of this module.
const FLASH: &str = r#"
[nand.retry]
probability_ppm = { value = [100, 1], assumed = "test" }
extra_ns        = { value = [50_000, 900_000], assumed = "test" }
[nand.suspend]
suspend_ns = { value = 20_000, assumed = "test" }
resume_ns  = { value = 5_000, assumed = "test" }
limit      = { value = 4, assumed = "test" }
"#;

#[test]
fn sections_are_optional_and_checked() {
    let plain = Profile::builtin_text("samsung-951").unwrap();
    let text = format!("{plain}{FLASH}");
    let profile = Profile::from_toml(&text).unwrap();
    assert_eq!(profile.nand.suspend.unwrap().limit.value, 4);
    for (from, to, reason) in [
        ("[100, 1]", "[100]", "as many"),
        ("[100, 1]", "[]", "1 to 8 levels"),
        ("[100, 1]", "[100, 1_000_001]", "at most 1000000"),
        ("[50_000, 900_000]", "[900_000, 50_000]", "must not fall"),
        (
            "value = 20_000, assumed = \"test\"",
            "value = 2_000_000_000_000, assumed = \"test\"",
            "suspend_ns must not exceed",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let error = Profile::from_toml(&text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn a_profile_has_exactly_one_medium() {
    let text = Profile::builtin_text("samsung-951").unwrap();
    let mut table: toml::Table = toml::from_str(text).unwrap();
    for section in ["nand", "buffer", "ftl"] {
        table.remove(section);
    }
    let error = Profile::from_table(table).unwrap_err().to_string();
    assert!(error.contains("either [nand]"), "{error}");
    let media = Profile::builtin_text("intel-optane-p4800x").unwrap();
    let mut table: toml::Table = toml::from_str(media).unwrap();
    assert!(Profile::from_table(table.clone()).is_ok());
    let flash: toml::Table = toml::from_str(text).unwrap();
    table.insert("nand".to_owned(), flash["nand"].clone());
    let error = Profile::from_table(table).unwrap_err().to_string();
    assert!(error.contains("either [nand]"), "{error}");
}

#[test]
fn contradicting_media_and_sata_are_refused() {
    for (name, from, to, reason) in [
        (
            "intel-optane-p4800x",
            "stripe_dies              = { value = 7",
            "stripe_dies              = { value = 5",
            "must divide",
        ),
        (
            "intel-optane-p4800x",
            "granule_bytes            = { value = 4_096",
            "granule_bytes            = { value = 4_095",
            "power of two",
        ),
        ("crucial-mx300", "queue_depth = { value = 32", "queue_depth = { value = 33", "1 to 32"),
        (
            "crucial-mx300",
            "lanes                 = { value = 1",
            "lanes                 = { value = 2",
            "link.lanes 1",
        ),
    ] {
        let text = Profile::builtin_text(name).unwrap();
        assert!(text.contains(from), "{from}");
        let error = Profile::from_toml(&text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}
