//! Run warnings: code, message and advice of each.

use assay_stats::ErrorCauses;
use assay_store::model;
use assay_store::model::warning::{code, limit};
use assay_units::Nanos;

use crate::expand::UnsupportedBlockSize;

/// Name of the one critical warning that clears by itself (NVMe Base 2.0c, 5.16.1.3, Critical Warning, bit 1).
const TEMPERATURE_THRESHOLD: &str = "temperature threshold exceeded";

/// A condition that affects how results are to be read.
#[derive(Clone, Debug, PartialEq)]
pub enum RunWarning {
    /// The host, not the drive, limited the rate.
    HostLimited {
        /// CPU use of the busiest worker thread, percent of one CPU.
        busiest_thread_pct: f64,
        /// Idle share of the whole host, percent.
        idle_pct: Option<f64>,
    },
    /// The rate is close to the workload generator's own limit.
    EngineLimited {
        /// Share of that limit, percent.
        share_pct: f64,
    },
    /// I/Os failed.
    IoErrors {
        /// Failed I/Os.
        errors: u64,
        /// Failed I/Os by cause.
        causes: ErrorCauses,
    },
    /// I/Os never completed.
    Unanswered {
        /// Number of I/Os.
        ios: u64,
    },
    /// Power readings stopped before the end of the cell.
    PowerEnded {
        /// Last reading, since the cell's start.
        last: Nanos,
        /// End of the cell.
        end: Nanos,
    },
    /// No figures where the plan expects some.
    NothingMeasured {
        /// Reason.
        why: String,
        /// What to do about it.
        advice: &'static str,
    },
    /// Every I/O failed, and the cell was ended early.
    GaveUp {
        /// Consecutive errors, of all workers that stopped.
        errors: u64,
        /// Span with errors only, seconds.
        span_s: f64,
    },
    /// The medium holds compressible or zeroed data.
    DataCompressible {
        /// zstd compression ratio.
        ratio: f64,
        /// Share of all-zero samples, percent.
        zero_share_pct: f64,
    },
    /// Durations differ from the published procedure.
    Scaled {
        /// The factor.
        scale: f64,
    },
    /// Verification found mismatched or unreadable blocks.
    VerifyFailed {
        /// Number of blocks.
        blocks: u64,
    },
    /// The page cache could not be dropped before reading through it.
    CacheNotDropped,
    /// A step is skipped: its mix has block sizes that the drive does not support.
    BlockMixUnsupported {
        /// The step.
        step: String,
        /// The unsupported size.
        unsupported_block: UnsupportedBlockSize,
    },
    /// The file system does not support O_DIRECT.
    Buffered,
    /// The time-stamp counter and CLOCK_MONOTONIC drift apart.
    ClockDrift {
        /// Parts per million.
        ppm: f64,
    },
    /// The offered rate of an open loop was not reached.
    RateNotReached {
        /// Offered I/Os per second.
        offered_iops: f64,
        /// Completed I/Os per second.
        done_iops: f64,
    },
    /// The rounds of a step did not reach steady state.
    RoundsNotSteady {
        /// Completed rounds.
        rounds: usize,
        /// The tracking variable.
        tracked: String,
        /// The criterion that failed, with figures.
        why: String,
    },
    /// Figures of a `steady` step were not measured in steady state.
    NotSteady {
        /// Evidence.
        why: String,
    },
    /// The state in which an interrupted run left a drive is not certain.
    DriveStateUnknown {
        /// Reason.
        why: String,
        /// The preconditioning is repeated.
        repeated: bool,
    },
    /// The drive disappeared during the cell.
    DriveLost {
        /// Evidence.
        why: String,
    },
    /// A purge without guarantee that all data are erased.
    PurgeIncomplete {
        /// Method.
        how: String,
    },
    /// The PCIe link is slower or narrower than drive and slot support.
    LinkBelow {
        /// Current link.
        now: String,
        /// Supported link.
        possible: String,
    },
    /// The drive was warm before the first measurement.
    HotBefore {
        /// Composite temperature, degrees Celsius.
        celsius: i32,
        /// Warning threshold (WCTEMP), degrees Celsius.
        warning_c: i32,
    },
    /// The volatile write cache is disabled.
    WriteCacheOff,
    /// Autonomous power state transitions are enabled.
    FallsAsleep {
        /// Shortest idle time before a transition, milliseconds.
        after_ms: u32,
        /// Exit latency of the deepest state used, microseconds, where the drive reports one.
        wake_us: Option<u32>,
    },
    /// The SMART / Health log has critical warnings.
    CriticalWarning {
        /// Their names.
        names: String,
    },
    /// A critical warning was set during the cell.
    CriticalWarningRaised {
        /// Names.
        names: String,
        /// Since the cell's start.
        at: Nanos,
    },
    /// Latencies above the histogram's range.
    Overflow {
        /// Number of I/Os.
        values: u64,
    },
}

