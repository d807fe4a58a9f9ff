//! Workload properties by which the cells of a step differ.

use assay_store::model::{CellPlan, CellView, WorkloadRecord};
use assay_units::text::format_size;

use crate::format;

/// A property of a planned cell that can be the rows or columns of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Axis {
    /// The variant of several steps: `Default`, `25 % spare`.
    Variant,
    /// NVMe power state.
    PowerState,
    /// read, write, randread, ... .
    Rw,
    /// Random or sequential, beside an axis of the share of reads.
    Pattern,
    /// Reads of a mixed workload.
    ReadShare,
    /// Block size.
    BlockSize,
    /// Threads.
    Threads,
    /// In flight per thread.
    Depth,
    /// In flight altogether, where threads and depth vary together.
    TotalDepth,
    /// Offered rate as a share of what an earlier cell reached.
    LoadShare,
    /// Data pattern of the area.
    Data,
    /// O_DIRECT or through the page cache.
    Direct,
    /// Offered rate.
    Rate,
    /// Engine.
    Engine,
    /// Area.
    Span,
    /// Start of the area.
    Offset,
}

/// Axes that are shown whenever they vary.
pub const MAIN: [Axis; 10] = [
    Axis::Variant,
    Axis::PowerState,
    Axis::Rw,
    Axis::ReadShare,
    Axis::BlockSize,
    Axis::Threads,
    Axis::Depth,
    Axis::LoadShare,
    Axis::Data,
    Axis::Direct,
];

/// Axes that are shown only where the main ones do not distinguish two cells.
pub const SECONDARY: [Axis; 4] = [Axis::Rate, Axis::Engine, Axis::Span, Axis::Offset];

/// A value on an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AxisValue {
    /// Position on a numeric axis; `None` on an axis of text, ordered by first occurrence.
    pub number: Option<f64>,
    /// Short label: `4 KiB`, `16 threads`.
    pub label: String,
}

impl Axis {
    /// True for axes ordered by number, queue depths and sizes among them.
    pub fn is_numeric(self) -> bool {
        use Axis::{Data, Direct, Engine, Pattern, PowerState, Rw, Variant};
        !matches!(
            self,
            Variant | PowerState | Rw | Pattern | Data | Direct | Engine
        )
    }

    /// Heading of a row or column of such values.
    pub fn title(self) -> &'static str {
        match self {
            Axis::Variant => "variant",
            Axis::PowerState => "power state",
            Axis::Rw => "workload",
            Axis::Pattern => "order",
            Axis::ReadShare => "reads",
            Axis::BlockSize => "block size",
            Axis::Threads => "threads",
            Axis::Depth => "queue depth per thread",
            Axis::TotalDepth => "queue depth, all threads",
            Axis::LoadShare => "offered load",
            Axis::Data => "data",
            Axis::Direct => "page cache",
            Axis::Rate => "offered rate",
            Axis::Engine => "engine",
            Axis::Span => "area",
            Axis::Offset => "offset",
        }
    }

    /// The value of a planned cell on this axis.
    pub fn value(self, plan: &CellPlan) -> AxisValue {
        let workload = &plan.workload;
        let number = |n: f64, label: String| AxisValue {
            number: Some(n),
            label,
        };
        let text = |label: &str| AxisValue {
            number: None,
            label: label.to_owned(),
        };
        match self {
            Axis::Variant => text(plan.variant.as_deref().unwrap_or("")),
            Axis::PowerState => match workload.power_state {
                Some(state) => number(f64::from(state), format!("power state {state}")),
                None => number(-1.0, String::new()),
            },
            Axis::Rw => text(rw_text(&workload.rw)),
            Axis::Pattern => text(if workload.rw.starts_with("rand") {
                "random"
            } else {
                "sequential"
            }),
            Axis::ReadShare => match read_share(workload) {
                Some(share) => number(f64::from(share), format!("{share} % reads")),
                None => number(-1.0, String::new()),
            },
            Axis::BlockSize => number(workload.bs_bytes as f64, format_size(workload.bs_bytes)),
            Axis::Threads => number(
                f64::from(workload.numjobs),
                plural(workload.numjobs, "thread"),
            ),
            Axis::Depth => number(
                f64::from(workload.iodepth),
                format!("depth {}", workload.iodepth),
            ),
            Axis::TotalDepth => {
                let depth = u64::from(workload.numjobs) * u64::from(workload.iodepth);
                number(depth as f64, format!("depth {depth}"))
            }
            Axis::LoadShare => match &plan.load {
                Some(load) => number(load.percent, format!("{} %", format::figure(load.percent))),
                None => number(-1.0, String::new()),
            },
            Axis::Data => text(&workload.data),
            Axis::Direct => text(if workload.direct {
                "direct"
            } else {
                "buffered"
            }),
            Axis::Rate if workload.rate_iops > 0.0 => number(
                workload.rate_iops,
                format!("{} IOPS offered", format::figure(workload.rate_iops)),
            ),
            Axis::Rate => number(0.0, "unlimited".to_owned()),
            Axis::Engine => text(&workload.engine),
            Axis::Span => {
                let stream = plan.view.is_some_and(CellView::is_stream);
                let what = if stream { "stream" } else { "area" };
                number(
                    workload.span_bytes as f64,
                    format!("{} {what}", format_size(workload.span_bytes)),
                )
            }
            Axis::Offset => number(
                workload.offset_bytes as f64,
                format!("at {}", format_size(workload.offset_bytes)),
            ),
        }
    }
}

/// Share of reads of a workload, percent; `None` for a mixed one without a declared share.
pub fn read_share(workload: &WorkloadRecord) -> Option<u8> {
    match workload.rw.as_str() {
        "read" | "randread" => Some(100),
        "write" | "randwrite" => Some(0),
        _ => workload.rwmixread,
    }
}

/// Description of fio's `rw`.
pub fn rw_text(rw: &str) -> &str {
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
