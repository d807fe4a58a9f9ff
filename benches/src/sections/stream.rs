use anyhow::Result;
use assay_units::GIB;

use crate::Bench;
use crate::devices::{DEVICE_BYTES, TestDevice};
use crate::document::{Section, Table};
use crate::rounds::{Spread, best_of_each, take_turns_by};
use crate::tools::{Sample, Tool, Variant};

/// Of fio's best rate.
const GOAL_RATE: f64 = 0.95;
/// Of fio's processor time for recording with proof.
const GOAL_PROOF: f64 = 1.0 / 3.0;
/// Bytes of a stream into nothing.
const NULL_BYTES: u64 = 16 * GIB;

fn assay(label: &str, command: &str) -> Variant {
    Variant::new(Tool::Assay, label, &format!("{command} --json"))
}

fn fio(label: &str, options: &str, bytes: u64) -> Variant {
    let fixed = "--name=stream --bs=128k --direct=1 --output-format=json";
    Variant::new(Tool::Fio, label, &format!("{fixed} --size={bytes} {options}"))
}

fn run(bench: &Bench, variant: &Variant, direction: &str) -> Result<Sample> {
    let outcome = variant.outcome(&bench.runner)?;
    let document = variant.document(&outcome)?;
    let reported = match variant.tool {
        Tool::Assay => &document["bytes_per_s"],
        Tool::Fio => &document["jobs"][0][direction]["bw_bytes"],
    };
    Ok(Sample { bytes_per_s: reported.as_f64().unwrap_or(0.0), ..Sample::cost(&outcome) })
}

struct Work<'a> {
    what: &'a str,
    /// Direction whose rate fio reports.
    direction: &'a str,
    bytes: u64,
    /// A second command of assay, with which the first is one piece of work; its rate counts.
    then: Option<Variant>,
}

/// Interleave the variants, tabulate rates and processor time, and compare assay's best with fio's.
fn compare(
    bench: &Bench,
    table: &mut Table,
    section: &mut Section,
    work: Work<'_>,
    variants: Vec<Variant>,
) -> Result<()> {
    let what = work.what;
    let then = |variant: &Variant| work.then.as_ref().filter(|_| variant.tool == Tool::Assay);
    let all = take_turns_by(bench, what, variants, |variant| {
        let first = run(bench, variant, work.direction)?;
        let Some(then) = then(variant) else {
            return Ok(first);
        };
        let second = run(bench, then, work.direction)?;
        Ok(Sample {
            cpu_s: first.cpu_s + second.cpu_s,
            system_s: first.system_s + second.system_s,
            ..second
        })
    })?;
    let per_gib = GIB as f64 / work.bytes as f64;
    for series in &all {
        table.row([
            &what,
            &series.variant.label,
            &series.spread(|s| s.bytes_per_s / 1e6).show(0),
            &series.spread(|s| s.cpu_s * per_gib).show(3),
            &series.spread(|s| s.system_s * per_gib).show(3),
        ]);
        let variants = [Some(&series.variant), then(&series.variant)];
        section.commands.extend(variants.into_iter().flatten().map(Variant::command));
    }
    let Some((ours, theirs)) = best_of_each(&all, |s| s.bytes_per_s, |_| true) else {
        return Ok(());
    };
    let rate = ours.ratio(theirs, |s| s.bytes_per_s);
    let cpu = ours.ratio(theirs, |s| s.cpu_s);
    if work.then.is_some() {
        section.goal(
            format!("{what}: at most {GOAL_PROOF:.2} of fio's processor time"),
            cpu.show(2),
            cpu.median <= GOAL_PROOF,
        );
    } else {
        section.goal(
            format!("{what}: at least {GOAL_RATE} of fio's best rate"),
            format!("{} x {:?}", rate.show(2), theirs.variant.label),
            rate.median >= GOAL_RATE,
        );
        section.goal(
            format!("{what}: less processor time per GiB than that"),
            format!("{} x", cpu.show(2)),
            cpu.median < 1.0,
        );
    }
    Ok(())
}

pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "stream",
        "Streams",
        "Streams in chunks of 128 KiB, 1 GiB each (null target: 16 GiB), rates as each program \
         reports them, processor time of the whole process including start-up. *record*: assay \
         generates its pattern, fio generates new data for each write (`--refill_buffers`), \
         because what a drive in memory does depends on the data. *replay*: raw, to `/dev/null`. \
         *prove*: written, read back and checked, assay with an index and `assay verify`, fio \
         with `--verify=crc32c`. On zram nearly all of assay's processor time is the kernel's, \
         which compresses each page that is written, and so alone is more than a third of fio's.",
    );
    let mut table = Table::new(&["work", "program", "MB/s", "CPU s per GiB", "of it kernel"]);
    let ring = "--ioengine=io_uring --iodepth=32 --fixedbufs --registerfiles";
    for device in [TestDevice::zram()?, TestDevice::disk()?] {
        let (path, name) = (&device.path, device.name);
        let bytes = DEVICE_BYTES - (64 << 20);
        let serial = path.rsplit('/').next().unwrap_or_default();
        let record = |extra: &str| {
            format!(
                "record {path} --destroy {serial} --destroy assay-recording --pattern 1 --length \
                 {bytes} {extra}"
            )
        };
        let fio =
            |label: &str, options: &str| fio(label, &format!("--filename={path} {options}"), bytes);
        let write = |label: &str, options: &str| {
            fio(label, &format!("--rw=write --refill_buffers {options}"))
        };
        let work = |what, direction, then| Work { what, direction, bytes, then };
        let variants = vec![
            assay("assay", &record("")),
            assay("assay, depth 8", &record("--iodepth 8")),
            assay("assay, blocking", &record("--engine sync")),
            write("fio io_uring, depth 32", ring),
            write("fio io_uring, depth 8", &ring.replace("32", "8")),
            write("fio psync", "--ioengine=psync"),
        ];
        let what = format!("record, {name}");
        compare(bench, &mut table, &mut section, work(&what, "write", None), variants)?;
        let replay = format!("replay {path} --raw --length {bytes} --to /dev/null");
        let variants = vec![
            assay("assay", &replay),
            assay("assay, blocking", &format!("{replay} --engine sync")),
            fio("fio io_uring, depth 32", &format!("--rw=read {ring}")),
            fio("fio psync", "--rw=read --ioengine=psync"),
        ];
        let what = format!("replay, {name}");
        compare(bench, &mut table, &mut section, work(&what, "read", None), variants)?;
        let proof = "--rw=write --verify=crc32c --do_verify=1 --verify_state_save=0";
        let variants =
            vec![assay("assay", &record("--index")), fio("fio", &format!("{proof} {ring}"))];
        let (what, verify) = (format!("prove, {name}"), assay("verify", &format!("verify {path}")));
        compare(bench, &mut table, &mut section, work(&what, "read", Some(verify)), variants)?;
    }
    let null = "--filename=null --ioengine=null --rw=write --refill_buffers --iodepth=32";
    let variants = vec![
        assay("assay", &format!("record null: --pattern 1 --length {NULL_BYTES}")),
        fio("fio null", null, NULL_BYTES),
    ];
    let work = Work { what: "record, nothing", direction: "write", bytes: NULL_BYTES, then: None };
    compare(bench, &mut table, &mut section, work, variants)?;
    section.tables.push(table);
    memory(bench, &mut section)?;
    Ok(section)
}

/// Permitted growth of memory for a stream 64 times as long: allocator noise.
const GOAL_GROWTH_BYTES: f64 = (1 << 20) as f64;

fn memory(bench: &Bench, section: &mut Section) -> Result<()> {
    let rss = |gib: u64| -> Result<f64> {
        let command = format!("record null:size=64g --pattern 1 --length {gib}g --json");
        Ok(bench.runner.run_assay(&command)?.max_rss_bytes as f64)
    };
    let both = bench.repeat("memory", bench.rounds(), |_| Ok((rss(1)?, rss(64)?)))?;
    let short = Spread::new(both.iter().map(|&(short, _)| short)).median;
    let long = Spread::new(both.iter().map(|&(_, long)| long)).median;
    section.goal(
        "a stream of 64 GiB needs no more memory than one of 1 GiB (within 1 MiB)",
        format!("{:.1} and {:.1} MiB resident", long / 1048576.0, short / 1048576.0),
        long - short < GOAL_GROWTH_BYTES,
    );
    Ok(())
}
