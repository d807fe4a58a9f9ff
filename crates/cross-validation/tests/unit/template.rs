//! Templates: valid drives, by facts, and independent of what a drive's own figures taught.

use super::*;
use assay_calibrate::numbers::put;
use assay_calibrate::structures::Structure;

fn all() -> Vec<ReferenceDrive> {
    [
        "samsung-951",
        "samsung-960-evo",
        "toshiba-rd400",
        "intel-600p",
        "wd-black",
        "mydigitalssd-bpx",
        "plextor-m8pe-g",
    ]
    .map(|name| ReferenceDrive::new(name).unwrap())
    .into()
}

fn others<'a>(drives: &'a [ReferenceDrive], name: &str) -> Vec<&'a ReferenceDrive> {
    drives.iter().filter(|d| d.name != name).collect()
}

#[test]
fn every_template_and_alternative_is_a_valid_drive() {
    let (drives, hardware) = (all(), Hardware::embedded().unwrap());
    for drive in &drives {
        let (template, alternatives) = by_facts(drive, &others(&drives, &drive.name), &hardware);
        for alternatives in &alternatives {
            let total: f64 = alternatives.values.iter().map(|v| v.1).sum();
            assert!((total - 1.0).abs() < 1e-9 && alternatives.values[0].0.is_empty());
        }
        let values = alternatives.iter().flat_map(|a| &a.values);
        for structure in values.map(|v| &v.0).chain([&Structure::new()]) {
            let profile = template.profile(structure, &template.wide.mean);
            profile.unwrap_or_else(|e| panic!("{} {structure:?}: {e}", drive.name));
        }
        for path in ["firmware.read_command_ns", "nand.read_ns", "firmware.read_latency_ns"] {
            assert!(template.paths.iter().any(|p| p == path), "{}: {path}", drive.name);
        }
    }
}

#[test]
fn numbers_that_a_drives_own_figures_taught_do_not_enter_its_template() {
    let (drives, hardware) = (all(), Hardware::embedded().unwrap());
    for drive in &drives {
        let others = others(&drives, &drive.name);
        let mut changed = drive.clone();
        for number in &drive.numbers {
            let old = get(&drive.table, &number.path).unwrap();
            let other = match old {
                Value::Boolean(on) => Value::Boolean(!on),
                old => scaled(old, 2.0),
            };
            if number.provenance == Provenance::Fitted && is_read_path(&number.path) {
                put(&mut changed.table, &number.path, other);
            }
        }
        // Blocks follow from pages and planes, which facts give, and from the bytes in all.
        let of = |drive: &ReferenceDrive| {
            let (mut template, mut alternatives) = by_facts(drive, &others, &hardware);
            put(&mut template.table, "nand.blocks_per_plane", Value::Integer(1));
            let values = alternatives.iter_mut();
            for (structure, _) in values.flat_map(|a| &mut a.values) {
                structure.remove("nand.blocks_per_plane");
            }
            (template, alternatives)
        };
        let ((one, one_open), (two, two_open)) = (of(drive), of(&changed));
        assert_eq!(one.wide, two.wide, "{}", drive.name);
        assert_eq!(one_open, two_open, "{}", drive.name);
        for number in &drive.numbers {
            let path = number.path.as_str();
            if is_read_path(path) {
                let (a, b) = (get(&one.table, path), get(&two.table, path));
                let leaders = a.and_then(leader).zip(b.and_then(leader));
                let equal = leaders.map_or(a == b, |(a, b)| (a / b - 1.0).abs() < 1e-3 || a == b);
                assert!(equal, "{} {path}: {a:?} {b:?}", drive.name);
            }
        }
    }
}

#[test]
fn facts_give_structure_and_flash() {
    let (drives, hardware) = (all(), Hardware::embedded().unwrap());
    let template = |name: &str| {
        let drive = drives.iter().find(|d| d.name == name).unwrap();
        by_facts(drive, &others(&drives, name), &hardware).0
    };
    let evo = template("samsung-960-evo");
    let number = |t: &Template, path: &str| get(&t.table, path).and_then(leader).unwrap();
    assert_eq!(number(&evo, "firmware.cores"), 5.0);
    assert_eq!(number(&evo, "nand.page_bytes"), 16_384.0);
    // The sense time of 48-layer TLC is 45 us.
    let at = evo.paths.iter().position(|p| p == "nand.read_ns").unwrap();
    assert!((evo.wide.mean[at].exp() - 45_000.0).abs() < 1.0);
    assert_eq!(number(&template("toshiba-rd400"), "nand.partial_read_saving_ns"), 0.0);
}
