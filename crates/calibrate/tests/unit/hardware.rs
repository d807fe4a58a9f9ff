use super::*;
use assay_ssd::Profile;
use further::{FurtherFigure, flash_times, further_figures};

#[path = "hardware/further.rs"]
mod further;
#[path = "hardware/rules.rs"]
mod rules;

const SOURCES: &str = include_str!("../../../../docs/sources.md");

fn checked(text: &str) -> Result<Hardware, CalibrateError> {
    let table = Hardware::parse(FILE, text)?;
    rules::check(&table).map_err(|broken| {
        let is_heading = |line: &str| line.starts_with(&broken.heading);
        let line = 1 + text.lines().position(is_heading).unwrap_or(0);
        CalibrateError::table(FILE, line, broken.key, &broken.what)
    })?;
    Ok(table)
}

#[test]
fn the_table_keeps_its_rules() {
    checked(TEXT).expect("whole");
}

/// The embedded table with one text replaced by another.
fn changed(from: &str, to: &str) -> Result<Hardware, CalibrateError> {
    assert!(TEXT.contains(from), "{from}");
    checked(&TEXT.replacen(from, to, 1))
}

#[test]
fn every_profile_has_its_drive() {
    let table = Hardware::embedded().expect("whole");
    let drives: Vec<&str> = table.drives.keys().map(String::as_str).collect();
    let mut names = Profile::names().to_vec();
    names.sort_unstable();
    assert_eq!(drives, names);
}

#[test]
fn every_source_is_in_the_list_of_sources_with_its_place() {
    let table = Hardware::embedded().expect("whole");
    for (key, source) in &table.sources {
        let row = SOURCES.lines().find(|line| {
            let is_row = line.starts_with(&format!("| {key} |"));
            is_row || line.contains(&format!("(key `{key}`)"))
        });
        let row = row.unwrap_or_else(|| panic!("docs/sources.md has no {key}"));
        let is_address = source.place.starts_with("http") && !source.place.contains(' ');
        assert!(!is_address || row.contains(&source.place), "{key}: {row}");
    }
    for times in flash_times().expect("whole") {
        let is_known = SOURCES.contains(&format!("| {} |", times.source));
        assert!(is_known, "{}", times.source);
    }
    for figure in further_figures().expect("whole") {
        let FurtherFigure { drive, source, .. } = figure;
        assert!(Profile::names().contains(&drive.as_str()), "{drive}");
        assert!(SOURCES.contains(&format!("| {source} |")), "{source}");
    }
}

#[test]
fn a_drives_own_fact_precedes_its_parts() {
    let table = Hardware::embedded().expect("whole");
    let evo = table.drive("samsung-960-evo").expect("a drive");
    assert_eq!(evo.die_gbit().map(|fact| fact.value), Some(128));
    let class = &table.flash["samsung-48-layer-tlc"];
    assert_eq!(class.die_gbit.as_ref().map(|fact| fact.value), Some(256));
    assert_eq!(evo.cores().map(|fact| fact.value), Some(5));
    let reads = evo.highest(Rating::RandomReadIops).expect("rated");
    assert_eq!((reads.value, reads.queue_depth), (330_000.0, Some(32)));
    let p3700 = table.drive("intel-p3700").expect("a drive");
    let writes = p3700.highest(Rating::RandomWriteIops).expect("rated");
    assert_eq!(writes.value, 90_000.0, "not the family's highest");
    assert!(table.drive("no such drive").is_none());
}

#[test]
fn what_breaks_a_rule_is_refused_with_line_and_key() {
    let evo = "[drives.samsung-960-evo]\n";
    for (from, to, expected) in [
        (evo, "[drives.samsung-960-eva]\n", "no profile called \"samsung-960-eva\""),
        (evo, "[drives.samsung-960-evo]\ncolour = 3\n", "unknown field"),
        (
            evo,
            "[drives.samsung-960-evo]\nqueue_pairs = { value = 0, source = \"GH960E\" }\n",
            "column queue_pairs: 0 is not within",
        ),
        (
            evo,
            "[drives.samsung-960-evo]\nplanes = { value = 2, source = \"NOWHERE\" }\n",
            "source \"NOWHERE\" is not in [sources]",
        ),
        (
            evo,
            "[drives.samsung-960-evo]\nplanes = { value = 2, source = \"GH960E\", class = \" \" \
             }\n",
            "class must give a reason",
        ),
        (
            evo,
            "[drives.samsung-960-evo]\npage_bytes = { value = 5000, source = \"GH960E\" }\n",
            "not a power of two",
        ),
        (
            evo,
            "[drives.samsung-960-evo]\nsata_gb_s = { value = 6, source = \"GH960E\" }\n",
            "or sata_gb_s",
        ),
        (
            "value = \"samsung-polaris\"",
            "value = \"samsung-unknown\"",
            "\"samsung-unknown\" has no table of its own",
        ),
        ("[660, 660]", "[660, 600]", "[lowest, highest]"),
        (
            "figure = \"random_read_iops\", value = 14_000, queue_depth = 1",
            "figure = \"random_read_iops\", value = 14, queue_depth = 1",
            "14 is not within",
        ),
        (
            "value = 14_000, queue_depth = 1",
            "value = 14_000, queue_depth = 0",
            "queue_depth must be at least 1",
        ),
        (
            "value = 14_000, queue_depth = 1",
            "value = 14_000, percentile = 99",
            "belongs to a latency",
        ),
        (
            "[sources]\n",
            "[sources]\nUNUSED = { title = \"a\", where = \"b\" }\n",
            "source UNUSED is not used",
        ),
        (
            "dies               = { value = 16, source = \"PCPER960E\"",
            "dies               = { value = 1, source = \"PCPER960E\"",
            "less flash than capacity",
        ),
        ("power_states_mw = { value = [25_000]", "power_states_mw = { value = []", "needs a state"),
        ("[0, 0, 0, 210, 2_200]", "[0, 0, 0, 210]", "needs a time for each"),
    ] {
        let error = changed(from, to).expect_err(to).to_string();
        assert!(error.contains(expected), "{to}: {error}");
        assert!(error.contains("hardware.toml, line "), "{error}");
    }
    let line = TEXT.lines().position(|line| line == evo.trim_end());
    let error = changed("[660, 660]", "[660, 600]").expect_err("order").to_string();
    assert!(line.is_some() && !error.contains("line 1,"), "{error}");
}

#[test]
fn a_missing_drive_is_named() {
    let start = TEXT.find("[drives.mle-brief-960gb]").expect("there");
    let end = TEXT.find("[drives.memblaze-pblaze5-c900]").expect("there");
    let text = format!("{}{}", &TEXT[..start], &TEXT[end..]);
    let error = checked(&text).expect_err("missing").to_string();
    assert!(error.contains("mle-brief-960gb") || error.contains("is not used"), "{error}");
}
