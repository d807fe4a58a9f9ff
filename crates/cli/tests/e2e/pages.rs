//! HTML pages: self-contained, safe for any name, written by `report` and by `run --report`.

use std::fs;

use crate::fixture::{Fixture, MIB};

#[test]
fn a_page_is_one_self_contained_file() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", 4 * MIB);
    fixture.ok("run quick disk --scale 0.01 --out real");
    fixture.ok("run quick sim:samsung-951 sim:intel-600p --scale 0.01 --out sims");
    let done = fixture.ok("report real sims -o page.html");
    assert_eq!(
        done.stdout.trim(),
        fixture
            .path("page.html")
            .canonicalize()
            .unwrap()
            .to_str()
            .unwrap()
    );
    let page = fixture.text("page.html");
    assert!(page.len() < 8 * MIB, "{} bytes", page.len());
    assert!(
        page.trim_start()
            .to_lowercase()
            .starts_with("<!doctype html>")
    );
    for outside in [
        "<script src",
        "<link rel=\"stylesheet\"",
        "<img src=\"http",
        "@import",
        "<iframe",
        "url(http",
        "url(\"http",
    ] {
        assert!(!page.contains(outside), "{outside} in the page");
    }
    for part in [
        "samsung-951",
        "intel-600p",
        "simulated",
        "disk",
        "0.01",
        "<table",
        "p99",
    ] {
        assert!(page.contains(part), "{part:?} is not in the page");
    }
    // Written atomically, readable by others, without temporary files left.
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &fs::metadata(fixture.path("page.html"))
            .unwrap()
            .permissions(),
    );
    assert_eq!(mode & 0o777, 0o644);
    let names: Vec<String> = fs::read_dir(fixture.path("."))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 4, "{names:?}");
}

#[test]
fn markup_in_names_is_text() {
    let fixture = Fixture::on_disk();
    let name = "<script>alert(1)</script>";
    fs::create_dir(fixture.path("<script>alert(1)<")).unwrap();
    fixture.write(name, vec![0x55; MIB]);
    fixture.ok(&format!("job {name} --out run"));
    fixture.ok("report run -o page.html");
    assert!(!fixture.text("page.html").contains("<script>alert(1)"));
}

#[test]
fn a_run_writes_its_report() {
    let fixture = Fixture::on_disk();
    let done = fixture.ok("run quick sim:samsung-951 --scale 0.01 --out run --report run.html");
    assert!(
        done.stdout.contains("Report:     run.html"),
        "{}",
        done.stdout
    );
    fixture.ok("report run -o page.html");
    assert_eq!(fixture.text("run.html"), fixture.text("page.html"));
}

#[test]
fn a_run_does_not_start_when_its_report_would_replace_another_file() {
    let fixture = Fixture::on_disk();
    fixture.write("notes.html", "mine");
    fixture
        .run("run quick sim:samsung-951 --scale 0.01 --out run --report notes.html")
        .refuses(2, &["notes.html exists", "name another file"]);
    assert_eq!(fixture.text("notes.html"), "mine");
    assert!(!fixture.path("run").exists());
}
