//! Workload properties by which the cells of a step differ.

use assay_analysis::knee::total_depth;
use assay_store::model::{CellPlan, CellView, WorkloadRecord, rw_text};
use assay_units::text::format_size;

use crate::format::{duration, figure, joined, plural, text_or};

/// A property of a planned cell that can be the rows or columns of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Axis {
    /// The variant of several steps: `Default`, `25 % spare`.
    Variant,
    /// A replayed trace, and how it is replayed.
    Trace,
    /// Which jobs run at once: the step, and the values of its matrix.
    Jobs,
    /// Which job of those that run at once.
    Job,
    PowerState,
    /// read, write, randread, ... .
    Rw,
    /// Random or sequential, beside an axis of the share of reads.
    Pattern,
    ReadShare,
    BlockSize,
    Threads,
    /// In flight per thread.
    Depth,
    /// In flight altogether, where threads and depth vary together.
    TotalDepth,
    /// Offered rate as a share of what an earlier cell reached.
    LoadShare,
    /// Idle time before every I/O.
    IdleTime,
    Data,
    /// Flushes and synchronous writes.
    Durability,
    /// O_DIRECT or through the page cache.
    Direct,
    Rate,
    Engine,
    Span,
    Offset,
}

/// Axes that are shown whenever they vary.
pub const MAIN: [Axis; 15] = [
    Axis::Variant,
    Axis::Trace,
    Axis::Jobs,
    Axis::Job,
    Axis::PowerState,
    Axis::Rw,
    Axis::ReadShare,
    Axis::BlockSize,
    Axis::Threads,
    Axis::Depth,
    Axis::LoadShare,
    Axis::IdleTime,
    Axis::Data,
    Axis::Durability,
    Axis::Direct,
];

/// Axes that are shown only where the main ones do not distinguish two cells.
pub const SECONDARY: [Axis; 4] = [Axis::Rate, Axis::Engine, Axis::Span, Axis::Offset];

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
        use Axis::{
            Data, Direct, Durability, Engine, Job, Jobs, Pattern, PowerState, Rw, Trace, Variant,
        };
        !matches!(
            self,
            Variant
                | Trace
                | Jobs
                | Job
                | PowerState
                | Rw
                | Pattern
                | Data
                | Durability
                | Direct
                | Engine
        )
    }

    /// Heading of a row or column of such values.
    pub fn title(self) -> &'static str {
        match self {
            Axis::Variant => "variant",
            Axis::Trace => "trace",
            Axis::Jobs => "beside",
            Axis::Job => "job",
            Axis::PowerState => "power state",
            Axis::Rw => "workload",
            Axis::Pattern => "order",
            Axis::ReadShare => "reads",
            Axis::BlockSize => "block size",
            Axis::Threads => "threads",
            Axis::Depth => "queue depth per thread",
            Axis::TotalDepth => "queue depth, all threads",
            Axis::LoadShare => "offered load",
            Axis::IdleTime => "idle time",
            Axis::Data => "data",
            Axis::Durability => "durability",
            Axis::Direct => "page cache",
            Axis::Rate => "offered rate",
            Axis::Engine => "engine",
            Axis::Span => "area",
            Axis::Offset => "offset",
        }
    }

    /// The value of a planned cell on this axis.
    pub fn value(self, plan: &CellPlan) -> AxisValue {
        // A table: one entry per axis.
        let w = &plan.workload;
        let number = |n: f64, label: String| AxisValue { number: Some(n), label };
        // Cells without a value precede those with one.
        let none = || number(-1.0, String::new());
        let text = |label: &str| AxisValue { number: None, label: label.to_owned() };
        let choose = |first: bool, a, b| text(if first { a } else { b });
        match self {
            Axis::Variant => text(plan.variant.as_deref().unwrap_or("")),
            Axis::Trace => text(w.trace.as_deref().unwrap_or("")),
            Axis::Jobs => text(&jobs_text(plan)),
            Axis::Job => text(plan.job.as_ref().map_or("", |job| &job.name)),
            Axis::PowerState => w
                .power_state
                .map_or_else(none, |state| number(state.into(), format!("power state {state}"))),
            Axis::Rw => text(rw_text(&w.rw)),
            Axis::Pattern => choose(w.rw.starts_with("rand"), "random", "sequential"),
            Axis::ReadShare => read_share(w)
                .map_or_else(none, |share| number(share.into(), format!("{share} % reads"))),
            // Imported results may not have either.
            Axis::BlockSize if w.bs_bytes == 0 && plan.file.is_some() => {
                number(-1.0, "unknown block size".to_owned())
            }
            Axis::Depth | Axis::TotalDepth if w.iodepth == 0 && plan.file.is_some() => {
                number(-1.0, "unknown depth".to_owned())
            }
            Axis::BlockSize => number(w.bs_bytes as f64, w.block_size_text()),
            Axis::Threads if plan.point.is_some() => {
                number(-1.0, "threads of the operating point".to_owned())
            }
            Axis::Depth | Axis::TotalDepth if plan.point.is_some() => {
                number(-1.0, "depth of the operating point".to_owned())
            }
            Axis::Threads => number(w.numjobs.into(), plural(w.numjobs as usize, "thread")),
            Axis::Depth => number(w.iodepth.into(), format!("depth {}", w.iodepth)),
            Axis::TotalDepth => number(total_depth(w).into(), format!("depth {}", total_depth(w))),
            Axis::LoadShare => plan.load.as_ref().map_or_else(none, |load| {
                number(load.percent, format!("{} %", figure(load.percent)))
            }),
            Axis::IdleTime => {
                let own_table = plan.view == Some(CellView::Wake);
                let ns = w.idle_before_io_ns.unwrap_or(0);
                let time = match ns {
                    0 => "none".to_owned(),
                    1..1_000_000_000 => format!("{} ms", ns as f64 / 1e6),
                    _ => duration(ns),
                };
                match (own_table, ns) {
                    (true, _) => number(ns as f64, time),
                    (false, 0) => none(),
                    (false, _) => number(ns as f64, format!("{time} idle before each I/O")),
                }
            }
            Axis::Data => text(&w.data),
            Axis::Durability => text(w.durability.as_deref().unwrap_or("")),
            Axis::Direct => text(match w.known_direct() {
                Some(true) => "direct",
                Some(false) => "buffered",
                None => "page cache: unknown",
            }),
            Axis::Rate if w.rate_iops > 0.0 => {
                let label = format!("{} IOPS offered", figure(w.rate_iops));
                number(w.rate_iops, label)
            }
            Axis::Rate => match w.rate_limit_iops {
                Some(limit) => number(limit, format!("at most {} IOPS", figure(limit))),
                None => number(0.0, "unlimited".to_owned()),
            },
            Axis::Engine => text(&w.engine),
            Axis::Span => {
                let stream = plan.view.is_some_and(CellView::is_stream);
                let what = if stream { "stream" } else { "area" };
                let label = match w.span_bytes {
                    0 => format!("unknown {what}"),
                    bytes => format!("{} {what}", format_size(bytes)),
                };
                number(w.span_bytes as f64, label)
            }
            Axis::Offset => {
                let label = format!("at {}", format_size(w.offset_bytes));
                number(w.offset_bytes as f64, label)
            }
        }
    }
}

