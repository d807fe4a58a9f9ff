//! A profile's numbers moved until the model meets the published bandwidth.
//!
//! A seeded random descent: each trial scales one to three of the free numbers by log-normal steps and keeps what lowers the
//! cost. A number's step grows when it helped and shrinks when it did not, so that the search starts wide and ends fine. The
//! cost of a cell is its error, and much more between 6 and 12 per cent, so that no cell is given up for the others unless the
//! model has no mechanism for it at all. The same seed gives the same numbers.

use std::error::Error;

use assay_ssd::Profile;
use assay_ssd::published::ReadBandwidth;
use assay_units::Rng;

use crate::cells::measure_all;

/// A number that may move, and within what.
#[derive(Clone, Debug)]
pub struct Free {
    /// Dotted path, such as `nand.read_ns`.
    pub path: String,
    low: f64,
    high: f64,
}

impl Free {
    /// `path` or `path=low..high`.
    pub fn parse(text: &str) -> Result<Free, Box<dyn Error>> {
        let Some((path, range)) = text.split_once('=') else {
            return Ok(Free {
                path: text.to_owned(),
                low: 0.0,
                high: f64::MAX,
            });
        };
        let (low, high) = range
            .split_once("..")
            .ok_or("a range looks like 1000..2000")?;
        Ok(Free {
            path: path.to_owned(),
            low: low.parse()?,
            high: high.parse()?,
        })
    }
}

/// Where a dotted path's value lives in a profile's table.
pub fn slot<'a>(
    table: &'a mut toml::Table,
    path: &str,
) -> Result<&'a mut toml::Value, Box<dyn Error>> {
    let (section, key) = path.split_once('.').ok_or("a path looks like nand.dies")?;
    table
        .get_mut(section)
        .and_then(|section| section.get_mut(key)?.get_mut("value"))
        .ok_or_else(|| format!("the profile has no {path}").into())
}

fn scaled(value: &toml::Value, factor: f64, free: &Free) -> toml::Value {
    match value {
        toml::Value::Integer(n) => {
            let moved = (*n as f64 * factor).clamp(free.low, free.high).round();
            toml::Value::Integer(moved as i64)
        }
        toml::Value::Float(n) => toml::Value::Float((n * factor).clamp(free.low, free.high)),
        toml::Value::Array(list) => toml::Value::Array(
            list.iter()
                .map(|value| scaled(value, factor, free))
                .collect(),
        ),
        other => other.clone(),
    }
}

fn cost(table: &toml::Table, cells: &[ReadBandwidth]) -> Result<f64, Box<dyn Error>> {
    let profile = Profile::from_table(table.clone())?;
    let rates = measure_all(&profile, cells, 1)?;
    let errors = cells
        .iter()
        .zip(rates)
        .map(|(cell, rate)| (rate / cell.mib_per_s).ln().abs());
    let costs = errors.map(|error| error + 60.0 * (error - 0.06).clamp(0.0, 0.06).powi(2));
    Ok(costs.sum::<f64>() / cells.len() as f64)
}

/// Move the free numbers of a profile's table for so many evaluations.
pub fn descend(
    table: &mut toml::Table,
    free: &[Free],
    cells: &[ReadBandwidth],
    evaluations: u32,
    seed: u64,
) -> Result<(), Box<dyn Error>> {
    let mut rng = Rng::stream(seed, "fit");
    let mut steps = vec![0.2_f64; free.len()];
    let mut best = cost(table, cells)?;
    eprintln!("cost {best:.4} at the start");
    for _ in 0..evaluations {
        let mut trial = table.clone();
        let mut moved = Vec::new();
        for _ in 0..=rng.below(3) {
            let index = rng.below(free.len() as u64) as usize;
            // The sum of four uniform numbers is near enough to a normal one.
            let normal = (0..4).map(|_| rng.unit_f64() - 0.5).sum::<f64>() * 1.73;
            let value = slot(&mut trial, &free[index].path)?;
            *value = scaled(value, (normal * steps[index]).exp(), &free[index]);
            moved.push(index);
        }
        // A profile that contradicts itself is no better than any other.
        let now = cost(&trial, cells).unwrap_or(f64::MAX);
        let better = now < best;
        for index in moved {
            let factor = if better { 1.4 } else { 0.95 };
            steps[index] = (steps[index] * factor).clamp(0.01, 0.5);
        }
        if better {
            best = now;
            *table = trial;
        }
    }
    eprintln!("cost {best:.4} at the end");
    Ok(())
}
