//! I/Os per second of processor time, against fio's io_uring engine.

use anyhow::Result;

use crate::Bench;
use crate::devices::TestDevice;
use crate::document::{Section, Table};
use crate::rounds::{Figure, best_of_each, start_up_s, take_turns};
use crate::tools::{Sample, Tool, Variant};

/// At least so many times fio's I/Os per processor-second.
const GOAL: f64 = 1.2;

const FIXED: &str = "--fixedbufs --registerfiles";

/// A choice of where to run more than a setting of the engine, so shown apart.
fn is_pinned(variant: &Variant) -> bool {
    variant.option("--cpus_allowed").is_some()
}

fn label(name: &str, batch: u32, pinned: bool) -> String {
    let processor = if pinned { ", one processor" } else { "" };
    match batch {
        1 => format!("{name}{processor}"),
        _ => format!("{name}, batches of {batch}{processor}"),
    }
}

fn assay(path: &str, batch: u32, pinned: bool, span_ms: u64) -> Variant {
    let mut options = "--engine uring --iodepth 32".to_owned();
    if batch > 1 {
        options += &format!(" --iodepth_batch_complete_min {batch}");
    }
    if pinned {
        options += " --cpus_allowed 0";
    }
    Variant::assay(&label("assay", batch, pinned), path, &options, span_ms)
}

fn fio(path: &str, label: &str, options: &str, span_ms: u64) -> Variant {
    let options = format!("--ioengine=io_uring --iodepth=32 --norandommap {options}");
    Variant::fio(label, Some(path), &options, span_ms)
}

fn fio_fixed(path: &str, batch: u32, pinned: bool, span_ms: u64) -> Variant {
    let mut options = FIXED.to_owned();
    if batch > 1 {
        options += &format!(
            " --iodepth_batch_submit={batch} --iodepth_batch_complete_min={batch} \
             --iodepth_batch_complete_max=32"
        );
    }
    if pinned {
        options += " --cpus_allowed=0";
    }
    fio(path, &label("fio fixed", batch, pinned), &options, span_ms)
}

fn variants(path: &str, span_ms: u64) -> Vec<Variant> {
    let submit = format!(
        "{FIXED} --iodepth_batch_submit=32 --iodepth_batch_complete_min=1 \
         --iodepth_batch_complete_max=32"
    );
    let mut all = Vec::from([1, 8, 16, 32].map(|batch| assay(path, batch, false, span_ms)));
    all.extend([16, 32].map(|batch| assay(path, batch, true, span_ms)));
    all.extend([
        fio(path, "fio plain", "", span_ms),
        fio(path, "fio plain, nonvectored", "--nonvectored=1", span_ms),
        fio_fixed(path, 1, false, span_ms),
        fio(path, "fio fixed, submit 32", &submit, span_ms),
    ]);
    all.extend([8, 16, 32].map(|batch| fio_fixed(path, batch, false, span_ms)));
    all.extend([1, 16, 32].map(|batch| fio_fixed(path, batch, true, span_ms)));
    all
}

pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "efficiency",
        "I/Os per second of processor time",
        "4 KiB random reads of incompressible data, one thread, 32 in flight, O_DIRECT, full \
         latency recording in both programs.\nProcessor time is that of the whole process (user \
         and system, io_uring's kernel workers included) less the program's own\nstart-up, \
         measured in the same run; \"gross\" leaves it in. fio's `fixed` is `--fixedbufs \
         --registerfiles`; *one processor* is\n`--cpus_allowed 0`, which keeps io_uring's kernel \
         workers there too.",
    );
    for device in [TestDevice::zram, TestDevice::tmpfs] {
        match device() {
            Ok(device) => on(bench, &device, &mut section)?,
            Err(error) => section.notes.push(format!("Not measured: {error:#}.")),
        }
    }
    Ok(section)
}

fn on(bench: &Bench, device: &TestDevice, section: &mut Section) -> Result<()> {
    let (name, path) = (device.name, device.path.as_str());
    let idle = [
        start_up_s(bench, &assay(path, 1, false, 1))?,
        start_up_s(bench, &fio_fixed(path, 1, false, 1))?,
    ];
    let mut variants = variants(path, bench.span_ms(1_000));
    for variant in &mut variants {
        variant.start_up_s = idle[usize::from(variant.tool == Tool::Fio)];
    }
    let all = take_turns(bench, name, variants)?;
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
        let median = |figure: Figure| format!("{:.0}", series.spread(|s| figure(s) / 1e3).median);
        table.row([
            &format!("{name}: {}", series.variant.label),
            &series.spread(|s| s.ios_per_cpu_s() / 1e3).show(0),
            &median(Sample::gross_ios_per_cpu_s),
            &series.spread(|s| 1e6 / s.ios_per_cpu_s()).show(2),
            &median(|s| s.iops),
            &median(|s| s.p50_ns),
            &median(|s| s.p99_ns),
        ]);
    }
    section.tables.push(table);
    let compare = |how: &str, matches: &dyn Fn(&Variant) -> bool| {
        let (ours, theirs) = best_of_each(&all, Sample::ios_per_cpu_s, matches)?;
        let ratio = ours.ratio(theirs, Sample::ios_per_cpu_s);
        let text = format!(
            "{} times ({} against {}; gross {:.2})",
            ratio.show(2),
            ours.variant.label,
            theirs.variant.label,
            ours.ratio(theirs, Sample::gross_ios_per_cpu_s).median
        );
        Some((format!("{name}, {how}: "), text, ratio.median, [ours, theirs]))
    };
    let best = "best with fio's best of buffers, files and batches";
    let any_of_assay = |variant: &Variant| variant.tool == Tool::Assay || !is_pinned(variant);
    if let Some((how, text, ratio, pair)) = compare(best, &any_of_assay) {
        let goal = format!("{how}at least {GOAL} times fio's I/Os per CPU-second");
        section.goal(goal, text, ratio >= GOAL);
        section.commands.extend(pair.map(|series| series.variant.command()));
    }
    let mut note = |how: &str, matches: &dyn Fn(&Variant) -> bool| {
        let compared = compare(how, matches);
        section.notes.extend(compared.map(|(how, text, ..)| format!("{how}{text}.")));
    };
    note("neither kept on one processor", &|variant| !is_pinned(variant));
    note("both kept on one processor", &is_pinned);
    for batch in ["1", "8", "16", "32"] {
        note("completions in like numbers", &|variant| {
            let waited_for = variant.option("--iodepth_batch_complete_min");
            !is_pinned(variant) && waited_for.unwrap_or("1") == batch
        });
    }
    section.notes.push(format!(
        "Start-up subtracted: assay {:.0} ms, fio {:.0} ms of processor time ({name}).",
        idle[0] * 1e3,
        idle[1] * 1e3
    ));
    Ok(())
}
