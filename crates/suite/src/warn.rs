//! Typed warnings, each with what was seen and what to do about it.

use assay_stats::ErrorCauses;
use assay_store::model;
use assay_units::Nanos;

use crate::expand::UnsupportedBlockSize;

/// Processor time of one thread above which it, not the drive, set the rate, percent.
pub const BUSY_THREAD_PCT: f64 = 95.0;
/// Idle time of the whole host below which threads were waiting for a processor, percent.
pub const IDLE_HOST_PCT: f64 = 5.0;
/// Share of the engine's own ceiling above which the engine is part of the result, percent.
pub const ENGINE_SHARE_PCT: f64 = 50.0;
/// Share of an offered rate below which it was not reached, percent.
pub const RATE_REACHED_PCT: f64 = 95.0;
/// Clock drift worth telling, parts per million.
pub const DRIFT_PPM: f64 = 200.0;

/// The name of the only critical warning that passes by itself (Base 2.0c, 5.16.1.3, Critical Warning, bit 1).
const TOO_HOT: &str = "temperature threshold exceeded";

/// Something the reader of the results must know.
#[derive(Clone, Debug, PartialEq)]
pub enum RunWarning {
    /// The host, not the drive, set the rate.
    HostLimited {
        /// The busiest worker thread, percent of a processor.
        busiest_thread_pct: f64,
        /// Idle share of the whole host.
        idle_pct: Option<f64>,
    },
    /// The rate is close to what the engine reaches without a drive.
    EngineLimited {
        /// Share of the ceiling, percent.
        share_pct: f64,
    },
    /// I/Os failed.
    IoErrors {
        /// How many.
        errors: u64,
        /// Of which how many for which reason.
        causes: ErrorCauses,
    },
    /// I/Os never came back.
    Unanswered {
        /// How many.
        ios: u64,
    },
    /// Nothing was heard of the drive's power any more.
    PowerEnded {
        /// When it was heard of last, since the cell's start.
        last: Nanos,
        /// When the cell ended.
        end: Nanos,
    },
    /// There are no figures where there should be.
    NothingMeasured {
        /// Why.
        why: String,
        /// What to do about it.
        advice: &'static str,
    },
    /// Nothing but errors came back, and the cell was ended before its time.
    GaveUp {
        /// Errors in a row, of all workers that gave up.
        errors: u64,
        /// How long there were only errors, seconds.
        span_s: f64,
    },
    /// The medium holds data that a drive could take a shortcut on.
    DataCompressible {
        /// zstd's ratio.
        ratio: f64,
        /// Share of samples that were all zero, percent.
        zero_share_pct: f64,
    },
    /// Durations are not the procedure's.
    Scaled {
        /// The factor.
        scale: f64,
    },
    /// Verification found something.
    VerifyFailed {
        /// Blocks found wrong, or unreadable.
        blocks: u64,
    },
    /// Through the page cache, and the cache could not be dropped first.
    CacheNotDropped,
    /// A step is left out because its mix of block sizes is not for this drive.
    BlockMixUnsupported {
        /// The step.
        step: String,
        /// What does not fit.
        unsupported_block: UnsupportedBlockSize,
    },
    /// The file system takes no O_DIRECT.
    Buffered,
    /// The fast clock and the kernel's disagree.
    ClockDrift {
        /// Parts per million.
        ppm: f64,
    },
    /// An open loop offered more than was done.
    RateNotReached {
        /// I/Os per second offered.
        offered_iops: f64,
        /// I/Os per second done.
        done_iops: f64,
    },
    /// The rounds of a step never came to rest.
    RoundsNotSteady {
        /// Rounds done.
        rounds: usize,
        /// What was tracked.
        tracked: String,
        /// What failed, with figures.
        why: String,
    },
    /// Figures that are said to be steady are not those of a drive at rest.
    NotSteady {
        /// What shows it.
        why: String,
    },
    /// Nobody can be sure that a drive is still in the state that a resumed run left it in.
    DriveStateUnknown {
        /// Why.
        why: String,
        /// It is being brought into that state again.
        again: bool,
    },
    /// The drive went away in the middle of the cell.
    DriveLost {
        /// How that showed.
        why: String,
    },
    /// A purge that may have left something.
    PurgeIncomplete {
        /// How it was done.
        how: String,
    },
    /// The PCIe link trained below what drive and slot can do.
    LinkBelow {
        /// As it is.
        now: String,
        /// As it could be.
        possible: String,
    },
    /// The drive was warm before anything was measured.
    HotBefore {
        /// Degrees Celsius.
        celsius: i32,
        /// Its warning temperature.
        warning_c: i32,
    },
    /// The volatile write cache is there, and off.
    WriteCacheOff,
    /// The drive falls asleep by itself, and waking takes time.
    FallsAsleep {
        /// After so many idle milliseconds.
        after_ms: u32,
        /// Time to wake from the deepest of these states, microseconds, where the drive tells any.
        wake_us: Option<u32>,
    },
    /// The drive itself says that something is wrong with it.
    CriticalWarning {
        /// What.
        words: String,
    },
    /// The drive began to say so while it was measured.
    CriticalWarningRaised {
        /// What.
        words: String,
        /// Since the cell's start.
        at: Nanos,
    },
    /// Latencies beyond the histogram.
    Overflow {
        /// How many.
        values: u64,
    },
}

