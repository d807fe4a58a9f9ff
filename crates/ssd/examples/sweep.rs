//! Published against simulated bandwidth, and a small fit.
//!
//! ```text
//! cargo run --release -p assay-ssd --example sweep -- PROFILE [--reference DIR] [--set path=value]... [--fit path,path...]
//! ```
//! Reads `random_read_bandwidth.csv` and `sequential_read_bandwidth.csv` from DIR (default `shared/reference`, then
//! `../shared/reference`), runs each cell of the profile synchronously (one command in flight per thread, the profile's
//! `bench.host_overhead_ns` between completion and next submission) and prints the error. `--set nand.read_ns=[40000,50000]` tries
//! a number; `--fit` moves numbers by coordinate descent on the sum of squared relative errors.
#![allow(missing_docs)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::path::{Path, PathBuf};

use assay_ssd::{Command, Drive, DriveOptions, Profile};
use assay_units::rate::mib_per_second;
use assay_units::{DataClass, GIB, Nanos, Op, Rng};

#[derive(Clone, Debug)]
struct Cell {
    random: bool,
    threads: u32,
    block: u32,
    published: f64,
}

fn cells(dir: &Path, drive: &str) -> Result<Vec<Cell>, Box<dyn Error>> {
    let mut out = Vec::new();
    for (file, random) in [
        ("random_read_bandwidth.csv", true),
        ("sequential_read_bandwidth.csv", false),
    ] {
        for line in std::fs::read_to_string(dir.join(file))?.lines() {
            let fields: Vec<&str> = line.split(',').collect();
            if let [name, threads, block, rate] = fields[..]
                && name == drive
            {
                out.push(Cell {
                    random,
                    threads: threads.parse()?,
                    block: block.parse()?,
                    published: rate.parse()?,
                });
            }
        }
    }
    Ok(out)
}

/// MiB/s of one cell, after a warm-up tenth.
fn measure(profile: &Profile, cell: &Cell, commands: u64) -> Result<f64, Box<dyn Error>> {
    let host = Nanos(profile.bench.host_overhead_ns.value);
    let mut drive = Drive::new(profile.clone(), DriveOptions::default())?;
    let block = u64::from(cell.block);
    let area = 16 * GIB;
    let mut rng = Rng::stream(1, "offsets");
    let mut next: Vec<u64> = (0..cell.threads)
        .map(|n| (area / u64::from(cell.threads) * u64::from(n)) & !(block - 1))
        .collect();
    let mut ready: BinaryHeap<Reverse<(Nanos, u32)>> = (0..cell.threads)
        .map(|n| Reverse((Nanos(u64::from(n) * 100), n)))
        .collect();
    let mut done = Vec::new();
    let (mut completed, mut start) = (0, Nanos::ZERO);
    loop {
        let submit = ready.peek().map_or(Nanos::MAX, |&Reverse((at, _))| at);
        if let Some(event) = drive.next_event()
            && event <= submit
        {
            drive.advance(event, &mut done);
            for completion in done.drain(..) {
                if !completion.status.is_ok() {
                    return Err(completion.status.name().into());
                }
                completed += 1;
                if completed == commands / 10 {
                    start = completion.at;
                }
                if completed == commands {
                    let counted = commands - commands / 10;
                    return Ok(mib_per_second(counted * block, completion.at - start));
                }
                ready.push(Reverse((completion.at + host, completion.tag)));
            }
            continue;
        }
        let Some(Reverse((at, thread))) = ready.pop() else {
            return Err("the drive lost a command".into());
        };
        let offset_bytes = if cell.random {
            rng.below(area / block) * block
        } else {
            let offset = next[thread as usize];
            next[thread as usize] += block;
            offset
        };
        let command = Command {
            tag: thread,
            queue: thread as u16,
            op: Op::Read,
            offset_bytes,
            len_bytes: cell.block,
            data: DataClass::Incompressible,
        };
        drive.submit(at, command);
    }
}

