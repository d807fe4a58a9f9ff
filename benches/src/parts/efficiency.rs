//! How many I/Os a second of processor time is good for, against fio's io_uring engine.

use anyhow::Result;

use crate::Bench;
use crate::beds::Bed;
use crate::document::{Section, Table};
use crate::rounds::{Series, best, start_up_s, take_turns};
use crate::tools::{Sample, Tool, Variant};

/// At least so many times fio's I/Os per processor-second.
const GOAL: f64 = 1.2;

/// Settings of fio's io_uring engine, and the setting of assay that takes completions in the same way.
const SETTINGS: [(&str, &str, u32); 8] = [
    ("plain", "", 1),
    ("plain, nonvectored", "--nonvectored=1", 1),
    ("fixed", "--fixedbufs --registerfiles", 1),
    (
        "fixed, force_async",
        "--fixedbufs --registerfiles --force_async=1",
        1,
    ),
    (
        "fixed, submit 32",
        "--fixedbufs --registerfiles --iodepth_batch_submit=32 --iodepth_batch_complete_min=1 --iodepth_batch_complete_max=32",
        1,
    ),
    (
        "fixed, batches of 16",
        "--fixedbufs --registerfiles --iodepth_batch_submit=16 --iodepth_batch_complete_min=16 --iodepth_batch_complete_max=32",
        16,
    ),
    (
        "fixed, batches of 32",
        "--fixedbufs --registerfiles --iodepth_batch_submit=32 --iodepth_batch_complete_min=32 --iodepth_batch_complete_max=32",
        32,
    ),
    (
        "fixed, batches of 32, force_async",
        "--fixedbufs --registerfiles --force_async=1 --iodepth_batch_submit=32 --iodepth_batch_complete_min=32 --iodepth_batch_complete_max=32",
        32,
    ),
];

/// zram and a file in memory.
pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "efficiency",
        "I/Os per second of processor time",
        "4 KiB random reads of incompressible data, one thread, 32 in flight, O_DIRECT, full latency recording in both programs.\n\
         Processor time is that of the whole process (user and system, io_uring's kernel workers included) less the program's own\n\
         start-up, measured in the same run; \"gross\" leaves it in. *Best with best* takes the best setting of each; *like with like* compares\n\
         settings that take completions in the same numbers. fio's `fixed` is `--fixedbufs --registerfiles`.",
    );
    for bed in [Bed::zram, Bed::tmpfs] {
        match bed() {
            Ok(bed) => on(bench, &bed, &mut section)?,
            Err(error) => section.notes.push(format!("Not measured: {error:#}.")),
        }
    }
    Ok(section)
}

fn on(bench: &Bench, bed: &Bed, section: &mut Section) -> Result<()> {
    let span_ms = bench.span_ms(1_000);
    let path = bed.path.as_str();
    let fio = |label: &str, options: &str, span_ms| {
        let options = format!("--ioengine=io_uring --iodepth=32 --norandommap {options}");
        Variant::fio(&format!("fio {label}"), Some(path), &options, span_ms)
    };
    let assay = |batch: u32, span_ms| {
        let (label, option) = match batch {
            1 => ("assay".to_owned(), String::new()),
            _ => (
                format!("assay, batches of {batch}"),
                format!(" --iodepth_batch_complete_min {batch}"),
            ),
        };
        Variant::assay(
            &label,
            path,
            &format!("--engine uring --iodepth 32{option}"),
            span_ms,
        )
    };
    let idle = [
        start_up_s(bench, &|ms| assay(1, ms))?,
        start_up_s(bench, &|ms| fio("", SETTINGS[2].1, ms))?,
    ];
    let idle_of = |tool| {
        if tool == Tool::Assay {
            idle[0]
        } else {
            idle[1]
        }
    };
    let mut variants: Vec<Variant> = [1, 16, 32].map(|batch| assay(batch, span_ms)).into();
    variants.extend(SETTINGS.map(|(label, options, _)| fio(label, options, span_ms)));
    let all = take_turns(bench, bed.name, variants)?;
    let net = |series: &Series| {
        let idle = idle_of(series.variant.tool);
        move |s: &Sample| s.ios_per_cpu_s(idle)
    };
    let mut table = Table::new(&[
        "",
        "thousand I/Os per CPU-second",
        "gross",
        "us CPU per I/O",
        "thousand IOPS",
        "p50 us",
        "p99 us",
    ]);
    for series in &all {
        let net = net(series);
        table.rows.push(vec![
            format!("{}: {}", bed.name, series.variant.label),
            series.spread(|s| net(s) / 1e3).show(0),
            format!(
                "{:.0}",
                series.spread(|s| s.ios_per_cpu_s(0.0) / 1e3).median
            ),
            series.spread(|s| 1e6 / net(s)).show(2),
            format!("{:.0}", series.spread(|s| s.iops / 1e3).median),
            format!("{:.0}", series.spread(|s| s.p50_ns / 1e3).median),
            format!("{:.0}", series.spread(|s| s.p99_ns / 1e3).median),
        ]);
    }
    section.tables.push(table);
    let (ours, theirs) = all.split_at(3);
    let rank = |series: &Series| series.spread(net(series)).median;
    let by_rank = |a: &&Series, b: &&Series| rank(a).total_cmp(&rank(b));
    let compare = |section: &mut Section, how: &str, ours: &Series, theirs: &Series, goal: bool| {
        let ratio = ours.ratio(theirs, net(ours), net(theirs));
        let gross = ours.ratio(theirs, |s| s.ios_per_cpu_s(0.0), |s| s.ios_per_cpu_s(0.0));
        let text = format!(
            "{} times ({} against {}; gross {:.2})",
            ratio.show(2),
            ours.variant.label,
            theirs.variant.label,
            gross.median
        );
        if goal {
            let goal = format!(
                "{}, {how}: at least {GOAL} times fio's I/Os per CPU-second",
                bed.name
            );
            section.goal(goal, text, ratio.median >= GOAL);
            section
                .commands
                .extend([ours.variant.command(), theirs.variant.command()]);
        } else {
            section.notes.push(format!("{}, {how}: {text}.", bed.name));
        }
    };
    if let (Some(best_ours), Some(best_theirs)) =
        (ours.iter().max_by(by_rank), theirs.iter().max_by(by_rank))
    {
        compare(section, "best with best", best_ours, best_theirs, true);
    }
    for (series, batch) in ours.iter().zip([1, 16, 32]) {
        let same = theirs
            .iter()
            .zip(SETTINGS)
            .filter(|(_, setting)| setting.2 == batch)
            .map(|(s, _)| s);
        if let Some(peer) = best(same, |s| s.ios_per_cpu_s(idle[1])) {
            compare(section, "like with like", series, peer, false);
        }
    }
    section.notes.push(format!(
        "Start-up taken off: assay {:.0} ms, fio {:.0} ms of processor time ({}).",
        idle[0] * 1e3,
        idle[1] * 1e3,
        bed.name
    ));
    Ok(())
}
