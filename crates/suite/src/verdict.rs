//! Conclusions by readable rules: each looks at one measured figure and says which way it points and why.

use std::fmt::Write;

use assay_store::model::{CellKind, Reason, ReasonWeight, Verdict, VerdictResult};
use assay_store::read::{CellDrive, CellRecord, Run};

use crate::schema::{Figure, Rule, VerdictRules};

/// Judge one drive of a run by a suite's rules.
///
/// One objection makes it *not recommended*, one condition *conditionally*; with less than half of the figures measured the
/// verdict stays *undecided* unless something measured already speaks against the drive.
pub fn judge(rules: &VerdictRules, run: &Run, drive: usize) -> Verdict {
    let reasons: Vec<Reason> = rules
        .rules
        .iter()
        .map(|rule| reason(rule, run, drive))
        .collect();
    let count = |weight| reasons.iter().filter(|r| r.weight == weight).count();
    let result = if count(ReasonWeight::Against) > 0 {
        VerdictResult::NotRecommended
    } else if count(ReasonWeight::Missing) * 2 > reasons.len() {
        VerdictResult::Undecided
    } else if count(ReasonWeight::Caution) > 0 {
        VerdictResult::Conditionally
    } else {
        VerdictResult::Recommended
    };
    Verdict { result, reasons }
}

fn reason(rule: &Rule, run: &Run, drive: usize) -> Reason {
    let Some((value, shown)) = figure(rule, run, drive) else {
        return Reason {
            weight: ReasonWeight::Missing,
            text: format!("{}: not measured", rule.about),
        };
    };
    let sign = if rule.lower_is_better { -1.0 } else { 1.0 };
    let at_least = |bound: f64| sign * value >= sign * bound;
    let weight = if at_least(rule.good) {
        ReasonWeight::For
    } else if at_least(rule.bad) {
        ReasonWeight::Caution
    } else {
        ReasonWeight::Against
    };
    let mut text = format!("{}: {shown}", rule.about);
    if weight != ReasonWeight::For {
        let _ = write!(text, "; {}", rule.advice);
    }
    Reason { weight, text }
}

/// Finished cells of a step in which the drive was measured (alone, unless the step is about several).
fn cells<'a>(
    run: &'a Run,
    step: &'a str,
    drive: usize,
) -> impl Iterator<Item = (&'a CellRecord, &'a CellDrive)> {
    run.cells
        .iter()
        .filter(move |c| {
            c.plan.step == step && (c.plan.drives.len() == 1 || c.plan.kind != CellKind::AllAboard)
        })
        .filter_map(move |c| {
            let d = c.drives.iter().find(|d| d.drive == drive)?;
            d.result.as_ref().map(|_| (c, d))
        })
}

/// MiB/s of each interval of a cell, ramp and incomplete last interval left out.
fn rates(drive: &CellDrive) -> Vec<f64> {
    let mut rates: Vec<(u32, f64)> = Vec::new();
    let longest = drive
        .series
        .iter()
        .map(|p| p.elapsed())
        .max()
        .unwrap_or_default();
    for point in drive
        .series
        .iter()
        .filter(|p| !p.ramp && p.elapsed().0 * 2 >= longest.0)
    {
        match rates.last_mut() {
            Some((index, rate)) if *index == point.index => *rate += point.mib_per_s(),
            _ => rates.push((point.index, point.mib_per_s())),
        }
    }
    rates.into_iter().map(|(_, rate)| rate).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The figure and how it is shown; `None` when it was not measured.
fn figure(rule: &Rule, run: &Run, drive: usize) -> Option<(f64, String)> {
    let step = rule.step.as_deref().unwrap_or_default();
    match rule.figure {
        Figure::BestRate | Figure::SingleRate => {
            let single = rule.figure == Figure::SingleRate;
            let best = cells(run, step, drive)
                .filter(|(c, _)| !single || c.plan.workload.numjobs == 1)
                .filter_map(|(c, d)| Some((d.result.as_ref()?.mib_per_s(), c)))
                .max_by(|(a, _), (b, _)| a.total_cmp(b))?;
            let w = &best.1.plan.workload;
            let shown = format!(
                "{:.0} MiB/s ({} blocks, {} {})",
                best.0,
                assay_units::text::format_size(w.bs_bytes),
                w.numjobs,
                if w.numjobs == 1 { "thread" } else { "threads" }
            );
            Some((best.0, shown))
        }
        Figure::SteadinessPct => {
            let rates = rates(cells(run, step, drive).next()?.1);
            let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
            let pct = slowest / mean(&rates) * 100.0;
            (rates.len() >= 3).then(|| {
                (
                    pct,
                    format!("the slowest second reached {pct:.0} % of the mean"),
                )
            })
        }
        Figure::EnduringPct => {
            let rates = rates(cells(run, step, drive).next()?.1);
            if rates.len() < 5 {
                return None;
            }
            let fifth = rates.len() / 5;
            let (first, last) = (mean(&rates[..fifth]), mean(&rates[rates.len() - fifth..]));
            let pct = last / first * 100.0;
            (first > 0.0).then(|| {
                (
                    pct,
                    format!("{first:.0} MiB/s at first, {last:.0} MiB/s at the end ({pct:.0} %)"),
                )
            })
        }
        Figure::P99Us => {
            let result = cells(run, step, drive).next()?.1.result.as_ref()?;
            let us = result.latency().p99 as f64 / 1e3;
            Some((us, format!("99 % of I/Os within {us:.0} us")))
        }
        Figure::ScalingPct => scaling(run, step, drive),
        Figure::HottestC => {
            let hottest = cells(run, step, drive)
                .flat_map(|(_, d)| d.telemetry.iter().filter_map(|t| t.temperature_c))
                .max_by(f64::total_cmp)?;
            Some((hottest, format!("{hottest:.0} degrees C")))
        }
        Figure::Errors => {
            let errors: u64 = run
                .cells
                .iter()
                .flat_map(|c| &c.drives)
                .filter(|d| d.drive == drive)
                .filter_map(|d| d.result.as_ref())
                .map(assay_store::model::CellResult::errors)
                .sum();
            Some((errors as f64, format!("{errors} failed")))
        }
    }
}

fn scaling(run: &Run, step: &str, drive: usize) -> Option<(f64, String)> {
    let points: Vec<(u64, u32, f64)> = cells(run, step, drive)
        .filter_map(|(c, d)| {
            let w = &c.plan.workload;
            Some((w.bs_bytes, w.numjobs, d.result.as_ref()?.mib_per_s()))
        })
        .collect();
    let fewest = points.iter().map(|p| p.1).min()?;
    let most = points.iter().map(|p| p.1).max()?;
    if fewest == most {
        return None;
    }
    let rate = |bs: u64, jobs: u32| {
        points
            .iter()
            .find(|p| p.0 == bs && p.1 == jobs)
            .map(|p| p.2)
    };
    let (pct, bs) = points
        .iter()
        .filter_map(|&(bs, ..)| Some((rate(bs, most)? / rate(bs, fewest)? * 100.0, bs)))
        .filter(|(pct, _)| pct.is_finite())
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let shown = format!(
        "{most} threads reach {pct:.0} % of the rate of {fewest} at {} blocks",
        assay_units::text::format_size(bs)
    );
    Some((pct, shown))
}
