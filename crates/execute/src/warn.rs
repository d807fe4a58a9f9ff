use assay_analysis::verified;
use assay_device::identity::Allocation;
use assay_integrity::finding::Unjudged;
use assay_stats::ErrorCauses;
use assay_store::model::warning::{code, limit};
use assay_store::model::{VerifySummary, Warning};
use assay_units::Nanos;
use assay_units::text::{group_digits, whole};

use assay_suite::expand::UnsupportedBlockSize;

mod host;
mod latency;
mod preparation;
pub(crate) use host::*;
pub(crate) use latency::latency_target;
pub(crate) use preparation::{
    area_not_covered, cache_borrows, never_steady, no_collection, not_steady, preconditioned_again,
    probe_not_steady, start_not_reached, state_in_doubt, writes_cut_units,
};

/// The one critical warning that clears by itself (NVMe Base 2.0c, 5.16.1.3, bit 1).
const TEMPERATURE_THRESHOLD: &str = "temperature threshold exceeded";

fn warning(code: &str, message: impl Into<String>, advice: &str) -> Warning {
    Warning {
        code: code.to_owned(),
        cell: None,
        drive: None,
        message: message.into(),
        advice: advice.to_owned(),
    }
}

pub(crate) fn about(warning: Warning, cell: Option<&str>, drive: Option<usize>) -> Warning {
    Warning { cell: cell.map(str::to_owned), drive, ..warning }
}

pub(crate) fn paused(span: Nanos) -> Warning {
    warning(
        code::PAUSED,
        format!(
            "the run was paused for {:.0} s before this cell, and the drive idled",
            span.as_secs_f64()
        ),
        "a drive that idles cools down and empties its write cache: the first part of this cell \
         can be better than in an uninterrupted run",
    )
}

pub(crate) fn engine_limited(share_pct: f64) -> Warning {
    warning(
        code::ENGINE_LIMITED,
        format!("this rate is {share_pct:.0} % of the rate that assay reaches on the null target"),
        "latencies include assay's own overhead; use more threads",
    )
}

pub(crate) fn io_errors(errors: u64, causes: &ErrorCauses) -> Warning {
    let mut message = format!("{errors} I/Os failed or came back short");
    if !causes.is_empty() {
        message += &format!(": {}", causes.text());
    }
    let advice = match causes.are_limits() {
        true => {
            "no fault of the drive: the file system that holds the file is full or over quota, or \
             `ulimit -f` is below its length; give the file its whole size (fallocate)"
        }
        false => {
            "read the kernel log and the drive's health log (`assay probe`) before using other \
             figures of this drive"
        }
    };
    warning(code::IO_ERRORS, message, advice)
}

pub(crate) fn unanswered(ios: u64) -> Warning {
    warning(
        code::UNANSWERED,
        format!(
            "{ios} I/Os did not complete within the timeout: ten seconds after the stop, or four \
             minutes after the drive's last completion"
        ),
        "the drive hangs or was removed: read the kernel log",
    )
}

/// `errors`: consecutive ones, of all workers that stopped.
pub(crate) fn gave_up(errors: u64, span: Nanos) -> Warning {
    let span_s = span.as_secs_f64();
    warning(
        code::GAVE_UP,
        format!(
            "the last {errors} I/Os, all within {span_s:.1} s, failed: the cell was ended early"
        ),
        "the drive was removed or fails every command: read the kernel log; the intervals hold \
         what was measured before",
    )
}

/// `late` of `ios`, on average and at most by so much.
pub(crate) fn trace_late(late: u64, ios: u64, mean: Nanos, most: Nanos) -> Warning {
    warning(
        code::TRACE_LATE,
        format!(
            "{late} of {ios} requests of the trace were submitted more than 1 ms after they were \
             due, on average {mean} and at most {most}: all slots were in use, or the host was \
             busy"
        ),
        "the drive cannot follow the trace at this pace: latencies include the waiting; raise \
         --iodepth, stretch the times with --trace_time_scale, or compare drives with \
         --trace_timing closed",
    )
}

