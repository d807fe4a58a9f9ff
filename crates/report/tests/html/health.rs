//! Health, wear and write amplification of real drives on the page.

use assay_report::html;
use assay_store::model::TelemetryRecord;
use assay_store::read::Run;
use assay_units::Nanos;
use assay_units::endurance::{CounterOrigin, CounterSource, EnduranceCounters, RatedEndurance};

use super::common::page::{assert_well_formed, tables, without_library};
use super::{common, with_health};

/// A real drive that wrote 100 MB in its first cell and 300 MB to its media, with counters of C0h.
fn with_endurance() -> Run {
    let mut run = common::job();
    let origin = |source, unit_bytes| CounterOrigin { source, unit_bytes };
    let drive = &mut run.manifest.drives[0];
    drive.simulated = false;
    drive.endurance = Some(EnduranceCounters {
        media: Some(origin(CounterSource::OcpSmart, 1)),
        host: origin(CounterSource::Smart, 512_000),
        rated: Some(RatedEndurance {
            source: CounterSource::EnduranceGroup,
            media_bytes: 3_000_000_000_000_000,
        }),
    });
    let ramp = Nanos(run.cells[0].plan.workload.ramp_ns);
    let part = &mut run.cells[0].drives[0];
    part.result.as_mut().unwrap().write.bytes = 100_000_000;
    let reading = |second: u64| TelemetryRecord {
        at: ramp + Nanos::from_secs(second),
        percentage_used: Some(3),
        available_spare_pct: Some(98),
        host_bytes_written: Some(5_000_000_000 + second * 100_000_000),
        nand_bytes_written: Some(9_000_000_000 + second * 300_000_000),
        media_errors: Some(0),
        erases_least: Some(40),
        erases_most: Some(52 + second),
        bad_blocks: Some(7),
        ..TelemetryRecord::default()
    };
    part.telemetry = vec![reading(0), reading(1)];
    run
}

#[test]
fn write_amplification_has_its_log_its_bounds_and_the_endurance_that_follows() {
    let page = html::render(&[with_endurance()]).unwrap();
    let (rest, _) = without_library(&page);
    assert_well_formed(&rest);
    let all = tables(&rest);
    let cells = |title: &str| {
        let (_, rows) = all.iter().find(|t| t.0 == title).unwrap();
        rows[0].1.clone()
    };
    let amplification = cells("Write amplification");
    // 512,000 bytes of 100 MB; 3 PB of media are 1 PB of the host.
    for expected in ["3.00", "0.5", "ocp-c0h", "1.00 PB"] {
        let has = amplification.iter().any(|cell| cell == expected);
        assert!(has, "{expected}: {amplification:?}");
    }
    assert_eq!(cells("Wear")[1..], ["3", "3", "98", "98", "40", "40", "52", "53", "7", "7"]);

    // Counters that are too coarse: the reason instead of a figure.
    let mut coarse = with_endurance();
    let counters = coarse.manifest.drives[0].endurance.as_mut().unwrap();
    counters.host.unit_bytes = 1_000_000_000;
    let page = html::render(&[coarse]).unwrap();
    let (rest, _) = without_library(&page);
    assert!(rest.contains("the error would exceed 5 %"));
    // A drive without such a counter has no section.
    let mut without = with_endurance();
    without.manifest.drives[0].endurance.as_mut().unwrap().media = None;
    for reading in &mut without.cells[0].drives[0].telemetry {
        reading.erases_most = None;
    }
    let page = html::render(&[without]).unwrap();
    assert!(!page.contains("id=\"endurance\""));
}

#[test]
fn runs_of_one_drive_have_its_health_by_date() {
    let run = |month: u32, used: u8| {
        let mut run = with_endurance();
        run.manifest.run_id = format!("run-{month}");
        run.manifest.created = format!("2026-{month:02}-01T00:00:00Z");
        run.attempts.clear();
        for reading in &mut run.cells[0].drives[0].telemetry {
            let before = u64::from(month) * 1_000_000_000;
            reading.percentage_used = Some(used);
            reading.erases_most = Some(60);
            *reading.host_bytes_written.as_mut().unwrap() += before;
            *reading.nand_bytes_written.as_mut().unwrap() += 2 * before;
        }
        run
    };
    let mut runs = vec![run(4, 8), run(1, 2), run(2, 4), run(3, 6)];
    let page = html::render(&runs).unwrap();
    let (rest, _) = without_library(&page);
    assert_well_formed(&rest);
    let all = tables(&rest);
    let find = |title: &str| all.iter().find(|t| t.0.starts_with(title)).unwrap();
    let (_, rows) = find("Health over time");
    let dates: Vec<&str> = rows.iter().map(|row| row.0.as_str()).collect();
    assert_eq!(dates.len(), 4);
    assert!(dates[0].starts_with("2026-01-01") && dates[3].starts_with("2026-04-01"), "{dates:?}");
    let amplification = |row: usize| rows[row].1.iter().any(|cell| cell == "2.00");
    assert!(!amplification(0) && amplification(1), "{rows:?}");
    assert!(
        rest.contains("projection: 100 % on") && rest.contains("if the drive is used as it was")
    );
    // Another drive with this serial.
    runs.push(run(5, 1));
    let page = html::render(&runs).unwrap();
    assert!(page.contains("Percentage Used from 8 to 1"), "the decrease is a warning");
    // One run is no trend.
    assert!(!html::render(&runs[..1]).unwrap().contains("id=\"health-over-time\""));
}

#[test]
fn a_probed_drive_has_its_properties_and_its_health_on_the_page() {
    let page = html::render(&[with_health()]).unwrap();
    let (rest, _) = without_library(&page);
    assert_well_formed(&rest);
    // The controller's properties, by group, in the card.
    let from = rest.find("Reported by the controller").unwrap();
    let facts = &rest[from..from + rest[from..].find("</details>").unwrap()];
    assert_eq!(facts.matches("<h5>").count(), 2, "{facts}");
    for expected in [
        "<dt>NVMe version</dt><dd>1.4</dd>",
        "<dt>largest command</dt><dd>128 KiB</dd>",
        "<dt>warning</dt><dd>70 \u{b0}C &lt;hot&gt;</dd>",
    ] {
        assert!(facts.contains(expected), "{expected}: {facts}");
    }
    // Its health: initial values and increments.
    let all = tables(&rest);
    let (_, rows) = all.iter().find(|t| t.0 == "Health").unwrap();
    let (name, cells) = &rows[0];
    assert!(name.contains("zram0"), "{name}");
    let expected = [
        "One workload",
        "41",
        "45",
        "4 min",
        "0",
        "4",
        "16",
        "0",
        "24 MiB",
        "0 B",
        "3",
        "98",
        "temperature threshold exceeded",
    ];
    assert_eq!(*cells, expected);
    assert!(rest.contains("href=\"#health\""), "not in the contents");
    // The power of processors is not a drive's.
    assert!(rest.contains("host power, W") && rest.contains("RAPL"));
    let figures = all.iter().find(|t| t.0.ends_with("all figures")).unwrap();
    assert!(figures.1[0].1.iter().any(|cell| cell == "23.5"), "{figures:?}");

    // Neither without a probe and telemetry.
    let page = html::render(&[common::job()]).unwrap();
    let (rest, _) = without_library(&page);
    for absent in ["Reported by the controller", "id=\"health\"", "host power"] {
        assert!(!rest.contains(absent), "{absent}");
    }
}
