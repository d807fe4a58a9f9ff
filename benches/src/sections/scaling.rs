//! Two threads against one, where nothing but the engine can hold them back.

use anyhow::Result;

use crate::Bench;
use crate::document::Section;
use crate::rounds::{table, take_turns};
use crate::tools::Variant;

/// At least so many times the IOPS of one thread.
const GOAL: f64 = 1.8;

pub fn measure(bench: &Bench) -> Result<Section> {
    let span_ms = bench.span_ms(1_000);
    let with = |(threads, depth): (u32, u32)| {
        let label = format!("{threads} threads, depth {depth}");
        let options = format!("--numjobs {threads} --iodepth {depth}");
        Variant::assay(&label, "null:", &options, span_ms)
    };
    let variants = [(1, 1), (2, 1), (1, 32), (2, 32)].map(with).into();
    let all = take_turns(bench, "scaling", variants)?;
    let mut section = Section::new(
        "scaling",
        "Two threads",
        "The null target. Two threads can only be twice as fast as one when two processors are \
         free for them.",
    );
    section.tables.push(table(&all, &[("million IOPS", |s| s.iops / 1e6, 2)]));
    section.commands.extend(all.iter().map(|series| series.variant.command()));
    for (pair, depth) in all.chunks(2).zip([1, 32]) {
        if let [one, two] = pair {
            let ratio = two.ratio(one, |s| s.iops);
            section.goal(
                format!("two threads at least {GOAL} times one, depth {depth}"),
                format!("{} times", ratio.show(2)),
                ratio.median >= GOAL,
            );
        }
    }
    Ok(section)
}
