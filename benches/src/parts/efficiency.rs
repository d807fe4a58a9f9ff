//! How many I/Os a second of processor time is good for, against fio's io_uring engine.

use anyhow::Result;

use crate::Bench;
use crate::beds::OpenTarget;
use crate::document::{Section, Table};
use crate::rounds::{Series, best, start_up_s, take_turns};
use crate::tools::{Sample, Tool, Variant};

/// At least so many times fio's I/Os per processor-second.
const GOAL: f64 = 1.2;

/// A setting of fio's io_uring engine or of assay's.
struct Setting {
    label: &'static str,
    options: &'static str,
    /// How many completions are waited for at a time.
    batch: u32,
    /// Kept on one processor, with the kernel's workers: nothing is woken on another, which saves processor time. A choice of where
    /// to run more than a setting of the engine, so shown apart.
    pinned: bool,
}

const fn setting(label: &'static str, options: &'static str, batch: u32, pinned: bool) -> Setting {
    Setting {
        label,
        options,
        batch,
        pinned,
    }
}

const ASSAY: [Setting; 6] = [
    setting("assay", "", 1, false),
    setting(
        "assay, batches of 8",
        "--iodepth_batch_complete_min 8",
        8,
        false,
    ),
    setting(
        "assay, batches of 16",
        "--iodepth_batch_complete_min 16",
        16,
        false,
    ),
    setting(
        "assay, batches of 32",
        "--iodepth_batch_complete_min 32",
        32,
        false,
    ),
    setting(
        "assay, batches of 16, one processor",
        "--iodepth_batch_complete_min 16 --cpus_allowed 0",
        16,
        true,
    ),
    setting(
        "assay, batches of 32, one processor",
        "--iodepth_batch_complete_min 32 --cpus_allowed 0",
        32,
        true,
    ),
];
const FIXED: &str = "--fixedbufs --registerfiles";
const FIO: [Setting; 10] = [
    setting("fio plain", "", 1, false),
    setting("fio plain, nonvectored", "--nonvectored=1", 1, false),
    setting("fio fixed", FIXED, 1, false),
    setting(
        "fio fixed, submit 32",
        "--fixedbufs --registerfiles --iodepth_batch_submit=32 --iodepth_batch_complete_min=1 --iodepth_batch_complete_max=32",
        1,
        false,
    ),
    setting(
        "fio fixed, batches of 8",
        "--fixedbufs --registerfiles --iodepth_batch_submit=8 --iodepth_batch_complete_min=8 --iodepth_batch_complete_max=32",
        8,
        false,
    ),
    setting(
        "fio fixed, batches of 16",
        "--fixedbufs --registerfiles --iodepth_batch_submit=16 --iodepth_batch_complete_min=16 --iodepth_batch_complete_max=32",
        16,
        false,
    ),
    setting(
        "fio fixed, batches of 32",
        "--fixedbufs --registerfiles --iodepth_batch_submit=32 --iodepth_batch_complete_min=32 --iodepth_batch_complete_max=32",
        32,
        false,
    ),
    setting(
        "fio fixed, one processor",
        "--fixedbufs --registerfiles --cpus_allowed=0",
        1,
        true,
    ),
    setting(
        "fio fixed, batches of 16, one processor",
        "--fixedbufs --registerfiles --iodepth_batch_submit=16 --iodepth_batch_complete_min=16 --iodepth_batch_complete_max=32 --cpus_allowed=0",
        16,
        true,
    ),
    setting(
        "fio fixed, batches of 32, one processor",
        "--fixedbufs --registerfiles --iodepth_batch_submit=32 --iodepth_batch_complete_min=32 --iodepth_batch_complete_max=32 --cpus_allowed=0",
        32,
        true,
    ),
];

/// zram and a file in memory.
pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "efficiency",
        "I/Os per second of processor time",
        "4 KiB random reads of incompressible data, one thread, 32 in flight, O_DIRECT, full latency recording in both programs.\n\
         Processor time is that of the whole process (user and system, io_uring's kernel workers included) less the program's own\n\
         start-up, measured in the same run; \"gross\" leaves it in. fio's `fixed` is `--fixedbufs --registerfiles`; *one processor* is\n\
         `--cpus_allowed 0`, which keeps io_uring's kernel workers there too.",
    );
    for bed in [OpenTarget::zram, OpenTarget::tmpfs] {
        match bed() {
            Ok(bed) => on(bench, &bed, &mut section)?,
            Err(error) => section.notes.push(format!("Not measured: {error:#}.")),
        }
    }
    Ok(section)
}

fn on(bench: &Bench, bed: &OpenTarget, section: &mut Section) -> Result<()> {
    let span_ms = bench.span_ms(1_000);
    let path = bed.path.as_str();
    let assay = |setting: &Setting, span_ms| {
        let options = format!("--engine uring --iodepth 32 {}", setting.options);
        Variant::assay(setting.label, path, options.trim_end(), span_ms)
    };
    let fio = |setting: &Setting, span_ms| {
        let options = format!(
            "--ioengine=io_uring --iodepth=32 --norandommap {}",
            setting.options
        );
        Variant::fio(setting.label, Some(path), &options, span_ms)
    };
    let idle = [
        start_up_s(bench, &|ms| assay(&ASSAY[0], ms))?,
        start_up_s(bench, &|ms| fio(&FIO[2], ms))?,
    ];
    let idle_of = |tool| {
        if tool == Tool::Assay {
            idle[0]
        } else {
            idle[1]
        }
    };
    let mut variants: Vec<Variant> = ASSAY.iter().map(|s| assay(s, span_ms)).collect();
    variants.extend(FIO.iter().map(|s| fio(s, span_ms)));
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
        "p50 us (fio: clat)",
        "p99 us (fio: clat)",
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
    let (ours, theirs) = all.split_at(ASSAY.len());
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
    let mut pair =
        |how: &str, mine: &dyn Fn(&Setting) -> bool, its: &dyn Fn(&Setting) -> bool, goal: bool| {
            let ours = ours.iter().zip(&ASSAY).filter(|(_, s)| mine(s));
            let theirs = theirs.iter().zip(&FIO).filter(|(_, s)| its(s));
            let ours = best(ours.map(|(series, _)| series), |s| s.ios_per_cpu_s(idle[0]));
            let theirs = best(theirs.map(|(series, _)| series), |s| {
                s.ios_per_cpu_s(idle[1])
            });
            if let (Some(ours), Some(theirs)) = (ours, theirs) {
                compare(section, how, ours, theirs, goal);
            }
        };
    let free = |s: &Setting| !s.pinned;
    let pinned = |s: &Setting| s.pinned;
    pair(
        "best with fio's best of buffers, files and batches",
        &|_| true,
        &free,
        true,
    );
    pair("neither kept on one processor", &free, &free, false);
    pair("both kept on one processor", &pinned, &pinned, false);
    for batch in [1, 8, 16, 32] {
        let same = |s: &Setting| !s.pinned && s.batch == batch;
        pair("completions in like numbers", &same, &same, false);
    }
    section.notes.push(format!(
        "Start-up taken off: assay {:.0} ms, fio {:.0} ms of processor time ({}).",
        idle[0] * 1e3,
        idle[1] * 1e3,
        bed.name
    ));
    Ok(())
}
