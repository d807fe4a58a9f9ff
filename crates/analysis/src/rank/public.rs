//! Public measurements: those in the binary, and contributed ones (`reference/public/README.md`
//! explains the columns).

use std::collections::HashMap;
use std::sync::OnceLock;

use assay_store::model::DriveRecord;
use assay_units::text::parse_size;
use serde::{Deserialize, Serialize};

use crate::link::Link;

const DRIVES: &str = include_str!("../../../../reference/public/drives.csv");
const FIGURES: &[u8] = include_bytes!("../../../../reference/public/measurements.csv.zst");

/// Begins the source of a contributed figure.
pub(super) const CONTRIBUTED: &str = "contributed with assay";

/// A drive.
#[derive(Clone, Debug, Deserialize)]
pub struct PublicDrive {
    /// Identifier.
    pub drive: String,
    /// As the source names it.
    pub model: String,
    /// Empty where the source does not have it.
    pub firmware: String,
    /// In 10^9 bytes.
    pub capacity_gb: Option<f64>,
    /// `PCIe 3 x4` or `SATA`; empty where it was not looked up.
    pub link: String,
}

impl PublicDrive {
    /// Model and firmware.
    pub fn title(&self) -> String {
        match self.firmware.is_empty() {
            true => self.model.clone(),
            false => format!("{} ({})", self.model, self.firmware),
        }
    }

    /// By which it is classed, where it is known.
    pub(super) fn class(&self) -> Option<Link> {
        Link::parse(&self.link)
    }

    /// Whether the drive is of this model.
    pub fn is_of(&self, drive: &DriveRecord) -> bool {
        is_model(drive, &self.model)
    }
}

/// Whether a drive, or what a simulated one models, is of a model, in any case of its letters.
pub fn is_model(drive: &DriveRecord, model: &str) -> bool {
    let names = [Some(&drive.model), drive.profile.as_ref()];
    let mut names = names.into_iter().flatten();
    names.any(|name| name.trim().eq_ignore_ascii_case(model))
}

/// A figure.
#[derive(Clone, Debug)]
pub struct PublicFigure {
    /// Index into [`PublicTable::drives`].
    pub drive: usize,
    /// fio's `rw`.
    pub rw: String,
    /// Block size.
    pub bs_bytes: u64,
    /// In flight per thread.
    pub iodepth: u32,
    /// Threads.
    pub numjobs: u32,
    /// `16GiB file`, `device`, `1zone, 100z`.
    pub area: String,
    /// State of the drive, as stated.
    pub state: String,
    /// Measured time, where it is stated.
    pub duration_s: Option<f64>,
    /// `iops`, `bw` (MiB/s), `mean`, `median`, `p99`, ... (microseconds).
    pub metric: String,
    /// Value.
    pub value: f64,
    /// Whether the host, not the drive, set it: begins with `yes`, `maybe` or `no`, or is empty.
    pub host_limited: String,
    /// Repository, path and commit, or an address.
    pub source: String,
}

impl PublicFigure {
    /// `owner/name` of the source, or its host; contributed results have one name.
    pub fn repository(&self) -> &str {
        if self.source.starts_with(CONTRIBUTED) {
            return "contributed results";
        }
        let parts: Vec<&str> = self.source.splitn(4, '/').collect();
        match parts.as_slice() {
            ["https:", "", host, ..] => host,
            [owner, name, ..] => &self.source[..owner.len() + 1 + name.len()],
            _ => &self.source,
        }
    }

    /// What has to be alike, in words.
    pub fn procedure(&self) -> String {
        format!("{}: {}; {}", self.repository(), self.area, self.state)
    }

    /// 0 for the whole drive; `None` of zones and of what is not stated.
    pub fn area_bytes(&self) -> Option<u64> {
        match self.area.as_str() {
            "device" | "whole drive" => Some(0),
            area if area.contains("zone") => None,
            area => {
                let kinds = [" file", " partition", " area"];
                let size = kinds
                    .iter()
                    .fold(area, |text, kind| text.split(kind).next().unwrap_or_default());
                let size: String = size.chars().filter(|c| !c.is_whitespace()).collect();
                // A file per thread: all threads together.
                let threads = if area.contains("per thread") { self.numjobs.max(1) } else { 1 };
                parse_size(&size).ok()?.checked_mul(threads.into())
            }
        }
    }
}

