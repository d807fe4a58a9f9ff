//! Size and drawing time of a report of two drives.

use std::path::Path;

use anyhow::{Context, Result};

use crate::Bench;
use crate::document::{Section, Table};
use crate::rounds::Spread;

/// Below so many bytes.
const GOAL_BYTES: u64 = 8_000_000;
/// Drawn within so many milliseconds of being opened.
const GOAL_MS: f64 = 2_000.0;
const BROWSERS: [&str; 3] = [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
];

/// The suite `bandwidth` on two simulated drives, its page opened in headless Chromium with everything drawn at once.
pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "report",
        "The report of two drives",
        "Suite `bandwidth` on both simulated drives, opened in headless Chromium with every chart drawn at once (`?draw=now`; a reader's\n\
         page draws what is near the window first). Times are the page's own: spent drawing, and from opening to the last chart.",
    );
    eprintln!("report");
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).display().to_string();
    let assay = bench.runner.assay.as_path();
    let run = [
        "run",
        "bandwidth",
        "sim:samsung-951",
        "sim:intel-600p",
        "--scale",
        "0.1",
        "--out",
    ];
    let mut arguments: Vec<String> = run.map(str::to_owned).into();
    arguments.push(path("run"));
    bench.runner.run(assay, &arguments)?;
    bench
        .runner
        .run(assay, &["report", &path("run"), "-o", &path("report.html")])?;
    let bytes = std::fs::metadata(path("report.html"))?.len();
    section.goal(
        format!("below {:.0} MB", GOAL_BYTES as f64 / 1e6),
        format!("{:.2} MB", bytes as f64 / 1e6),
        bytes < GOAL_BYTES,
    );
    section
        .commands
        .push(format!("assay {} RUN", run.join(" ")));
    let Some(browser) = BROWSERS
        .into_iter()
        .find(|browser| Path::new(browser).exists())
    else {
        section
            .notes
            .push("Drawing not measured: Chromium is not installed.".to_owned());
        return Ok(section);
    };
    let (mut drawing, mut drawn_at, mut charts) = (Vec::new(), Vec::new(), 0.0);
    for round in 1..=bench.rounds() {
        eprintln!("report: round {round} of {}", bench.rounds());
        let mut options: Vec<String> = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1280,2000",
            "--timeout=20000",
            "--dump-dom",
        ]
        .map(str::to_owned)
        .into();
        options.push(format!(
            "--user-data-dir={}",
            path(&format!("profile-{round}"))
        ));
        options.push(format!("file://{}?draw=now", path("report.html")));
        let page = bench.runner.run(Path::new(browser), &options)?.stdout;
        charts =
            attribute(&page, "data-drawn").context("the page did not say that it was drawn")?;
        drawing.push(attribute(&page, "data-draw-ms").unwrap_or(f64::NAN));
        drawn_at.push(attribute(&page, "data-drawn-at-ms").unwrap_or(f64::NAN));
    }
    let (drawing, drawn_at) = (Spread::of(drawing), Spread::of(drawn_at));
    let mut table = Table::new(&[
        "charts",
        "drawing, ms",
        "from opening to the last chart, ms",
    ]);
    table
        .rows
        .push(vec![format!("{charts}"), drawing.show(0), drawn_at.show(0)]);
    section.tables.push(table);
    section.goal(
        format!("drawn within {:.0} s in Chromium", GOAL_MS / 1e3),
        format!(
            "{:.2} s from opening to the last chart",
            drawn_at.median / 1e3
        ),
        drawn_at.median < GOAL_MS,
    );
    Ok(section)
}

/// A figure that the page left on its root element.
fn attribute(page: &str, name: &str) -> Option<f64> {
    let (_, rest) = page.split_once(&format!(" {name}=\""))?;
    rest.split_once('"')?.0.parse().ok()
}