/// Which jobs run at once with a cell, or that it is alone; empty of cells that have nothing to do
/// with that.
pub fn jobs_text(plan: &CellPlan) -> String {
    let title = text_or(&plan.title, &plan.step);
    match (&plan.job, plan.view) {
        (Some(job), _) => joined([title, &matrix_text(&job.matrix, &job.name)], ", "),
        (None, Some(CellView::Interference)) => {
            // Its cells differ by the values of the matrix, the last part of their names.
            let last = plan.id.rsplit('/').next().unwrap_or_default();
            let matrix = if last.contains('=') { last } else { "" };
            joined([title, &matrix_text(matrix, "")], ", ")
        }
        (None, _) => String::new(),
    }
}

/// Values of a matrix, `OPTION=VALUE` or `JOB.OPTION=VALUE`, as a workload is described elsewhere:
/// `depth 16`, with the name of the job unless it is this one.
fn matrix_text(matrix: &str, this_job: &str) -> String {
    let of = |axis: &str| {
        let (option, value) = axis.split_once('=').unwrap_or((axis, ""));
        let (job, option) = option.split_once('.').unwrap_or((this_job, option));
        let text = match option {
            "iodepth" => format!("depth {value}"),
            "numjobs" => value.parse().map_or_else(|_| axis.to_owned(), |n| plural(n, "thread")),
            "bs" | "rw" => value.to_owned(),
            _ => return axis.to_owned(),
        };
        joined([if job == this_job { "" } else { job }, &text], " ")
    };
    joined(matrix.split(',').map(of), ", ")
}

/// Share of reads of a workload, percent; `None` for a mixed one without a declared share.
pub fn read_share(workload: &WorkloadRecord) -> Option<u8> {
    match workload.rw.as_str() {
        "read" | "randread" => Some(100),
        "write" | "randwrite" => Some(0),
        _ => workload.rwmixread,
    }
}

#[cfg(test)]
mod tests {
    use super::matrix_text;

    #[test]
    fn a_matrix_is_described_as_a_workload() {
        assert_eq!(matrix_text("iodepth=1", ""), "depth 1");
        assert_eq!(matrix_text("reads.iodepth=16", "reads"), "depth 16");
        assert_eq!(
            matrix_text("reads.iodepth=16,writes.numjobs=1,thinktime=1s", "reads"),
            "depth 16, writes 1 thread, thinktime=1s"
        );
        assert_eq!(matrix_text("", "reads"), "");
    }
}
