//! The page: well formed, self-contained, harmless whatever a drive is called, and every figure in it from the run.

#![allow(clippy::unwrap_used)] // in helpers of tests, too

mod common;

use std::collections::{BTreeMap, HashSet};

use assay_report::html;
use assay_store::model::{CellKind, Outcome};
use assay_store::read::{CellState, Run};

/// In MathJax's own JavaScript, and not in plotly's, which can use it.
const MATHJAX: &str = "mjx-container";

/// The page without plotly's own JavaScript, and how often that was in it.
fn without_library(page: &str) -> (String, usize) {
    let marker = "* plotly.js v";
    let count = page.matches(marker).count();
    let Some(at) = page.find(marker) else {
        return (page.to_owned(), 0);
    };
    let start = page[..at].rfind("<script>").unwrap() + "<script>".len();
    let end = start + page[start..].find("</script>").unwrap();
    (format!("{}{}", &page[..start], &page[end..]), count)
}

/// Tags in order as (name, attributes, closing), contents of scripts and styles left out.
fn tags(page: &str) -> Vec<(String, String, bool)> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        if rest.starts_with('!') {
            continue;
        }
        // A `>` inside a quoted attribute does not end the tag.
        let mut quoted = false;
        let end = rest
            .char_indices()
            .find(|(_, c)| {
                quoted ^= *c == '"';
                *c == '>' && !quoted
            })
            .expect("a tag that never ends")
            .0;
        let tag = &rest[..end];
        let closing = tag.starts_with('/');
        let tag = tag.trim_start_matches('/');
        let (name, attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
        assert!(
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric()),
            "not a tag: <{tag:.60}"
        );
        tags.push((name.to_owned(), attributes.to_owned(), closing));
        rest = &rest[end + 1..];
        if !closing && (name == "script" || name == "style") {
            let close = format!("</{name}>");
            rest = &rest[rest.find(&close).expect("unclosed raw text")..];
        }
    }
    tags
}

fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let from = attributes.find(&format!("{name}=\""))? + name.len() + 2;
    let length = attributes[from..].find('"')?;
    Some(&attributes[from..from + length])
}

fn assert_well_formed(page: &str) {
    const VOID: [&str; 5] = ["meta", "br", "input", "img", "link"];
    let mut open: Vec<String> = Vec::new();
    let mut ids = HashSet::new();
    let mut referred = Vec::new();
    for (name, attributes, closing) in tags(page) {
        if closing {
            assert_eq!(open.pop().as_ref(), Some(&name), "closed out of order");
        } else if !VOID.contains(&name.as_str()) {
            open.push(name.clone());
        }
        if let Some(id) = attribute(&attributes, "id") {
            assert!(ids.insert(id.to_owned()), "id {id} twice");
        }
        for reference in [
            "aria-labelledby",
            "for",
            "data-view",
            "data-log",
            "data-section",
        ] {
            referred.extend(attribute(&attributes, reference).map(str::to_owned));
        }
        if let Some(target) = attribute(&attributes, "href") {
            let target = target.strip_prefix('#').expect("a link out of the page");
            referred.push(target.to_owned());
        }
    }
    assert!(open.is_empty(), "never closed: {open:?}");
    for id in referred {
        assert!(ids.contains(&id), "nothing has the id {id}");
    }
}