/// A line of `measurements.csv`. A contributed file has the columns of `drives.csv` too.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Row {
    pub drive: String,
    #[serde(default)]
    pub model: String,
    #[serde(default)]
    pub firmware: String,
    #[serde(default)]
    pub capacity_gb: Option<f64>,
    #[serde(default)]
    pub interface: String,
    #[serde(default)]
    pub link: String,
    pub rw: String,
    pub bs_bytes: u64,
    pub iodepth: String,
    pub numjobs: String,
    pub area: String,
    pub state: String,
    pub duration_s: String,
    pub engine: String,
    pub metric: String,
    pub value: f64,
    pub unit: String,
    pub host_limited: String,
    pub source: String,
}

impl Row {
    /// Of the drive with this index.
    fn figure(self, drive: usize) -> PublicFigure {
        PublicFigure {
            drive,
            rw: self.rw,
            bs_bytes: self.bs_bytes,
            // A few are not stated, or in words.
            iodepth: self.iodepth.parse().unwrap_or(0),
            numjobs: self.numjobs.parse().unwrap_or(0),
            area: self.area,
            state: self.state,
            duration_s: self.duration_s.parse().ok(),
            metric: self.metric,
            value: match self.unit.as_str() {
                "B/s" => self.value / f64::from(1 << 20),
                _ => self.value,
            },
            host_limited: self.host_limited,
            source: self.source,
        }
    }
}

/// Why a contributed file is refused.
#[derive(Debug, thiserror::Error)]
pub enum ContributedError {
    /// It is no table of these columns.
    #[error("{0}; a file of `assay contribute` is expected")]
    Table(#[from] csv::Error),
    /// A figure that cannot be one.
    #[error("line {line}: {reason}; a file of `assay contribute` is expected")]
    Figure {
        /// From 1, with the heading.
        line: u64,
        /// Why.
        reason: &'static str,
    },
}

/// Drives and their figures.
#[derive(Clone, Debug, Default)]
pub struct PublicTable {
    /// Every drive.
    pub drives: Vec<PublicDrive>,
    /// Every figure.
    pub figures: Vec<PublicFigure>,
}

impl PublicTable {
    /// That of the binary, read once; a test checks that it is whole.
    pub fn built_in() -> &'static PublicTable {
        static ALL: OnceLock<PublicTable> = OnceLock::new();
        ALL.get_or_init(|| {
            let drives: Vec<PublicDrive> = rows(DRIVES.as_bytes());
            let numbers: HashMap<&str, usize> =
                (0..drives.len()).map(|number| (drives[number].drive.as_str(), number)).collect();
            let text = zstd::decode_all(FIGURES).unwrap_or_default();
            let figure = |row: Row| numbers.get(row.drive.as_str()).map(|drive| row.figure(*drive));
            let figures = rows(&text).into_iter().filter_map(figure).collect();
            PublicTable { drives, figures }
        })
    }

    /// Adds a contributed file.
    ///
    /// # Errors
    /// When it has other columns, or a figure that cannot be one. Nothing of it is added then.
    pub fn add(&mut self, text: &[u8]) -> Result<(), ContributedError> {
        let mut added = self.clone();
        let mut reader = csv::Reader::from_reader(text);
        for (line, row) in (2..).zip(reader.deserialize()) {
            let row: Row = row?;
            let reason = match &row {
                row if row.drive.is_empty() || row.model.is_empty() => Some("no drive or model"),
                row if !(row.value.is_finite() && row.value > 0.0) => Some("no positive value"),
                row if row.bs_bytes == 0 => Some("a block size of 0"),
                _ => None,
            };
            if let Some(reason) = reason {
                return Err(ContributedError::Figure { line, reason });
            }
            let known = added.drives.iter().position(|drive| drive.drive == row.drive);
            let number = known.unwrap_or_else(|| {
                added.drives.push(PublicDrive {
                    drive: row.drive.clone(),
                    model: row.model.clone(),
                    firmware: row.firmware.clone(),
                    capacity_gb: row.capacity_gb,
                    link: row.link.clone(),
                });
                added.drives.len() - 1
            });
            added.figures.push(row.figure(number));
        }
        *self = added;
        Ok(())
    }
}

/// Lines that cannot be read are left out.
fn rows<T: serde::de::DeserializeOwned>(text: &[u8]) -> Vec<T> {
    let mut reader = csv::Reader::from_reader(text);
    reader.deserialize().filter_map(Result::ok).collect()
}
