//! The page: well formed, self-contained, safe for any name of a drive, with limitations before the
//! figures.

use crate::run_fixture;

use crate::common;
#[path = "html/health.rs"]
mod health;

use std::collections::BTreeMap;

use assay_report::html;
use assay_store::model::{ProbeProperty, RunEnd, TelemetryRecord};
use assay_store::read::{CellState, Run};
use assay_units::Nanos;
use common::page::{MATHJAX, SIMULATED, assert_well_formed, charts, tables, tags, without_library};

#[test]
fn pages_are_well_formed_and_small() {
    let runs: [&[Run]; 3] = [
        &[common::bandwidth()],
        &[common::job()],
        &[common::bandwidth(), common::bandwidth(), common::job()],
    ];
    for runs in runs {
        let page = html::render(runs).unwrap();
        assert!(page.len() < 3_000_000, "{} bytes", page.len());
        let (rest, libraries) = without_library(&page);
        assert_eq!(libraries, 1);
        assert!(!page.contains(MATHJAX), "MathJax is in the page");
        assert_well_formed(&rest);
        for (tag, count) in [("<caption>", "<table>"), ("<h1>", "<header>")] {
            assert_eq!(rest.matches(tag).count(), rest.matches(count).count());
        }
        assert!(!rest.contains("<th>"), "a heading without scope");
    }
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    let page = html::render(&[common::bandwidth()]).unwrap();
    assert!(page.contains("Content-Security-Policy\" content=\"default-src 'none';"));
    let (rest, _) = without_library(&page);
    for loader in
        ["src=", "url(", "@import", "<link", "<iframe", "fetch(", "XMLHttpRequest", "import("]
    {
        assert!(!rest.contains(loader), "{loader}");
    }
    for (_, attributes, _) in tags(&rest) {
        assert!(!attributes.contains("http:") && !attributes.contains("https:"), "{attributes}");
    }
}

const HOSTILE: &str = "</script></title></style><script>document.documentElement.dataset.pwned=1</\
                       script><img src=x onerror=\"alert(1)\">\" onmouseover='x' {{charts}} %{y} \
                       <b>&amp;\u{1b}[31m]]>-->";

/// A probed real drive whose counters increase during the measurement.
fn with_health() -> Run {
    let mut run = common::job();
    let fact = |group: &str, name: &str, value: &str| ProbeProperty {
        group: group.to_owned(),
        name: name.to_owned(),
        value: value.to_owned(),
    };
    run.manifest.drives[0].probe = vec![
        fact("controller", "NVMe version", "1.4"),
        fact("controller", "largest command", "128 KiB"),
        fact("thermal", "warning", "70 \u{b0}C <hot>"),
    ];
    let reading = |second: u64| TelemetryRecord {
        at: Nanos::from_secs(second),
        temperature_c: Some(41.0 + second as f64),
        warning_time_s: Some(second * 60),
        critical_time_s: Some(120),
        thermal_transitions: Some(7 + second),
        media_errors: Some(100 + second * second),
        error_log_entries: Some(40),
        percentage_used: Some(3),
        available_spare_pct: Some(98),
        critical_warnings: if second == 3 {
            vec!["temperature threshold exceeded".to_owned()]
        } else {
            Vec::new()
        },
        host_bytes_read: Some(512_000 + second * (6 << 20)),
        host_bytes_written: Some(1 << 40),
        ..TelemetryRecord::default()
    };
    let part = &mut run.cells[0].drives[0];
    part.telemetry = (0..5).map(reading).collect();
    let load = part.result.as_mut().unwrap().host.as_mut().unwrap();
    load.package_w = Some(23.46);
    run
}

/// Hostile text in every text field of a run.
fn hostile() -> Run {
    let mut run = common::bandwidth();
    let m = &mut run.manifest;
    for (i, d) in m.drives.iter_mut().enumerate() {
        for field in [&mut d.label, &mut d.model, &mut d.serial, &mut d.firmware, &mut d.spec] {
            *field = format!("{HOSTILE}{i}");
        }
        d.profile = Some(HOSTILE.to_owned());
        d.details.insert(HOSTILE.to_owned(), HOSTILE.to_owned());
    }
    for field in [
        &mut m.run_id,
        &mut m.created,
        &mut m.tool.commit,
        &mut m.suite.name,
        &mut m.suite.title,
        &mut m.suite.summary,
        &mut m.suite.source,
        &mut m.suite.text,
        &mut m.host.kernel,
        &mut m.host.cpu_model,
    ] {
        *field = HOSTILE.to_owned();
    }
    m.command_line = vec![HOSTILE.to_owned()];
    m.parameters.insert(HOSTILE.to_owned(), HOSTILE.to_owned());
    m.host.details.insert(HOSTILE.to_owned(), HOSTILE.to_owned());
    run.path = HOSTILE.into();
    run.damaged_lines = vec![HOSTILE.to_owned()];
    for w in &mut run.warnings {
        for field in [&mut w.code, &mut w.message, &mut w.advice] {
            *field = HOSTILE.to_owned();
        }
        w.cell = Some(HOSTILE.to_owned());
    }
    for verdict in run.verdicts.iter_mut().flatten() {
        for reason in &mut verdict.reasons {
            reason.text = HOSTILE.to_owned();
        }
    }
    for cell in &mut run.cells {
        cell.plan.id.push_str(HOSTILE);
        cell.plan.step.push_str(HOSTILE);
        cell.plan.title.push_str(HOSTILE);
        cell.plan.workload.engine = HOSTILE.to_owned();
        cell.plan.workload.options = HOSTILE.to_owned();
        if cell.plan.workload.data == "zero" {
            cell.plan.workload.data = HOSTILE.to_owned();
        }
        if let CellState::Skipped(why) = &mut cell.state {
            *why = HOSTILE.to_owned();
        }
        for part in &mut cell.drives {
            if let Some(result) = &mut part.result {
                result.values.insert(HOSTILE.to_owned(), 1.0);
            }
        }
    }
    run
}

