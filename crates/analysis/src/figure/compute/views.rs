//! Figures of single views: scores, knees, rounds, wake-up, jobs at once.

use assay_stats::knee::DepthKnee;
use assay_store::model::{CACHE_HIT_PCT, CellResult};
use assay_units::text::whole;
use assay_units::{GIB, Nanos};

use super::{Definition, FigureInput, FigureValue, Found, Measured, estimates};
use crate::attribution::Cause;
use crate::interference::{self, Interference};
use crate::knee;
use crate::{
    deadlines, drain, endurance, fill, placement, recovery, rounds, score, steady_time, stimulus,
    wake,
};

pub(in crate::figure) fn cache_gib<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let phases = input.first()?.phases();
    phases.iter().find_map(|phase| match phase.cause {
        Cause::SlcCacheExhausted { cache_bytes } => {
            Some(FigureValue::plain(cache_bytes as f64 / GIB as f64))
        }
        _ => None,
    })
}

pub(in crate::figure) fn score_iops<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let first = input.first()?;
    let mean = score::score_of_cell(first.part)?.score.mean;
    let text = format!("{} IOPS in steady state", whole(mean));
    Some(input.rated(first, mean, || None).with(text))
}

/// Infinite without variation. Of a small copy of a drive, intervals have less data, and their
/// deviation is not that of the whole drive.
pub(in crate::figure) fn score_steadiness<'a>(
    _: &Definition,
    input: &FigureInput<'a>,
) -> Found<'a> {
    let first = input.first()?;
    let drive = first.run.manifest.drives.get(first.part.drive)?;
    if drive.shrink().is_some() {
        return None;
    }
    let score = score::score_of_cell(first.part)?.score;
    let Some(ratio) = score.consistency else {
        let text = "no variation between intervals".to_owned();
        return Some(FigureValue::plain(f64::INFINITY).with(text));
    };
    let text = format!(
        "mean / standard deviation = {ratio:.1}; {} IOPS in the slowest interval",
        whole(score.min)
    );
    Some(FigureValue::plain(ratio).with(text))
}

/// Knee of the first sweep, with its cell.
fn depth_knee<'a>(input: &FigureInput<'a>) -> Option<(DepthKnee, Measured<'a>)> {
    input.steps().find_map(|m| {
        let found = knee::of_step(m.run, &m.cell.plan.step, m.drive());
        let found = found.into_iter().next()?;
        let at = Measured::new(m.run, &m.run.cells[found.cell], m.drive())?;
        Some((found.knee, at))
    })
}

fn in_flight(knee: &DepthKnee) -> String {
    let rising = if knee.still_rising { ", still rising at the end of the sweep" } else { "" };
    format!("{} in flight{rising}", knee.depth)
}

pub(in crate::figure) fn knee_iops<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let (knee, at) = depth_knee(input)?;
    let iops = at.result()?.iops();
    let text = format!("{} IOPS with {}", whole(iops), in_flight(&knee));
    Some(input.rated(at, iops, || estimates(at).iops.ok()).with(text))
}

pub(in crate::figure) fn knee_p99_99_us<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let (knee, at) = depth_knee(input)?;
    let us = at.result()?.latency().p99_99 as f64 / 1e3;
    let depth = in_flight(&knee);
    let text = format!("99.99 % of I/Os within {} \u{b5}s with {depth}", whole(us));
    Some(FigureValue::plain(us).with(text))
}

pub(in crate::figure) fn load_knee_pct<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let (percent, knee) = input.steps().find_map(|m| {
        let found = knee::of_load(m.run, &m.cell.plan.step, m.drive());
        let found = found.into_iter().next()?;
        let load = m.run.cells[found.cell].plan.load.as_ref()?;
        Some((load.percent, found.knee))
    })?;
    let text = format!(
        "carries {percent:.0} % of its saturated rate ({} IOPS) with a mean latency of {} \u{b5}s",
        whole(knee.offered),
        whole(knee.latency_ns / 1e3)
    );
    Some(FigureValue::plain(percent).with(text))
}

/// Share of the tracking variables.
pub(in crate::figure) fn steady_pct<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let of_step = |m: Measured<'a>| {
        let steady = m.run.steady.iter();
        steady.filter(move |s| s.drive == m.drive() && s.step == m.cell.plan.step)
    };
    let all: Vec<_> = input.steps().flat_map(of_step).collect();
    let last_round = all.iter().map(|s| s.window.1).max()?;
    let steady = all.iter().filter(|s| s.achieved).count();
    let text = match all.iter().find_map(|s| s.why.as_ref()) {
        Some(why) => format!("not achieved: {why}"),
        None => format!("achieved in round {last_round}"),
    };
    Some(FigureValue::plain(steady as f64 / all.len() as f64 * 100.0).with(text))
}

fn window<'a>(
    input: &FigureInput<'a>,
    of: fn(&CellResult) -> f64,
) -> Option<(Measured<'a>, FigureValue<'a>)> {
    let first = input.first()?;
    let value = rounds::mean_over_window(first.run, first.cell, first.drive(), of)?;
    Some((first, input.rated(first, value, || None)))
}

pub(in crate::figure) fn window_iops<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    Some(window(input, CellResult::iops)?.1)
}

