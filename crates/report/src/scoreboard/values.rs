//! The value of a headline metric on one drive, with its interval.

use assay_analysis::attribution::Cause;
use assay_analysis::{deadlines, endurance};
use assay_stats::LatencySummary;
use assay_stats::confidence::{self, Estimate, LEVEL};
use assay_store::model::{CACHE_HIT_PCT, HeadlineFigure, HeadlineMetric};
use assay_store::series::IntervalSample;
use assay_units::{GIB, Nanos};

use super::Score;
use crate::grid::{Point, Section};
use crate::metric::ResultMetric;
use crate::tables::{
    capacity, consistency, drain, fill, jobs::interference_of, knee, load, power, predictive,
    recovery, rounds, saturation, stimulus, wake,
};

/// Fewest intervals of which the first and last fifth are compared.
const MIN_INTERVALS: usize = 5;

/// Position of the section with the metric's cells.
pub fn section(sections: &[Section<'_>], suite: &str, metric: &HeadlineMetric) -> Option<usize> {
    let selected = |p: &Point<'_>| is_of(p, suite) && metric.selects(p.plan());
    sections.iter().position(|s| s.points.iter().any(selected))
}

fn is_of(point: &Point<'_>, suite: &str) -> bool {
    point.set.runs[point.run].manifest.suite.name == suite
}

/// A value with the interval of a rate: predictive of a simulated drive, else of the mean's
/// estimate in `unit`.
fn rated(point: &Point<'_>, value: f64, estimate: Option<Estimate>, unit: f64) -> Score {
    let [rate, _] = predictive::of(point);
    let confidence = estimate.map(|e| [e.low / unit, e.high / unit]);
    Score {
        value,
        interval: rate.map(|f| f.of_rate(value)).or(confidence),
        predictive: rate.is_some(),
        ..Score::default()
    }
}

fn plain(value: f64) -> Score {
    Score {
        value,
        ..Score::default()
    }
}

fn rates(point: &Point<'_>) -> Vec<f64> {
    let samples = point.measured_intervals();
    samples.iter().map(IntervalSample::mib_per_s).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The first and the last fifth of the intervals' rates.
fn fifths(point: &Point<'_>) -> Option<(Vec<f64>, Vec<f64>)> {
    let rates = rates(point);
    let fifth = rates.len() / 5;
    let last = rates.len() - fifth;
    (rates.len() >= MIN_INTERVALS).then(|| (rates[..fifth].to_vec(), rates[last..].to_vec()))
}

/// A percentile with its interval; `None` with fewer samples than it needs.
fn percentile(point: &Point<'_>, of: fn(&LatencySummary) -> u64, needed: u64) -> Option<Score> {
    let latency = point.result()?.latency();
    if latency.samples < needed.max(1) {
        return None;
    }
    let value = of(latency) as f64 / 1e3;
    // A percentile has no confidence interval within a run.
    let [_, factors] = predictive::of(point);
    Some(Score {
        value,
        interval: factors.map(|f| f.of_rate(value)),
        predictive: factors.is_some(),
        ..Score::default()
    })
}

/// A latency of flushes, microseconds; `None` with fewer samples than it needs.
fn flush_us(point: &Point<'_>, of: fn(&LatencySummary) -> u64, needed: u64) -> Option<f64> {
    let latency = &point.result()?.flush.latency_ns;
    (latency.samples >= needed).then(|| of(latency) as f64 / 1e3)
}

/// The metric of a drive; `None` where it was not measured.
pub fn score(section: &Section<'_>, metric: &HeadlineMetric, drive: usize) -> Option<Score> {
    let points = section.of_drive(drive).filter(|p| metric.selects(p.plan()));
    let points: Vec<&Point<'_>> = points.filter(|p| p.data.is_some()).collect();
    let first = *points.first()?;
    let (point, score) = by_figure(section, metric.figure, &points)?;
    let point = point.unwrap_or(first);
    score.value.is_finite().then(|| Score {
        mark: point.remark().map(|(short, _)| short.to_owned()),
        cell: point.plan().id.clone(),
        ..score
    })
}

type Found<'s, 'a> = (Option<&'s Point<'a>>, Score);

/// The point with the largest value, and that value's score.
fn largest<'s, 'a>(
    points: &[&'s Point<'a>],
    of: impl Fn(&Point<'a>) -> Option<Score>,
) -> Option<Found<'s, 'a>> {
    let scored = points.iter().filter_map(|p| Some((Some(*p), of(p)?)));
    scored.max_by(|a, b| a.1.value.total_cmp(&b.1.value))
}

fn by_figure<'s, 'a>(
    section: &Section<'a>,
    figure: HeadlineFigure,
    points: &[&'s Point<'a>],
) -> Option<Found<'s, 'a>> {
    use HeadlineFigure as F;
    let first = *points.first()?;
    let of_first = |score: Score| Some((None, score));
    let rate = |metric: ResultMetric| {
        move |p: &Point<'_>| {
            let estimates = p.estimates();
            let estimate = if metric.unit == "IOPS" {
                estimates.iops.ok()
            } else {
                estimates.mib_per_s.ok()
            };
            Some(rated(p, metric.of(p.result()?)?, estimate, 1.0))
        }
    };
    let found = match figure {
        F::MibPerS => return largest(points, rate(ResultMetric::BANDWIDTH)),
        F::Iops => return largest(points, rate(ResultMetric::IOPS)),
        F::MibPerJoule => {
            return largest(points, |p| {
                let watts = power::mean_watts(p).filter(|w| *w > 0.0)?;
                Some(plain(p.result()?.mib_per_s() / watts))
            });
        }
        F::TemperatureMaxC => {
            return largest(points, |p| {
                let degrees = p.data?.telemetry.iter().filter_map(|t| t.temperature_c);
                degrees.reduce(f64::max).map(plain)
            });
        }
        F::DataRatio => {
            return largest(points, |p| {
                let values = p.result()?.values.iter();
                let mut ratios = values.filter(|(key, _)| key.starts_with("ratio_to_"));
                ratios.next().map(|(_, ratio)| plain(*ratio))
            });
        }
        F::SharedPct => {
            return largest(points, |p| {
                let alone = p.alone.as_deref()?.result()?.mib_per_s();
                let shared = p.result()?.mib_per_s();
                (alone > 0.0).then(|| plain(100.0 * shared / alone))
            });
        }
        F::MeanUs => {
            let value = ResultMetric::MEAN.of(first.result()?)?;
            let estimate = first.estimates().latency_mean_ns.ok();
            let range = predictive::range(first, ResultMetric::MEAN);
            Score {
                value,
                interval: range.or(estimate.map(|e| [e.low / 1e3, e.high / 1e3])),
                predictive: range.is_some(),
                ..Score::default()
            }
        }
        F::P50Us => percentile(first, |l| l.p50, 1)?,
        F::P99Us => percentile(first, |l| l.p99, 100)?,
        F::P999Us => percentile(first, |l| l.p99_9, 1_000)?,
        F::P9999Us => percentile(first, |l| l.p99_99, 10_000)?,
        F::LastMibPerS => {
            let (_, last) = fifths(first)?;
            rated(first, mean(&last), confidence::mean(&last, LEVEL).ok(), 1.0)
        }
        F::HeldPct => {
            let (began, ended) = fifths(first)?;
            plain(100.0 * mean(&ended) / mean(&began))
        }
        F::SlowestPct => {
            let rates = rates(first);
            let slowest = rates.iter().copied().reduce(f64::min)?;
            plain(100.0 * slowest / mean(&rates))
        }
        F::CacheGib => {
            let mut causes = first.phases().iter().map(|p| &p.cause);
            plain(causes.find_map(|cause| match cause {
                Cause::SlcCacheExhausted { cache_bytes } => Some(*cache_bytes as f64 / GIB as f64),
                _ => None,
            })?)
        }
        F::PowerW => plain(power::mean_watts(first)?),
        F::ScoreIops => {
            let score = consistency::score(first)?.score;
            rated(first, score.mean, None, 1.0)
        }
        F::ScoreSteadiness => plain(consistency::score(first)?.score.consistency?),
        F::KneeIops => {
            let series = section.series();
            let own = series.iter().find(|s| s[0].drive == first.drive)?;
            let point = own[knee::index(own)?];
            rated(
                point,
                point.result()?.iops(),
                point.estimates().iops.ok(),
                1.0,
            )
        }
        F::LoadKneePct => {
            let loads = load::loads(section);
            let own = loads.iter().find(|o| o[0].point.drive == first.drive)?;
            plain(own[load::knee(own)?].percent)
        }
        F::WindowIops => window(section, first, 0)?,
        F::WindowMibPerS => window(section, first, 1)?,
        F::WindowMeanUs => window(section, first, 2)?,
        F::RecoveredPct => plain(recovery::segment(first)?.recovery_pct()?),
        F::LevelMibPerS => {
            let level = stimulus::of(first)?.level_mib_per_s;
            rated(first, level, None, 1.0)
        }
        F::SettledS => plain(stimulus::of(first)?.settled_s?),
        F::LevelKeptPct => plain(stimulus::recovered_pct(first)?),
        F::OfEmptyPct => plain(fill::effect(first)?.of_empty_pct?),
        F::WakeUs => {
            let idle = |p: &&&Point<'_>| p.plan().workload.idle_before_io_ns;
            let longest = *points.iter().max_by_key(idle)?;
            let added_ns = wake::of(longest)?.added_p50_ns?;
            return Some((Some(longest), plain(added_ns / 1e3)));
        }
        F::TimeToSteadyS => plain(saturation::time_to_steady(first)?.ok()?.seconds),
        F::CapacitiesToSteady => plain(saturation::time_to_steady(first)?.ok()?.capacities?),
        F::P99Slowdown => plain(interference_of(first)?.p99?),
        F::P9999Slowdown => plain(interference_of(first)?.p99_99?),
        F::MissesPerMillion => {
            let last = *points.last()?;
            let deadline = Nanos(*last.plan().deadlines_ns.first()?);
            let misses = deadlines::of_all(last.data?, deadline)?;
            return Some((Some(last), plain(misses.per_million())));
        }
        F::DrainS => {
            let drains = points.iter().filter_map(|p| drain::of(p));
            plain(drains.map(|drain| drain.seconds).reduce(f64::max)?)
        }
        F::FlushP50Us => plain(flush_us(first, |l| l.p50, 1)?),
        F::FlushP99Us => plain(flush_us(first, |l| l.p99, 100)?),
        F::KeptIopsPct => plain(interference_of(first)?.kept_iops_pct?),
        F::CacheHitPct => {
            let last = *points.last()?;
            let percent = *last.result()?.values.get(CACHE_HIT_PCT)?;
            return Some((Some(last), plain(percent)));
        }
        F::WriteAmplification => {
            let run = &first.set.runs[first.run];
            plain(
                endurance::of_cell(run, first.cell, first.data?)?
                    .ok()?
                    .factor,
            )
        }
        F::WindowWriteAmplification => {
            let rounds = rounds::of_section(section);
            let own = rounds.iter().find(|r| r.drive == first.drive)?;
            let run = &first.set.runs[first.run];
            let found = endurance::of_window(run, first.index, section.step, own.window)?.ok()?;
            plain(found.factor)
        }
        F::BadBlocks => {
            let verified = |p: &&&Point<'_>| p.result().is_some_and(|r| r.verify.is_some());
            points.iter().find(verified)?;
            plain(
                points
                    .iter()
                    .map(|p| capacity::bad_blocks_of(p) as f64)
                    .sum(),
            )
        }
    };
    of_first(found)
}

/// The mean over the measurement window of a figure of rounds ([`ResultMetric::OF_ROUNDS`]).
fn window(section: &Section<'_>, point: &Point<'_>, figure: usize) -> Option<Score> {
    let rounds = rounds::of_section(section);
    let own = rounds.iter().find(|r| r.drive == point.drive)?;
    let value = own.over_window(point.row, point.column, &ResultMetric::OF_ROUNDS[figure])?;
    let mut score = rated(point, value, None, 1.0);
    if figure == 2 {
        let [rate, _] = predictive::of(point);
        score.interval = rate.map(|f| f.of_mean_latency(value));
    }
    Some(score)
}