impl RunWarning {
    /// The warning as recorded in the run folder.
    pub fn record(&self, cell: Option<&str>, drive: Option<usize>) -> model::Warning {
        let (code, message, advice) = self.text();
        model::Warning {
            code: code.to_owned(),
            cell: cell.map(str::to_owned),
            drive,
            message,
            advice: advice.to_owned(),
        }
    }

    /// Code, message and advice.
    fn text(&self) -> (&'static str, String, &'static str) {
        match self {
            RunWarning::HostLimited {
                busiest_thread_pct,
                idle_pct,
            } => (
                code::HOST_LIMITED,
                match idle_pct {
                    Some(idle) if *idle < limit::IDLE_HOST_PCT => format!(
                        "the host's processors were {idle:.0} % idle: the host, not the drive, set this rate"
                    ),
                    _ => format!(
                        "a worker thread used {busiest_thread_pct:.0} % of a processor: the host, not the drive, set this rate"
                    ),
                },
                "read it as a lower bound for the drive; use more threads, a host with more or faster processors, or a rate limit",
            ),
            RunWarning::EngineLimited { share_pct } => (
                code::ENGINE_LIMITED,
                format!("this rate is {share_pct:.0} % of the rate that assay reaches on the null target"),
                "latencies include assay's own overhead; use more threads",
            ),
            RunWarning::IoErrors { errors, causes } => (
                code::IO_ERRORS,
                if causes.is_empty() {
                    format!("{errors} I/Os failed or came back short")
                } else {
                    format!("{errors} I/Os failed or came back short: {}", causes.text())
                },
                "read the kernel log and the drive's health log (`assay probe`) before using other figures of this drive",
            ),
            RunWarning::Unanswered { ios } => (
                code::UNANSWERED,
                format!(
                    "{ios} I/Os did not complete within the timeout: ten seconds after the stop, or four minutes after the drive's last completion"
                ),
                "the drive hangs or was removed: read the kernel log",
            ),
            RunWarning::GaveUp { errors, span_s } => (
                code::GAVE_UP,
                format!("the last {errors} I/Os, all within {span_s:.1} s, failed: the cell was ended early"),
                "the drive was removed or fails every command: read the kernel log; the intervals hold what was measured before",
            ),
            RunWarning::DataCompressible {
                ratio,
                zero_share_pct,
            } => (
                code::DATA_COMPRESSIBLE,
                if *zero_share_pct >= 1.0 {
                    format!(
                        "{zero_share_pct:.0} % of the samples are all zero and the data compress {ratio:.2} : 1: reads of them can be faster than of real data"
                    )
                } else {
                    format!(
                        "the data on the drive compress {ratio:.2} : 1: a drive with compression reads them faster than incompressible data"
                    )
                },
                "for figures that hold for any data, let the suite write incompressible data first: --destroy SERIAL",
            ),
            RunWarning::Scaled { scale } => (
                code::SCALED,
                format!("every duration was multiplied by {scale}: this is not the procedure as published"),
                "run with --scale 1 before drawing conclusions",
            ),
            RunWarning::VerifyFailed { blocks } => (
                code::VERIFY_FAILED,
                format!("{blocks} blocks did not come back as they were written"),
                "do not store data on this drive; the findings give the kind of each mismatch",
            ),
            RunWarning::CacheNotDropped => (
                code::CACHE_NOT_DROPPED,
                "the page cache could not be dropped before reading through it".to_owned(),
                "part of this rate may be memory bandwidth; run as root, or read with direct I/O",
            ),
            RunWarning::Buffered => (
                code::BUFFERED,
                "this file's file system does not support O_DIRECT: I/O went through the page cache".to_owned(),
                "much of this rate is memory bandwidth; use a file on another file system, or the block device",
            ),
            RunWarning::ClockDrift { ppm } => (
                code::CLOCK_DRIFT,
                format!("the time-stamp counter drifts by {ppm:+.0} ppm from the kernel's monotonic clock"),
                "latencies have the same relative error; check the host's clock source",
            ),
            RunWarning::PowerEnded { last, end } => (
                code::POWER_ENDED,
                format!(
                    "the last power reading came at {:.0} s of {:.0} s",
                    last.as_secs_f64(),
                    end.as_secs_f64()
                ),
                "the mean power covers only the time before; check that the power meter still runs, and measure again",
            ),
            RunWarning::NothingMeasured { why, advice } => (
                code::NOTHING_MEASURED,
                format!("nothing was measured: {why}"),
                advice,
            ),
            RunWarning::RateNotReached {
                offered_iops,
                done_iops,
            } => (
                code::RATE_NOT_REACHED,
                format!(
                    "{offered_iops:.0} I/Os per second were offered and {done_iops:.0} completed: the queue grew for the whole job"
                ),
                "the latencies depend on the job's length, not on the drive; offer less, or raise --iodepth and --numjobs",
            ),
            RunWarning::RoundsNotSteady {
                rounds,
                tracked,
                why,
            } => (
                code::NOT_STEADY,
                format!("{tracked} did not reach steady state in {rounds} rounds: {why}"),
                "its figures are not steady-state figures; allow more rounds, or precondition for longer",
            ),
            RunWarning::BlockMixUnsupported {
                step,
                unsupported_block,
            } => (
                code::BLOCK_MIX_UNFIT,
                format!("the step {step} is skipped: {unsupported_block}"),
                "measure a drive or namespace formatted with smaller logical blocks (nvme format --lbaf), or use a copy of the suite with another mix, which is then not the standard's workload",
            ),
            RunWarning::NotSteady { why } => (
                code::NOT_STEADY,
                format!("the drive was not in steady state: {why}"),
                "do not quote it as steady; the verdict does not use it. Write for longer, at the suite's own durations and without --scale",
            ),
            RunWarning::DriveStateUnknown {
                why,
                repeated: true,
            } => (
                code::PRECONDITIONED_AGAIN,
                format!("the interrupted run had preconditioned the drive; the preconditioning is repeated: {why}"),
                "do not use a drive between a run and its resumption",
            ),
            RunWarning::DriveStateUnknown {
                why,
                repeated: false,
            } => (
                code::STATE_IN_DOUBT,
                format!("the drive may not be in the state in which the interrupted run left it: {why}"),
                "if another program may have written to the drive since, start a new run",
            ),
            RunWarning::DriveLost { why } => (
                code::DRIVE_LOST,
                format!(
                    "the drive is gone: {why}; this cell was left unfinished, and no further cell was started on the drive"
                ),
                "check slot, cable and kernel log until the drive is back, then continue with assay run --resume and this run's folder: it measures this cell again, and the cells not started",
            ),
            RunWarning::PurgeIncomplete { how } => (
                code::PURGE_INCOMPLETE,
                format!("the drive was purged by {how}, which need not erase all of it"),
                "a drive that was full before may start slower than a fresh one; sanitize or format it for fresh-drive figures",
            ),
            RunWarning::LinkBelow { now, possible } => (
                code::LINK_BELOW_CAPABILITY,
                format!("the PCIe link runs at {now}; drive and slot support {possible}"),
                "the link limits sequential rates; use another slot, reseat the drive, or check the firmware settings (ASPM, link speed)",
            ),
            RunWarning::HotBefore { celsius, warning_c } => (
                code::HOT_BEFORE_START,
                format!(
                    "the drive was at {celsius} degrees C before the first measurement; its warning threshold is {warning_c}"
                ),
                "let the drive cool down first, or give it a heat sink: it may throttle during the measurement",
            ),
            RunWarning::WriteCacheOff => (
                code::WRITE_CACHE_OFF,
                "the volatile write cache is disabled".to_owned(),
                "writes run at flash speed; for the default configuration enable it (nvme set-feature -f 6 -V 1)",
            ),
            RunWarning::FallsAsleep { after_ms, wake_us } => (
                code::FALLS_ASLEEP,
                match wake_us {
                    Some(wake_us) => format!(
                        "the drive enters a low-power state after {after_ms} ms idle, and takes up to {:.1} ms to wake",
                        f64::from(*wake_us) / 1e3
                    ),
                    None => format!(
                        "the drive enters a low-power state after {after_ms} ms idle, and does not report its exit latency"
                    ),
                },
                "first I/Os after idle time, and workloads with few I/Os, include that latency; to measure without it: nvme set-feature -f 0xc -V 0",
            ),
            RunWarning::CriticalWarning { names } => (
                code::CRITICAL_WARNING,
                format!("its health log has the critical warning: {names}"),
                "do not qualify or use a drive with a critical warning",
            ),
            RunWarning::CriticalWarningRaised { names, at } => (
                code::CRITICAL_WARNING_RAISED,
                format!(
                    "its health log set a critical warning {:.0} s into this cell: {names}",
                    at.as_secs_f64()
                ),
                if names == TEMPERATURE_THRESHOLD {
                    "the drive throttles, or is about to: add airflow or a heat sink, and read its rates together with its temperature"
                } else {
                    "later figures are those of a failing drive: save its data, read its health log (`assay probe`), and measure again only when the warning is cleared"
                },
            ),
            RunWarning::Overflow { values } => (
                code::LATENCY_OVERFLOW,
                format!("{values} latencies exceeded 73 minutes; they count only in the mean and the maximum"),
                "the drive or the host was suspended during the measurement",
            ),
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/warn.rs"]
mod tests;
