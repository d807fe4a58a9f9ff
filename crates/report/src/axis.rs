//! The axes along which the cells of a step differ.

use assay_store::model::Workload;
use assay_units::text::format_size;

use crate::format;

/// One property of a workload that a table can have as rows or columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Axis {
    /// read, write, randread, ... .
    Rw,
    /// Block size.
    BlockSize,
    /// Threads.
    Threads,
    /// In flight per thread.
    Depth,
    /// What the area holds.
    Data,
    /// O_DIRECT or through the page cache.
    Direct,
    /// Offered rate.
    Rate,
    /// Engine.
    Engine,
    /// Area.
    Span,
    /// Where the area begins.
    Offset,
}

/// Axes that are shown whenever they vary: the reader must see them.
pub const MAIN: [Axis; 6] = [
    Axis::Rw,
    Axis::BlockSize,
    Axis::Threads,
    Axis::Depth,
    Axis::Data,
    Axis::Direct,
];

/// Axes that are shown only where the main ones do not tell two cells apart.
pub const SECONDARY: [Axis; 4] = [Axis::Rate, Axis::Engine, Axis::Span, Axis::Offset];

/// A value on an axis: how it sorts and how it reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Position on a numeric axis; `None` on an axis of words, which sort as they first occur.
    pub number: Option<f64>,
    /// In words, short: `4 KiB`, `16 threads`.
    pub label: String,
}

impl Axis {
    /// Heading of a row or column of such values.
    pub fn title(self) -> &'static str {
        match self {
            Axis::Rw => "workload",
            Axis::BlockSize => "block size",
            Axis::Threads => "threads",
            Axis::Depth => "queue depth per thread",
            Axis::Data => "data",
            Axis::Direct => "page cache",
            Axis::Rate => "offered rate",
            Axis::Engine => "engine",
            Axis::Span => "area",
            Axis::Offset => "offset",
        }
    }

    /// Where a workload is on this axis.
    pub fn value(self, workload: &Workload) -> Value {
        let number = |n: f64, label: String| Value {
            number: Some(n),
            label,
        };
        let word = |label: &str| Value {
            number: None,
            label: label.to_owned(),
        };
        match self {
            Axis::Rw => word(rw_words(&workload.rw)),
            Axis::BlockSize => number(workload.bs_bytes as f64, format_size(workload.bs_bytes)),
            Axis::Threads => number(
                f64::from(workload.numjobs),
                plural(workload.numjobs, "thread"),
            ),
            Axis::Depth => number(
                f64::from(workload.iodepth),
                format!("depth {}", workload.iodepth),
            ),
            Axis::Data => word(&workload.data),
            Axis::Direct => word(if workload.direct {
                "direct"
            } else {
                "buffered"
            }),
            Axis::Rate if workload.rate_iops > 0.0 => number(
                workload.rate_iops,
                format!("{} IOPS offered", format::figure(workload.rate_iops)),
            ),
            Axis::Rate => number(0.0, "unlimited".to_owned()),
            Axis::Engine => word(&workload.engine),
            Axis::Span => number(
                workload.span_bytes as f64,
                format!("{} area", format_size(workload.span_bytes)),
            ),
            Axis::Offset => number(
                workload.offset_bytes as f64,
                format!("at {}", format_size(workload.offset_bytes)),
            ),
        }
    }
}

/// fio's `rw` in plain words.
pub fn rw_words(rw: &str) -> &str {
    match rw {
        "read" => "sequential read",
        "write" => "sequential write",
        "randread" => "random read",
        "randwrite" => "random write",
        "rw" | "readwrite" => "sequential mixed",
        "randrw" => "random mixed",
        other => other,
    }
}

/// `1 thread`, `16 threads`.
pub fn plural(count: u32, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}