/// `changes`: what happened to which number of requests.
pub(crate) fn trace_changed(changes: &str) -> Warning {
    warning(
        code::TRACE_CHANGED,
        format!("the drive did not get the whole trace: {changes}"),
        "use a larger area, or another --trace_map: modulo and linear keep every request",
    )
}

pub(crate) fn trace_joined(requests: String) -> Warning {
    warning(
        code::TRACE_CHANGED,
        requests,
        "replay the logs one by one (fio, too, replays a joined one in the order of its lines)",
    )
}

/// `devices`: how many requests of which.
pub(crate) fn trace_devices(devices: String) -> Warning {
    warning(
        code::TRACE_DEVICES,
        devices,
        "replay one with --trace_device NAME (assay trace info lists them), or each on a drive of \
         its own: hot spots and runs across devices are no property of any of them",
    )
}

/// `ratio`: of zstd. `zero_share_pct`: of all-zero samples.
pub(crate) fn data_compressible(ratio: f64, zero_share_pct: f64) -> Warning {
    let message = if zero_share_pct >= 1.0 {
        format!(
            "{zero_share_pct:.0} % of the samples are all zero and the data compress {ratio:.2} : \
             1: reads of them can be faster than of real data"
        )
    } else {
        format!(
            "the data on the drive compress {ratio:.2} : 1: a drive with compression reads them \
             faster than incompressible data"
        )
    };
    warning(
        code::DATA_COMPRESSIBLE,
        message,
        "for figures that hold for any data, let the suite write incompressible data first: \
         --destroy SERIAL",
    )
}

pub(crate) fn scaled(scale: f64) -> Warning {
    warning(
        code::SCALED,
        format!("every duration was multiplied by {scale}: this is not the procedure as published"),
        "run with --scale 1 before drawing conclusions",
    )
}

pub(crate) fn shrunk(times: u32) -> Warning {
    warning(
        code::SHRUNK,
        format!(
            "the drive has 1/{times} of the capacity of the whole one, and of its SLC cache; it \
             fills, wears, warms up and cools down in 1/{times} of the time, and so a suite's \
             durations, sizes and intervals were divided by {times}"
        ),
        "rates in steady state are those of the whole drive unless it is throttled; leave shrink= \
         out for times, bytes and anything else that depends on them",
    )
}

/// Where something lies between the job and the drive, nobody is blamed: a program of FUSE, the
/// kernel's short I/O to it, a network or a loop device can do the same.
pub(crate) fn verify_failed(blocks: u64, layers: &[String]) -> Warning {
    let advice = match layers {
        [] => "do not store data on this drive".to_owned(),
        layers => format!(
            "do not store data here; it is {}, not a drive: the fault may be of that, of the \
             kernel or of the drive below, and verifying the block device itself tells them apart",
            layers.join(", on ")
        ),
    };
    warning(
        code::VERIFY_FAILED,
        format!("{blocks} blocks did not come back as they were written"),
        &format!("{advice}; the findings give the kind of each mismatch"),
    )
}

pub(crate) fn verify_not_judged(verify: &VerifySummary) -> Option<Warning> {
    let (blocks, reasons) = verified::not_judged(verify)?;
    let has = |key: &str| verify.not_judged.contains_key(key);
    Some(warning(
        code::VERIFY_NOT_JUDGED,
        format!("{} blocks could not be judged: {reasons}", group_digits(blocks)),
        match (has(Unjudged::HostMemory.name()), verify.blocks_checked) {
            (true, _) => {
                "nothing is known of them on the drive: verify with direct I/O (--direct 1)"
            }
            (false, 0) => {
                "nothing was verified: write the area with --verify first, and with nothing else \
                 after it"
            }
            (false, _) => "they are no fault of the drive and no proof of it; write them anew",
        },
    ))
}

pub(crate) fn cache_not_dropped() -> Warning {
    warning(
        code::CACHE_NOT_DROPPED,
        "the page cache could not be dropped before reading through it",
        "part of this rate may be memory bandwidth; run as root, or read with direct I/O",
    )
}

