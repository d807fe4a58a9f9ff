//! Two threads against one, where nothing but the engine can hold them back.

use anyhow::Result;

use crate::Bench;
use crate::document::{Section, Table};
use crate::rounds::take_turns;
use crate::tools::Variant;

/// At least so many times the IOPS of one thread.
const GOAL: f64 = 1.8;

/// Null target, one and two threads.
pub fn measure(bench: &Bench) -> Result<Section> {
    let span_ms = bench.span_ms(1_000);
    let with = |threads: u32| {
        Variant::assay(
            &format!("{threads} threads"),
            "null:",
            &format!("--numjobs {threads}"),
            span_ms,
        )
    };
    let all = take_turns(bench, "scaling", vec![with(1), with(2)])?;
    let mut section = Section::new(
        "scaling",
        "Two threads",
        "The null target, depth 1. Two threads can only be twice as fast as one when two processors are free for them.",
    );
    let mut table = Table::new(&["", "million IOPS"]);
    for series in &all {
        table.rows.push(vec![
            series.variant.label.clone(),
            series.spread(|s| s.iops / 1e6).show(2),
        ]);
        section.commands.push(series.variant.command());
    }
    section.tables.push(table);
    let ratio = all[1].ratio(&all[0], |s| s.iops, |s| s.iops);
    section.goal(
        format!("two threads at least {GOAL} times one"),
        format!("{} times", ratio.show(2)),
        ratio.median >= GOAL,
    );
    Ok(section)
}
