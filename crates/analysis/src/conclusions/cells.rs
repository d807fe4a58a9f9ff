//! Conclusions about a drive in a cell.

use assay_stats::confidence::{self, Estimate, LEVEL};
use assay_store::model::CellView;
use assay_store::read::Run;
use assay_store::series::IntervalSample;
use assay_units::{Nanos, Op};

use super::{Conclusion, Place, Rows};
use crate::attribution::Throttling;
use crate::endurance::{self, NoAmplification, WriteAmplification};
use crate::{
    deadlines, drain, fill, interference, placement, power, queueing, recovery, score, steady_time,
    stimulus, wake,
};

fn ends(estimate: Option<Estimate>) -> Option<(f64, f64)> {
    estimate.map(|e| (e.low, e.high))
}

pub(super) fn score(place: Place<'_>, into: &mut Vec<Conclusion>) {
    let Some(scored) = score::score_of_cell(place.part) else {
        return;
    };
    let score = &scored.score;
    let samples = place.part.measured_intervals();
    let last = &samples[samples.len() - score.samples as usize..];
    let rates: Vec<f64> = last.iter().map(IntervalSample::iops).collect();
    let mut rows = Rows {
        about: Conclusion {
            span_s: Some((scored.from_s, scored.to_s)),
            ..place.conclusion("score", "")
        },
        into,
    };
    let interval = ends(confidence::mean(&rates, LEVEL).ok());
    let shortened = "a ninth of a run shorter than the hour of the procedure";
    let remark = scored.shortened.then(|| shortened.to_owned());
    rows.add_with("mean", "IOPS", score.mean, interval, remark);
    rows.add("stddev", "IOPS", score.stddev);
    rows.add("mean_over_stddev", "", score.consistency);
    rows.add("slowest", "IOPS", score.min);
    rows.add("median", "IOPS", score.median);
    rows.add("fastest", "IOPS", score.max);
    rows.add("outliers_below", "%", score.outliers_below_pct);
    rows.add("outliers_above", "%", score.outliers_above_pct);
    let modes = Some(score.modes.len()).filter(|&count| count > 0);
    rows.add("modes", "", modes.map(|count| count as f64));
}

/// Conclusions about open loops.
pub(super) fn latency(place: Place<'_>, into: &mut Vec<Conclusion>) {
    let Some(parts) = queueing::of_cell(place.run, place.cell, place.part.drive) else {
        return;
    };
    let about = place.conclusion("latency", "");
    let mut rows = Rows { about, into };
    rows.add("mean", "ns", parts.latency_ns);
    if let Some(service) = parts.service {
        let basis = Some(service.basis.text());
        rows.add_with("service", "ns", service.mean_ns, None, basis);
    }
    rows.add("queueing", "ns", parts.queueing_ns);
    rows.add("lateness", "ns", parts.lateness_ns);
}

pub(super) fn power(place: Place<'_>, into: &mut Vec<Conclusion>) {
    let Some(watts) = power::mean_watts(place.part) else {
        return;
    };
    let about = place.conclusion("power", "");
    let mut rows = Rows { about, into };
    rows.add_with("mean", "W", watts, ends(power::estimate(place.part).ok()), None);
    let iops = place.part.result.as_ref().map(|result| result.iops());
    let efficiency = iops.filter(|&iops| iops > 0.0).map(|iops| iops / watts);
    rows.add("efficiency", "IOPS/W", efficiency);
}

pub(super) fn throttling(place: Place<'_>, hot: &Throttling, into: &mut Vec<Conclusion>) {
    let first = hot.spans.first().map(|span| span.0);
    let last = hot.spans.last().map(|span| span.1);
    let mut rows = Rows {
        about: Conclusion { span_s: first.zip(last), ..place.conclusion("throttling", "") },
        into,
    };
    rows.add("onset", "s", hot.onset_s);
    rows.add("onset_temperature", "C", hot.onset_c);
    rows.add("rate_before", "MiB/s", hot.before.map(|before| before.mib_per_s));
    rows.add("rate_throttled", "MiB/s", hot.after_mib_per_s);
    rows.add("rate_slow", "MiB/s", hot.slow_mib_per_s);
    rows.add("slow_share", "%", hot.duty_pct);
    rows.add("period", "s", hot.period_s);
    rows.add("rate_recovered", "MiB/s", hot.recovery.map(|after| after.mib_per_s));
}

