//! Figures of the page agree with the run.

use crate::common;

use assay_report::html;
use assay_report::terminal::{self, Style};
use assay_store::model::{CellKind, Published};
use common::page::tables;

fn number(text: &str) -> f64 {
    let digits: String = text.chars().filter(|c| *c != ',').collect();
    digits.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

/// True when `shown` is `truth` rounded to the digits shown.
fn rounds_from(shown: &str, truth: f64) -> bool {
    let decimals = shown.split_once('.').map_or(0, |(_, d)| d.len());
    let half = 0.5 * 10f64.powi(-(decimals as i32)) + 1e-9;
    (number(shown) - truth).abs() <= half * 1.000_001
}

#[test]
fn the_random_read_table_has_the_figures_of_the_run() {
    let run = common::bandwidth();
    let page = html::render(std::slice::from_ref(&run)).unwrap();
    let tables = tables(&page);
    let (_, rows) = tables
        .iter()
        .find(|t| t.0 == "Random read: bandwidth, MiB/s")
        .expect("the table of DragonFly 2018");
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
        let cells =
            run.cells.iter().filter(|c| c.plan.title == title && c.plan.kind != CellKind::Prepare);
        let mut truths: Vec<f64> = Vec::new();
        for part in cells.flat_map(|c| &c.drives) {
            let r = part.result.as_ref().unwrap();
            let estimates = assay_analysis::estimate::estimate_cell(part);
            truths.extend(
                [estimates.iops, estimates.latency_mean_ns]
                    .iter()
                    .flatten()
                    .filter_map(|e| e.half_width_pct()),
            );
            for o in [&r.read, &r.write] {
                let l = &o.latency_ns;
                truths.extend([o.mib_per_s, o.iops, o.errors as f64, l.mean / 1e3, l.stddev / 1e3]);
                let whole = [l.min, l.p50, l.p90, l.p99, l.p99_9, l.p99_99, l.p99_999, l.max];
                truths.extend(whole.map(|ns| ns as f64 / 1e3));
            }
            truths.extend(r.values.values());
        }
        for cell in rows.iter().flat_map(|r| &r.1) {
            if cell.parse::<f64>().is_ok() || cell.contains(',') && !cell.contains(' ') {
                assert!(truths.iter().any(|t| rounds_from(cell, *t)), "{caption}: {cell}");
                checked += 1;
            }
        }
    }
    assert!(checked > 800, "only {checked} figures were found");
}

/// Published latencies are compared with those of the same workload, threads and depth included.
#[test]
fn published_latencies_are_compared_with_simulated_ones() {
    let mut run = common::bandwidth();
    let latency_us = [("mean", 100.0), ("p99", 250.0)];
    let published = |iodepth| Published {
        source: "Some Review".to_owned(),
        rw: "randread".to_owned(),
        bs_bytes: 4096,
        numjobs: 16,
        iodepth,
        data: "incompressible".to_owned(),
        latency_us: latency_us.map(|(k, v)| (k.to_owned(), v)).into(),
        ..Published::default()
    };
    let shown = |run: &assay_store::read::Run| {
        let page = html::render(std::slice::from_ref(run)).unwrap();
        let found = tables(&page).into_iter();
        let mut found = found.filter(|t| t.0.contains("published and simulated latency"));
        found.next().map(|t| t.1)
    };
    run.manifest.drives[0].published = vec![published(7)];
    assert!(shown(&run).is_none(), "another depth is another workload");
    run.manifest.drives[0].published = vec![published(1)];
    let rows = shown(&run).unwrap();
    assert_eq!(rows.len(), 1);
    let cell = run.cells.iter().find(|c| {
        let w = &c.plan.workload;
        c.plan.step == "random-read" && (c.plan.drives[0], w.bs_bytes, w.numjobs) == (0, 4096, 16)
    });
    let result = cell.unwrap().drives[0].result.as_ref().unwrap();
    let cells = &rows[0].1;
    let mean_us = result.latency().mean / 1e3;
    assert_eq!(number(&cells[0]), 100.0);
    assert!(rounds_from(&cells[1], mean_us), "{cells:?}");
    assert_eq!(cells[2], format!("{:+.1}", mean_us - 100.0));
    assert_eq!((cells[3].as_str(), number(&cells[6])), ("", 250.0), "no median was published");
}

