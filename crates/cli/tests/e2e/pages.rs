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
        fixture.path("page.html").canonicalize().unwrap().to_str().unwrap()
    );
    let page = fixture.text("page.html");
    assert!(page.len() < 8 * MIB, "{} bytes", page.len());
    assert!(page.trim_start().to_lowercase().starts_with("<!doctype html>"));
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
    for part in ["samsung-951", "intel-600p", "simulated", "disk", "0.01", "<table", "p99"] {
        assert!(page.contains(part), "{part:?} is not in the page");
    }
    // Written atomically, readable by others, without temporary files left.
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &fs::metadata(fixture.path("page.html")).unwrap().permissions(),
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
    assert!(done.stdout.contains("Report:     run.html"), "{}", done.stdout);
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

/// Seven drives of the largest suite: at most 9,000 pixels on a wide window and 12 printed pages.
#[test]
fn a_page_of_seven_drives_is_short() {
    const CHROMIUM: &str = "/usr/bin/chromium";
    if !std::path::Path::new(CHROMIUM).exists() {
        println!("skipped: {CHROMIUM} is not installed");
        return;
    }
    let fixture = Fixture::on_disk();
    let drives = "sim:samsung-951 sim:samsung-960-evo sim:toshiba-rd400 sim:intel-600p \
                  sim:wd-black sim:mydigitalssd-bpx sim:plextor-m8pe-g";
    fixture.ok(&format!("run bandwidth {drives} --scale 0.02 --out run --report page.html"));
    let probe = "<script>const root = document.documentElement; const wait = () => \
                 root.dataset.drawn ? root.dataset.high = root.scrollHeight : \
                 setTimeout(wait, 50); wait();</script></body>";
    fixture.write("page.html", fixture.text("page.html").replace("</body>", probe));
    let address = format!("file://{}?draw=now", fixture.path("page.html").display());
    let browser = |action: &str| {
        let options = "--headless --no-sandbox --disable-gpu --no-first-run --disable-sync \
                       --disable-background-networking --disable-component-update \
                       --window-size=1400,1000 --virtual-time-budget=60000 --user-data-dir=profile";
        let mut arguments: Vec<&str> = options.split_whitespace().collect();
        arguments.extend([action, &address]);
        fixture.tool(CHROMIUM, &arguments)
    };
    let number_after = |text: &str, key: &str| -> Option<u64> {
        let rest = &text[text.find(key)? + key.len()..];
        let end = rest.find(|c: char| !c.is_ascii_digit());
        rest[..end.unwrap_or(rest.len())].parse().ok()
    };
    let high = number_after(&browser("--dump-dom"), "data-high=\"").unwrap();
    browser("--print-to-pdf=page.pdf");
    let printed = String::from_utf8_lossy(&fixture.read("page.pdf")).into_owned();
    let counts = printed.match_indices("/Count ");
    let counts = counts.filter_map(|(at, key)| number_after(&printed[at..], key));
    let pages = counts.max().unwrap();
    println!("{high} px, {pages} printed pages");
    assert!(high <= 9_000 && pages <= 12, "{high} px, {pages} pages");
}
