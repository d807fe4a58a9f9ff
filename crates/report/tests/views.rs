//! Pages of the views: their figures are those of the run, and incomplete results are marked.

use crate::common;
#[path = "views/streams.rs"]
mod streams;
#[path = "views/thermal.rs"]
mod thermal;

use assay_report::html;
use assay_report::terminal::{self, Style};
use assay_store::read::{CellRecord, Run};
use common::page::{Tables, assert_well_formed, charts, tables, without_library};

fn page(run: &Run) -> String {
    html::render(std::slice::from_ref(run)).unwrap()
}

fn rows<'t>(tables: &'t Tables, caption: &str) -> &'t [(String, Vec<String>)] {
    let found = tables.iter().find(|t| t.0 == caption);
    let all: Vec<&str> = tables.iter().map(|t| t.0.as_str()).collect();
    &found.unwrap_or_else(|| panic!("no table {caption:?} in {all:?}")).1
}

fn number(text: &str) -> f64 {
    // Before its half-width or its mark.
    let is_digit = |c: char| c.is_ascii_digit() || "-.,".contains(c);
    let figure = text.split(|c| !is_digit(c)).next().unwrap().replace(',', "");
    figure.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

#[test]
fn every_suite_s_page_is_well_formed_alone_and_together() {
    let all = common::views::all(2, 120);
    for run in &all {
        let whole = page(run);
        assert_well_formed(&without_library(&whole).0);
        let cut = page(&common::views::cut_short(run.clone()));
        assert_well_formed(&without_library(&cut).0);
    }
    let together = html::render(&all).unwrap();
    assert_well_formed(&without_library(&together).0);
    // A drive of several suites has one card.
    assert_eq!(together.matches("<article class=\"card\"").count(), 2);
    assert_eq!(together.matches("<div class=\"suite\"").count(), all.len());
}

#[test]
fn the_same_suite_twice_is_two_drives() {
    let run = common::views::load(1);
    let together = html::render(&[run.clone(), run]).unwrap();
    assert_eq!(together.matches("<article class=\"card\"").count(), 2);
    assert!(together.contains("plextor-m8pe-y, run 2"));
}

#[test]
fn the_score_covers_the_last_ninth() {
    let run = common::views::consistency(2, 900);
    let page = page(&run);
    let tables = tables(&page);
    let rows = rows(&tables, "An hour of random writes: score");
    assert_eq!(rows.len(), 4);
    let hours = run.cells.iter().filter(|c| c.plan.view.is_some());
    for (cell, (_, shown)) in hours.zip(rows) {
        let rates: Vec<f64> = cell.drives[0].series[800..].iter().map(|p| p.iops()).collect();
        let mean = rates.iter().sum::<f64>() / 100.0;
        let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!(shown[0], cell.plan.variant.clone().unwrap());
        assert!((number(&shown[1]) - mean).abs() < 1.0, "{shown:?} is not {mean}");
        assert!((number(&shown[3]) - least).abs() < 1.0, "{shown:?} is not {least}");
    }
    // Each variant and both together, in the whole run and in the scored part.
    let charts = charts(&page);
    let views: Vec<usize> = (0..2).map(|i| charts[i]["views"].as_array().unwrap().len()).collect();
    assert_eq!(views, [3, 3]);
    let scored = &charts[1]["views"][0]["data"][0]["x"];
    assert_eq!(scored.as_array().unwrap().len(), 100);
}

#[test]
fn the_knee_is_the_lowest_depth_with_95_percent() {
    let run = common::views::enterprise(1, 20);
    let tables = tables(&page(&run));
    let rows = rows(&tables, "Peak random read: at the knee");
    // One row per power state. 1 - e^(-128/40) is 0.959, 1 - e^(-64/40) is 0.798.
    assert_eq!(rows.len(), 2);
    for ((_, shown), state) in rows.iter().zip([0, 2]) {
        assert_eq!(shown[0], format!("power state {state}"));
        assert_eq!(shown[1], "128 threads");
        let (iops, watts) = (number(&shown[2]), number(&shown[6]));
        let efficiency = number(&shown[7]);
        assert!((efficiency - iops / 1e3 / watts).abs() < 0.02 * efficiency, "{shown:?}");
    }
}

#[test]
fn unsteady_rounds_are_marked_everywhere() {
    let run = common::views::snia(2);
    let page = page(&run);
    assert_eq!(page.matches("class=\"banner alarm loud\"").count(), 1);
    assert!(page.contains("plextor-m8pe-gn (simulated): steady state not achieved in 25 rounds."));
    let tables = tables(&page);
    let evaluated = rows(&tables, "IOPS test: steady state");
    assert_eq!(
        (evaluated[0].1[1].as_str(), evaluated[1].1[1].as_str()),
        ("achieved", "NOT ACHIEVED")
    );
    // Drive by drive; every cell of the unsteady one is marked.
    let matrices: Vec<_> =
        tables.iter().filter(|t| t.0 == "IOPS test: operations per second").collect();
    assert_eq!(matrices.len(), 2);
    let marked = |table: usize| {
        let cells = matrices[table].1.iter().flat_map(|r| &r.1);
        cells.filter(|c| c.ends_with("not steady")).count()
    };
    assert_eq!((marked(0), marked(1)), (0, 8 * 7));
    // A cell is the mean of its window's rounds.
    let of_window = run.cells.iter().filter(|c| {
        let w = &c.plan.workload;
        let round = c.plan.round.as_ref().unwrap().number;
        (c.plan.drives[0], w.bs_bytes, w.rwmixread) == (0, 4096, Some(65))
            && (5..=9).contains(&round)
    });
    let values: Vec<f64> = of_window.map(|c| c.drives[0].result.as_ref().unwrap().iops()).collect();
    assert_eq!(values.len(), 5);
    let mean = values.iter().sum::<f64>() / 5.0;
    let shown = &matrices[0].1.iter().find(|r| r.0 == "4 KiB").unwrap().1[4];
    assert!((number(shown) - mean).abs() < 1.0, "{shown} is not {mean}");
}

/// SNIA's plots: a figure over block sizes with a line per mix, and convergence and window of every
/// figure.
#[test]
fn rounds_are_drawn_by_size_and_in_every_figure() {
    let run = common::views::snia(2);
    let charts = charts(&page(&run));
    let views = |i: usize| charts[i]["views"].as_array().unwrap().clone();
    // Five figures of two drives.
    let sizes = views(0);
    assert_eq!(sizes.len(), 10);
    let lines = sizes[0]["data"].as_array().unwrap();
    assert_eq!(lines.len(), 7, "a line per mix");
    let value = |bs: u64, mix: u8, round: u32, of: fn(&assay_store::model::CellResult) -> f64| {
        let cell = run.cells.iter().find(|c| {
            let w = &c.plan.workload;
            (c.plan.drives[0], w.bs_bytes, w.rwmixread) == (0, bs, Some(mix))
                && c.plan.round.as_ref().unwrap().number == round
        });
        of(cell.unwrap().drives[0].result.as_ref().unwrap())
    };
    let near = |shown: &serde_json::Value, truth: f64| {
        let shown = shown.as_f64().unwrap();
        assert!((shown / truth - 1.0).abs() < 1e-3, "{shown} is not {truth}");
    };
    let mean = (5..=9).map(|n| value(4096, 65, n, |r| r.iops())).sum::<f64>() / 5.0;
    let of_mix = lines.iter().find(|l| l["name"].as_str().unwrap().contains("65")).unwrap();
    let at = of_mix["x"].as_array().unwrap().iter().position(|x| x == 4096.0).unwrap();
    near(&of_mix["y"][at], mean);
    assert_eq!(sizes[0]["layout"]["xaxis"]["type"], "log");
    // Round by round: the evaluated figure in every mix of both drives and in one view; of the four
    // others the tracked cells.
    assert_eq!(views(1).len(), 1 + 7 * 2 + 4 * (1 + 2));
    // The window of all five figures of both drives; only the evaluated one has limits.
    let windows = views(2);
    assert_eq!(windows.len(), 10);
    let names = |view: &serde_json::Value| -> Vec<String> {
        let data = view["data"].as_array().unwrap().iter();
        data.map(|t| t["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(names(&windows[0]).iter().any(|n| n.starts_with("mean +")));
    let latency = windows.iter().find(|w| names(w)[0].starts_with("maximum latency")).unwrap();
    assert!(!names(latency).iter().any(|n| n.starts_with("mean +")));
    near(&latency["data"][0]["y"][8], value(4096, 0, 9, |r| r.latency().max as f64 / 1e3));
}

#[test]
fn unsustained_loads_are_marked() {
    let tables = tables(&page(&common::views::load(1)));
    let rows = rows(&tables, "Latency by offered load: latency by offered load");
    let over: Vec<&str> = rows
        .iter()
        .filter(|r| r.1[2].ends_with("not sustained"))
        .map(|r| r.1[0].as_str())
        .collect();
    assert_eq!(over, ["100", "105"]);
}

/// The fixture's latency from submission is 90 us times 1 + load, that from the intended start is
/// longer by a quarter of load / (1 - load).
#[test]
fn service_queueing_and_lateness_are_told_apart() {
    let page = page(&common::views::load(1));
    let tables = tables(&page);
    let rows = rows(&tables, "Latency by offered load: latency by offered load");
    for (_, shown) in rows.iter().take(8) {
        let load = number(&shown[0]) / 100.0;
        let mean = number(&shown[3]);
        let [service, queueing, lateness] = [9, 10, 11].map(|at| number(&shown[at]));
        let submitted = 90.0 * (1.0 + load);
        for (found, truth) in [
            (service, 99.0),
            (queueing, submitted - 99.0),
            (lateness, submitted * 0.25 * load / (1.0 - load)),
            (mean, service + queueing + lateness),
        ] {
            assert!((found - truth).abs() <= 0.006 * mean, "{shown:?}: {found}, not {truth}");
        }
    }
    assert!(page.contains(
        "service: mean latency from submission at 10 % load, up to 11.1 % of the service time too \
         high"
    ));
    assert!(!page.contains("time in the queue"));
}

/// The second drive of the fixture has 13 % of its rate for 22 of every 60 seconds.
#[test]
fn modes_have_levels_shares_and_dwell_times() {
    let run = common::views::consistency(2, 1800);
    let page = page(&run);
    let tables = tables(&page);
    let rows = rows(&tables, "An hour of random writes: score");
    let modes: Vec<&str> = rows.iter().map(|(_, shown)| shown[5].as_str()).collect();
    assert_eq!(modes, ["1", "1", "2", "2"]);
    for (_, shown) in &rows[2..] {
        assert!(
            number(&shown[6]) < 1.0 && number(&shown[7]) < 1.0,
            "outliers of two modes: {shown:?}"
        );
    }
    let text = page.split("2 modes: ").nth(1).expect("a note with the modes");
    let slow = text.split(';').next().unwrap();
    assert!(slow.contains("for 33.0 % of the time, 22.0 s at a time"), "{slow}");
    let terminal = terminal::render(&run, 120, Style::Plain);
    assert!(terminal.contains("2 modes: "), "{terminal}");
}

#[test]
fn counterfeit_capacity_is_stated_first_in_page_and_terminal() {
    let run = common::views::capacity(2);
    let page = page(&run);
    let alarm = page.find("reports 512 GB (477 GiB) and does not hold it").unwrap();
    assert!(alarm < page.find("Every block written and read back: result").unwrap());
    let tables = tables(&page);
    let rows = rows(&tables, "Every block written and read back: result");
    assert_eq!((rows[0].1[0].as_str(), rows[1].1[0].as_str()), ("all as written", "MISCOMPARE"));
    let text = terminal::render(&run, 80, Style::Plain);
    assert!(text.contains("!! plextor-m8pe-gn (simulated) reports 512 GB"), "{text}");
}

#[test]
fn no_line_of_a_suite_is_wider_than_the_terminal() {
    for run in common::views::all(2, 60) {
        for width in [60, 80, 120] {
            let text = terminal::render(&run, width, Style::Plain);
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{width}: {line:?}");
            }
        }
    }
}

#[test]
fn a_change_of_the_workload_has_levels_and_the_time_until_them() {
    let page = page(&common::views::cross_stimulus(1));
    let tables = tables(&page);
    let rows = rows(&tables, "Change of the workload: changes of the workload");
    let [first, random, again] = [0, 1, 2].map(|at| &rows[at].1);
    assert!((number(&first[4]) / 900.0 - 1.0).abs() < 0.03, "{first:?}");
    assert!((number(&random[4]) / 180.0 - 1.0).abs() < 0.03, "{random:?}");
    assert!((number(&again[2]) / 450.0 - 1.0).abs() < 0.1, "{again:?}");
    assert_eq!(first[5], "at once");
    // A third of two minutes at half of the rate.
    assert!((common::views::seconds_of(&again[5]) - 40.0).abs() <= 2.0, "{again:?}");
    assert!((number(&again[6]) - 100.0).abs() < 3.0, "{again:?}");
}

#[test]
fn operating_points_have_their_threads_and_depths() {
    let page = page(&common::views::demand(1));
    let tables = tables(&page);
    let rows = rows(&tables, "Response times at operating points: operating points");
    let names: Vec<&str> = rows.iter().map(|row| row.1[0].as_str()).collect();
    assert_eq!(names, ["maximum: 4 threads, depth 32", "minimum: 1 thread, depth 1"]);
    let drawn = charts(&page);
    let titled = |x: &str| {
        let mut charts = drawn.as_array().unwrap().iter();
        charts.any(|c| c["views"][0]["layout"]["xaxis"]["title"]["text"] == x)
    };
    assert!(titled("IOPS") && titled("response time, \u{b5}s"));
}

const STANDARD: &str = r#"
name = "snia-hir"
[standard]
name = "SNIA PTS 2.0.2"
test = "host idle recovery test"
fixed = ["burst"]
write_cache = "off"
[parameters.burst]
default = "5s"
help = ""
"#;

#[test]
fn the_report_of_a_standard_names_every_deviation() {
    let mut run = common::views::idle_recovery(1);
    run.manifest.suite.text = STANDARD.to_owned();
    run.manifest.parameters.insert("burst".to_owned(), "1s".to_owned());
    let page = page(&run);
    let tables = tables(&page);
    let caption = "SNIA PTS 2.0.2 host idle recovery test: plextor-m8pe-y (simulated)";
    let rows = rows(&tables, caption);
    let burst = rows.iter().find(|row| row.0 == "parameter burst").unwrap();
    assert_eq!(burst.1[..2], ["5s".to_owned(), "1s".to_owned()]);
    assert!(burst.1[2].contains("DEVIATION"), "{burst:?}");
    let durations = rows.iter().find(|row| row.0 == "durations").unwrap();
    assert_eq!(durations.1[2], "pass");
    // Simulated, write cache not reported, a shorter burst.
    assert!(page.contains("Not SNIA PTS 2.0.2: 3 deviations"));
    // Without the table there is no such report.
    run.manifest.suite.text = "name = \"snia-hir\"".to_owned();
    assert!(!common::page::tables(&self::page(&run)).iter().any(|t| t.0 == caption));
}

/// DragonFly: threads share a drive's queues. Sixty-four I/Os in flight are 64 in one queue of one
/// thread, and 8 in each of eight queues of many.
#[test]
fn the_depth_per_queue_follows_from_threads_and_queues() {
    let run = common::views::queues();
    let page = page(&run);
    assert_well_formed(&without_library(&page).0);
    assert!(page.contains("64 in flight, all threads together"));
    let tables = tables(&page);
    let rows = rows(&tables, "Depth per queue: rate by depth per queue");
    let best = common::views::BY_THREADS.map(|(_, rate)| rate);
    let best = best.into_iter().fold(0.0, f64::max);
    assert_eq!(rows.len(), common::views::BY_THREADS.len());
    for ((threads, rate), (_, shown)) in common::views::BY_THREADS.into_iter().zip(rows) {
        let queues = threads.min(8);
        let numbers: Vec<f64> = shown[1..5].iter().map(|t| number(t)).collect();
        let depths =
            [common::views::IN_FLIGHT / threads, 8, queues, common::views::IN_FLIGHT / queues];
        assert_eq!(numbers, depths.map(f64::from), "{shown:?}");
        let share = number(&shown[7]);
        assert!((share - 100.0 * rate / best).abs() < 2.0, "{shown:?}");
        let marked = shown.iter().any(|cell| cell.contains("CPU-limited"));
        assert_eq!(marked, threads == 1, "{shown:?}");
    }
    assert!(page.contains("a lower bound for the drive"));
    // A line of rates by threads.
    let charts = charts(&page);
    let line = &charts[0]["views"][0]["data"][0];
    assert_eq!(line["x"], serde_json::json!([1, 4, 8, 16, 64]));
}

/// A knee whose rate the host's processors set says so, with their share, in table and chart.
#[test]
fn a_cpu_limited_knee_is_marked() {
    let mut run = common::views::enterprise(1, 20);
    let unmarked = page(&run);
    assert!(!unmarked.contains("CPU-limited:"), "{}", unmarked.len());
    let limited = |cell: &CellRecord| {
        let w = &cell.plan.workload;
        (w.rw.as_str(), w.power_state) == ("randread", Some(0)) && w.numjobs >= 128
    };
    let ids: Vec<String> =
        run.cells.iter().filter(|c| limited(c)).map(|c| c.plan.id.clone()).collect();
    assert_eq!(ids.len(), 3);
    for cell in run.cells.iter_mut().filter(|c| limited(c)) {
        let result = cell.drives[0].result.as_mut().unwrap();
        result.busiest_thread_pct = Some(97.0);
    }
    let warnings = ids.iter().map(|id| common::views::host_limited(id, 0));
    run.warnings.extend(warnings);
    let page = page(&run);
    let tables = tables(&page);
    let rows = rows(&tables, "Peak random read: at the knee");
    let marked = |row: usize| rows[row].1.iter().any(|cell| cell.contains("CPU-limited"));
    assert!(marked(0) && !marked(1), "{rows:?}");
    assert!(rows[0].1.iter().any(|cell| cell.starts_with("97")));
    assert!(
        page.contains("CPU-limited: the host&#39;s") || page.contains("CPU-limited: the host's")
    );
    // The cells above, crossed in the panel of rates.
    let charts = charts(&page);
    let traces = charts[0]["views"][0]["data"].as_array().unwrap();
    let crosses: Vec<_> =
        traces.iter().filter(|t| t["name"].as_str().unwrap().ends_with("CPU-limited")).collect();
    assert_eq!(crosses.len(), 1);
    assert_eq!(crosses[0]["x"], serde_json::json!([128, 256, 512]));
}
