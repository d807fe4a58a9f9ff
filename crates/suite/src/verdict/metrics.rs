//! Figures of verdict rules: value and text.

use assay_analysis::attribution::Throttling;
use assay_analysis::verified::worst_pass;
use assay_analysis::{attribution, knee, score, steady_state};
use assay_stats::consistency::Score;
use assay_stats::knee::DepthKnee;
use assay_store::model::{CellKind, CellResult, TelemetryRecord};
use assay_store::read::{CellDrive, CellRecord, CellState, Run};
use assay_store::series::IntervalSample;
use assay_units::text::{format_size, whole};

use super::VerdictSubject;
use crate::schema::{DatasheetFacts, VerdictMetric, VerdictRule};

/// A rule and the drive that it evaluates.
#[derive(Clone, Copy)]
pub(super) struct RuleInput<'a> {
    pub(super) rule: &'a VerdictRule,
    pub(super) subject: &'a VerdictSubject<'a>,
    pub(super) facts: Option<&'a DatasheetFacts>,
}

/// MiB/s of each measured interval of a cell.
fn rates(drive: &CellDrive) -> Vec<f64> {
    let samples = drive.measured_intervals();
    samples.iter().map(IntervalSample::mib_per_s).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
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

fn throttling_text(found: &Throttling) -> String {
    let at = match found.onset_c {
        Some(celsius) => format!("{celsius:.0} degrees C"),
        None => format!("second {:.0}", found.onset_s),
    };
    let period = found.period_s;
    let again = period.map_or(String::new(), |s| format!(", again every {s:.0} s"));
    let duty = found.duty_pct;
    format!("throttled from {at} on, slow for {duty:.0} % of the time{again}")
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

impl<'a> RuleInput<'a> {
    fn step(self) -> &'a str {
        self.rule.step.as_deref().unwrap_or_default()
    }

    /// Runs of the rule's suite, with the drive's index.
    fn runs(self) -> impl Iterator<Item = (&'a Run, usize)> {
        let suite = self.rule.suite.as_deref();
        let runs = self.subject.runs.iter().copied();
        runs.filter(move |(run, _)| suite.is_none_or(|suite| run.manifest.suite.name == suite))
    }

    /// Finished cells of the rule's step that measured the drive, each with its run.
    fn of_step(self) -> impl Iterator<Item = (&'a Run, &'a CellRecord, &'a CellDrive)> {
        self.runs()
            .flat_map(|(run, drive)| run.cells.iter().map(move |cell| (run, cell, drive)))
            .filter(move |(_, cell, _)| {
                let plan = &cell.plan;
                let alone = plan.drives.len() == 1 || plan.kind != CellKind::Concurrent;
                let foreground = plan.job.as_ref().is_none_or(|job| job.foreground);
                plan.step == self.step() && alone && foreground && cell.state == CellState::Finished
            })
            .filter_map(|(run, cell, drive)| Some((run, cell, cell.drive(drive)?)))
            .filter(|(_, _, part)| part.result.is_some())
    }

    /// Those without cells that claim steady state and were not, where the figure depends on it.
    fn cells(self) -> impl Iterator<Item = (&'a CellRecord, &'a CellDrive)> {
        let depends = depends_on_steady_state(self.rule.figure);
        let steady = move |(run, cell, part): &(&Run, &CellRecord, &CellDrive)| {
            !depends || steady_state::not_steady_reason(run, cell, part.drive).is_none()
        };
        let steady = self.of_step().filter(steady);
        steady.map(|(_, cell, part)| (cell, part))
    }

    /// Why the figure is missing, if the drive was not in steady state.
    pub(super) fn not_steady_reason(self) -> Option<String> {
        self.of_step()
            .find_map(|(run, cell, part)| steady_state::not_steady_reason(run, cell, part.drive))
    }

    /// The drive's part of every cell.
    fn all_cells(self) -> impl Iterator<Item = &'a CellDrive> {
        let runs = self.subject.runs.iter();
        runs.flat_map(|(run, drive)| run.cells.iter().filter_map(|cell| cell.drive(*drive)))
    }

    /// The figure and its text; `None` if not measured.
    pub(super) fn figure(self) -> Option<(f64, String)> {
        match self.rule.figure {
            VerdictMetric::BestRate | VerdictMetric::SingleRate => {
                let single = self.rule.figure == VerdictMetric::SingleRate;
                let (best, cell) = self
                    .cells()
                    .filter(|(c, _)| !single || c.plan.workload.numjobs == 1)
                    .filter_map(|(c, d)| Some((d.result.as_ref()?.mib_per_s(), c)))
                    .max_by(|(a, _), (b, _)| a.total_cmp(b))?;
                let (size, jobs) = (cell.plan.workload.bs_bytes, cell.plan.workload.numjobs);
                let threads = if jobs == 1 { "thread" } else { "threads" };
                let size = format_size(size);
                Some((
                    best,
                    format!("{} MiB/s ({size} blocks, {jobs} {threads})", whole(best)),
                ))
            }
            VerdictMetric::SteadinessPct => {
                let rates = rates(self.cells().next()?.1);
                let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
                let pct = slowest / mean(&rates) * 100.0;
                let text = format!("the slowest second reached {pct:.0} % of the mean");
                (rates.len() >= 3).then_some((pct, text))
            }
            VerdictMetric::EnduringPct => {
                let rates = rates(self.cells().next()?.1);
                if rates.len() < 5 {
                    return None;
                }
                let fifth = rates.len() / 5;
                let (first, last) = (mean(&rates[..fifth]), mean(&rates[rates.len() - fifth..]));
                let pct = last / first * 100.0;
                let text = format!(
                    "{} MiB/s at first, {} MiB/s at the end ({pct:.0} %)",
                    whole(first),
                    whole(last)
                );
                (first > 0.0).then_some((pct, text))
            }
            VerdictMetric::P99Us => {
                let result = self.cells().next()?.1.result.as_ref()?;
                let us = result.latency().p99 as f64 / 1e3;
                Some((us, format!("99 % of I/Os within {} \u{b5}s", whole(us))))
            }
            VerdictMetric::ScalingPct => self.scaling(),
            VerdictMetric::ThrottledPct => {
                let (found, seen_s) = self.throttling()?;
                Some(match found {
                    Some(found) => (found.duty_pct, throttling_text(&found)),
                    None => (0.0, format!("never throttled in {seen_s:.0} s")),
                })
            }
            VerdictMetric::ThrottledRatePct => {
                let (found, seen_s) = self.throttling()?;
                let Some(found) = found else {
                    return Some((100.0, format!("never throttled in {seen_s:.0} s")));
                };
                let before = found.before.map(|before| before.mib_per_s);
                let before = before.filter(|rate| *rate > 0.0)?;
                let after = found.after_mib_per_s;
                let pct = after / before * 100.0;
                let text = format!(
                    "{} MiB/s until it throttled, {} MiB/s on average while it did ({pct:.0} %)",
                    whole(before),
                    whole(after)
                );
                Some((pct, text))
            }
            VerdictMetric::HottestC => {
                let readings = self.cells().flat_map(|(_, d)| &d.telemetry);
                let hottest = readings
                    .filter_map(|t| t.temperature_c)
                    .max_by(f64::total_cmp)?;
                Some((hottest, format!("{hottest:.0} degrees C")))
            }
            VerdictMetric::Errors => {
                let results = || self.all_cells().filter_map(|d| d.result.as_ref());
                let errors: u64 = results().map(CellResult::errors).sum();
                let measured = errors > 0 || results().any(|r| r.ios() > 0);
                measured.then(|| (errors as f64, format!("{errors} failed")))
            }
            VerdictMetric::BestIops => {
                let rates = self
                    .cells()
                    .filter_map(|(_, d)| Some(d.result.as_ref()?.iops()));
                let best = rates.max_by(f64::total_cmp)?;
                Some((best, format!("{} IOPS", whole(best))))
            }
            VerdictMetric::ScoreIops => {
                let mean = self.score()?.mean;
                Some((mean, format!("{} IOPS in steady state", whole(mean))))
            }
            VerdictMetric::ScoreSteadiness => {
                let Score {
                    consistency, min, ..
                } = self.score()?;
                let Some(ratio) = consistency else {
                    return Some((f64::MAX, "no variation between seconds".to_owned()));
                };
                let text = format!(
                    "mean / standard deviation = {ratio:.1}; {} IOPS in the slowest second",
                    whole(min)
                );
                Some((ratio, text))
            }
            VerdictMetric::KneeIops => {
                let (knee, result) = self.knee()?;
                let iops = result.iops();
                Some((
                    iops,
                    format!("{} IOPS with {}", whole(iops), in_flight(&knee)),
                ))
            }
            VerdictMetric::KneeTailUs => {
                let (knee, result) = self.knee()?;
                let us = result.latency().p99_99 as f64 / 1e3;
                let depth = in_flight(&knee);
                Some((
                    us,
                    format!("99.99 % of I/Os within {} \u{b5}s with {depth}", whole(us)),
                ))
            }
            VerdictMetric::LoadKneePct => self.load_knee(),
            VerdictMetric::SteadyPct => self.steady(),
            VerdictMetric::BadBlocks => {
                let parts: Vec<&CellDrive> = match self.rule.step {
                    Some(_) => self.cells().map(|(_, d)| d).collect(),
                    None => self.all_cells().collect(),
                };
                let verified = |d: &&'a CellDrive| d.result.as_ref()?.verify.as_ref();
                let passes = parts.iter().filter_map(verified);
                let worst = worst_pass(passes.filter(|v| v.blocks_checked > 0))?;
                let (bad, checked) = (worst.bad_blocks, worst.summary.blocks_checked);
                let which = match worst.passes {
                    1 => String::new(),
                    n => format!(", in the worst of {n} passes"),
                };
                let text = format!("{bad} of {checked} blocks did not come back as written{which}");
                Some((bad as f64, text))
            }
            VerdictMetric::EnduranceTb => {
                let facts = self.facts?;
                let tb = facts.endurance_tb?;
                let class = facts.price_class.as_deref().unwrap_or("no price class");
                let text = format!("{tb:.0} TB written rated ({class}; {})", facts.source);
                Some((tb, text))
            }
        }
    }

    /// Throttling in the first cell of the step, and the observed time, seconds; `None` without a
    /// temperature sensor or throttling status.
    fn throttling(self) -> Option<(Option<Throttling>, f64)> {
        let (run, cell, part) = self.of_step().next()?;
        let is_thermal = |t: &TelemetryRecord| t.temperature_c.is_some() || t.throttled.is_some();
        if !part.telemetry.iter().any(is_thermal) {
            return None;
        }
        let observed = attribution::observe(run, cell, part.drive)?;
        let phases = attribution::phases(&observed);
        let (first, last) = (phases.first()?, phases.last()?);
        let found = attribution::throttling(&observed, &phases);
        Some((found, last.to_s - first.from_s))
    }

    /// The score of the first cell of the step.
    fn score(self) -> Option<Score> {
        Some(score::of(self.cells().next()?.1)?.score)
    }

    /// The first sweep's knee over depth, and the result there.
    fn knee(self) -> Option<(DepthKnee, &'a CellResult)> {
        let (run, drive, found) = self.runs().find_map(|(run, drive)| {
            let knee = knee::of_step(run, self.step(), drive).into_iter().next()?;
            Some((run, drive, knee))
        })?;
        let result = run.cells[found.cell].drive(drive)?.result.as_ref()?;
        Some((found.knee, result))
    }

    fn load_knee(self) -> Option<(f64, String)> {
        let (percent, knee) = self.runs().find_map(|(run, drive)| {
            let found = knee::of_load(run, self.step(), drive).into_iter().next()?;
            let load = run.cells[found.cell].plan.load.as_ref()?;
            Some((load.percent, found.knee))
        })?;
        let text = format!(
            "carries {percent:.0} % of its saturated rate ({} IOPS) with a mean latency of {} \
             \u{b5}s",
            whole(knee.offered),
            whole(knee.latency_ns / 1e3)
        );
        Some((percent, text))
    }

    /// Share of the step's tracking variables in steady state.
    fn steady(self) -> Option<(f64, String)> {
        let runs = self.subject.runs.iter();
        let all: Vec<_> = runs
            .flat_map(|(run, drive)| run.steady.iter().filter(move |s| s.drive == *drive))
            .filter(|s| s.step == self.step())
            .collect();
        let last_round = all.iter().map(|s| s.window.1).max()?;
        let steady = all.iter().filter(|s| s.achieved).count();
        let text = match all.iter().find_map(|s| s.why.as_ref()) {
            Some(why) => format!("not achieved: {why}"),
            None => format!("achieved in round {last_round}"),
        };
        Some((steady as f64 / all.len() as f64 * 100.0, text))
    }

    fn scaling(self) -> Option<(f64, String)> {
        let points: Vec<(u64, u32, f64)> = self
            .cells()
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
            let point = points.iter().find(|p| (p.0, p.1) == (bs, jobs));
            point.map(|p| p.2)
        };
        let (pct, bs) = points
            .iter()
            .filter_map(|&(bs, ..)| Some((rate(bs, most)? / rate(bs, fewest)? * 100.0, bs)))
            .filter(|(pct, _)| pct.is_finite())
            .max_by(|a, b| a.0.total_cmp(&b.0))?;
        let size = format_size(bs);
        let text =
            format!("{most} threads reach {pct:.0} % of the rate of {fewest} at {size} blocks");
        Some((pct, text))
    }
}
