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
    /// The data sheet's reads come from an SLC cache, and these do not.
    pub is_beside_cache: bool,
}

/// From so many bits per cell on a drive has an SLC cache, and its data sheet rates that.
const CACHED_CELL_BITS: u32 = 3;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriveReads {
    pub rated: Option<Rated>,
    /// Cells and the reads per second that were measured in them.
    pub known: Vec<(Cell, f64)>,
}

impl Cell {
    /// Of synchronous threads, or of as many I/Os in flight of fewer threads whose processors do
    /// not limit them.
    pub fn in_flight(in_flight: u32, block_bytes: u32) -> Cell {
        Cell {
            threads: in_flight.into(),
            in_flight: in_flight.into(),
            block_bytes: block_bytes.into(),
        }
    }

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

    /// Of a modelled drive, whose figures were measured right after their area was written.
    pub fn of(facts: DriveFacts<'_>) -> Option<Rated> {
        let highest = |rating| facts.highest(rating).map(|r| r.value);
        let (iops, megabytes) = (Rating::RandomReadIops, Rating::SequentialReadMbS);
        Some(Rated {
            random_iops: highest(iops)?,
            sequential_bytes_per_s: highest(megabytes)? * 1e6,
            is_beside_cache: false,
        })
    }

    /// Of a drive in use, by its bits per cell.
    pub fn in_use(random_iops: f64, sequential_mb_s: f64, cell_bits: u32) -> Rated {
        Rated {
            random_iops,
            sequential_bytes_per_s: sequential_mb_s * 1e6,
            is_beside_cache: cell_bits >= CACHED_CELL_BITS,
        }
    }
}
