//! The public measurements, read once (`reference/public/README.md` explains the columns).

use std::sync::OnceLock;

use assay_store::model::DriveRecord;
use assay_units::text::parse_size;
use serde::Deserialize;

const DRIVES: &str = include_str!("../../../../reference/public/drives.csv");
const FIGURES: &[u8] = include_bytes!("../../../../reference/public/measurements.csv.zst");

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
}

impl PublicDrive {
    /// Model and firmware.
    pub fn title(&self) -> String {
        match self.firmware.is_empty() {
            true => self.model.clone(),
            false => format!("{} ({})", self.model, self.firmware),
        }
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
    /// Index into [`drives`].
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
    /// Repository, path and commit, or an address.
    pub source: String,
}

impl PublicFigure {
    /// `owner/name` of the source, or its host.
    pub fn repository(&self) -> &str {
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
            "device" | "namespace" | "whole drive" => Some(0),
            area if area.contains("zone") => None,
            area => {
                let size = area.split(" file").next()?.split(" partition").next()?;
                let size: String = size.chars().filter(|c| !c.is_whitespace()).collect();
                // A file per thread: all threads together.
                let threads = if area.contains("per thread") {
                    self.numjobs.max(1)
                } else {
                    1
                };
                parse_size(&size).ok()?.checked_mul(threads.into())
            }
        }
    }
}

#[derive(Deserialize)]
struct Row {
    drive: String,
    rw: String,
    bs_bytes: u64,
    iodepth: String,
    numjobs: String,
    area: String,
    state: String,
    duration_s: String,
    metric: String,
    value: f64,
    unit: String,
    source: String,
}

/// Every drive.
pub fn drives() -> &'static [PublicDrive] {
    static ALL: OnceLock<Vec<PublicDrive>> = OnceLock::new();
    ALL.get_or_init(|| rows(DRIVES.as_bytes()))
}

/// Every figure; of drives and with numbers that the tables have, which a test checks.
pub fn figures() -> &'static [PublicFigure] {
    static ALL: OnceLock<Vec<PublicFigure>> = OnceLock::new();
    ALL.get_or_init(|| {
        let Ok(text) = zstd::decode_all(FIGURES) else {
            return Vec::new();
        };
        let figure = |row: Row| {
            Some(PublicFigure {
                drive: drives().iter().position(|drive| drive.drive == row.drive)?,
                rw: row.rw,
                bs_bytes: row.bs_bytes,
                // A few are not stated, or in words.
                iodepth: row.iodepth.parse().unwrap_or(0),
                numjobs: row.numjobs.parse().unwrap_or(0),
                area: row.area,
                state: row.state,
                duration_s: row.duration_s.parse().ok(),
                metric: row.metric,
                value: match row.unit.as_str() {
                    "B/s" => row.value / f64::from(1 << 20),
                    _ => row.value,
                },
                source: row.source,
            })
        };
        rows(&text).into_iter().filter_map(figure).collect()
    })
}

fn rows<T: serde::de::DeserializeOwned>(text: &[u8]) -> Vec<T> {
    let mut reader = csv::Reader::from_reader(text);
    reader.deserialize().filter_map(Result::ok).collect()
}
