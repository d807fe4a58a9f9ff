//! Figures of verdict rules: value and text.

use assay_analysis::attribution::Throttling;
use assay_analysis::verified::worst_pass;
use assay_analysis::{attribution, knee, score, steady_state};
use assay_stats::consistency::Score;
use assay_stats::knee::DepthKnee;
use assay_store::model::{CellKind, TelemetryRecord};
use assay_store::read::{CellDrive, CellRecord, CellState, Run};
use assay_store::series::IntervalSample;

use super::VerdictSubject;
use crate::schema::{DatasheetFacts, VerdictMetric, VerdictRule};

/// Finished cells of the rule's step that measured the drive, without cells that claim steady state and were not.
fn cells<'a>(
    rule: &'a VerdictRule,
    subject: &'a VerdictSubject<'_>,
) -> impl Iterator<Item = (&'a CellRecord, &'a CellDrive)> {
    of_step(rule, subject)
        .filter(|(run, cell, d)| {
            !depends_on_steady_state(rule.figure)
                || steady_state::not_steady_reason(run, cell, d.drive).is_none()
        })
        .map(|(_, cell, d)| (cell, d))
}

/// Whether the figure depends on steady state.
fn depends_on_steady_state(figure: VerdictMetric) -> bool {
    !matches!(
        figure,
        VerdictMetric::Errors
            | VerdictMetric::BadBlocks
            | VerdictMetric::HottestC
            | VerdictMetric::ThrottledPct
            | VerdictMetric::ThrottledRatePct
            | VerdictMetric::EnduringPct
    )
}

/// Why the figure is missing, if the drive was not in steady state.
pub(super) fn not_steady_reason(
    rule: &VerdictRule,
    subject: &VerdictSubject<'_>,
) -> Option<String> {
    of_step(rule, subject)
        .find_map(|(run, cell, d)| steady_state::not_steady_reason(run, cell, d.drive))
}

/// Finished cells of the rule's step, each with its run.
fn of_step<'a>(
    rule: &'a VerdictRule,
    subject: &'a VerdictSubject<'_>,
) -> impl Iterator<Item = (&'a Run, &'a CellRecord, &'a CellDrive)> {
    let step = rule.step.as_deref().unwrap_or_default();
    let suite = rule.suite.as_deref();
    subject
        .runs
        .iter()
        .filter(move |(run, _)| suite.is_none_or(|suite| run.manifest.suite.name == suite))
        .flat_map(|(run, drive)| run.cells.iter().map(move |cell| (*run, cell, *drive)))
        .filter(move |(_, c, _)| {
            c.plan.step == step && (c.plan.drives.len() == 1 || c.plan.kind != CellKind::Concurrent)
        })
        .filter_map(|(run, c, drive)| {
            let d = c.drives.iter().find(|d| d.drive == drive)?;
            let finished = c.state == CellState::Finished;
            d.result.as_ref().filter(|_| finished).map(|_| (run, c, d))
        })
}

