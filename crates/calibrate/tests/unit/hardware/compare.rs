use super::*;
use crate::profile_text::with_values;

/// The contradictions of a profile with one number replaced.
fn with(name: &str, path: &str, value: toml::Value) -> Vec<&'static str> {
    with_all(name, &[(path, value)])
}

/// The contradictions of a profile with numbers replaced.
fn with_all(name: &str, values: &[(&str, toml::Value)]) -> Vec<&'static str> {
    let text = Profile::builtin_text(name).expect("a built-in profile");
    let values = values.iter().map(|(path, value)| ((*path).to_owned(), value.clone())).collect();
    let text = with_values(text, &values).expect("its number is there");
    let profile = Profile::from_toml(&text).expect("a profile");
    let hardware = Hardware::embedded().expect("whole");
    let found = contradictions(&profile, &hardware);
    found.into_iter().map(|c| c.field).collect()
}

#[test]
fn a_changed_number_is_found() {
    for (path, value) in [
        ("identity.capacity_bytes", 500_107_862_016_i64),
        ("identity.queue_pairs", 4),
        ("identity.max_queue_entries", 64),
        ("identity.max_transfer_bytes", 65_536),
        ("link.generation", 4),
        ("link.lanes", 2),
        ("firmware.cores", 2),
        ("nand.dies", 8),
        ("nand.planes", 2),
        ("nand.page_bytes", 16_384),
        ("nand.blocks_per_plane", 2_048),
        ("nand.partial_read_saving_ns", 5_000),
        ("nand.read_jitter_ns", 400_000),
        ("firmware.read_command_ns", 100_000),
        ("firmware.write_command_ns", 100_000),
    ] {
        let field = match path {
            "nand.read_jitter_ns" => "nand.read_ns",
            path => path,
        };
        let mut values = vec![(path, value.into())];
        if path == "nand.page_bytes" {
            // A plane of this drive senses a whole page for a host's read.
            values.push(("nand.single_plane_bytes", value.into()));
        }
        let found = with_all("samsung-951", &values);
        assert!(found.contains(&field), "{path}: {found:?}");
    }
}

#[test]
fn the_number_that_is_known_is_accepted() {
    for (name, path, value) in [
        ("toshiba-rd400", "nand.planes", 2),
        ("toshiba-rd400", "nand.page_bytes", 16_384),
        ("toshiba-rd400", "nand.partial_read_saving_ns", 0),
        ("wd-black", "firmware.cores", 3),
        ("intel-p3700", "nand.channels", 18),
    ] {
        let found = with(name, path, value.into());
        assert!(!found.contains(&path), "{name} {path}: {found:?}");
    }
}

#[test]
fn sources_and_values_are_told() {
    let profile = Profile::builtin("wd-black").expect("a built-in profile");
    let hardware = Hardware::embedded().expect("whole");
    let found = contradictions(&profile, &hardware);
    let reads = found.iter().find(|c| c.field == "firmware.read_command_ns");
    if let Some(reads) = reads {
        assert_eq!(reads.source, "WDNEWS");
        assert_eq!(reads.table, "at least 161500");
    }
    let unknown = Profile { name: "no such drive".to_owned(), ..profile };
    assert!(contradictions(&unknown, &hardware).is_empty());
}

#[test]
fn numbers_of_the_table_are_known_and_fitted_ones_are_not() {
    let hardware = Hardware::embedded().expect("whole");
    let profile = Profile::builtin("samsung-951").expect("a built-in profile");
    let known = known_numbers(&profile, &hardware);
    for path in ["firmware.cores", "nand.channels", "nand.dies", "nand.page_bytes", "link.lanes"] {
        assert!(known.contains(&path), "{path}: {known:?}");
    }
    for path in ["nand.stripe_bytes", "nand.read_ns", "firmware.read_command_ns"] {
        assert!(!known.contains(&path), "{path}");
    }
}
