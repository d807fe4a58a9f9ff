//! `assay library`, `assay contribute` and `assay rank --with`.

use std::process::Command;

use crate::fixture::Fixture;

/// Runs of two drives, one of them three times, give a site whose pages hold them; made again
/// without one, its page is gone. A folder with other files is never written to.
#[test]
fn runs_become_a_site_that_can_be_made_again() {
    let fixture = Fixture::in_memory();
    for (name, drive) in [
        ("a1", "samsung-951"),
        ("a2", "samsung-951"),
        ("a3", "samsung-951"),
        ("b", "samsung-960-evo"),
    ] {
        fixture
            .ok(&format!("job sim:{drive} --rw randread --bs 4k --runtime 20ms --out runs/{name}"));
    }
    let found = fixture.json("library runs -o site");
    assert_eq!((&found["drives"], &found["runs"]), (&2.into(), &4.into()));
    let index = fixture.text("site/index.html");
    assert!(index.contains("SIM-SAMSUNG-951-0") && index.contains("SIM-SAMSUNG-960-EVO-0"));
    let page = |name: &str| {
        let links = index.split("href=\"").skip(1);
        let mut links = links.filter_map(|rest| rest.split('"').next());
        format!("site/{}", links.find(|link| link.contains(name)).unwrap())
    };
    let (first, second) = (page("samsung-951-0"), page("960-evo-0"));
    let text = fixture.text(&first);
    assert!(text.contains("<svg class=\"history\"") && text.contains("a1") && text.contains("a3"));
    std::fs::remove_dir_all(fixture.path("runs/b")).unwrap();
    // A damaged run folder is named, and the rest is made.
    std::fs::create_dir(fixture.path("runs/damaged")).unwrap();
    fixture.write("runs/damaged/manifest.json", "{");
    let found = fixture.json_status("library runs -o site", 1);
    assert_eq!(found["left_out"][0]["run"], "runs/damaged");
    assert!(fixture.path(&first).exists() && !fixture.path(&second).exists());
    std::fs::create_dir(fixture.path("other")).unwrap();
    fixture.write("other/mine.txt", "x");
    fixture.run("library runs -o other").refuses(2, &["name a new folder"]);
}

/// What is handed over joins the public drives, and nothing of a simulated drive is.
#[test]
fn a_contribution_is_ranked_with() {
    let fixture = Fixture::in_memory();
    let result = |iops: f64| {
        let ios = (iops * 120.0) as u64;
        format!(
            r#"{{"fio version": "fio-3.33", "global options": {{"rw": "randread", "bs": "4k",
            "direct": "1", "iodepth": "3", "filename": "/dev/nvme0n1", "size": "16G"}},
            "jobs": [{{"jobname": "a", "read": {{"io_bytes": {}, "io_kbytes": {}, "iops": {iops},
            "runtime": 120000, "total_ios": {ios}}}}}]}}"#,
            ios * 4096,
            ios * 4
        )
    };
    for (name, iops) in [("one", 1000.5), ("two", 2000.25)] {
        fixture.write(&format!("{name}.json"), result(iops));
        fixture.ok(&format!("import {name}.json --out {name} --model M --serial SECRET-{name}"));
    }
    let shown = fixture.json("contribute one --out one.csv");
    assert_eq!(shown["figures"], 2);
    assert!(!fixture.text("one.csv").contains("SECRET"));
    let ranked = fixture.json("rank two --with one.csv");
    let figure = &ranked["drives"][0]["figures"][0];
    assert_eq!((&figure["rank"], &figure["of"]), (&1.into(), &2.into()), "{figure}");
    assert_eq!(figure["best"]["value"], 1000.5);
    joins_the_tables(&fixture);
    fixture.write("bad.csv", "a,b\n1,2\n");
    fixture.run("rank two --with bad.csv").refuses(2, &["bad.csv", "assay contribute"]);
    fixture.ok("job sim:samsung-951 --rw randread --bs 4k --runtime 20ms --out simulated");
    fixture.run("contribute simulated").refuses(2, &["simulated, not measured"]);
}

/// The maintainer's program adds the lines once.
fn joins_the_tables(fixture: &Fixture) {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    std::fs::create_dir(fixture.path("public")).unwrap();
    for name in ["drives.csv", "measurements.csv.zst"] {
        let from = format!("{root}/reference/public/{name}");
        std::fs::copy(from, fixture.path("public").join(name)).unwrap();
    }
    let add = || {
        let script = format!("{root}/scripts/add-measurements");
        let done = Command::new("python3")
            .args([script.as_str(), "one.csv"])
            .env("ASSAY_PUBLIC", "public")
            .current_dir(fixture.path("."))
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    assert!(add().starts_with("56 drives, 13219 figures"));
    assert!(add().starts_with("56 drives, 13219 figures"));
}
