//! NVMe commands through io_uring, against fio doing the same, in one guest.

use anyhow::Result;

use crate::Bench;
use crate::document::{Section, Table};
use crate::guest::Guest;
use crate::rounds::{Series, Spread, best, take_turns_by};
use crate::tools::{Sample, Tool, Variant};

/// At least so many times fio's I/Os per processor-second.
const GOAL: f64 = 1.0;
const DEVICE: &str = "/dev/ng0n1";
/// Queues of the guest's driver that are polled.
const POLLED: u32 = 1;

/// A setting of either program: label, its options, is it polled?
type Setting = (&'static str, &'static str, bool);
const ASSAY: [Setting; 3] = [
    ("assay", "", false),
    (
        "assay, batches of 16",
        "--iodepth_batch_complete_min 16",
        false,
    ),
    ("assay, polled", "--hipri", true),
];
const FIO: [Setting; 5] = [
    ("fio plain", "", false),
    ("fio fixed", "--fixedbufs --registerfiles", false),
    (
        "fio fixed, batches of 16",
        "--fixedbufs --registerfiles --iodepth_batch_submit=16 --iodepth_batch_complete_min=16 --iodepth_batch_complete_max=32",
        false,
    ),
    ("fio plain, polled", "--hipri", true),
    (
        "fio fixed, polled",
        "--fixedbufs --registerfiles --hipri",
        true,
    ),
];

fn assay(setting: Setting, span_ms: u64) -> Variant {
    let options = format!("--engine passthru --iodepth 32 {}", setting.1);
    Variant::assay(setting.0, DEVICE, options.trim_end(), span_ms)
}

fn fio(setting: Setting, span_ms: u64) -> Variant {
    let options = format!(
        "--filename={DEVICE} --ioengine=io_uring_cmd --cmd_type=nvme --iodepth=32 --norandommap {}",
        setting.1
    );
    Variant::fio(setting.0, None, &options, span_ms)
}

/// In one guest.
pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "passthru",
        "NVMe commands through io_uring",
        "Random 4 KiB reads as NVMe commands through `/dev/ng0n1` in one Linux guest, one thread, 32 in flight, full latency recording in both programs. The drive is QEMU's NVMe controller on a null backend. Processor time is that of the process as counted by the guest's kernel, less \
         start-up, in hundredths of a second. The guest's processor is emulated: only the ratio of two programs is meaningful, \
         not their rates.",
    );
    match Guest::boot(bench, POLLED) {
        Ok(guest) => within(bench, guest, &mut section)?,
        Err(error) => section.notes.push(format!("Not measured: {error:#}.")),
    }
    Ok(section)
}

fn within(bench: &Bench, mut guest: Guest, section: &mut Section) -> Result<()> {
    section
        .notes
        .push(format!("The guest: {}.", guest.description()?));
    let mut idle = [0.0; 2];
    for (idle, variant) in idle.iter_mut().zip([assay(ASSAY[0], 1), fio(FIO[0], 1)]) {
        let mut costs = Vec::new();
        for _ in 0..bench.rounds() {
            // Too short for an I/O, under emulation: the cost is what counts.
            let outcome = guest.run(&variant.command())?;
            costs.push(outcome.user_s + outcome.system_s);
        }
        *idle = Spread::of(costs).median;
    }
    let span_ms = bench.span_ms(5_000);
    let mut variants: Vec<Variant> = ASSAY.iter().map(|&s| assay(s, span_ms)).collect();
    variants.extend(FIO.iter().map(|&s| fio(s, span_ms)));
    let all = take_turns_by(bench, "passthru in a guest", variants, |variant| {
        variant.sample(&guest.run(&variant.command())?)
    })?;
    let net = |series: &Series| {
        let idle = idle[usize::from(series.variant.tool == Tool::Fio)];
        move |s: &Sample| s.ios_per_cpu_s(idle)
    };
    let mut table = Table::new(&["", "I/Os per CPU-second", "us CPU per I/O", "IOPS"]);
    for series in &all {
        let net = net(series);
        table.rows.push(vec![
            series.variant.label.clone(),
            series.spread(net).show(0),
            series.spread(|s| 1e6 / net(s)).show(1),
            series.spread(|s| s.iops).show(0),
        ]);
    }
    section.tables.push(table);
    let (ours, theirs) = all.split_at(ASSAY.len());
    for polled in [false, true] {
        let ours = ours.iter().zip(&ASSAY).filter(|(_, s)| s.2 == polled);
        let theirs = theirs.iter().zip(&FIO).filter(|(_, s)| s.2 == polled);
        let ours = best(ours.map(|(series, _)| series), |s| s.ios_per_cpu_s(idle[0]));
        let theirs = best(theirs.map(|(series, _)| series), |s| {
            s.ios_per_cpu_s(idle[1])
        });
        let (Some(ours), Some(theirs)) = (ours, theirs) else {
            continue;
        };
        let ratio = ours.ratio(theirs, net(ours), net(theirs));
        let how = if polled { "polled" } else { "by interrupts" };
        section.goal(
            format!(
                "{how}, best with best: at least {GOAL} times the I/Os per CPU-second of fio's io_uring_cmd in the same guest"
            ),
            format!(
                "{} times ({} against {})",
                ratio.show(2),
                ours.variant.label,
                theirs.variant.label
            ),
            ratio.median >= GOAL,
        );
        section
            .commands
            .extend([ours.variant.command(), theirs.variant.command()]);
    }
    section.notes.push(format!(
        "Start-up subtracted: assay {:.0} ms, fio {:.0} ms of the guest's processor time.",
        idle[0] * 1e3,
        idle[1] * 1e3
    ));
    Ok(())
}
