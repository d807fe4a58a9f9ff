//! I/O path on the null target: I/Os that cost nothing, with full latency recording.

use anyhow::Result;

use crate::Bench;
use crate::document::{Section, Table};
use crate::rounds::{best, take_turns};
use crate::tools::{Tool, Variant};

/// At least so many times fio's IOPS.
const GOAL: f64 = 5.0;

/// Null target against fio's null engine, depth 1 and 32.
pub fn measure(bench: &Bench) -> Result<Section> {
    let span_ms = bench.span_ms(800);
    let fio = |label: &str, options: &str| {
        Variant::fio(
            label,
            None,
            &format!("--ioengine=null --size=16g {options}"),
            span_ms,
        )
    };
    let assay = |depth: u32| {
        Variant::assay(
            &format!("assay, depth {depth}"),
            "null:",
            &format!("--iodepth {depth}"),
            span_ms,
        )
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
        "4 KiB random reads that complete at once, one thread, full latency recording in both programs (fio's default). The ratio is\n\
         to fio's best setting at the same depth, round by round.",
    );
    let mut table = Table::new(&["", "million IOPS", "ns per I/O", "p50 ns (fio: clat)"]);
    for series in &all {
        table.rows.push(vec![
            series.variant.label.clone(),
            series.spread(|s| s.iops / 1e6).show(2),
            series.spread(|s| 1e9 / s.iops).show(1),
            series.spread(|s| s.p50_ns).show(0),
        ]);
    }
    section.tables.push(table);
    for (depth, range) in [(1, 0..3), (32, 3..8)] {
        let group = &all[range];
        let pick = |tool| best(group.iter().filter(|s| s.variant.tool == tool), |s| s.iops);
        if let (Some(ours), Some(theirs)) = (pick(Tool::Assay), pick(Tool::Fio)) {
            let ratio = ours.ratio(theirs, |s| s.iops, |s| s.iops);
            section.goal(
                format!("at least {GOAL} times fio's IOPS at depth {depth}"),
                format!(
                    "{} times, {:.1} ns per I/O against {:.1} ({})",
                    ratio.show(1),
                    ours.spread(|s| 1e9 / s.iops).median,
                    theirs.spread(|s| 1e9 / s.iops).median,
                    theirs.variant.label
                ),
                ratio.median >= GOAL,
            );
            section
                .commands
                .extend([ours.variant.command(), theirs.variant.command()]);
        }
    }
    Ok(section)
}