#[test]
fn hostile_names_stay_text() {
    let page = html::render(&[hostile()]).unwrap();
    let (rest, libraries) = without_library(&page);
    assert_eq!(libraries, 1);
    assert_well_formed(&rest);
    let scripts = tags(&rest).iter().filter(|t| t.0 == "script" && !t.2).count();
    assert_eq!(scripts, 4, "theme, charts, plotly and the page's own");
    assert!(!tags(&rest).iter().any(|t| t.0 == "img" || t.1.contains("onerror=\"alert")));
    // In the charts, names are JSON strings in which plotly would find no tag.
    let charts = charts(&page);
    let name = charts[0]["views"][0]["data"][0]["name"].as_str().unwrap();
    assert!(name.contains("&lt;/script&gt;") && !name.contains('<'), "{name}");
}

#[test]
fn limitations_are_stated_first() {
    let plain = html::render(&[common::job()]).unwrap();
    let (plain, _) = without_library(&plain);
    for absent in ["class=\"sim\"", "Durations multiplied", "Interrupted", "Unfinished"] {
        let body = &plain[plain.find("<body>").unwrap()..plain.find("id=\"charts\"").unwrap()];
        assert!(!body.contains(absent), "{absent}");
    }
    let mut run = common::bandwidth();
    run.outcome = Some(RunEnd::Interrupted);
    let cut = run.cells.len() - 3;
    run.cells[cut].state = CellState::Unfinished;
    for cell in &mut run.cells[cut + 1..] {
        cell.state = CellState::Planned;
        cell.drives.clear();
    }
    run.cells[5].state =
        CellState::Failed("the drive stopped answering; power-cycle it".to_owned());
    run.cells[5].drives.clear();
    run.damaged_lines = vec!["line 17: checksum differs".to_owned()];
    let page = html::render(&[run.clone()]).unwrap();
    let header = &page[page.find("<header>").unwrap()..page.find("<main").unwrap()];
    for expected in [
        "Every drive figure on this page is simulated.",
        "Durations multiplied by 0.05",
        "Interrupted by its user.",
        "1 cell failed.",
        "1 damaged line of the journal left out",
        "2 warnings",
    ] {
        assert!(header.contains(expected), "{expected}");
    }
    assert!(page.contains("failed: the drive stopped answering; power-cycle it"));
    assert!(page.contains("<small>unfinished</small>"));
    assert!(page.contains("line 17: checksum differs"));
    run.outcome = None;
    assert!(html::render(&[run]).unwrap().contains("Unfinished:"));
}

#[test]
fn simulated_names_are_always_marked() {
    let page = html::render(&[common::bandwidth()]).unwrap();
    let (rest, _) = without_library(&page);
    // Where every drive is simulated, each table and each chart is marked as a whole.
    let mut marked = 0;
    for table in rest.split("<table>").skip(1) {
        let table = table.split("</table>").next().unwrap();
        let (caption, body) = table.split_once("</caption>").unwrap();
        let rows = body.split("<th scope=\"row\"").skip(1);
        for row in rows {
            let heading = row.split("</th>").next().unwrap();
            if heading.contains("samsung-951") || heading.contains("intel-600p") {
                assert!(
                    caption.contains(SIMULATED) || heading.contains(SIMULATED.trim()),
                    "{heading}"
                );
                marked += 1;
            }
        }
    }
    assert!(marked > 20, "{marked}");
    for figure in rest.split("<figure").skip(1) {
        let caption = figure.split("</figcaption>").next().unwrap();
        assert!(caption.contains(SIMULATED), "{caption}");
    }
    for chart in charts(&page).as_array().unwrap() {
        assert_eq!(chart["simulated"], true, "{}", chart["id"]);
    }
    // Beside a real drive each name is.
    let mut mixed = common::bandwidth();
    mixed.manifest.drives[1].simulated = false;
    let page = html::render(&[mixed]).unwrap();
    let mut names = 0;
    for chart in charts(&page).as_array().unwrap() {
        for view in chart["views"].as_array().unwrap() {
            for trace in view["data"].as_array().unwrap() {
                let name = trace["name"].as_str().unwrap();
                assert!(!name.contains("samsung") || name.contains("(simulated)"), "{name}");
                assert!(!name.contains("intel") || !name.contains("(simulated)"), "{name}");
                names += usize::from(name.contains("(simulated)"));
            }
        }
    }
    assert!(names > 10, "{names}");
}

