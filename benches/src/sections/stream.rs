//! Streams: recording, replaying and verifying, against fio doing the same work.

use std::path::Path;

use anyhow::{Context, Result};
use assay_units::{GIB, median};
use serde_json::Value;

use crate::Bench;
use crate::devices::{DEVICE_BYTES, TestDevice};
use crate::document::{Section, Table};
use crate::rounds::Spread;

/// Of fio's best rate.
const GOAL_RATE: f64 = 0.95;
/// Of fio's processor time for recording with proof.
const GOAL_PROOF: f64 = 1.0 / 3.0;
const FIO: &str = "/usr/bin/fio";
/// Bytes of a stream into nothing.
const NULL_BYTES: u64 = 16 * GIB;

/// One variant: one or several commands in a row; the last one's rate counts.
struct StreamVariant {
    label: &'static str,
    is_assay: bool,
    commands: Vec<(bool, String)>,
    bytes: u64,
    /// Bytes per second as the program reports, and processor seconds per GiB of the whole process.
    rates: Vec<f64>,
    cpu_s_per_gib: Vec<f64>,
    /// Of it spent in the kernel.
    kernel_s_per_gib: Vec<f64>,
}

impl StreamVariant {
    fn assay(label: &'static str, commands: &[String], bytes: u64) -> StreamVariant {
        StreamVariant {
            label,
            is_assay: true,
            commands: commands
                .iter()
                .map(|c| (true, format!("{c} --json")))
                .collect(),
            bytes,
            rates: Vec::new(),
            cpu_s_per_gib: Vec::new(),
            kernel_s_per_gib: Vec::new(),
        }
    }

    fn fio(label: &'static str, options: &str, bytes: u64) -> StreamVariant {
        let fixed = "--name=stream --bs=128k --direct=1 --output-format=json";
        StreamVariant {
            label,
            is_assay: false,
            commands: vec![(false, format!("{fixed} --size={bytes} {options}"))],
            bytes,
            rates: Vec::new(),
            cpu_s_per_gib: Vec::new(),
            kernel_s_per_gib: Vec::new(),
        }
    }

    fn run(&mut self, bench: &Bench, direction: &str) -> Result<()> {
        let (mut cpu_s, mut kernel_s) = (0.0, 0.0);
        let mut rate = 0.0;
        for (is_assay, command) in &self.commands {
            let words: Vec<&str> = command.split_whitespace().collect();
            let program = if *is_assay {
                bench.runner.assay.as_path()
            } else {
                Path::new(FIO)
            };
            let outcome = bench.runner.run(program, &words)?;
            cpu_s += outcome.user_s + outcome.system_s;
            kernel_s += outcome.system_s;
            // fio prints notes before its document.
            let begin = outcome.stdout.find('{').context("no JSON in the output")?;
            let document: Value = serde_json::from_str(&outcome.stdout[begin..])
                .with_context(|| format!("{command}: no JSON in the output"))?;
            let reported = match is_assay {
                true => document["bytes_per_s"].as_f64().unwrap_or(0.0),
                false => document["jobs"][0][direction]["bw_bytes"]
                    .as_f64()
                    .unwrap_or(0.0),
            };
            if reported > 0.0 {
                rate = reported;
            }
        }
        self.rates.push(rate);
        self.cpu_s_per_gib
            .push(cpu_s * GIB as f64 / self.bytes as f64);
        self.kernel_s_per_gib
            .push(kernel_s * GIB as f64 / self.bytes as f64);
        Ok(())
    }
}

