//! NVMe commands through io_uring, against fio doing the same, in one guest.

use anyhow::Result;

use crate::Bench;
use crate::document::Section;
use crate::guest::Guest;
use crate::rounds::{Figure, Spread, best_of_each, table, take_turns_by};
use crate::tools::{Sample, Tool, Variant};

/// At least so many times fio's I/Os per processor-second.
const GOAL: f64 = 1.0;
const DEVICE: &str = "/dev/ng0n1";
const FIXED: &str = "--fixedbufs --registerfiles";
/// Queues of the guest's driver that are polled.
const POLLED: u32 = 1;

fn assay(label: &str, options: &str, span_ms: u64) -> Variant {
    let options = format!("--engine passthru --iodepth 32 {options}");
    Variant::assay(label, DEVICE, &options, span_ms)
}

fn fio(label: &str, options: &str, span_ms: u64) -> Variant {
    let options = format!(
        "--filename={DEVICE} --ioengine=io_uring_cmd --cmd_type=nvme --iodepth=32 --norandommap \
         {options}"
    );
    Variant::fio(label, None, &options, span_ms)
}

fn variants(span_ms: u64) -> Vec<Variant> {
    let batches = format!(
        "{FIXED} --iodepth_batch_submit=16 --iodepth_batch_complete_min=16 \
         --iodepth_batch_complete_max=32"
    );
    vec![
        assay("assay", "", span_ms),
        assay("assay, batches of 16", "--iodepth_batch_complete_min 16", span_ms),
        assay("assay, polled", "--hipri", span_ms),
        fio("fio plain", "", span_ms),
        fio("fio fixed", FIXED, span_ms),
        fio("fio fixed, batches of 16", &batches, span_ms),
        fio("fio plain, polled", "--hipri", span_ms),
        fio("fio fixed, polled", &format!("{FIXED} --hipri"), span_ms),
    ]
}

pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "passthru",
        "NVMe commands through io_uring",
        "Random 4 KiB reads as NVMe commands through `/dev/ng0n1` in one Linux guest, one thread, \
         32 in flight, full latency recording in both programs. The drive is QEMU's NVMe \
         controller on a null backend. Processor time is that of the process as counted by the \
         guest's kernel, less start-up, in hundredths of a second. The guest's processor is \
         emulated: only the ratio of two programs is meaningful, not their rates.",
    );
    match Guest::boot(bench, POLLED) {
        Ok(guest) => within(bench, guest, &mut section)?,
        Err(error) => section.notes.push(format!("Not measured: {error:#}.")),
    }
    Ok(section)
}

fn within(bench: &Bench, mut guest: Guest, section: &mut Section) -> Result<()> {
    let description = guest.description()?;
    section.notes.push(format!("The guest: {description}."));
    let mut start_up_s = |short: Variant| {
        // Too short for an I/O, under emulation: the cost is what counts.
        let cost = |_| Ok(guest.run(&short.command())?.cpu_s());
        anyhow::Ok(Spread::new(bench.repeat("start-up in a guest", bench.rounds(), cost)?).median)
    };
    let idle = [start_up_s(assay("assay", "", 1))?, start_up_s(fio("fio plain", "", 1))?];
    let mut variants = variants(bench.span_ms(5_000));
    for variant in &mut variants {
        variant.start_up_s = idle[usize::from(variant.tool == Tool::Fio)];
    }
    let all = take_turns_by(bench, "passthru in a guest", variants, |variant| {
        variant.sample(&guest.run(&variant.command())?)
    })?;
    let columns: [(_, Figure, _); 3] = [
        ("I/Os per CPU-second", Sample::ios_per_cpu_s, 0),
        ("us CPU per I/O", |s| 1e6 / s.ios_per_cpu_s(), 1),
        ("IOPS", |s| s.iops, 0),
    ];
    section.tables.push(table(&all, &columns));
    for polled in [false, true] {
        let same = |variant: &Variant| variant.option("--hipri").is_some() == polled;
        let Some((ours, theirs)) = best_of_each(&all, Sample::ios_per_cpu_s, same) else {
            continue;
        };
        let ratio = ours.ratio(theirs, Sample::ios_per_cpu_s);
        let how = if polled { "polled" } else { "by interrupts" };
        let (our_label, their_label) = (&ours.variant.label, &theirs.variant.label);
        section.goal(
            format!(
                "{how}, best with best: at least {GOAL} times the I/Os per CPU-second of fio's \
                 io_uring_cmd in the same guest"
            ),
            format!("{} times ({our_label} against {their_label})", ratio.show(2)),
            ratio.median >= GOAL,
        );
        section.commands.extend([ours, theirs].map(|it| it.variant.command()));
    }
    section.notes.push(format!(
        "Start-up subtracted: assay {:.0} ms, fio {:.0} ms of the guest's processor time.",
        idle[0] * 1e3,
        idle[1] * 1e3
    ));
    Ok(())
}