/// Conclusions about bursts with idle time between them.
pub(super) fn idle_recovery(place: Place<'_>, into: &mut Vec<Conclusion>) {
    let drive = place.part.drive;
    let Some(segment) = recovery::of_cell(place.run, place.cell, drive) else {
        return;
    };
    let about = place.conclusion("idle_recovery", "");
    let mut rows = Rows { about, into };
    rows.add("idle_time", "s", segment.idle_s);
    rows.add("rate_before", "IOPS", segment.before_iops);
    rows.add("rate_after_idle", "IOPS", segment.iops());
    rows.add("recovered", "%", segment.recovery_pct());
}

/// Conclusions about a workload of a sequence without pauses.
pub(super) fn stimulus(place: Place<'_>, into: &mut Vec<Conclusion>) {
    if place.cell.plan.view != Some(CellView::CrossStimulus) {
        return;
    }
    let Some(found) = stimulus::stimulus_of_cell(place.part) else {
        return;
    };
    let before = stimulus::same_before(place.run, place.cell)
        .and_then(|cell| stimulus::stimulus_of_cell(cell.drive(place.part.drive)?));
    let before = before.map(|before| before.level_mib_per_s);
    let kept =
        before.filter(|before| *before > 0.0).map(|before| 100.0 * found.level_mib_per_s / before);
    let about = place.conclusion("stimulus", "");
    let mut rows = Rows { about, into };
    rows.add("first", "MiB/s", found.first_mib_per_s);
    rows.add("lowest", "MiB/s", found.lowest_mib_per_s);
    rows.add("level", "MiB/s", found.level_mib_per_s);
    rows.add("level_reached", "s", found.settled_s);
    rows.add("level_kept", "%", kept);
}

/// Conclusions about a workload beside others that was measured alone too.
pub(super) fn interference(place: Place<'_>, into: &mut Vec<Conclusion>) {
    let drive = place.part.drive;
    let Some(found) = interference::of_cell(place.run, place.cell, drive) else {
        return;
    };
    let about = place.conclusion("interference", "");
    let mut rows = Rows { about, into };
    rows.add("p50_slowdown", "", found.p50);
    rows.add("p99_slowdown", "", found.p99);
    rows.add("p99_99_slowdown", "", found.p99_99);
    rows.add("rate_kept", "%", found.kept_iops_pct);
    if let Some(flushes) = interference::of_flushes(place.run, place.cell, drive) {
        rows.add("flush_p50_slowdown", "", flushes.p50);
        rows.add("flush_p99_slowdown", "", flushes.p99);
        rows.add("flush_p99_99_slowdown", "", flushes.p99_99);
    }
}

/// Conclusions about a job whose writes have a placement handle of their own.
pub(super) fn placement(place: Place<'_>, into: &mut Vec<Conclusion>) {
    let Some(found) = placement::of_cell(place.run, place.cell, place.part.drive) else {
        return;
    };
    let about = place.conclusion("placement", "");
    let mut rows = Rows { about, into };
    rows.add("amplification_saving", "", found.saving);
    rows.add("p50_ratio", "", found.job.p50);
    rows.add("p99_ratio", "", found.job.p99);
    rows.add("rate_ratio", "%", found.job.kept_iops_pct);
}

/// Conclusions about every deadline of a cell and every operation.
pub(super) fn deadlines(place: Place<'_>, into: &mut Vec<Conclusion>) {
    for deadline_ns in &place.cell.plan.deadlines_ns {
        for misses in deadlines::misses_of_cell(place.part, Nanos(*deadline_ns)) {
            let about = place.conclusion("deadline", "");
            let mut rows = Rows { about, into };
            let name = match misses.op {
                Op::Read => "read_misses_per_million",
                Op::Write => "write_misses_per_million",
                Op::Discard | Op::WriteZeroes => "discard_misses_per_million",
                Op::Flush => "flush_misses_per_million",
            };
            let text = format!("{} of {} after {}", misses.missed, misses.ios, misses.deadline);
            rows.add_with(name, "", misses.per_million(), None, Some(text));
        }
    }
}

pub(super) fn drain(place: Place<'_>, into: &mut Vec<Conclusion>) {
    if place.cell.plan.view != Some(CellView::Drain) {
        return;
    }
    let Some(found) = drain::drain_of_cell(place.cell, place.part) else {
        return;
    };
    let about = place.conclusion("drain", "");
    let mut rows = Rows { about, into };
    rows.add("drained", "B", found.bytes as f64);
    rows.add("time_to_drain", "s", found.seconds);
    rows.add("slowest_flush", "s", found.flush_s);
}