#[test]
fn pages_are_well_formed_and_small() {
    let runs: [&[Run]; 3] = [
        &[common::bandwidth()],
        &[common::job()],
        &[common::bandwidth(), common::bandwidth(), common::job()],
    ];
    for runs in runs {
        let page = html::render(runs).unwrap();
        assert!(page.len() < 8_000_000, "{} bytes", page.len());
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
    for loader in [
        "src=",
        "url(",
        "@import",
        "<link",
        "<iframe",
        "fetch(",
        "XMLHttpRequest",
        "import(",
    ] {
        assert!(!rest.contains(loader), "{loader}");
    }
    for (_, attributes, _) in tags(&rest) {
        assert!(
            !attributes.contains("http:") && !attributes.contains("https:"),
            "{attributes}"
        );
    }
}

const HOSTILE: &str = "</script></title></style><script>document.documentElement.dataset.pwned=1</script>\
    <img src=x onerror=\"alert(1)\">\" onmouseover='x' {{charts}} %{y} <b>&amp;\u{1b}[31m]]>-->";

/// Hostile words wherever a run can carry words.
fn hostile() -> Run {
    let mut run = common::bandwidth();
    let m = &mut run.manifest;
    for (i, d) in m.drives.iter_mut().enumerate() {
        for field in [
            &mut d.label,
            &mut d.model,
            &mut d.serial,
            &mut d.firmware,
            &mut d.spec,
        ] {
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
    m.host
        .details
        .insert(HOSTILE.to_owned(), HOSTILE.to_owned());
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
fn hostile_names_stay_words() {
    let page = html::render(&[hostile()]).unwrap();
    let (rest, libraries) = without_library(&page);
    assert_eq!(libraries, 1);
    assert_well_formed(&rest);
    let scripts = tags(&rest)
        .iter()
        .filter(|t| t.0 == "script" && !t.2)
        .count();
    assert_eq!(scripts, 4, "theme, charts, plotly and the page's own");
    assert!(
        !tags(&rest)
            .iter()
            .any(|t| t.0 == "img" || t.1.contains("onerror=\"alert"))
    );
    // In the charts, names are JSON strings in which plotly would find no tag.
    let charts = charts(&page);
    let name = charts[0]["views"][0]["data"][0]["name"].as_str().unwrap();
    assert!(
        name.contains("&lt;/script&gt;") && !name.contains('<'),
        "{name}"
    );
}

fn charts(page: &str) -> serde_json::Value {
    let marker = "<script type=\"application/json\" id=\"charts\">";
    let from = page.find(marker).unwrap() + marker.len();
    let to = from + page[from..].find("</script>").unwrap();
    serde_json::from_str(&page[from..to]).unwrap()
}

/// Tables as (caption, rows of (heading, cells)), tags taken out.
type Tables = Vec<(String, Vec<(String, Vec<String>)>)>;

fn tables(page: &str) -> Tables {
    let between = |text: &str, from: &str, to: &str| -> Vec<String> {
        let pieces = text.split(from).skip(1);
        pieces
            .filter_map(|p| p.split(to).next().map(str::to_owned))
            .collect()
    };
    let words = |html: &str| {
        let mut out = String::new();
        let mut inside = false;
        for c in html.chars() {
            match c {
                '<' => inside = true,
                '>' => inside = false,
                c if !inside => out.push(c),
                _ => {}
            }
        }
        out
    };
    between(page, "<table>", "</table>")
        .iter()
        .map(|table| {
            let caption = words(&between(table, "<caption>", "</caption>")[0]);
            let body = &between(table, "<tbody>", "</tbody>")[0];
            let rows = between(body, "<tr>", "</tr>")
                .iter()
                .map(|row| {
                    let heading = words(&format!(
                        "<{}",
                        between(row, "<th scope=\"row\"", "</th>")[0]
                    ));
                    let cells = between(row, "<td", "</td>");
                    (
                        heading,
                        cells.iter().map(|c| words(&format!("<td{c}"))).collect(),
                    )
                })
                .collect();
            (caption, rows)
        })
        .collect()
}

fn number(text: &str) -> f64 {
    let digits: String = text.chars().filter(|c| *c != ',').collect();
    digits
        .parse()
        .unwrap_or_else(|_| panic!("{text:?} is no number"))
}

/// Does `shown` round from `truth`, as far as its digits go?
fn rounds_from(shown: &str, truth: f64) -> bool {
    let decimals = shown.split_once('.').map_or(0, |(_, d)| d.len());
    let half = 0.5 * 10f64.powi(-(decimals as i32)) + 1e-9;
    (number(shown) - truth).abs() <= half * 1.000_001
}

#[test]
fn the_random_read_table_holds_the_run_s_figures_in_their_places() {
    let run = common::bandwidth();
    let page = html::render(std::slice::from_ref(&run)).unwrap();
    let tables = tables(&page);
    let (_, rows) = tables
        .iter()
        .find(|t| t.0 == "Random read: bandwidth, MiB/s")
        .expect("the table of report A");
    assert_eq!(rows.len(), common::SIZES.len());
    for (row, bs) in rows.iter().zip(common::SIZES) {
        assert_eq!(row.0, assay_units::text::format_size(bs));
        assert_eq!(row.1.len(), 4);
        let columns = [(0, 16), (0, 64), (1, 16), (1, 64)];
        for (shown, (drive, threads)) in row.1.iter().zip(columns) {
            let cell = run
                .cells
                .iter()
                .find(|c| {
                    let w = &c.plan.workload;
                    c.plan.step == "random-read"
                        && (c.plan.drives[0], w.bs_bytes, w.numjobs) == (drive, bs, threads)
                })
                .unwrap();
            let truth = cell.drives[0].result.as_ref().unwrap().mib_per_s();
            // A mark may follow the figure.
            let shown = shown.trim_end_matches("3 errors");
            assert!(rounds_from(shown, truth), "{shown} is not {truth}");
        }
    }
}

#[test]
fn every_figure_of_the_complete_tables_is_in_the_run() {
    let run = common::bandwidth();
    let page = html::render(std::slice::from_ref(&run)).unwrap();
    let mut checked = 0;
    for (caption, rows) in tables(&page) {
        let Some(title) = caption.strip_suffix(": all figures") else {
            continue;
        };
        let cells = run
            .cells
            .iter()
            .filter(|c| c.plan.title == title && c.plan.kind != CellKind::Prepare);
        let mut truths: Vec<f64> = Vec::new();
        for part in cells.flat_map(|c| &c.drives) {
            let r = part.result.as_ref().unwrap();
            for o in [&r.read, &r.write] {
                let l = &o.latency_ns;
                truths.extend([
                    o.mib_per_s,
                    o.iops,
                    o.errors as f64,
                    l.mean / 1e3,
                    l.stddev / 1e3,
                ]);
                let whole = [l.min, l.p50, l.p90, l.p99, l.p99_9, l.p99_99, l.max];
                truths.extend(whole.map(|ns| ns as f64 / 1e3));
            }
            truths.extend(r.values.values());
        }
        for cell in rows.iter().flat_map(|r| &r.1) {
            if cell.parse::<f64>().is_ok() || cell.contains(',') && !cell.contains(' ') {
                assert!(
                    truths.iter().any(|t| rounds_from(cell, *t)),
                    "{caption}: {cell}"
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 800, "only {checked} figures were found");
}

#[test]
fn second_by_second_reads_like_iostat() {
    let run = common::bandwidth();
    let page = html::render(std::slice::from_ref(&run)).unwrap();
    let cell = run.cells.iter().find(|c| c.plan.drives.len() == 2).unwrap();
    let tables = tables(&page);
    let (_, rows) = tables
        .iter()
        .find(|t| t.0.contains("second by second"))
        .unwrap();
    assert_eq!(rows.len(), 31);
    for (i, (second, shown)) in rows.iter().enumerate() {
        assert_eq!(number(second), (i + 1) as f64);
        for (drive, figures) in cell.drives.iter().zip(shown.chunks(3)) {
            let p = &drive.series[i];
            let truths = [
                p.bytes as f64 / p.ios as f64 / 1024.0,
                p.iops(),
                p.mib_per_s(),
            ];
            for (shown, truth) in figures.iter().zip(truths) {
                assert!(rounds_from(shown, truth), "{shown} is not {truth}");
            }
        }
        let load = &cell.host[i].1;
        let truths = [
            load.user_pct,
            load.system_pct,
            load.irq_pct,
            load.iowait_pct,
            load.idle_pct,
        ];
        for (shown, truth) in shown[6..].iter().zip(truths) {
            assert!(rounds_from(shown, truth), "{shown} is not {truth}");
        }
    }
}

#[test]
fn a_zeroed_area_is_shown_with_its_ratio() {
    let run = common::bandwidth();
    let page = html::render(std::slice::from_ref(&run)).unwrap();
    let tables = tables(&page);
    let (_, rows) = tables
        .iter()
        .find(|t| t.0 == "Zeroed against incompressible data: bandwidth, MiB/s")
        .unwrap();
    assert_eq!(rows.len(), 2);
    for (_, cells) in rows {
        for drive in cells.chunks(3) {
            let ratio = number(drive[2].trim_end_matches('\u{d7}'));
            let expected = number(&drive[1]) / number(&drive[0]);
            assert!((ratio - expected).abs() < 0.011, "{drive:?}");
        }
    }
}

#[test]
fn what_a_reader_must_know_first_is_said_first() {
    let plain = html::render(&[common::job()]).unwrap();
    let (plain, _) = without_library(&plain);
    for absent in [
        "class=\"sim\"",
        "Durations multiplied",
        "Interrupted",
        "Unfinished",
    ] {
        let body = &plain[plain.find("<body>").unwrap()..plain.find("id=\"charts\"").unwrap()];
        assert!(!body.contains(absent), "{absent}");
    }
    let mut run = common::bandwidth();
    run.outcome = Some(Outcome::Interrupted);
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
    for said in [
        "Every drive figure on this page is simulated.",
        "Durations multiplied by 0.05",
        "Interrupted by its user.",
        "1 cells failed.",
        "1 lines of the journal were damaged",
        "2 warnings",
    ] {
        assert!(header.contains(said), "{said}");
    }
    assert!(page.contains("failed: the drive stopped answering; power-cycle it"));
    assert!(page.contains("<small>unfinished</small>"));
    assert!(page.contains("line 17: checksum differs"));
    run.outcome = None;
    assert!(html::render(&[run]).unwrap().contains("Unfinished:"));
}

#[test]
fn a_simulated_name_never_stands_without_the_word() {
    let page = html::render(&[common::bandwidth()]).unwrap();
    for (caption, rows) in tables(&page) {
        for (heading, _) in rows {
            if heading.starts_with("samsung-951") || heading.starts_with("intel-600p") {
                assert!(heading.ends_with("simulated"), "{caption}: {heading}");
            }
        }
    }
    for chart in charts(&page).as_array().unwrap() {
        for view in chart["views"].as_array().unwrap() {
            for trace in view["data"].as_array().unwrap() {
                let name = trace["name"].as_str().unwrap();
                let of_drive = name.contains("samsung") || name.contains("intel");
                assert!(!of_drive || name.contains("(simulated)"), "{name}");
            }
        }
    }
}

#[test]
fn drives_of_several_runs_stand_side_by_side_with_different_names() {
    let page = html::render(&[common::bandwidth(), common::bandwidth()]).unwrap();
    for name in [
        "samsung-951, run 1",
        "samsung-951, run 2",
        "intel-600p, run 2",
    ] {
        assert!(page.contains(name), "{name}");
    }
    let tables = tables(&page);
    let (_, rows) = tables
        .iter()
        .find(|t| t.0 == "Random read: bandwidth, MiB/s")
        .unwrap();
    assert_eq!(rows[0].1.len(), 8);
}

#[test]
fn long_series_are_thinned_for_drawing_and_said_to_be() {
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
            if v <= 0.040_45 {
                v / 12.92
            } else {
                ((v + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn colours_have_the_contrast_that_the_style_sheet_promises() {
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
    assert_eq!(
        dark,
        block(":root:not([data-theme=\"light\"]) {"),
        "the two dark themes differ"
    );
    for theme in [light, dark] {
        for ground in ["--ground", "--panel"] {
            for text in ["--ink", "--soft", "--link"] {
                let ratio = contrast(&theme[text], &theme[ground]);
                assert!(ratio >= 7.0, "{text} on {ground}: {ratio:.2}");
            }
            for text in ["--good", "--warn", "--bad"] {
                assert!(
                    contrast(&theme[text], &theme[ground]) >= 4.5,
                    "{text} on {ground}"
                );
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
    let run = Run::open(&assay_store::testing::fixture(folder.path())).unwrap();
    let page = html::render(std::slice::from_ref(&run)).unwrap();
    assert!(page.len() < 8_000_000, "{} bytes", page.len());
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
