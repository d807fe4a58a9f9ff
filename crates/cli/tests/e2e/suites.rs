//! Built-in suites on files in tmpfs and on simulated drives.

use serde_json::Value;

use crate::fixture::{Fixture, MIB, number};

/// Runtime and ramp of every planned cell that is not skipped, in seconds, from the plan in the run
/// folder.
fn planned_seconds(fixture: &Fixture, run: &str) -> f64 {
    let manifest: Value =
        serde_json::from_str(&fixture.text(&format!("{run}/manifest.json"))).unwrap();
    let cells = manifest["cells"].as_array().unwrap();
    let planned = cells.iter().filter(|cell| cell["skipped"].is_null());
    planned
        .map(|cell| {
            (number(cell, "/workload/runtime_ns") + number(cell, "/workload/ramp_ns")) / 1e9
        })
        .sum()
}

#[test]
fn quick_is_read_only_and_planned_for_less_than_a_minute() {
    let fixture = Fixture::in_memory();
    let before = fixture.noise("disk", 16 * MIB);
    let run = fixture.json("run quick disk --scale 0.02 --out run");
    assert!(fixture.read("disk") == before);
    let cells = run["runs"][0]["cells"].as_array().unwrap();
    assert!(cells.iter().all(|cell| cell["state"] == "finished"), "{run:#}");
    assert!(cells.iter().all(|cell| cell["rw"].as_str().unwrap().ends_with("read")));
    // The planned time, scaled back to full length, must be below one minute.
    let seconds = planned_seconds(&fixture, "run") / 0.02;
    assert!((20.0..55.0).contains(&seconds), "{seconds} s are planned");
    assert_eq!(number(&run, "/scale"), 0.02);
    let warnings = run["warnings"].as_array().unwrap();
    assert!(
        warnings.iter().any(|warning| warning["code"] == "scaled"),
        "a shortened run is reported as such"
    );
}

#[test]
fn quick_warns_about_compressible_data() {
    let fixture = Fixture::in_memory();
    fixture.write("zeroed", vec![0; 8 * MIB]);
    fixture.noise("noisy", 8 * MIB);
    let run = fixture.json("run quick zeroed noisy --scale 0.005 --out run");
    let about = |drive: usize| {
        let warnings = run["warnings"].as_array().unwrap().iter();
        warnings
            .filter(|w| w["drive"] == drive && w["message"].as_str().unwrap().contains("compress"))
            .count()
    };
    assert_eq!((about(0), about(1)), (1, 0), "{:#}", run["warnings"]);
    assert_eq!(number(&run, "/runs/0/cells/0/values/zero_share_pct"), 100.0);
    assert_eq!(number(&run, "/runs/1/cells/0/values/zero_share_pct"), 0.0);
}

/// Each drive alone, then all concurrently, with the share of each.
#[track_caller]
fn concurrent_drives(fixture: &Fixture, drives: &str) {
    let words = "--scale 0.01 --set soak=100ms --set area=4MiB --set threads=4 --set blocks=4k \
                 --set readers=1 --out run";
    let run = fixture.json(&format!("run bandwidth {drives} {words}"));
    let runs = run["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    for (drive, run) in runs.iter().enumerate() {
        let cells = run["cells"].as_array().unwrap();
        let aboard: Vec<&Value> =
            cells.iter().filter(|cell| cell["step"] == "all-aboard").collect();
        assert_eq!(aboard.len(), 4, "two sizes, alone and together: {aboard:#?}");
        for (pair, bs_bytes) in aboard.chunks(2).zip([32 << 10, 128 << 10]) {
            assert_eq!(pair[0]["drives"], serde_json::json!([drive]));
            assert_eq!(pair[1]["drives"], serde_json::json!([0, 1]));
            for cell in pair {
                assert_eq!(cell["bs_bytes"], bs_bytes);
            }
            let rate = |cell: &Value| number(cell, "/mib_per_s");
            assert_eq!(number(pair[1], "/values/mib_per_s_alone"), rate(pair[0]));
            assert_eq!(number(pair[1], "/values/iops_alone"), number(pair[0], "/iops"));
        }
        // Temperatures are of all drives together, without those of each alone.
        let mut temperatures = cells.iter().filter(|cell| cell["step"] == "all-aboard-temperature");
        let together = temperatures.next().unwrap();
        assert_eq!(together["drives"], serde_json::json!([0, 1]));
        assert!(temperatures.next().is_none());
    }
    let text = fixture.ok("compare run").stdout;
    assert!(!text.is_empty());
    fixture.ok("report run -o page.html");
    assert!(fixture.text("page.html").to_lowercase().contains("all drives at once"));
}