fn errors(profile: &Profile, cells: &[Cell], commands: u64) -> Result<Vec<f64>, Box<dyn Error>> {
    cells
        .iter()
        .map(|cell| Ok(measure(profile, cell, commands)? / cell.published - 1.0))
        .collect()
}

/// Where a dotted path's value lives in a profile's table.
fn slot<'a>(table: &'a mut toml::Table, path: &str) -> Result<&'a mut toml::Value, Box<dyn Error>> {
    let (section, key) = path.split_once('.').ok_or("a path looks like nand.dies")?;
    table
        .get_mut(section)
        .and_then(|section| section.get_mut(key)?.get_mut("value"))
        .ok_or_else(|| format!("the profile has no {path}").into())
}

fn scale(value: &toml::Value, percent: i64) -> toml::Value {
    match value {
        toml::Value::Integer(n) => {
            let moved = n * percent / 100;
            toml::Value::Integer(
                if moved == *n {
                    n + (percent - 100).signum()
                } else {
                    moved
                }
                .max(0),
            )
        }
        toml::Value::Array(list) => {
            toml::Value::Array(list.iter().map(|value| scale(value, percent)).collect())
        }
        other => other.clone(),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let name = args.next().ok_or("name a profile")?;
    let mut table: toml::Table = toml::from_str(Profile::builtin_text(&name)?)?;
    let mut reference = ["shared/reference", "../shared/reference"]
        .map(PathBuf::from)
        .into_iter()
        .find(|dir| dir.exists())
        .unwrap_or_default();
    let mut fit = Vec::new();
    while let Some(flag) = args.next() {
        let value = args.next().ok_or("a flag needs a value")?;
        match flag.as_str() {
            "--reference" => reference = value.into(),
            "--set" => {
                let (path, text) = value.split_once('=').ok_or("--set path=value")?;
                let parsed: toml::Table = toml::from_str(&format!("v = {text}"))?;
                *slot(&mut table, path)? = parsed["v"].clone();
            }
            "--fit" => fit = value.split(',').map(str::to_owned).collect(),
            _ => return Err(format!("unknown flag {flag}").into()),
        }
    }
    let cells = cells(&reference, &name)?;
    let cost = |table: &toml::Table| -> Result<f64, Box<dyn Error>> {
        let profile = Profile::from_table(table.clone())?;
        let list = errors(&profile, &cells, 8_000)?;
        Ok(list.iter().map(|e| e * e + 20.0 * e.powi(4)).sum())
    };
    if !fit.is_empty() {
        let mut best = cost(&table)?;
        for step in [20, 10, 5, 2] {
            for _ in 0..3 {
                let before = best;
                for path in &fit {
                    for percent in [100 - step, 100 + step] {
                        let old = slot(&mut table, path)?.clone();
                        *slot(&mut table, path)? = scale(&old, percent);
                        let now = cost(&table).unwrap_or(f64::MAX);
                        if now < best {
                            best = now;
                        } else {
                            *slot(&mut table, path)? = old;
                        }
                    }
                }
                if best == before {
                    break;
                }
            }
        }
        for path in &fit {
            println!("{path} = {}", slot(&mut table, path)?);
        }
    }
    let profile = Profile::from_table(table)?;
    println!("{name}: published and simulated MiB/s");
    let list = errors(&profile, &cells, 50_000)?;
    for (cell, error) in cells.iter().zip(&list) {
        println!(
            "{:10} {:3} x {:>6} B  {:6.0}  {:6.0}  {:+6.1} %",
            if cell.random { "random" } else { "sequential" },
            cell.threads,
            cell.block,
            cell.published,
            cell.published * (1.0 + error),
            error * 100.0
        );
    }
    let mut sorted: Vec<f64> = list.iter().map(|error| error.abs()).collect();
    sorted.sort_by(f64::total_cmp);
    println!(
        "median error {:.1} %, worst {:.1} %",
        sorted[sorted.len() / 2] * 100.0,
        sorted[sorted.len() - 1] * 100.0
    );
    Ok(())
}