impl RunWarning {
    /// As it is recorded.
    pub fn record(&self, cell: Option<&str>, drive: Option<usize>) -> model::Warning {
        let (code, message, advice) = self.words();
        model::Warning {
            code: code.to_owned(),
            cell: cell.map(str::to_owned),
            drive,
            message,
            advice: advice.to_owned(),
        }
    }

    fn words(&self) -> (&'static str, String, &'static str) {
        match self {
            RunWarning::HostLimited {
                busiest_thread_pct,
                idle_pct,
            } => (
                "host-limited",
                match idle_pct {
                    Some(idle) if *idle < IDLE_HOST_PCT => format!(
                        "the host's processors were {idle:.0} % idle: the host, not the drive, set this rate"
                    ),
                    _ => format!(
                        "a worker thread used {busiest_thread_pct:.0} % of a processor: the host, not the drive, set this rate"
                    ),
                },
                "read it as a lower bound for the drive; use more threads, a host with more or faster processors, or a rate limit",
            ),
            RunWarning::EngineLimited { share_pct } => (
                "engine-limited",
                format!("this is {share_pct:.0} % of what the engine reaches with no drive at all"),
                "latencies include the engine's own share; use more threads",
            ),
            RunWarning::IoErrors { errors, causes } => (
                "io-errors",
                if causes.is_empty() {
                    format!("{errors} I/Os failed or came back short")
                } else {
                    format!(
                        "{errors} I/Os failed or came back short: {}",
                        causes.words()
                    )
                },
                "look at the kernel's log and the drive's health before believing any other figure of it",
            ),
            RunWarning::Unanswered { ios } => (
                "unanswered",
                format!(
                    "{ios} I/Os never came back and were given up: ten seconds after the stop, or four minutes after the drive's last answer"
                ),
                "the drive hangs or has vanished: look at the kernel's log",
            ),
            RunWarning::GaveUp { errors, span_s } => (
                "gave-up",
                format!(
                    "the last {errors} I/Os failed, all there were in {span_s:.1} s: the cell was ended before its time"
                ),
                "the drive has vanished or fails at everything: look at the kernel's log; what was measured before is in the intervals",
            ),
            RunWarning::DataCompressible {
                ratio,
                zero_share_pct,
            } => (
                "data-compressible",
                if *zero_share_pct >= 1.0 {
                    format!(
                        "{zero_share_pct:.0} % of the samples are all zero and the data compress {ratio:.2} : 1: reads of them can be faster than of real data"
                    )
                } else {
                    format!(
                        "the data on it compress {ratio:.2} : 1: a drive that compresses reads them faster than real data"
                    )
                },
                "for figures that hold for any data, let the suite write incompressible data first: --destroy SERIAL",
            ),
            RunWarning::Scaled { scale } => (
                "scaled",
                format!(
                    "every duration was multiplied by {scale}: this is not the procedure as published"
                ),
                "run with --scale 1 before drawing conclusions",
            ),
            RunWarning::VerifyFailed { blocks } => (
                "verify-failed",
                format!("{blocks} blocks did not come back as they were written"),
                "do not trust the drive with data; the findings say what was there instead",
            ),
            RunWarning::CacheNotDropped => (
                "cache-not-dropped",
                "the page cache could not be emptied before reading through it".to_owned(),
                "part of this rate may be memory's, not the drive's",
            ),
            RunWarning::Buffered => (
                "buffered",
                "this file's file system takes no O_DIRECT: I/O went through the page cache"
                    .to_owned(),
                "much of this is memory's speed, not the drive's; use a file on another file system, or the block device",
            ),
            RunWarning::ClockDrift { ppm } => (
                "clock-drift",
                format!("the fast clock is {ppm:+.0} ppm off the kernel's monotonic clock"),
                "latencies are off by as much; the host's time-stamp counter is not to be trusted",
            ),
            RunWarning::PowerEnded { last, end } => (
                "power-ended",
                format!(
                    "no power was read after {:.0} s of {:.0} s",
                    last.as_secs_f64(),
                    end.as_secs_f64()
                ),
                "the mean power is that of the part before; see whether the meter still runs, and measure again",
            ),
            RunWarning::NothingMeasured { why, advice } => (
                "nothing-measured",
                format!("nothing was measured: {why}"),
                advice,
            ),
            RunWarning::RateNotReached {
                offered_iops,
                done_iops,
            } => (
                "rate-not-reached",
                format!(
                    "{offered_iops:.0} I/Os per second were offered and {done_iops:.0} done: the queue grew for as long as the job ran"
                ),
                "its latencies say how long the job was, not how fast the drive is; offer less, or raise --iodepth and --numjobs",
            ),
            RunWarning::RoundsNotSteady {
                rounds,
                tracked,
                why,
            } => (
                "not-steady",
                format!("{tracked} did not come to rest in {rounds} rounds: {why}"),
                "its figures are not those of a steady drive; allow more rounds, or precondition for longer",
            ),
            RunWarning::BlockMixUnsupported {
                step,
                unsupported_block,
            } => (
                "block-mix-unsupported_block",
                format!("the step {step} is left out: {unsupported_block}"),
                "measure it on a drive, or a namespace, formatted with smaller blocks (nvme format --lbaf), or in a copy of the suite with another mix, which is then no longer the standard's",
            ),
            RunWarning::NotSteady { why } => (
                "not-steady",
                format!("what should be its steady rate is not that of a drive at rest: {why}"),
                "do not quote it as steady, and see no verdict in it; let it write for longer, without --scale and with the times that the suite has",
            ),
            RunWarning::DriveStateUnknown { why, again: true } => (
                "preconditioned-again",
                format!(
                    "the drive was preconditioned before the run was cut off, and is preconditioned again: {why}"
                ),
                "leave a drive alone between a run and its resumption",
            ),
            RunWarning::DriveStateUnknown { why, again: false } => (
                "state-in-doubt",
                format!(
                    "whether the drive is still in the state that the run had left it in cannot be known: {why}"
                ),
                "if anything may have written to it since, begin a new run",
            ),
            RunWarning::DriveLost { why } => (
                "drive-lost",
                format!(
                    "the drive is gone: {why}; this cell was left unfinished, and no other was begun on the drive"
                ),
                "see to it that it is there again (its slot, its cable, the kernel's log), then go on with assay run --resume and this run's folder: this cell is measured again, and what was not begun",
            ),
            RunWarning::PurgeIncomplete { how } => (
                "purge-incomplete",
                format!("the drive was purged by {how}, which need not reach all of it"),
                "a drive that was full before may begin slower than a new one; sanitize or format it for figures of a fresh drive",
            ),
            RunWarning::LinkBelow { now, possible } => (
                "link-below-capability",
                format!("its PCIe link is {now}, and could be {possible}"),
                "sequential rates are the link's, not the drive's: another slot, a reseated drive, or the firmware's settings (ASPM, link speed)",
            ),
            RunWarning::HotBefore { celsius, warning_c } => (
                "hot-before-start",
                format!(
                    "it had {celsius} degrees C before anything was measured; it warns at {warning_c}"
                ),
                "let it cool down first, or give it a heat sink: what is measured may be a throttled drive",
            ),
            RunWarning::WriteCacheOff => (
                "write-cache-off",
                "its volatile write cache is switched off".to_owned(),
                "writes are as slow as flash; for figures as most users see them switch it on (nvme set-feature -f 6 -V 1)",
            ),
            RunWarning::FallsAsleep { after_ms, wake_us } => (
                "falls-asleep",
                match wake_us {
                    Some(wake_us) => format!(
                        "it goes to sleep by itself after {after_ms} ms without work, and takes up to {:.1} ms to wake",
                        f64::from(*wake_us) / 1e3
                    ),
                    None => format!(
                        "it goes to sleep by itself after {after_ms} ms without work, and does not tell how long it takes to wake"
                    ),
                },
                "first I/Os after a rest, and workloads of few I/Os, show that time; to measure without it: nvme set-feature -f 0xc -V 0",
            ),
            RunWarning::CriticalWarning { words } => (
                "critical-warning",
                format!("its health log says: {words}"),
                "do not qualify, or trust, a drive that says so of itself",
            ),
            RunWarning::CriticalWarningRaised { words, at } => (
                "critical-warning-raised",
                format!(
                    "its health log began to say, {:.0} s into this cell: {words}",
                    at.as_secs_f64()
                ),
                if words == TOO_HOT {
                    "it throttles, or is about to: give it air or a heat sink, and read its rates beside its temperature"
                } else {
                    "figures from then on are those of a drive in trouble: save what is on it, read its health log (`assay probe`), and measure again only when it no longer says so"
                },
            ),
            RunWarning::Overflow { values } => (
                "latency-overflow",
                format!(
                    "{values} latencies were longer than 73 minutes; they count in the mean and the maximum only"
                ),
                "the drive, or the machine, was asleep meanwhile",
            ),
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/warn.rs"]
mod tests;