pub(crate) fn buffered() -> Warning {
    warning(
        code::BUFFERED,
        "this file's file system does not support O_DIRECT: I/O went through the page cache",
        "much of this rate is memory bandwidth; use a file on another file system, or the block \
         device",
    )
}

/// Shares of the area of a job on a file that no drive answers, or that it holds in another form.
pub(crate) fn not_from_drive(allocation: &Allocation) -> Vec<Warning> {
    let percent = |bytes: u64| bytes as f64 / allocation.len_bytes.max(1) as f64 * 100.0;
    let mut warnings = Vec::new();
    let unwritten_pct = percent(allocation.unwritten_bytes);
    if unwritten_pct >= limit::UNWRITTEN_PCT {
        warnings.push(warning(
            code::NOT_FROM_DRIVE,
            format!(
                "{unwritten_pct:.0} % of the area was never written (holes, or space that \
                 fallocate gave): the file system answers such reads with zeroes, and no drive is \
                 asked"
            ),
            "write the whole file with random data first: assay job FILE --rw write --bs 1m \
             --destroy NAME",
        ));
    }
    let encoded_pct = percent(allocation.encoded_bytes);
    if encoded_pct >= limit::UNWRITTEN_PCT {
        warnings.push(warning(
            code::NOT_FROM_DRIVE,
            format!(
                "the file system compresses or encrypts {encoded_pct:.0} % of the area: the drive \
                 moves other bytes than these"
            ),
            "use a file without compression (chattr +m, before data is written), or the block \
             device",
        ));
    }
    warnings
}

pub(crate) fn clock_drift(ppm: f64) -> Warning {
    warning(
        code::CLOCK_DRIFT,
        format!("the time-stamp counter drifts by {ppm:+.0} ppm from the kernel's monotonic clock"),
        "latencies have the same relative error; check the host's clock source",
    )
}

/// `last`: power reading. Both since the cell's start.
pub(crate) fn power_ended(last: Nanos, end: Nanos) -> Warning {
    let (last_s, end_s) = (last.as_secs_f64(), end.as_secs_f64());
    warning(
        code::POWER_ENDED,
        format!("the last power reading came at {last_s:.0} s of {end_s:.0} s"),
        "the mean power covers only the time before; check that the power meter still runs, and \
         measure again",
    )
}

pub(crate) fn nothing_measured(why: &str, advice: &str) -> Warning {
    let message = format!("nothing was measured: {why}");
    warning(code::NOTHING_MEASURED, message, advice)
}

pub(crate) fn rate_not_reached(offered_iops: f64, done_iops: f64) -> Warning {
    warning(
        code::RATE_NOT_REACHED,
        format!(
            "{} I/Os per second were offered and {} completed: the queue grew for the whole job",
            whole(offered_iops),
            whole(done_iops)
        ),
        "the latencies depend on the job's length, not on the drive; offer less, or raise \
         --iodepth and --numjobs",
    )
}

/// `why`: the criterion that failed, with figures.
pub(crate) fn rounds_not_steady(rounds: usize, tracked: &str, why: &str) -> Warning {
    warning(
        code::NOT_STEADY,
        format!("{tracked} did not reach steady state in {rounds} rounds: {why}"),
        "its figures are not steady-state figures; allow more rounds, or precondition for longer",
    )
}

pub(crate) fn block_mix_unsupported(step: &str, unsupported: UnsupportedBlockSize) -> Warning {
    warning(
        code::BLOCK_MIX_UNFIT,
        format!("the step {step} is skipped: {unsupported}"),
        "measure a drive or namespace formatted with smaller logical blocks (nvme format --lbaf), \
         or use a copy of the suite with another mix, which is then not the standard's workload",
    )
}

pub(crate) fn drive_lost(why: &str) -> Warning {
    warning(
        code::DRIVE_LOST,
        format!(
            "the drive is gone: {why}; this cell was left unfinished, and no further cell was \
             started on the drive"
        ),
        "check slot, cable and kernel log until the drive is back, then continue with assay run \
         --resume and this run's folder: it measures this cell again, and the cells not started",
    )
}

