//! I/O path on the null target: I/Os that cost nothing, with full latency recording.

use anyhow::Result;

use crate::Bench;
use crate::document::Section;
use crate::rounds::{Figure, Series, best_of_each, table, take_turns};
use crate::tools::Variant;

/// At least so many times fio's IOPS.
const GOAL: f64 = 5.0;

pub fn measure(bench: &Bench) -> Result<Section> {
    let span_ms = bench.span_ms(800);
    let fio = |label: &str, options: &str| {
        let options = format!("--ioengine=null --size=16g {options}");
        Variant::fio(label, None, &options, span_ms)
    };
    let assay = |depth: u32| {
        let label = format!("assay, depth {depth}");
        Variant::assay(&label, "null:", &format!("--iodepth {depth}"), span_ms)
    };
    let batch =
        "--iodepth_batch_submit=32 --iodepth_batch_complete_min=32 --iodepth_batch_complete_max=32";
    let variants = vec![
        assay(1),
        fio("fio, depth 1", "--iodepth=1"),
        fio("fio, depth 1, norandommap", "--iodepth=1 --norandommap"),
        assay(32),
        fio("fio, depth 32", "--iodepth=32"),
        fio("fio, depth 32, norandommap", "--iodepth=32 --norandommap"),
        fio(
            "fio, depth 32, norandommap, batches of 32",
            &format!("--iodepth=32 --norandommap {batch}"),
        ),
        fio(
            "fio, depth 32, norandommap, batches of 16",
            &format!("--iodepth=32 --norandommap {}", batch.replace("=32", "=16")),
        ),
    ];
    let all = take_turns(bench, "null", variants)?;
    let mut section = Section::new(
        "null",
        "I/O path on the null target",
        "4 KiB random reads that complete at once, one thread, full latency recording in both \
         programs (fio's default). The ratio is\nto fio's best setting at the same depth, round \
         by round.",
    );
    let columns: [(_, Figure, _); 3] = [
        ("million IOPS", |s| s.iops / 1e6, 2),
        ("ns per I/O", |s| 1e9 / s.iops, 1),
        ("p50 ns (fio: clat)", |s| s.p50_ns, 0),
    ];
    section.tables.push(table(&all, &columns));
    for depth in ["1", "32"] {
        let same_depth = |variant: &Variant| variant.option("--iodepth") == Some(depth);
        if let Some((ours, theirs)) = best_of_each(&all, |s| s.iops, same_depth) {
            let ratio = ours.ratio(theirs, |s| s.iops);
            let ns = |series: &Series| series.spread(|s| 1e9 / s.iops).median;
            section.goal(
                format!("at least {GOAL} times fio's IOPS at depth {depth}"),
                format!(
                    "{} times, {:.1} ns per I/O against {:.1} ({})",
                    ratio.show(1),
                    ns(ours),
                    ns(theirs),
                    theirs.variant.label
                ),
                ratio.median >= GOAL,
            );
            section.commands.extend([ours, theirs].map(|it| it.variant.command()));
        }
    }
    Ok(section)
}
