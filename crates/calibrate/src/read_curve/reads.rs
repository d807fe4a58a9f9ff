//! Known random reads and ratings of a drive.

use assay_units::{DataClass, MIB, Op};

use super::kind::Kind;
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
    pub kind: Kind,
    /// In 10^9 bytes, where it is known.
    pub capacity_gb: Option<f64>,
}

/// Dies of three bits per cell hold 256 Gbit, those of drives of PCIe 4, which are later, 512.
const DIE_GB: [f64; 2] = [32.0, 64.0];
/// PCIe 3 with four lanes carries less.
const PCIE_4_BYTES_PER_S: f64 = 4e9;

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
    pub fn new(m: &Measurement) -> Option<Cell> {
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
    /// See [`Rated::key`]; as the drives of the published figures, where no rating says otherwise.
    pub(super) fn key(&self) -> (Kind, bool) {
        self.rated.map_or((Kind::Flash, false), |rated| rated.key())
    }

    /// Ratings of a modelled drive, and the random reads among `figures`.
    pub fn new(hardware: &Hardware, profile: &str, figures: &[Measurement]) -> DriveReads {
        let known = figures.iter().filter_map(|m| {
            let cell = Cell::new(m)?;
            Some((cell, cell.rate(m.metric, m.value)?))
        });
        DriveReads { rated: hardware.drive(profile).and_then(Rated::new), known: known.collect() }
    }
}

impl Rated {
    /// Reads per second that the ratings allow.
    pub fn most(&self, cell: &Cell) -> f64 {
        let by_bytes = self.sequential_bytes_per_s / cell.block_bytes;
        match self.kind {
            // Rated at few in flight; a drive of two dies gave 1.3 times that.
            Kind::XPoint => by_bytes,
            _ => self.random_iops.min(by_bytes),
        }
    }

    /// Of a modelled drive, whose figures were measured right after their area was written.
    pub fn new(facts: DriveFacts<'_>) -> Option<Rated> {
        let highest = |rating| facts.highest(rating).map(|r| r.value);
        let (iops, megabytes) = (Rating::RandomReadIops, Rating::SequentialReadMbS);
        Some(Rated {
            random_iops: highest(iops)?,
            sequential_bytes_per_s: highest(megabytes)? * 1e6,
            kind: Kind::Flash,
            capacity_gb: None,
        })
    }

    /// Of a drive in use.
    pub fn in_use(random_iops: f64, sequential_mb_s: f64, kind: Kind) -> Rated {
        Rated {
            random_iops,
            sequential_bytes_per_s: sequential_mb_s * 1e6,
            kind,
            capacity_gb: None,
        }
    }

    /// Kind, and whether its dies, which limit it, are known.
    pub(super) fn key(&self) -> (Kind, bool) {
        (self.kind, self.kind == Kind::Cached && self.dies().is_some())
    }

    /// About as many dies of flash as there are; `None` without a capacity.
    pub fn dies(&self) -> Option<f64> {
        let is_later = self.sequential_bytes_per_s >= PCIE_4_BYTES_PER_S;
        let die_gb = DIE_GB[usize::from(is_later)];
        Some((self.capacity_gb? / die_gb).max(1.0))
    }
}