#[test]
fn drives_of_several_runs_have_different_names() {
    let page = html::render(&[common::bandwidth(), common::bandwidth()]).unwrap();
    for name in ["samsung-951, run 1", "samsung-951, run 2", "intel-600p, run 2"] {
        assert!(page.contains(name), "{name}");
    }
    let tables = tables(&page);
    let (_, rows) = tables.iter().find(|t| t.0 == "Random read: bandwidth, MiB/s").unwrap();
    assert_eq!(rows[0].1.len(), 8);
}

#[test]
fn long_series_are_thinned_for_drawing_with_a_note() {
    let page = html::render(&[common::bandwidth()]).unwrap();
    let charts = charts(&page);
    let mut longest = 0;
    for chart in charts.as_array().unwrap() {
        for view in chart["views"].as_array().unwrap() {
            for trace in view["data"].as_array().unwrap() {
                longest = longest.max(trace["x"].as_array().unwrap().len());
                assert_eq!(
                    trace["x"].as_array().unwrap().len(),
                    trace["y"].as_array().unwrap().len()
                );
            }
        }
    }
    assert!((900..=1000).contains(&longest), "{longest}");
    assert!(page.contains("thinned for drawing to at most 1000 points"));
}

/// WCAG 2.2 contrast ratio of two `#rrggbb` colours.
fn contrast(a: &str, b: &str) -> f64 {
    let luminance = |colour: &str| {
        let channel = |i: usize| {
            let v = f64::from(u8::from_str_radix(&colour[i..i + 2], 16).unwrap()) / 255.0;
            if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn colours_have_the_contrast_that_the_style_sheet_states() {
    let css = include_str!("../src/page/page.css");
    let block = |selector: &str| -> BTreeMap<String, String> {
        let from = css.find(selector).unwrap_or_else(|| panic!("{selector}"));
        let from = from + css[from..].find('{').unwrap() + 1;
        let body = &css[from..from + css[from..].find('}').unwrap()];
        body.split(';')
            .filter_map(|d| d.trim().split_once(": "))
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .collect()
    };
    let light = block(":root {");
    let dark = block(":root[data-theme=\"dark\"] {");
    assert_eq!(dark, block(":root:not([data-theme=\"light\"]) {"), "the two dark themes differ");
    for theme in [light, dark] {
        for ground in ["--ground", "--panel"] {
            for text in ["--ink", "--soft", "--link"] {
                let ratio = contrast(&theme[text], &theme[ground]);
                assert!(ratio >= 7.0, "{text} on {ground}: {ratio:.2}");
            }
            for text in ["--good", "--warn", "--bad"] {
                assert!(contrast(&theme[text], &theme[ground]) >= 4.5, "{text} on {ground}");
            }
            for line in 0..8 {
                let ratio = contrast(&theme[&format!("--c{line}")], &theme[ground]);
                assert!(ratio >= 3.0, "--c{line} on {ground}: {ratio:.2}");
            }
        }
        for (text, ground) in [
            ("--good", "--good-g"),
            ("--warn", "--warn-g"),
            ("--bad", "--bad-g"),
            ("--sim-ink", "--sim-ground"),
            ("--ink", "--warn-g"),
        ] {
            let ratio = contrast(&theme[text], &theme[ground]);
            assert!(ratio >= 4.5, "{text} on {ground}: {ratio:.2}");
        }
    }
}

#[test]
fn a_run_that_measured_nothing_is_still_a_page() {
    let mut run = common::bandwidth();
    run.outcome = None;
    run.audit = None;
    run.verdicts = Vec::new();
    for cell in &mut run.cells {
        cell.state = CellState::Planned;
        cell.drives.clear();
        cell.host.clear();
    }
    let page = html::render(&[run.clone()]).unwrap();
    assert_well_formed(&without_library(&page).0);
    assert!(page.contains("not reached"));
    run.cells.clear();
    run.manifest.drives.clear();
    assert_well_formed(&without_library(&html::render(&[run]).unwrap()).0);
}

#[test]
fn a_run_folder_read_from_disk_becomes_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::open(&run_fixture::fixture(folder.path())).unwrap();
    let page = html::render(std::slice::from_ref(&run)).unwrap();
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
    assert_well_formed(&without_library(&page).0);
    for drive in &run.manifest.drives {
        assert!(page.contains(&drive.label));
    }
    let text = assay_report::terminal::render(&run, 80, assay_report::terminal::Style::Plain);
    assert!(text.lines().all(|l| l.chars().count() <= 80));
    if let Ok(path) = std::env::var("ASSAY_REPORT_PAGE") {
        std::fs::write(path, page).unwrap();
    }
}
