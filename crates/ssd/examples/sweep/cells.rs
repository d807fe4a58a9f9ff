//! What the model makes of the published bandwidths.

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

use assay_ssd::Profile;
use assay_ssd::published::ReadBandwidth;
use assay_units::rate::mib_per_second;
use assay_units::{Nanos, median};

use crate::WORKERS;
use crate::host::{Host, Job};

/// Random or sequential, for people.
pub fn pattern(cell: &ReadBandwidth) -> &'static str {
    if cell.random { "random" } else { "sequential" }
}

/// Commands that make a cell's figure good to a per cent or so: fewer where each is many flash reads.
fn commands(cell: &ReadBandwidth) -> u64 {
    let fewer = u64::from(cell.block_bytes / 8192).clamp(1, 8);
    (6000 / fewer).max(u64::from(cell.threads) * 10)
}

/// MiB/s of one cell, after a warm-up tenth.
pub fn measure(
    profile: &Profile,
    cell: &ReadBandwidth,
    effort: u64,
) -> Result<f64, Box<dyn Error>> {
    let commands = commands(cell) * effort;
    let job = Job::read(cell.random, cell.threads, cell.block_bytes);
    let mut host = Host::new(profile, job)?;
    host.run(commands / 10, Nanos::MAX)?;
    let start = host.now;
    let bytes = host.run(commands - commands / 10, Nanos::MAX)?;
    Ok(mib_per_second(bytes, host.now - start))
}

/// MiB/s of every cell, in their order, measured by [`WORKERS`] threads.
pub fn measure_all(
    profile: &Profile,
    cells: &[ReadBandwidth],
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
    cells: &[ReadBandwidth],
    rates: &[f64],
    counts: impl Fn(&ReadBandwidth) -> bool,
) -> (f64, f64) {
    let errors: Vec<f64> = cells
        .iter()
        .zip(rates)
        .filter(|(cell, _)| counts(cell))
        .map(|(cell, rate)| cell.error_pct(*rate).abs())
        .collect();
    let worst = errors.iter().copied().fold(0.0, f64::max);
    (median(errors).unwrap_or(0.0), worst)
}
