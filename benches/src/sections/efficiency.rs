//! I/Os per second of processor time, against fio's io_uring engine.

use anyhow::Result;

use crate::Bench;
use crate::devices::TestDevice;
use crate::document::{Section, Table};
use crate::rounds::{Series, best, start_up_s, take_turns};
use crate::tools::{Sample, Tool, Variant};

/// At least so many times fio's I/Os per processor-second.
const GOAL: f64 = 1.2;

/// A setting of fio's io_uring engine or of assay's.
struct Setting {
    label: String,
    options: String,
    /// Completions waited for at a time.
    batch: u32,
    /// Kept on one processor with the kernel's workers: no wake-ups on another, which saves processor time. A choice of where to run more than
    /// a setting of the engine, so shown apart.
    pinned: bool,
}

impl Setting {
    fn new(name: &str, options: String, batch: u32, pinned: bool) -> Setting {
        let mut label = name.to_owned();
        if batch > 1 {
            label += &format!(", batches of {batch}");
        }
        if pinned {
            label += ", one processor";
        }
        Setting {
            label,
            options,
            batch,
            pinned,
        }
    }

    fn assay((batch, pinned): (u32, bool)) -> Setting {
        let mut options = Vec::new();
        if batch > 1 {
            options.push(format!("--iodepth_batch_complete_min {batch}"));
        }
        if pinned {
            options.push("--cpus_allowed 0".to_owned());
        }
        Setting::new("assay", options.join(" "), batch, pinned)
    }

    fn fio_fixed((batch, pinned): (u32, bool)) -> Setting {
        let mut options = FIXED.to_owned();
        if batch > 1 {
            options += &format!(
                " --iodepth_batch_submit={batch} --iodepth_batch_complete_min={batch} --iodepth_batch_complete_max=32"
            );
        }
        if pinned {
            options += " --cpus_allowed=0";
        }
        Setting::new("fio fixed", options, batch, pinned)
    }
}

const FIXED: &str = "--fixedbufs --registerfiles";

fn assay_settings() -> Vec<Setting> {
    let settings = [
        (1, false),
        (8, false),
        (16, false),
        (32, false),
        (16, true),
        (32, true),
    ];
    settings.map(Setting::assay).into()
}

/// The third is the plain one with fixed buffers and files.
fn fio_settings() -> Vec<Setting> {
    let submit =
        "--iodepth_batch_submit=32 --iodepth_batch_complete_min=1 --iodepth_batch_complete_max=32";
    let mut settings = vec![
        Setting::new("fio plain", String::new(), 1, false),
        Setting::new(
            "fio plain, nonvectored",
            "--nonvectored=1".to_owned(),
            1,
            false,
        ),
        Setting::fio_fixed((1, false)),
        Setting::new(
            "fio fixed, submit 32",
            format!("{FIXED} {submit}"),
            1,
            false,
        ),
    ];
    let fixed = [
        (8, false),
        (16, false),
        (32, false),
        (1, true),
        (16, true),
        (32, true),
    ];
    settings.extend(fixed.map(Setting::fio_fixed));
    settings
}

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
    for device in [TestDevice::zram, TestDevice::tmpfs] {
        match device() {
            Ok(device) => on(bench, &device, &mut section)?,
            Err(error) => section.notes.push(format!("Not measured: {error:#}.")),
        }
    }
    Ok(section)
}

fn on(bench: &Bench, device: &TestDevice, section: &mut Section) -> Result<()> {
    let span_ms = bench.span_ms(1_000);
    let path = device.path.as_str();
    let assay = |setting: &Setting, span_ms| {
        let options = format!("--engine uring --iodepth 32 {}", setting.options);
        Variant::assay(&setting.label, path, options.trim_end(), span_ms)
    };
    let fio = |setting: &Setting, span_ms| {
        let options = format!(
            "--ioengine=io_uring --iodepth=32 --norandommap {}",
            setting.options
        );
        Variant::fio(&setting.label, Some(path), &options, span_ms)
    };
    let (assay_settings, fio_settings) = (assay_settings(), fio_settings());
    let idle = [
        start_up_s(bench, &|ms| assay(&assay_settings[0], ms))?,
        start_up_s(bench, &|ms| fio(&fio_settings[2], ms))?,
    ];
    let idle_of = |tool| idle[usize::from(tool == Tool::Fio)];
    let mut variants: Vec<Variant> = assay_settings.iter().map(|s| assay(s, span_ms)).collect();
    variants.extend(fio_settings.iter().map(|s| fio(s, span_ms)));
    let all = take_turns(bench, device.name, variants)?;
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
            format!("{}: {}", device.name, series.variant.label),
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
    let (ours, theirs) = all.split_at(assay_settings.len());
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
                device.name
            );
            section.goal(goal, text, ratio.median >= GOAL);
            section
                .commands
                .extend([ours.variant.command(), theirs.variant.command()]);
        } else {
            section
                .notes
                .push(format!("{}, {how}: {text}.", device.name));
        }
    };
    let mut pair =
        |how: &str, mine: &dyn Fn(&Setting) -> bool, its: &dyn Fn(&Setting) -> bool, goal: bool| {
            let ours = ours.iter().zip(&assay_settings).filter(|(_, s)| mine(s));
            let theirs = theirs.iter().zip(&fio_settings).filter(|(_, s)| its(s));
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
        "Start-up subtracted: assay {:.0} ms, fio {:.0} ms of processor time ({}).",
        idle[0] * 1e3,
        idle[1] * 1e3,
        device.name
    ));
    Ok(())
}
