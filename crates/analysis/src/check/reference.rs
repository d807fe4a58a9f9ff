//! Public rates of drives, each by a procedure that a cell of `assay check` repeats
//! (`reference/class_reads.csv`, docs/sources.md).

use assay_store::model::{CellResult, DriveRecord};

use crate::link::Link;
use crate::rank::public::is_model;

const TABLE: &str = include_str!("../../../../reference/class_reads.csv");

/// 4 KiB random reads on 16 GiB of random data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Published {
    pub threads: u32,
    pub depth: u32,
    pub model: &'static str,
    pub link: Link,
    pub value: f64,
    pub unit: &'static str,
    pub source: &'static str,
}

impl Published {
    pub fn of_result(&self, result: &CellResult) -> f64 {
        match self.unit {
            "MiB/s" => result.mib_per_s(),
            _ => result.iops(),
        }
    }

    pub fn is_of(&self, drive: &DriveRecord) -> bool {
        is_model(drive, self.model)
    }
}

/// Lines that cannot be read are left out; a test counts them.
pub(super) fn published() -> impl Iterator<Item = Published> {
    TABLE.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        let [threads, depth, model, link, value, unit, _, source] = fields[..] else {
            return None;
        };
        Some(Published {
            threads: threads.parse().ok()?,
            depth: depth.parse().ok()?,
            model,
            link: Link::parse(link)?,
            value: value.parse().ok()?,
            unit,
            source,
        })
    })
}
