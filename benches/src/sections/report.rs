//! Size and drawing time of reports: of seven drives, and of five through every suite.

use std::path::Path;

use anyhow::{Context, Result};

use crate::Bench;
use crate::child::Outcome;
use crate::document::{Section, Table};
use crate::rounds::Spread;

/// Below so many bytes.
const GOAL_BYTES: u64 = 2_000_000;
/// Drawn within so many milliseconds of being opened.
const GOAL_MS: f64 = 1_000.0;
const PAGE: &str = "report.html";
const BROWSERS: [&str; 3] =
    ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/// The drives of DragonFly's report.
const SEVEN_DRIVES: [&str; 7] = [
    "sim:samsung-951",
    "sim:samsung-960-evo",
    "sim:toshiba-rd400",
    "sim:intel-600p",
    "sim:wd-black",
    "sim:mydigitalssd-bpx",
    "sim:plextor-m8pe-g",
];

pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "report",
        "The report of seven drives",
        "Suite `bandwidth` on seven simulated drives, opened in headless Chromium with every \
         chart drawn at once (`?draw=now`; a reader's\npage draws what is near the window first). \
         Times are the page's own: spent drawing, and from opening to the last chart.",
    );
    let command = format!("run bandwidth {} --scale 0.1 --out", SEVEN_DRIVES.join(" "));
    let folder = tempfile::tempdir()?;
    let run = folder.path().join("run").display().to_string();
    eprintln!("report");
    bench.runner.run_assay(&format!("{command} {run}"))?;
    let (_, bytes) = make(bench, folder.path(), &run)?;
    section.goal(
        format!("below {:.0} MB", GOAL_BYTES as f64 / 1e6),
        format!("{:.2} MB", bytes as f64 / 1e6),
        bytes < GOAL_BYTES,
    );
    section.commands.push(format!("assay {command} RUN"));
    drawn(bench, folder.path(), (GOAL_MS, &mut section))?;
    Ok(section)
}

fn make(bench: &Bench, folder: &Path, runs: &str) -> Result<(Outcome, u64)> {
    let page = folder.join(PAGE);
    let made = bench.runner.run_assay(&format!("report {runs} -o {}", page.display()))?;
    Ok((made, std::fs::metadata(page)?.len()))
}

/// Two drives of DragonFly 2018, that of AnandTech M8Pe, one without flash and one behind SATA.
const LAB_DRIVES: [&str; 5] = [
    "sim:samsung-951",
    "sim:intel-600p",
    "sim:plextor-m8pe-y",
    "sim:intel-optane-memory-32gb",
    "sim:crucial-mx300",
];
/// Drawn within so many milliseconds of being opened.
const LAB_GOAL_MS: f64 = 3_000.0;
/// Time series are as long as those of a whole run, sweeps have all of their points.
const LAB_RUNS: [&str; 15] = [
    "bandwidth --scale 0.02 --set soak=5m",
    "quick --scale 0.1",
    "consistency",
    "client --scale 0.01 --set precondition=2% --set left=1% --set reference=2%",
    "enterprise --scale 0.01 --set area=20% --set steady=1h --set settle=1m",
    "snia-iops --scale 0.005 --set area=10% --set precondition=20%",
    "snia-throughput --scale 0.02 --set area=10% --set precondition=20%",
    "snia-latency --scale 0.01 --set area=10% --set precondition=20%",
    "snia-saturation --set runtime=1h --set capacities=10000% --set ends=first",
    "jesd219 --scale 0.02 --set area=10% --set precondition=20%",
    "thermal --set window=1h --set block=1m",
    "capacity --set area=1%",
    "streamer-peak --set repeats=1 --set chunks=1,4,16,64,256,1024,4096",
    "streamer-continuous --set size=5% --set repeats=1",
    "load --scale 0.01 --set area=2%",
];

pub fn measure_lab(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "lab-report",
        "The report of five drives and every suite",
        "Every suite on five simulated drives, hours of `consistency`, `snia-saturation`, steady \
         writes and `thermal` in intervals of one second; one page of all runs, opened in \
         headless Chromium with every chart drawn at once (`?draw=now`). The time to render the \
         page is that of the whole process.",
    );
    let folder = tempfile::tempdir()?;
    let mut runs = String::new();
    for run in LAB_RUNS {
        let (suite, rest) = run.split_once(' ').unwrap_or((run, ""));
        let command = format!("run {suite} {} {rest}", LAB_DRIVES.join(" "));
        let out = folder.path().join(suite).display().to_string();
        eprintln!("lab report: {suite}");
        let outcome = bench.runner.run_assay(&format!("{command} --out {out}"))?;
        section.commands.push(format!("assay {command} --out {suite}"));
        eprintln!("lab report: {suite} took {:.0} s", outcome.wall_s);
        runs += &format!(" {out}");
    }
    let (made, bytes) = make(bench, folder.path(), &runs)?;
    section.commands.push("assay report RUN... -o report.html".to_owned());
    section.notes.push(format!(
        "The page is {:.1} MB, made in {:.2} s with {:.0} MiB of memory.",
        bytes as f64 / 1e6,
        made.wall_s,
        made.max_rss_bytes as f64 / f64::from(1 << 20)
    ));
    drawn(bench, folder.path(), (LAB_GOAL_MS, &mut section))?;
    Ok(section)
}

fn drawn(bench: &Bench, folder: &Path, (goal_ms, section): (f64, &mut Section)) -> Result<()> {
    let mut browsers = BROWSERS.into_iter().map(Path::new);
    let Some(browser) = browsers.find(|browser| browser.exists()) else {
        let note = "Drawing not measured: Chromium is not installed.";
        section.notes.push(note.to_owned());
        return Ok(());
    };
    let (mut drawing, mut drawn_at, mut charts) = (Vec::new(), Vec::new(), 0.0);
    bench.repeat("report", bench.rounds(), |round| {
        let profile = folder.join(format!("profile-{round}")).display().to_string();
        let page = folder.join(PAGE).display().to_string();
        let options = format!(
            "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
             --disable-component-update --disable-sync --window-size=1280,2000 --timeout=20000 \
             --dump-dom --user-data-dir={profile} file://{page}?draw=now"
        );
        let options: Vec<&str> = options.split_whitespace().collect();
        let dom = bench.runner.run(browser, &options)?.stdout;
        charts = attribute(&dom, "data-drawn").context("the page did not say that it was drawn")?;
        drawing.push(attribute(&dom, "data-draw-ms").unwrap_or(f64::NAN));
        drawn_at.push(attribute(&dom, "data-drawn-at-ms").unwrap_or(f64::NAN));
        Ok(())
    })?;
    let (drawing, drawn_at) = (Spread::new(drawing), Spread::new(drawn_at));
    let mut table = Table::new(&["charts", "drawing, ms", "from opening to the last chart, ms"]);
    table.row([&charts, &drawing.show(0), &drawn_at.show(0)]);
    section.tables.push(table);
    section.goal(
        format!("drawn within {:.0} s in Chromium", goal_ms / 1e3),
        format!("{:.2} s from opening to the last chart", drawn_at.median / 1e3),
        drawn_at.median < goal_ms,
    );
    Ok(())
}

/// A number in an attribute of the page's root element.
fn attribute(page: &str, name: &str) -> Option<f64> {
    let (_, rest) = page.split_once(&format!(" {name}=\""))?;
    rest.split_once('"')?.0.parse().ok()
}