/// A purge without guarantee that all data are erased.
pub(crate) fn purge_incomplete(how: impl std::fmt::Display) -> Warning {
    warning(
        code::PURGE_INCOMPLETE,
        format!("the drive was purged by {how}, which need not erase all of it"),
        "a drive that was full before may start slower than a fresh one; sanitize or format it \
         for fresh-drive figures",
    )
}

/// `now`, `possible`: the current link, and what drive and slot support.
pub(crate) fn link_below(now: &str, possible: &str) -> Warning {
    warning(
        code::LINK_BELOW_CAPABILITY,
        format!("the PCIe link runs at {now}; drive and slot support {possible}"),
        "the link limits sequential rates; use another slot, reseat the drive, or check the \
         firmware settings (ASPM, link speed)",
    )
}

/// Composite temperature and warning threshold (WCTEMP), degrees Celsius.
pub(crate) fn hot_before(celsius: i32, warning_c: i32) -> Warning {
    warning(
        code::HOT_BEFORE_START,
        format!(
            "the drive was at {celsius} degrees C before the first measurement; its warning \
             threshold is {warning_c}"
        ),
        "let the drive cool down first, or give it a heat sink: it may throttle during the \
         measurement",
    )
}

/// `name`: of the active I/O scheduler of a solid-state drive.
pub(crate) fn io_scheduler(name: &str) -> Warning {
    warning(
        code::IO_SCHEDULER,
        format!("the kernel's I/O scheduler {name} is active for this solid-state drive"),
        "it takes processor time on every I/O, and can reorder or delay I/Os: rates of small \
         blocks are those of drive and scheduler. To measure the drive: echo none > \
         /sys/block/NAME/queue/scheduler",
    )
}

pub(crate) fn write_cache_off() -> Warning {
    warning(
        code::WRITE_CACHE_OFF,
        "the volatile write cache is disabled",
        "writes run at flash speed; for the default configuration enable it (nvme set-feature -f \
         6 -V 1)",
    )
}

/// `after_ms`: shortest idle time before one; `wake_us`: exit latency of the deepest state.
pub(crate) fn falls_asleep(after_ms: u32, wake_us: Option<u32>) -> Warning {
    let wake = match wake_us {
        Some(us) => format!("takes up to {:.1} ms to wake", f64::from(us) / 1e3),
        None => "does not report its exit latency".to_owned(),
    };
    warning(
        code::FALLS_ASLEEP,
        format!("the drive enters a low-power state after {after_ms} ms idle, and {wake}"),
        "first I/Os after idle time, and workloads with few I/Os, include that latency; to \
         measure without it: nvme set-feature -f 0xc -V 0",
    )
}

/// The SMART / Health log has critical warnings.
pub(crate) fn critical_warning(names: &str) -> Warning {
    warning(
        code::CRITICAL_WARNING,
        format!("its health log has the critical warning: {names}"),
        "do not qualify or use a drive with a critical warning",
    )
}

pub(crate) fn critical_warning_raised(names: &str, at: Nanos) -> Warning {
    let at_s = at.as_secs_f64();
    warning(
        code::CRITICAL_WARNING_RAISED,
        format!("its health log set a critical warning {at_s:.0} s into this cell: {names}"),
        if names == TEMPERATURE_THRESHOLD {
            "the drive throttles, or is about to: add airflow or a heat sink, and read its rates \
             together with its temperature"
        } else {
            "later figures are those of a failing drive: save its data, read its health log \
             (`assay probe`), and measure again only when the warning is cleared"
        },
    )
}

/// Latencies above the histogram's range.
pub(crate) fn overflow(values: u64) -> Warning {
    warning(
        code::LATENCY_OVERFLOW,
        format!(
            "{values} latencies exceeded 73 minutes; they count only in the mean and the maximum"
        ),
        "the drive or the host was suspended during the measurement",
    )
}

#[cfg(test)]
#[path = "../tests/unit/warn.rs"]
mod tests;