/// Interleave the variants, tabulate rates and processor time, and compare assay's best with fio's.
fn compare(
    bench: &Bench,
    table: &mut Table,
    section: &mut Section,
    (what, direction): (&str, &str),
    mut variants: Vec<StreamVariant>,
) -> Result<()> {
    for round in 0..bench.rounds() {
        eprintln!("{what}: round {} of {}", round + 1, bench.rounds());
        for variant in &mut variants {
            variant.run(bench, direction)?;
        }
    }
    for variant in &variants {
        let rate = Spread::of(variant.rates.iter().map(|r| r / 1e6));
        let cpu = Spread::of(variant.cpu_s_per_gib.iter().copied());
        let kernel = Spread::of(variant.kernel_s_per_gib.iter().copied());
        table.rows.push(vec![
            what.to_owned(),
            variant.label.to_owned(),
            rate.show(0),
            cpu.show(3),
            kernel.show(3),
        ]);
        section
            .commands
            .extend(variant.commands.iter().map(|(is_assay, command)| {
                format!("{} {command}", if *is_assay { "assay" } else { "fio" })
            }));
    }
    let middle = |variant: &StreamVariant, figure: fn(&StreamVariant) -> &Vec<f64>| {
        median(figure(variant).clone()).unwrap_or(0.0)
    };
    let best = |assay: bool, figure: fn(&StreamVariant) -> &Vec<f64>| {
        let of_program = variants.iter().filter(|variant| variant.is_assay == assay);
        of_program.max_by(|a, b| middle(a, figure).total_cmp(&middle(b, figure)))
    };
    let (Some(ours), Some(theirs)) = (best(true, |w| &w.rates), best(false, |w| &w.rates)) else {
        return Ok(());
    };
    // Round by round: what disturbed a round disturbed both.
    let paired = |mine: &[f64], other: &[f64]| {
        let ratios = mine
            .iter()
            .zip(other)
            .filter(|(_, o)| **o > 0.0)
            .map(|(m, o)| m / o);
        Spread::of(ratios)
    };
    let rate = paired(&ours.rates, &theirs.rates);
    let cpu = paired(&ours.cpu_s_per_gib, &theirs.cpu_s_per_gib);
    if what.starts_with("prove") {
        section.goal(
            format!("{what}: at most {GOAL_PROOF:.2} of fio's processor time"),
            cpu.show(2),
            cpu.median <= GOAL_PROOF,
        );
    } else {
        section.goal(
            format!("{what}: at least {GOAL_RATE} of fio's best rate"),
            format!("{} x {:?}", rate.show(2), theirs.label),
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

/// zram, a file on the root disk, and nothing.
pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "stream",
        "Streams",
        "Streams in chunks of 128 KiB, 1 GiB each (null target: 16 GiB), rates as each program reports them, processor time of the whole process including \
         start-up. *record*: assay generates its pattern, fio generates new data for each write (`--refill_buffers`), because what a \
         drive in memory does depends on the data. *replay*: raw, to `/dev/null`. *prove*: written, read back and checked, assay with an index and \
         `assay verify`, fio with `--verify=crc32c`. On zram nearly all of \
         assay's processor time is the kernel's, which compresses each page that is written, and so alone is more than a third of fio's.",
    );
    let mut table = Table::new(&["work", "program", "MB/s", "CPU s per GiB", "of it kernel"]);
    let ring = "--ioengine=io_uring --iodepth=32 --fixedbufs --registerfiles";
    for device in [TestDevice::zram()?, TestDevice::disk()?] {
        let (path, bytes) = (&device.path, DEVICE_BYTES);
        let serial = Path::new(path)
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let file = format!("--filename={path}");
        let record = |extra: &str| {
            format!(
                "record {path} --destroy {serial} --pattern 1 --length {} {extra}",
                bytes - (64 << 20)
            )
        };
        let streamed = bytes - (64 << 20);
        let variants = vec![
            StreamVariant::assay("assay", &[record("")], streamed),
            StreamVariant::assay("assay, depth 8", &[record("--iodepth 8")], streamed),
            StreamVariant::assay("assay, blocking", &[record("--engine sync")], streamed),
            StreamVariant::fio(
                "fio io_uring, depth 32",
                &format!("{file} --rw=write --refill_buffers {ring}"),
                streamed,
            ),
            StreamVariant::fio(
                "fio io_uring, depth 8",
                &format!(
                    "{file} --rw=write --refill_buffers {}",
                    ring.replace("32", "8")
                ),
                streamed,
            ),
            StreamVariant::fio(
                "fio psync",
                &format!("{file} --rw=write --refill_buffers --ioengine=psync"),
                streamed,
            ),
        ];
        compare(
            bench,
            &mut table,
            &mut section,
            (&format!("record, {}", device.name), "write"),
            variants,
        )?;
        let replay =
            |extra: &str| format!("replay {path} --raw --length {streamed} --to /dev/null {extra}");
        let variants = vec![
            StreamVariant::assay("assay", &[replay("")], streamed),
            StreamVariant::assay("assay, blocking", &[replay("--engine sync")], streamed),
            StreamVariant::fio(
                "fio io_uring, depth 32",
                &format!("{file} --rw=read {ring}"),
                streamed,
            ),
            StreamVariant::fio(
                "fio psync",
                &format!("{file} --rw=read --ioengine=psync"),
                streamed,
            ),
        ];
        compare(
            bench,
            &mut table,
            &mut section,
            (&format!("replay, {}", device.name), "read"),
            variants,
        )?;
        let verify = format!("verify {path}");
        let variants = vec![
            StreamVariant::assay("assay", &[record("--index"), verify], streamed),
            StreamVariant::fio(
                "fio",
                &format!(
                    "{file} --rw=write --verify=crc32c --do_verify=1 --verify_state_save=0 {ring}"
                ),
                streamed,
            ),
        ];
        compare(
            bench,
            &mut table,
            &mut section,
            (&format!("prove, {}", device.name), "read"),
            variants,
        )?;
    }
    let blank = format!("record null: --pattern 1 --length {NULL_BYTES}");
    let variants = vec![
        StreamVariant::assay("assay", &[blank], NULL_BYTES),
        StreamVariant::fio(
            "fio null",
            "--filename=null --ioengine=null --rw=write --refill_buffers --iodepth=32",
            NULL_BYTES,
        ),
    ];
    compare(
        bench,
        &mut table,
        &mut section,
        ("record, nothing", "write"),
        variants,
    )?;
    section.tables.push(table);
    memory(bench, &mut section)?;
    Ok(section)
}

/// Permitted growth of memory for a stream 64 times as long: allocator noise.
const GOAL_GROWTH_BYTES: f64 = (1 << 20) as f64;

/// Resident memory against the length of the stream.
fn memory(bench: &Bench, section: &mut Section) -> Result<()> {
    let rss = |gib: u64| -> Result<f64> {
        let command = format!("record null:size=64g --pattern 1 --length {gib}g --json");
        let words: Vec<&str> = command.split_whitespace().collect();
        let outcome = bench.runner.run(&bench.runner.assay, &words)?;
        Ok(outcome.max_rss_bytes as f64)
    };
    let (mut short, mut long) = (Vec::new(), Vec::new());
    for round in 0..bench.rounds() {
        eprintln!("memory: round {} of {}", round + 1, bench.rounds());
        short.push(rss(1)?);
        long.push(rss(64)?);
    }
    let middle = |values: Vec<f64>| median(values).unwrap_or(0.0);
    let (short, long) = (middle(short), middle(long));
    section.goal(
        "a stream of 64 GiB needs no more memory than one of 1 GiB (within 1 MiB)",
        format!(
            "{:.1} and {:.1} MiB resident",
            long / 1048576.0,
            short / 1048576.0
        ),
        long - short < GOAL_GROWTH_BYTES,
    );
    Ok(())
}
