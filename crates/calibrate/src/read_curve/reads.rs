//! Known random reads and ratings of a drive.

use assay_units::{DataClass, MIB, Op};

use crate::hardware::{DriveFacts, Hardware, Rating};
use crate::measurement::{AccessPattern, Measurement, Procedure, ReferenceMetric};

/// Random reads of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    pub threads: f64,
    /// All threads together.
    pub in_flight: f64,
    pub block_bytes: f64,
}

/// Figures of a data sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rated {
    pub random_iops: f64,
    pub sequential_bytes_per_s: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriveReads {
    pub rated: Option<Rated>,
    /// Cells and the reads per second that were measured in them.
    pub known: Vec<(Cell, f64)>,
}

impl Cell {
    /// Of a random read of incompressible data.
    pub fn of(m: &Measurement) -> Option<Cell> {
        let Procedure::Steady(w) = m.procedure else {
            return None;
        };
        let is_read = w.access == AccessPattern::Random && w.op == Op::Read;
        (is_read && w.data == DataClass::Incompressible).then(|| Cell {
            threads: w.threads.into(),
            in_flight: (w.threads * w.queue_depth).into(),
            block_bytes: w.block_bytes.into(),
        })
    }

    /// In reads per second; `None` of what is no rate.
    pub fn rate(&self, metric: ReferenceMetric, value: f64) -> Option<f64> {
        match metric {
            ReferenceMetric::MibPerS => Some(value * MIB as f64 / self.block_bytes),
            ReferenceMetric::Iops => Some(value),
            _ => None,
        }
    }
}

impl DriveReads {
    /// Ratings of a modelled drive, and the random reads among `figures`.
    pub fn of(hardware: &Hardware, profile: &str, figures: &[Measurement]) -> DriveReads {
        let known = figures.iter().filter_map(|m| {
            let cell = Cell::of(m)?;
            Some((cell, cell.rate(m.metric, m.value)?))
        });
        DriveReads {
            rated: hardware.drive(profile).and_then(Rated::of),
            known: known.collect(),
        }
    }
}

impl Rated {
    /// Reads per second that the ratings allow.
    pub fn most(&self, cell: &Cell) -> f64 {
        let by_bytes = self.sequential_bytes_per_s / cell.block_bytes;
        self.random_iops.min(by_bytes)
    }

    pub fn of(facts: DriveFacts<'_>) -> Option<Rated> {
        let highest = |rating| facts.highest(rating).map(|r| r.value);
        Some(Rated {
            random_iops: highest(Rating::RandomReadIops)?,
            sequential_bytes_per_s: highest(Rating::SequentialReadMbS)? * 1e6,
        })
    }
}