#[test]
fn two_files_are_measured_concurrently() {
    let fixture = Fixture::in_memory();
    let (one, two) = (fixture.noise("one", 8 * MIB), fixture.noise("second", 8 * MIB));
    concurrent_drives(&fixture, "one second");
    assert!(fixture.read("one") == one && fixture.read("second") == two);
}

#[test]
fn two_simulated_drives_are_measured_concurrently() {
    let fixture = Fixture::on_disk();
    concurrent_drives(&fixture, "sim:samsung-951 sim:intel-600p");
    // Two drives of one profile have different labels.
    let fixture = Fixture::on_disk();
    concurrent_drives(&fixture, "sim:samsung-951,seed=1 sim:samsung-951,seed=2");
}

#[test]
fn real_and_simulated_drives_are_not_measured_concurrently() {
    let fixture = Fixture::in_memory();
    fixture.noise("disk", 8 * MIB);
    let words = "--scale 0.005 --set soak=100ms --set area=4MiB --set threads=4 --set blocks=4k \
                 --set readers=1 --out run";
    let run = fixture.json(&format!("run bandwidth disk sim:samsung-951 {words}"));
    for run in run["runs"].as_array().unwrap() {
        for cell in
            run["cells"].as_array().unwrap().iter().filter(|cell| cell["step"] == "all-aboard")
        {
            assert_eq!(cell["state"], "skipped");
            assert!(cell["reason"].as_str().unwrap().contains("clock"), "{cell:#}");
        }
    }
}

#[test]
fn a_suite_creates_its_run_folder_and_reports_the_path() {
    let fixture = Fixture::on_disk();
    let done = fixture.ok("run quick sim:samsung-951 --scale 0.001");
    let folders: Vec<_> = std::fs::read_dir(fixture.path("assay-runs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(folders.len(), 1);
    let name = format!("assay-runs/{}", folders[0].to_str().unwrap());
    assert!(done.stdout.contains(&name), "{done}");
    // The suggested command works.
    let line = done.stdout.lines().find(|line| line.starts_with("Report:")).unwrap();
    fixture.ok(line.split_once("assay ").unwrap().1);
    assert!(fixture.path("quick.html").exists());
    // The same suite from its file.
    fixture.write("mine.toml", include_str!("../../../../suites/quick.toml"));
    fixture.ok("run mine.toml sim:samsung-951 --scale 0.001");
    let manifest: Value =
        serde_json::from_str(&fixture.text(&format!("{name}/manifest.json"))).unwrap();
    assert!(manifest["suite"]["text"].as_str().unwrap().contains("[[step]]"));
    assert_eq!(manifest["command_line"][1], "run");
}

#[test]
fn a_drive_too_small_for_a_cell_skips_it_with_a_reason() {
    let fixture = Fixture::in_memory();
    fixture.noise("disk", 64 * 1024);
    let run = fixture.json("run quick disk --scale 0.005 --out run");
    let cells = run["runs"][0]["cells"].as_array().unwrap();
    let skipped: Vec<&Value> = cells.iter().filter(|cell| cell["state"] == "skipped").collect();
    assert!(
        !skipped.is_empty()
            && skipped.iter().all(|cell| cell["id"].as_str().unwrap().ends_with("bs=128k")
                || cell["step"] == "sequential-read")
    );
    assert!(skipped[0]["reason"].as_str().unwrap().contains("too small"));
}
