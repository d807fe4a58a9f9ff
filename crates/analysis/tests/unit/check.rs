use std::collections::BTreeMap;

use assay_store::model::DriveRecord;
use assay_store::read::Run;

use super::reference::published;
use super::*;
use crate::fixtures;

const GEN3: &str = "8.0 GT/s PCIe x4";

fn drive(model: &str, link: &str) -> DriveRecord {
    let link = |name: &str| (name.to_owned(), link.to_owned());
    DriveRecord {
        spec: "/dev/nvme0n1".to_owned(),
        kind: "block".to_owned(),
        model: model.to_owned(),
        capacity_bytes: 256_000_000_000,
        details: BTreeMap::from([link("PCIe link now"), link("PCIe link possible")]),
        ..DriveRecord::default()
    }
}

/// One cell: 4 KiB random reads by one thread at depth 64.
fn measured(drive: DriveRecord, iops: f64) -> Run {
    let plan = fixtures::plan("random-read-public", fixtures::reads(4096, 1, 64));
    let mut run = fixtures::run(vec![drive]);
    run.cells.push(fixtures::cell(plan, iops, 400_000.0, 3, 0.0, 1));
    run
}

fn warn(run: &mut Run, code: &str) {
    run.warnings.push(Warning {
        code: code.to_owned(),
        cell: None,
        drive: Some(0),
        message: format!("seen {code}"),
        advice: format!("mend {code}"),
    });
}

fn input(run: &Run) -> CheckInput<'_> {
    CheckInput {
        run,
        drive: 0,
        headlines: &[],
        health: Some(Health::default()),
        sheet: Vec::new(),
        used_pct: None,
        partition_start_bytes: None,
    }
}

fn rate_of(input: &CheckInput<'_>) -> Finding {
    let findings = check(input).unwrap().findings;
    let mut found = findings.into_iter();
    found.find(|f| f.about.starts_with("4K random reads")).unwrap()
}

#[test]
fn every_line_of_the_reference_is_read() {
    assert_eq!(published().count(), 31);
}

#[test]
fn a_rate_is_ranked_in_its_class_and_below_only_if_slower_than_all() {
    for (model, link, iops, rating) in [
        ("new", GEN3, 120_000.0, Rating::AsExpected),
        ("new", GEN3, 45_000.0, Rating::AsExpected),
        ("new", GEN3, 44_000.0, Rating::Below),
        ("new", GEN3, 20_000.0, Rating::FarBelow),
        // With slower links, too, all drives are faster.
        ("new", "16.0 GT/s PCIe x4", 20_000.0, Rating::FarBelow),
        // No drive is public of two lanes.
        ("new", "16.0 GT/s PCIe x2", 20_000.0, Rating::CannotBeJudged),
        ("new", "unknown speed x?", 20_000.0, Rating::CannotBeJudged),
        // Its own model gave 304,477.
        ("Samsung SSD 980 PRO 1TB", GEN3, 300_000.0, Rating::AsExpected),
        ("Samsung SSD 980 PRO 1TB", GEN3, 200_000.0, Rating::Below),
        ("Samsung SSD 980 PRO 1TB", GEN3, 100_000.0, Rating::FarBelow),
    ] {
        let run = measured(drive(model, link), iops);
        let found = rate_of(&input(&run));
        assert_eq!(found.rating, rating, "{model} {link} {iops}: {found:?}");
        assert_eq!(found.next.is_empty(), rating == Rating::AsExpected);
        if rating.is_below() {
            assert_eq!(check(&input(&run)).unwrap().rating, rating);
        }
    }
}

#[test]
fn a_layer_a_small_drive_and_a_doubtful_figure_are_not_judged() {
    let mut file = drive("", GEN3);
    file.details.insert(LAYERS.to_owned(), "a file (ext4)".to_owned());
    let run = measured(file, 1_000.0);
    let found = check(&input(&run)).unwrap();
    assert_eq!(found.rating, Rating::CannotBeJudged, "{found:?}");
    let mut small = drive("new", GEN3);
    small.capacity_bytes = 1 << 30;
    let run = measured(small, 1_000.0);
    assert_eq!(rate_of(&input(&run)).rating, Rating::CannotBeJudged);
    for (code, iops, rating) in [
        (code::NOT_FROM_DRIVE, 120_000.0, Rating::CannotBeJudged),
        (code::HOST_LIMITED, 120_000.0, Rating::AsExpected),
        (code::HOST_LIMITED, 1_000.0, Rating::CannotBeJudged),
        (code::OTHER_USERS, 1_000.0, Rating::CannotBeJudged),
    ] {
        let mut run = measured(drive("new", GEN3), iops);
        warn(&mut run, code);
        assert_eq!(rate_of(&input(&run)).rating, rating, "{code}");
    }
}

#[test]
fn what_was_seen_is_what_to_look_at_next() {
    for code in [
        code::LINK_BELOW_CAPABILITY,
        code::HOT_BEFORE_START,
        code::FALLS_ASLEEP,
        code::IO_SCHEDULER,
        code::WRITE_CACHE_OFF,
    ] {
        let mut run = measured(drive("new", GEN3), 20_000.0);
        warn(&mut run, code);
        let next = rate_of(&input(&run)).next;
        assert_eq!(next, [format!("seen {code}: mend {code}")]);
    }
    let run = measured(drive("new", GEN3), 20_000.0);
    let mut full = input(&run);
    full.used_pct = Some(95.0);
    full.partition_start_bytes = Some(63 * 512);
    let next = rate_of(&full).next;
    assert!(next[0].contains("95 % of it is in use"), "{next:?}");
    assert!(next[1].contains("byte 32256"), "{next:?}");
    assert!(rate_of(&input(&run)).next[0].contains("no cause was seen"));
}

#[test]
fn health_and_data_sheet_are_judged_by_what_they_state() {
    let run = measured(drive("new", GEN3), 120_000.0);
    let of = |health: Option<Health>| {
        let findings = check(&CheckInput { health, ..input(&run) }).unwrap().findings;
        findings.into_iter().find(|f| f.about == HEALTH).unwrap().rating
    };
    let log = Health::default;
    assert_eq!(of(None), Rating::CannotBeJudged);
    assert_eq!(of(Some(log())), Rating::AsExpected);
    assert_eq!(of(Some(Health { media_errors: 1, ..log() })), Rating::Below);
    assert_eq!(of(Some(Health { used_pct: 100, ..log() })), Rating::Below);
    let critical_warnings = vec!["reliability".to_owned()];
    assert_eq!(of(Some(Health { critical_warnings, ..log() })), Rating::FarBelow);
    // Healthy drives fall short of their data sheets, too.
    for (stated, rating, drive) in [
        (Rating::AsExpected, Rating::AsExpected, Rating::AsExpected),
        (Rating::Below, Rating::CannotBeJudged, Rating::AsExpected),
        (Rating::FarBelow, Rating::FarBelow, Rating::FarBelow),
    ] {
        let sheet = vec![SheetFigure {
            about: "sequential reads".to_owned(),
            step: "sequential-read".to_owned(),
            rating: Some(stated),
            text: "of its data sheet".to_owned(),
        }];
        let input = input(&run);
        let found = check(&CheckInput { sheet, ..input }).unwrap();
        let mut findings = found.findings.iter();
        let row = findings.find(|f| f.about == "sequential reads");
        assert_eq!((row.unwrap().rating, found.rating), (rating, drive));
    }
}
