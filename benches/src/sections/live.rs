use std::path::Path;

use anyhow::{Context, Result};

use crate::Bench;
use crate::child::Outcome;
use crate::document::Section;
use crate::rounds::{Figure, Series, table, take_turns_by};
use crate::tools::{Sample, Variant};

/// Part of the IOPS that the view may cost.
const MOST_LOST: f64 = 0.01;

pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "live",
        "Live view and metrics",
        "A job on the null target, full latency recording, with progress in lines, with the live \
         view on a terminal of 160 x 50 (util-linux's `script`), and with metrics in a file once \
         per second. The view takes a snapshot, draws and reads keys four times per second in a \
         thread of its own. The ratio is to lines at the same depth, round by round.",
    );
    let folder = tempfile::tempdir()?;
    let metrics = folder.path().join("assay.prom");
    let span_ms = bench.span_ms(4000);
    let metrics_option = format!("--no-live --metrics {}", metrics.display());
    let mut all = Vec::new();
    for depth in [1, 32] {
        let variant = |label: &str, options: &str| {
            let options = format!("--iodepth {depth} {options}");
            Variant::assay(&format!("{label}, depth {depth}"), "null:", &options, span_ms)
        };
        let variants = vec![
            variant("lines", "--no-live"),
            variant("live view", "--live"),
            variant("metrics", &metrics_option),
        ];
        let title = format!("live, depth {depth}");
        let series = take_turns_by(bench, &title, variants, |variant| {
            in_terminal(bench, variant, folder.path())
        })?;
        let [lines, others @ ..] = &series[..] else {
            continue;
        };
        for series in others {
            let ratio = series.ratio(lines, |sample| sample.iops);
            section.goal(
                format!("{}: less than 1 % of the IOPS", series.variant.label),
                format!("{} times the IOPS of lines", ratio.show(3)),
                ratio.median >= 1.0 - MOST_LOST,
            );
            let ratio = series.ratio(lines, |sample| sample.p99_ns);
            section.notes.push(format!(
                "{}: p99 {} times that of lines.",
                series.variant.label,
                ratio.show(3)
            ));
        }
        all.extend(series);
    }
    let columns: [(_, Figure, _); 4] = [
        ("million IOPS", |sample| sample.iops / 1e6, 2),
        ("p50 ns", |sample| sample.p50_ns, 0),
        ("p99 ns", |sample| sample.p99_ns, 0),
        ("CPU s", |sample| sample.cpu_s, 2),
    ];
    section.tables.push(table(&all, &columns));
    section.commands.extend(commands(&all));
    Ok(section)
}

fn commands(all: &[Series]) -> impl Iterator<Item = String> + '_ {
    all.iter().take(2).map(|series| series.variant.command())
}

fn in_terminal(bench: &Bench, variant: &Variant, folder: &Path) -> Result<Sample> {
    let result = folder.join("result.json");
    let command = format!(
        "stty cols 160 rows 50; TERM=xterm-256color exec {} {} > {}",
        bench.runner.assay.display(),
        variant.arguments.join(" "),
        result.display()
    );
    let script = ["-qec", &command, "/dev/null"];
    let outcome = bench.runner.run(Path::new("script"), &script)?;
    let stdout = std::fs::read_to_string(&result).context("the result of the job")?;
    variant.sample(&Outcome { stdout, ..outcome })
}