/// The 99.999th percentile has a column only where some result has 100,000 samples.
#[test]
fn the_rarest_percentile_needs_samples() {
    let mut run = common::bandwidth();
    let title = run.cells.iter().find(|c| c.plan.step == "random-read").unwrap();
    let caption = format!("{}: all figures", title.plan.title);
    let headings = |run: &assay_store::read::Run| {
        let page = html::render(std::slice::from_ref(run)).unwrap();
        let table = page.split(&format!("<caption><span class=\"cap\">{caption}")).nth(1).unwrap();
        table.split("</thead>").next().unwrap().to_owned()
    };
    let set = |run: &mut assay_store::read::Run, samples: u64| {
        for cell in run.cells.iter_mut().filter(|c| c.plan.step == "random-read") {
            for part in &mut cell.drives {
                let latency = &mut part.result.as_mut().unwrap().read.latency_ns;
                (latency.samples, latency.p99_999) = (samples, 123_456_789);
            }
        }
    };
    set(&mut run, 99_999);
    let without = headings(&run);
    assert!(without.contains("p99.99") && !without.contains("p99.999"), "{without}");
    set(&mut run, 100_000);
    assert!(headings(&run).contains("p99.999"));
    let page = html::render(std::slice::from_ref(&run)).unwrap();
    let shown = tables(&page);
    let (_, rows) = shown.iter().find(|t| t.0 == caption).unwrap();
    let cells = rows.iter().flat_map(|r| &r.1);
    assert!(cells.filter(|c| c.as_str() == "123,457").count() > 3);
}

#[test]
fn intervals_have_the_layout_of_iostat() {
    let run = common::bandwidth();
    let page = html::render(std::slice::from_ref(&run)).unwrap();
    let cell = run.cells.iter().find(|c| c.plan.drives.len() == 2).unwrap();
    let tables = tables(&page);
    let (_, rows) = tables.iter().find(|t| t.0.contains("interval by interval")).unwrap();
    assert_eq!(rows.len(), 31);
    for (i, (second, shown)) in rows.iter().enumerate() {
        assert_eq!(number(second), (i + 1) as f64);
        for (drive, figures) in cell.drives.iter().zip(shown.chunks(3)) {
            let p = &drive.series[i];
            let truths = [p.bytes as f64 / p.ios as f64 / 1024.0, p.iops(), p.mib_per_s()];
            for (shown, truth) in figures.iter().zip(truths) {
                assert!(rounds_from(shown, truth), "{shown} is not {truth}");
            }
        }
        let load = &cell.host[i].1;
        let truths = [load.user_pct, load.system_pct, load.irq_pct, load.iowait_pct, load.idle_pct];
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
fn published_figures_are_compared_with_the_same_workload() {
    let mut run = common::bandwidth();
    let published = |rw: &str, numjobs, data: &str, mib_per_s| Published {
        source: "Some Review".to_owned(),
        rw: rw.to_owned(),
        bs_bytes: 4096,
        numjobs,
        data: data.to_owned(),
        mib_per_s,
        ..Published::default()
    };
    run.manifest.drives[0].published = vec![
        published("randread", 16, "incompressible", 500.0),
        published("randread", 64, "incompressible", 1000.0),
        // Not measured by the run: neither appears.
        published("randread", 32, "incompressible", 1.0),
        published("randread", 16, "compress=7", 2.0),
    ];
    let page = html::render(std::slice::from_ref(&run)).unwrap();
    let tables = tables(&page);
    let found: Vec<_> = tables.iter().filter(|t| t.0.contains("published and simulated")).collect();
    // The first is of the sweep; the comparison with a zeroed area measures the same workload
    // again.
    let Some((caption, rows)) = found.first() else {
        panic!("no table");
    };
    assert!(caption.contains(&run.manifest.drives[0].label), "{caption}");
    let [(block, cells)] = rows.as_slice() else {
        panic!("{rows:?}");
    };
    assert_eq!((block.as_str(), cells.len()), ("4 KiB", 6));
    for (three, truth) in cells.chunks(3).zip([500.0, 1000.0]) {
        assert!((number(&three[0]) - truth).abs() < 1e-9, "{three:?}");
        let error = 100.0 * (number(&three[1]) / truth - 1.0);
        assert!((number(&three[2]) - error).abs() < 0.2, "{three:?}");
    }
    let shown = terminal::render(&run, 100, Style::Plain);
    assert!(shown.contains("Published and simulated bandwidth"), "{shown}");
    run.manifest.drives[0].published.clear();
    let page = html::render(std::slice::from_ref(&run)).unwrap();
    assert!(!page.contains("Published and simulated"));
}
