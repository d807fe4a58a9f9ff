//! Bandwidth cells: the published ones, and what the model makes of them.

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use assay_ssd::Profile;
use assay_units::Nanos;
use assay_units::rate::mib_per_second;

use crate::WORKERS;
use crate::host::{Host, Job};

/// One published figure of read bandwidth.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Random offsets, or a region of its own per thread read in order.
    pub random: bool,
    /// Threads, each with one read in flight.
    pub threads: u32,
    /// Bytes per read.
    pub block: u32,
    /// MiB/s.
    pub published: f64,
}

impl Cell {
    /// For people.
    pub fn pattern(&self) -> &'static str {
        if self.random { "random" } else { "sequential" }
    }
}

/// A drive's cells in both tables of the reference.
pub fn published(dir: &Path, drive: &str) -> Result<Vec<Cell>, Box<dyn Error>> {
    let mut out = Vec::new();
    for (file, random) in [
        ("random_read_bandwidth.csv", true),
        ("sequential_read_bandwidth.csv", false),
    ] {
        let path = dir.join(file);
        let text = std::fs::read_to_string(&path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        for line in text.lines() {
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

/// Commands that make a cell's figure good to a per cent or so: fewer where each is many flash reads.
fn commands(cell: &Cell) -> u64 {
    let fewer = u64::from(cell.block / 8192).clamp(1, 8);
    (6000 / fewer).max(u64::from(cell.threads) * 10)
}

/// MiB/s of one cell, after a warm-up tenth.
pub fn measure(profile: &Profile, cell: &Cell, effort: u64) -> Result<f64, Box<dyn Error>> {
    let commands = commands(cell) * effort;
    let job = Job::read(cell.random, cell.threads, cell.block);
    let mut host = Host::new(profile, job)?;
    host.run(commands / 10, Nanos::MAX)?;
    let start = host.now;
    let bytes = host.run(commands - commands / 10, Nanos::MAX)?;
    Ok(mib_per_second(bytes, host.now - start))
}

/// MiB/s of every cell, in their order, measured by [`WORKERS`] threads.
pub fn measure_all(
    profile: &Profile,
    cells: &[Cell],
    effort: u64,
) -> Result<Vec<f64>, Box<dyn Error>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut mine = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(cell) = cells.get(index) else {
                return mine;
            };
            let rate = measure(profile, cell, effort).map_err(|error| error.to_string());
            mine.push((index, rate));
        }
    };
    let mut out = std::thread::scope(|scope| {
        let others: Vec<_> = (1..WORKERS).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for other in others {
            all.extend(other.join().map_err(|_| "a worker panicked")?);
        }
        Ok::<_, &str>(all)
    })?;
    out.sort_by_key(|&(index, _)| index);
    out.into_iter()
        .map(|(_, rate)| rate.map_err(Into::into))
        .collect()
}

/// Median and worst absolute error in per cent, of the cells that count.
pub fn median_and_worst(
    cells: &[Cell],
    rates: &[f64],
    counts: impl Fn(&Cell) -> bool,
) -> (f64, f64) {
    let mut errors: Vec<f64> = cells
        .iter()
        .zip(rates)
        .filter(|(cell, _)| counts(cell))
        .map(|(cell, rate)| (rate / cell.published - 1.0).abs() * 100.0)
        .collect();
    errors.sort_by(f64::total_cmp);
    match errors.as_slice() {
        [] => (0.0, 0.0),
        all => {
            let half = all.len() / 2;
            let median = if all.len() % 2 == 1 {
                all[half]
            } else {
                (all[half - 1] + all[half]) / 2.0
            };
            (median, all[all.len() - 1])
        }
    }
}
