//! 4 KiB random reads of public drives with ratings, and what was predicted of them from the
//! ratings alone: `reference/public_reads.csv` (embedded; written by `make predictions
//! PART=public`).

use std::fmt::Write as _;

use crate::CalibrateError;
use crate::read_curve::{Cell, DriveReads, Rated};
use crate::table::{CsvRow, CsvTable};

const TEXT: &str = include_str!("../../../reference/public_reads.csv");
const FILE: &str = "public_reads.csv";
const HEADING: &str = "group,drive,cell_bits,rated_iops,rated_mb,is_of_family,in_flight,iops,\
                       predicted,low,high,beside_cache,beside_cache_low,beside_cache_high";
pub const BLOCK_BYTES: u32 = 4096;

/// What the rate of a figure is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Flash with an SLC cache, behind NVMe.
    Cached,
    /// Other NVMe drives: two bits per cell, or 3D `XPoint`.
    Uncached,
    Sata,
    /// One process of the host was the limit, or may have been.
    Host,
}

impl Group {
    pub const ALL: [Group; 4] = [Group::Cached, Group::Uncached, Group::Sata, Group::Host];

    pub fn name(self) -> &'static str {
        match self {
            Group::Cached => "cached",
            Group::Uncached => "uncached",
            Group::Sata => "sata",
            Group::Host => "host",
        }
    }
}

/// A row: the median of a drive's figures with so many I/Os in flight.
#[derive(Clone, Debug, PartialEq)]
pub struct PublicRead {
    pub group: Group,
    pub drive: String,
    pub cell_bits: u32,
    pub rated_iops: f64,
    pub rated_mb: f64,
    /// A rating is that of the fastest capacity.
    pub is_of_family: bool,
    pub in_flight: u32,
    pub iops: f64,
    /// By the modelled drives alone: centre and ends of the interval of 90 %.
    pub predicted: [f64; 3],
    /// The same with what the other public drives say of reads beside an SLC cache.
    pub beside_cache: [f64; 3],
}

impl PublicRead {
    pub fn cell(&self) -> Cell {
        Cell::in_flight(self.in_flight, BLOCK_BYTES)
    }

    /// Without any known cell, for a prediction from the ratings.
    pub fn unknown(&self) -> DriveReads {
        DriveReads {
            rated: Some(Rated::in_use(
                self.rated_iops,
                self.rated_mb,
                self.cell_bits,
            )),
            known: Vec::new(),
        }
    }

    /// As a drive that teaches what is left of the rated reads beside an SLC cache; `None` of the
    /// other groups.
    pub fn beside_cache(&self) -> Option<DriveReads> {
        (self.group == Group::Cached).then(|| DriveReads {
            known: vec![(self.cell(), self.iops)],
            ..self.unknown()
        })
    }
}

pub fn embedded() -> Result<Vec<PublicRead>, CalibrateError> {
    let table = CsvTable::parse(FILE, TEXT)?;
    table.rows.iter().map(parse_row).collect()
}

fn parse_row(row: &CsvRow) -> Result<PublicRead, CalibrateError> {
    let group = row.text("group")?;
    let group = Group::ALL.into_iter().find(|one| one.name() == group);
    let numbers = |names: [&str; 3]| -> Result<[f64; 3], CalibrateError> {
        let [centre, low, high] = names.map(|name| row.figure(name));
        Ok([centre?, low?, high?])
    };
    Ok(PublicRead {
        group: group.ok_or_else(|| row.error("group", "no such group"))?,
        drive: row.text("drive")?.to_owned(),
        cell_bits: row.number("cell_bits")?,
        rated_iops: row.figure("rated_iops")?,
        rated_mb: row.figure("rated_mb")?,
        is_of_family: row.text("is_of_family")? == "true",
        in_flight: row.number("in_flight")?,
        iops: row.figure("iops")?,
        predicted: numbers(["predicted", "low", "high"])?,
        beside_cache: numbers(["beside_cache", "beside_cache_low", "beside_cache_high"])?,
    })
}

pub fn table(all: &[PublicRead]) -> String {
    let mut out = format!("{HEADING}\n");
    for r in all {
        let _ = write!(
            out,
            "{},{},{},{},{},{},{},{}",
            r.group.name(),
            r.drive,
            r.cell_bits,
            r.rated_iops,
            r.rated_mb,
            r.is_of_family,
            r.in_flight,
            r.iops
        );
        for value in r.predicted.iter().chain(&r.beside_cache) {
            let _ = write!(out, ",{value:.0}");
        }
        out.push('\n');
    }
    out
}
