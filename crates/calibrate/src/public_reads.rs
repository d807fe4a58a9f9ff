//! 4 KiB random reads of public drives with ratings, and what was predicted of them from the
//! ratings alone: `reference/public_reads.csv` (embedded; written by `make predictions
//! PART=public`).

use std::fmt::Write as _;

use crate::CalibrateError;
use crate::read_curve::kind::Kind;
use crate::read_curve::{Cell, DriveReads, Rated};
use crate::table::{CsvRow, CsvTable};

const TEXT: &str = include_str!("../../../reference/public_reads.csv");
const FILE: &str = "public_reads.csv";
const HEADING: &str = "kind,is_by_host,drive,capacity_gb,rated_iops,rated_mb,is_of_family,\
                       in_flight,iops,by_flash,by_flash_low,by_flash_high,predicted,low,high";
pub const BLOCK_BYTES: u32 = 4096;

/// A row: the median of a drive's figures with so many I/Os in flight.
#[derive(Clone, Debug, PartialEq)]
pub struct PublicRead {
    pub kind: Kind,
    /// One process of the host was the limit, or may have been.
    pub is_by_host: bool,
    pub drive: String,
    pub capacity_gb: Option<f64>,
    pub rated_iops: f64,
    pub rated_mb: f64,
    /// A rating is that of the fastest capacity.
    pub is_of_family: bool,
    pub in_flight: u32,
    pub iops: f64,
    /// As of NVMe drives with two bits per cell, by the modelled drives alone: centre and ends of
    /// the interval of 90 %.
    pub by_flash: [f64; 3],
    /// The same with what its kind is known for, and what other public drives of it say.
    pub predicted: [f64; 3],
}

impl PublicRead {
    pub fn cell(&self) -> Cell {
        Cell::in_flight(self.in_flight, BLOCK_BYTES)
    }

    /// Without any known cell, for a prediction from the ratings.
    pub fn unknown(&self) -> DriveReads {
        DriveReads {
            rated: Some(Rated {
                capacity_gb: self.capacity_gb,
                ..Rated::in_use(self.rated_iops, self.rated_mb, self.kind)
            }),
            known: Vec::new(),
        }
    }

    /// As a drive that teaches what is usual of its kind; `None` where the host was the limit.
    pub fn teaches(&self) -> Option<DriveReads> {
        (!self.is_by_host)
            .then(|| DriveReads { known: vec![(self.cell(), self.iops)], ..self.unknown() })
    }
}

pub fn embedded() -> Result<Vec<PublicRead>, CalibrateError> {
    let table = CsvTable::parse(FILE, TEXT)?;
    table.rows.iter().map(parse_row).collect()
}

fn parse_row(row: &CsvRow) -> Result<PublicRead, CalibrateError> {
    let kind = row.text("kind")?;
    let kind = Kind::ALL.into_iter().find(|one| one.name() == kind);
    let numbers = |names: [&str; 3]| -> Result<[f64; 3], CalibrateError> {
        let [centre, low, high] = names.map(|name| row.figure(name));
        Ok([centre?, low?, high?])
    };
    Ok(PublicRead {
        kind: kind.ok_or_else(|| row.error("kind", "no such kind of drive"))?,
        is_by_host: row.text("is_by_host")? == "true",
        drive: row.text("drive")?.to_owned(),
        capacity_gb: row.optional("capacity_gb")?,
        rated_iops: row.figure("rated_iops")?,
        rated_mb: row.figure("rated_mb")?,
        is_of_family: row.text("is_of_family")? == "true",
        in_flight: row.number("in_flight")?,
        iops: row.figure("iops")?,
        by_flash: numbers(["by_flash", "by_flash_low", "by_flash_high"])?,
        predicted: numbers(["predicted", "low", "high"])?,
    })
}

pub fn table(all: &[PublicRead]) -> String {
    let mut out = format!("{HEADING}\n");
    for r in all {
        let _ = write!(
            out,
            "{},{},{},{},{},{},{},{},{}",
            r.kind.name(),
            r.is_by_host,
            r.drive,
            r.capacity_gb.map_or_else(String::new, |gb| gb.to_string()),
            r.rated_iops,
            r.rated_mb,
            r.is_of_family,
            r.in_flight,
            r.iops
        );
        for value in r.by_flash.iter().chain(&r.predicted) {
            let _ = write!(out, ",{value:.0}");
        }
        out.push('\n');
    }
    out
}