/// MiB/s of each measured interval of a cell.
fn rates(drive: &CellDrive) -> Vec<f64> {
    let samples = drive.measured_intervals();
    samples.iter().map(IntervalSample::mib_per_s).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The figure and its text; `None` if not measured.
pub(super) fn figure(
    rule: &VerdictRule,
    subject: &VerdictSubject<'_>,
    facts: Option<&DatasheetFacts>,
) -> Option<(f64, String)> {
    match rule.figure {
        VerdictMetric::BestRate | VerdictMetric::SingleRate => {
            let single = rule.figure == VerdictMetric::SingleRate;
            let best = cells(rule, subject)
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
        VerdictMetric::SteadinessPct => {
            let rates = rates(cells(rule, subject).next()?.1);
            let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
            let pct = slowest / mean(&rates) * 100.0;
            (rates.len() >= 3).then(|| {
                (
                    pct,
                    format!("the slowest second reached {pct:.0} % of the mean"),
                )
            })
        }
        VerdictMetric::EnduringPct => {
            let rates = rates(cells(rule, subject).next()?.1);
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
        VerdictMetric::P99Us => {
            let result = cells(rule, subject).next()?.1.result.as_ref()?;
            let us = result.latency().p99 as f64 / 1e3;
            Some((us, format!("99 % of I/Os within {us:.0} us")))
        }
        VerdictMetric::ScalingPct => scaling(rule, subject),
        VerdictMetric::ThrottledPct => {
            let (found, seen_s) = throttling_of(rule, subject)?;
            Some(match found {
                Some(found) => (found.duty_pct, throttling_text(&found)),
                None => (0.0, format!("never throttled in {seen_s:.0} s")),
            })
        }
        VerdictMetric::ThrottledRatePct => {
            let (found, seen_s) = throttling_of(rule, subject)?;
            let Some(found) = found else {
                return Some((100.0, format!("never throttled in {seen_s:.0} s")));
            };
            let before = found.before.map(|before| before.mib_per_s);
            let before = before.filter(|rate| *rate > 0.0)?;
            let pct = found.after_mib_per_s / before * 100.0;
            let text = format!(
                "{before:.0} MiB/s until it throttled, {:.0} MiB/s on average while it did ({pct:.0} %)",
                found.after_mib_per_s
            );
            Some((pct, text))
        }
        VerdictMetric::HottestC => {
            let hottest = cells(rule, subject)
                .flat_map(|(_, d)| d.telemetry.iter().filter_map(|t| t.temperature_c))
                .max_by(f64::total_cmp)?;
            Some((hottest, format!("{hottest:.0} degrees C")))
        }
        VerdictMetric::Errors => {
            let results = || all_cells(subject).filter_map(|d| d.result.as_ref());
            let errors: u64 = results().map(assay_store::model::CellResult::errors).sum();
            let measured = errors > 0 || results().any(|r| r.read.ios + r.write.ios > 0);
            measured.then(|| (errors as f64, format!("{errors} failed")))
        }
        VerdictMetric::BestIops => {
            let rates = cells(rule, subject).filter_map(|(_, d)| Some(d.result.as_ref()?.iops()));
            let best = rates.max_by(f64::total_cmp)?;
            Some((best, format!("{best:.0} IOPS")))
        }
        VerdictMetric::ScoreIops => {
            let score = score_of(rule, subject)?;
            let text = format!("{:.0} IOPS in steady state", score.mean);
            Some((score.mean, text))
        }
        VerdictMetric::ScoreSteadiness => {
            let score = score_of(rule, subject)?;
            Some(match score.consistency {
                Some(ratio) => (
                    ratio,
                    format!(
                        "mean / standard deviation = {ratio:.1}; {:.0} IOPS in the slowest second",
                        score.min
                    ),
                ),
                None => (f64::MAX, "no variation between seconds".to_owned()),
            })
        }
        VerdictMetric::KneeIops => {
            let (knee, d) = knee_of(rule, subject)?;
            let iops = d.result.as_ref()?.iops();
            Some((iops, format!("{iops:.0} IOPS with {}", in_flight(&knee))))
        }
        VerdictMetric::KneeTailUs => {
            let (knee, d) = knee_of(rule, subject)?;
            let us = d.result.as_ref()?.latency().p99_99 as f64 / 1e3;
            let text = format!(
                "99.99 % of I/Os within {us:.0} us with {}",
                in_flight(&knee)
            );
            Some((us, text))
        }
        VerdictMetric::LoadKneePct => load_knee_of(rule, subject),
        VerdictMetric::SteadyPct => steady(rule, subject),
        VerdictMetric::BadBlocks => {
            let of_it: Vec<&CellDrive> = match rule.step {
                Some(_) => cells(rule, subject).map(|(_, d)| d).collect(),
                None => all_cells(subject).collect(),
            };
            let passes = of_it
                .into_iter()
                .filter_map(|d| d.result.as_ref()?.verify.as_ref())
                .filter(|v| v.blocks_checked > 0);
            let worst = worst_pass(passes)?;
            let (bad, checked) = (worst.bad_blocks, worst.summary.blocks_checked);
            let which = match worst.passes {
                1 => String::new(),
                n => format!(", in the worst of {n} passes"),
            };
            let text = format!("{bad} of {checked} blocks did not come back as written{which}");
            Some((bad as f64, text))
        }
        VerdictMetric::EnduranceTb => {
            let facts = facts?;
            let tb = facts.endurance_tb?;
            let class = facts.price_class.as_deref().unwrap_or("no price class");
            let text = format!("{tb:.0} TB written rated ({class}; {})", facts.source);
            Some((tb, text))
        }
    }
}

/// Throttling in the first cell of the step, and the observed time, seconds; `None` without a temperature sensor or throttling status.
fn throttling_of(
    rule: &VerdictRule,
    subject: &VerdictSubject<'_>,
) -> Option<(Option<Throttling>, f64)> {
    let (run, cell, part) = of_step(rule, subject).next()?;
    let has_thermal_data = |t: &TelemetryRecord| t.temperature_c.is_some() || t.throttled.is_some();
    if !part.telemetry.iter().any(has_thermal_data) {
        return None;
    }
    let watched = attribution::observe(run, cell, part.drive)?;
    let phases = attribution::phases(&watched);
    let (first, last) = (phases.first()?, phases.last()?);
    let found = attribution::throttling(&watched, &phases);
    Some((found, last.to_s - first.from_s))
}

fn throttling_text(found: &Throttling) -> String {
    let at = match found.onset_c {
        Some(celsius) => format!("{celsius:.0} degrees C"),
        None => format!("second {:.0}", found.onset_s),
    };
    let again = match found.period_s {
        Some(period_s) => format!(", again every {period_s:.0} s"),
        None => String::new(),
    };
    format!(
        "throttled from {at} on, slow for {:.0} % of the time{again}",
        found.duty_pct
    )
}

/// The score of the first cell of the step.
fn score_of(rule: &VerdictRule, subject: &VerdictSubject<'_>) -> Option<Score> {
    let (_, drive) = cells(rule, subject).next()?;
    Some(score::of(drive)?.score)
}

/// Runs of the rule's suite, with the drive's index, and the step.
fn runs_of<'a>(
    rule: &'a VerdictRule,
    subject: &'a VerdictSubject<'_>,
) -> impl Iterator<Item = (&'a Run, usize, &'a str)> {
    let step = rule.step.as_deref().unwrap_or_default();
    let suite = rule.suite.as_deref();
    let runs = subject.runs.iter();
    runs.filter(move |(run, _)| suite.is_none_or(|suite| run.manifest.suite.name == suite))
        .map(move |(run, drive)| (*run, *drive, step))
}

/// Text of a knee's depth.
fn in_flight(knee: &DepthKnee) -> String {
    let rising = if knee.still_rising {
        ", still rising at the end of the sweep"
    } else {
        ""
    };
    format!("{} in flight{rising}", knee.depth)
}

/// The cell at the knee of the first sweep over depth, and that knee.
fn knee_of<'a>(
    rule: &'a VerdictRule,
    subject: &'a VerdictSubject<'_>,
) -> Option<(DepthKnee, &'a CellDrive)> {
    let (run, drive, found) = runs_of(rule, subject).find_map(|(run, drive, step)| {
        let knee = knee::of_step(run, step, drive).into_iter().next()?;
        Some((run, drive, knee))
    })?;
    let part = run.cells[found.cell].drives.iter();
    let part = part.into_iter().find(|d| d.drive == drive)?;
    Some((found.knee, part))
}

fn load_knee_of(rule: &VerdictRule, subject: &VerdictSubject<'_>) -> Option<(f64, String)> {
    let (percent, knee) = runs_of(rule, subject).find_map(|(run, drive, step)| {
        let found = knee::of_load(run, step, drive).into_iter().next()?;
        let load = run.cells[found.cell].plan.load.as_ref()?;
        Some((load.percent, found.knee))
    })?;
    let text = format!(
        "carries {percent:.0} % of its saturated rate ({:.0} IOPS) with a mean latency of {:.0} us",
        knee.offered,
        knee.latency_ns / 1e3
    );
    Some((percent, text))
}

/// Share of the step's tracking variables in steady state.
fn steady(rule: &VerdictRule, subject: &VerdictSubject<'_>) -> Option<(f64, String)> {
    let step = rule.step.as_deref().unwrap_or_default();
    let all: Vec<_> = subject
        .runs
        .iter()
        .flat_map(|(run, drive)| run.steady.iter().filter(move |s| s.drive == *drive))
        .filter(|s| s.step == step)
        .collect();
    let steady = all.iter().filter(|s| s.achieved).count();
    let percent = steady as f64 / all.len() as f64 * 100.0;
    let text = match all.iter().find_map(|s| s.why.as_ref()) {
        Some(why) => format!("not achieved: {why}"),
        None => format!(
            "achieved in round {}",
            all.iter().map(|s| s.window.1).max().unwrap_or(0)
        ),
    };
    (!all.is_empty()).then_some((percent, text))
}

/// The drive's results in every cell.
fn all_cells<'a>(subject: &'a VerdictSubject<'_>) -> impl Iterator<Item = &'a CellDrive> {
    let runs = subject.runs.iter();
    runs.flat_map(|(run, drive)| run.cells.iter().map(move |cell| (cell, *drive)))
        .flat_map(|(cell, drive)| cell.drives.iter().filter(move |d| d.drive == drive))
}

fn scaling(rule: &VerdictRule, subject: &VerdictSubject<'_>) -> Option<(f64, String)> {
    let points: Vec<(u64, u32, f64)> = cells(rule, subject)
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