pub(in crate::figure) fn window_mib_per_s<'a>(
    _: &Definition,
    input: &FigureInput<'a>,
) -> Found<'a> {
    Some(window(input, CellResult::mib_per_s)?.1)
}

pub(in crate::figure) fn window_mean_us<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let (first, found) = window(input, |r| r.latency().mean / 1e3)?;
    let [rate, _] = first.factors();
    let interval = rate.map(|f| f.of_mean_latency(found.value));
    Some(FigureValue { interval, ..found })
}

pub(in crate::figure) fn write_amplification<'a>(
    _: &Definition,
    input: &FigureInput<'a>,
) -> Found<'a> {
    let first = input.first()?;
    let found = endurance::of_cell(first.run, first.cell, first.part)?.ok()?;
    Some(FigureValue::plain(found.factor))
}

pub(in crate::figure) fn amplification_saving<'a>(
    _: &Definition,
    input: &FigureInput<'a>,
) -> Found<'a> {
    let first = input.first()?;
    let found = placement::of_cell(first.run, first.cell, first.drive())?;
    let times = found.saving?;
    let text = format!("separated streams have 1/{times:.2} of the write amplification");
    Some(FigureValue::plain(times).with(text))
}

pub(in crate::figure) fn window_write_amplification<'a>(
    _: &Definition,
    input: &FigureInput<'a>,
) -> Found<'a> {
    let first = input.first()?;
    let step = &first.cell.plan.step;
    let window = rounds::window(first.run, step, first.drive())?;
    let found = endurance::of_window(first.run, first.drive(), step, window)?.ok()?;
    Some(FigureValue::plain(found.factor))
}

pub(in crate::figure) fn recovered_pct<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let first = input.first()?;
    let segment = recovery::of_cell(first.run, first.cell, first.drive())?;
    Some(FigureValue::plain(segment.recovery_pct()?))
}

fn level(of: Measured<'_>) -> Option<stimulus::Stimulus> {
    of.result()?;
    stimulus::stimulus_of_cell(of.part)
}

pub(in crate::figure) fn level_mib_per_s<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let first = input.first()?;
    Some(input.rated(first, level(first)?.level_mib_per_s, || None))
}

pub(in crate::figure) fn settled_s<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    Some(FigureValue::plain(level(input.first()?)?.settled_s?))
}

pub(in crate::figure) fn level_kept_pct<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let first = input.first()?;
    first.result()?;
    let kept = stimulus::kept_pct(first.run, first.cell, first.part)?;
    Some(FigureValue::plain(kept))
}

pub(in crate::figure) fn of_empty_pct<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let first = input.first()?;
    let effect = fill::of_cell(first.run, first.cell, first.drive())?;
    Some(FigureValue::plain(effect.of_empty_pct?))
}

pub(in crate::figure) fn wake_us<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let idle = |m: &&Measured<'_>| m.cell.plan.workload.idle_before_io_ns;
    let longest = *input.cells.iter().max_by_key(idle)?;
    let wake = wake::of_cell(longest.run, longest.cell, longest.drive())?;
    Some(FigureValue { of: Some(longest), ..FigureValue::plain(wake.added_p50_ns? / 1e3) })
}

fn time_to_steady(input: &FigureInput<'_>) -> Option<steady_time::TimeToSteady> {
    let first = input.first()?;
    steady_time::of_cell(first.run, first.cell, first.drive())?.ok()
}

pub(in crate::figure) fn time_to_steady_s<'a>(
    _: &Definition,
    input: &FigureInput<'a>,
) -> Found<'a> {
    Some(FigureValue::plain(time_to_steady(input)?.seconds))
}

pub(in crate::figure) fn capacities_to_steady<'a>(
    _: &Definition,
    input: &FigureInput<'a>,
) -> Found<'a> {
    Some(FigureValue::plain(time_to_steady(input)?.capacities?))
}

fn beside<'a>(input: &FigureInput<'a>, of: fn(&Interference) -> Option<f64>) -> Found<'a> {
    let first = input.first()?;
    let found = interference::of_cell(first.run, first.cell, first.drive())?;
    Some(FigureValue::plain(of(&found)?))
}

pub(in crate::figure) fn p99_slowdown<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    beside(input, |i| i.p99)
}

pub(in crate::figure) fn p99_99_slowdown<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    beside(input, |i| i.p99_99)
}

pub(in crate::figure) fn kept_iops_pct<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    beside(input, |i| i.kept_iops_pct)
}

pub(in crate::figure) fn misses_per_million<'a>(
    _: &Definition,
    input: &FigureInput<'a>,
) -> Found<'a> {
    let last = *input.cells.last()?;
    let deadline = Nanos(*last.cell.plan.deadlines_ns.first()?);
    let misses = deadlines::of_all(last.part, deadline)?;
    Some(FigureValue { of: Some(last), ..FigureValue::plain(misses.per_million()) })
}

pub(in crate::figure) fn drain_s<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let drains = input.cells.iter().filter_map(|m| drain::drain_of_cell(m.cell, m.part));
    let longest = drains.map(|drain| drain.seconds).reduce(f64::max)?;
    Some(FigureValue::plain(longest))
}

pub(in crate::figure) fn cache_hit_pct<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let last = *input.cells.last()?;
    let percent = *last.result()?.values.get(CACHE_HIT_PCT)?;
    Some(FigureValue { of: Some(last), ..FigureValue::plain(percent) })
}