/// Conclusions about a workload that was measured on the empty drive too.
pub(super) fn fill(place: Place<'_>, into: &mut Vec<Conclusion>) {
    let drive = place.part.drive;
    let Some(found) = fill::of_cell(place.run, place.cell, drive) else {
        return;
    };
    let about = place.conclusion("fill", "");
    let mut rows = Rows { about, into };
    let state = place.cell.plan.variant.clone();
    rows.add_with("of_empty", "%", found.of_empty_pct, None, state);
    rows.add("p99_ratio", "", found.p99_ratio);
}

/// Conclusions about a cell with idle time before every I/O.
pub(super) fn wake(place: Place<'_>, into: &mut Vec<Conclusion>) {
    let drive = place.part.drive;
    let Some(found) = wake::of_cell(place.run, place.cell, drive) else {
        return;
    };
    let about = place.conclusion("wake", "");
    let mut rows = Rows { about, into };
    rows.add("idle_time", "s", found.idle_ns as f64 / 1e9);
    rows.add("latency_p50", "ns", found.p50_ns as f64);
    rows.add("latency_p99", "ns", found.p99_ns.map(|ns| ns as f64));
    rows.add("added_p50", "ns", found.added_p50_ns);
    rows.add("added_p99", "ns", found.added_p99_ns);
}

/// When a long write became steady.
pub(super) fn time_to_steady(place: Place<'_>, into: &mut Vec<Conclusion>) {
    let drive = place.part.drive;
    let Some(found) = steady_time::of_cell(place.run, place.cell, drive) else {
        return;
    };
    let about = place.conclusion("steady_state", "");
    let mut rows = Rows { about, into };
    match found {
        Ok(found) => {
            rows.add("time_to_steady", "s", found.seconds);
            rows.add("capacities_to_steady", "", found.capacities);
            rows.add("written_to_steady", "B", found.written_bytes as f64);
        }
        Err(why) => rows.say("time_to_steady", why),
    }
}

/// Write amplification with its bounds by the counters' steps, or why there is none.
pub(super) fn endurance(place: Place<'_>, into: &mut Vec<Conclusion>) {
    let Some(found) = endurance::of_cell(place.run, place.cell, place.part) else {
        return;
    };
    let about = place.conclusion("endurance", "");
    let source = counter_source(place.run, place.part.drive);
    let names = &AmplificationNames::OF_CELLS;
    amplification(&found, names, source, &mut Rows { about, into });
}

/// The log with the media's counter.
pub(super) fn counter_source(run: &Run, drive: usize) -> Option<String> {
    let origins = endurance::origins(run.manifest.drives.get(drive)?)?;
    Some(origins.media.source.name().to_owned())
}

pub(super) struct AmplificationNames {
    factor: &'static str,
    host: &'static str,
    media: &'static str,
    pub(super) rated: &'static str,
    pub(super) left: &'static str,
    pub(super) per_day: &'static str,
}

impl AmplificationNames {
    /// Names for a cell, or for all cells of a step.
    pub(super) const OF_CELLS: AmplificationNames = AmplificationNames {
        factor: "write_amplification",
        host: "host_written",
        media: "media_written",
        rated: "rated_host_bytes",
        left: "left_host_bytes",
        per_day: "drive_writes_per_day",
    };
    /// Names for the measurement window of a step with rounds.
    pub(super) const OF_WINDOW: AmplificationNames = AmplificationNames {
        factor: "window_write_amplification",
        host: "window_host_written",
        media: "window_media_written",
        rated: "window_rated_host_bytes",
        left: "window_left_host_bytes",
        per_day: "window_drive_writes_per_day",
    };
}

/// None for a drive without a counter.
pub(super) fn amplification(
    found: &Result<WriteAmplification, NoAmplification>,
    names: &AmplificationNames,
    source: Option<String>,
    rows: &mut Rows<'_>,
) {
    match found {
        Ok(found) => {
            let bounds = Some((found.low, found.high));
            rows.add_with(names.factor, "", found.factor, bounds, source);
            let growth = found.growth;
            rows.add(names.host, "B", growth.host_bytes as f64);
            rows.add(names.media, "B", growth.media_bytes as f64);
        }
        Err(NoAmplification::NoCounter) => {}
        Err(reason) => rows.say(names.factor, reason.to_string()),
    }
}
