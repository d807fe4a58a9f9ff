//! Health of a drive over its runs. Runs of one serial and model are sorted by date. Counters over
//! a life can only grow: where one decreases from one run to the next, it is another drive of that
//! serial, or its log was reset, and growth is counted anew from there ([`TrendWarning`]).
//! Simulated drives begin each run anew and have no trend. The projection is a line through
//! Percentage Used over the dates (least squares), extended to 100 %; it assumes that the drive is
//! used as before. Percentage Used counts whole per cent, so its growth is known to less than one:
//! that gives the earliest and the latest date. There is none of fewer than [`MIN_RUNS`] runs or a
//! growth of less than [`MIN_GROWTH_PCT`].

use std::collections::BTreeMap;

use assay_store::model::TelemetryRecord;
use assay_store::read::Run;

use crate::endurance::{Growth, Origins, amplification, origins};

/// A projection needs this number of runs.
pub const MIN_RUNS: usize = 4;
/// Percentage Used must grow by this for a projection: its error is then at most a fifth.
pub const MIN_GROWTH_PCT: f64 = 5.0;
const DAY_S: f64 = 86_400.0;
/// Percentage Used counts whole per cent.
const USED_STEP_PCT: f64 = 1.0;
/// Later dates say only that wear is slow.
const FARTHEST_DAYS: f64 = 36_525.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HealthReading {
    pub used_pct: Option<u64>,
    pub spare_pct: Option<u64>,
    pub host_bytes: Option<u64>,
    pub media_bytes: Option<u64>,
    pub media_errors: Option<u64>,
    pub bad_blocks: Option<u64>,
    /// Mean of a block of user data; of drives that do not report it, the most.
    pub erases: Option<u64>,
    pub power_on_hours: Option<u64>,
}

impl HealthReading {
    fn new(record: &TelemetryRecord) -> HealthReading {
        HealthReading {
            used_pct: record.percentage_used.map(u64::from),
            spare_pct: record.available_spare_pct.map(u64::from),
            host_bytes: record.host_bytes_written,
            media_bytes: record.nand_bytes_written,
            media_errors: record.media_errors,
            bad_blocks: record.bad_blocks,
            erases: record.erases_mean.or(record.erases_most),
            power_on_hours: record.power_on_hours,
        }
    }
}

/// Never decrease over the life of a drive.
type LifeCounter = (&'static str, fn(&HealthReading) -> Option<u64>);

/// Compared from run to run.
const LIFE_COUNTERS: [LifeCounter; 7] = [
    ("bytes written by the host", |r| r.host_bytes),
    ("bytes written to the media", |r| r.media_bytes),
    ("power-on hours", |r| r.power_on_hours),
    ("media errors", |r| r.media_errors),
    ("bad blocks", |r| r.bad_blocks),
    ("erases", |r| r.erases),
    ("Percentage Used", |r| r.used_pct),
];

#[derive(Clone, Debug, PartialEq)]
pub struct HealthPoint {
    pub run: usize,
    /// RFC 3339.
    pub date: String,
    /// Seconds since 1970.
    pub at_s: f64,
    pub first: HealthReading,
    pub last: HealthReading,
    /// Media over host bytes from the last reading of the run before to the last one of this run.
    pub amplification_since: Option<f64>,
    origins: Option<Origins>,
}

impl HealthPoint {
    /// Media over host bytes.
    pub fn amplification_of_life(&self) -> Option<f64> {
        self.ratio(self.last.media_bytes?, self.last.host_bytes?)
    }

    /// `None` where the steps of the counters leave it open (those of a young drive).
    fn ratio(&self, media_bytes: u64, host_bytes: u64) -> Option<f64> {
        let growth = Growth { host_bytes, media_bytes, pairs: 1 };
        let found = amplification(growth, self.origins.as_ref()?);
        found.ok().map(|found| found.factor)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct TrendWarning {
    pub message: String,
    pub advice: &'static str,
}

impl TrendWarning {
    pub const CODE: &'static str = "health-counter-decreased";
}

/// When the rated life would be used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    /// Growth of Percentage Used.
    pub pct_per_day: f64,
    /// When Percentage Used is 100 %, seconds since 1970; `None` beyond a century.
    pub at_s: Option<f64>,
    /// Date with the largest growth that the steps of Percentage Used permit.
    pub earliest_s: Option<f64>,
    /// Date with the least growth that they permit.
    pub latest_s: Option<f64>,
}

/// `2031-05-17`; `None` beyond the calendar's range.
pub fn day(at_s: f64) -> Option<String> {
    let at = jiff::Timestamp::from_second(at_s as i64).ok()?;
    Some(at.strftime("%Y-%m-%d").to_string())
}

#[derive(Clone, Debug, PartialEq)]
pub struct HealthTrend {
    pub model: String,
    pub serial: String,
    pub points: Vec<HealthPoint>,
    /// First point since which no counter decreased.
    pub since: usize,
    pub warnings: Vec<TrendWarning>,
    /// Or why there is none.
    pub projection: Result<Projection, String>,
}

/// Trends of drives with two or more runs with health readings, by model and serial.
pub fn health_trends(runs: &[Run]) -> Vec<HealthTrend> {
    let mut drives: BTreeMap<(&str, &str), Vec<HealthPoint>> = BTreeMap::new();
    for (position, run) in runs.iter().enumerate() {
        for (index, drive) in run.manifest.drives.iter().enumerate() {
            if drive.simulated || drive.serial.is_empty() {
                continue;
            }
            let points = drives.entry((&drive.model, &drive.serial)).or_default();
            points.extend(point(run, position, index));
        }
    }
    drives
        .into_iter()
        .filter(|(_, points)| points.len() > 1)
        .map(|((model, serial), points)| trend(model, serial, points))
        .collect()
}

fn point(run: &Run, position: usize, index: usize) -> Option<HealthPoint> {
    let began = run.attempts.first().map(|attempt| attempt.began.as_str());
    let date = began.unwrap_or(&run.manifest.created);
    let at: jiff::Timestamp = date.parse().ok()?;
    let parts = run.cells.iter().filter_map(|cell| cell.drive(index));
    // Without a health log there is at most a temperature.
    let mut readings =
        parts.flat_map(|part| &part.telemetry).filter(|reading| reading.percentage_used.is_some());
    let first = HealthReading::new(readings.next()?);
    let last = readings.next_back().map_or(first, HealthReading::new);
    Some(HealthPoint {
        run: position,
        date: date.to_owned(),
        at_s: at.as_millisecond() as f64 / 1e3,
        first,
        last,
        amplification_since: None,
        origins: run.manifest.drives.get(index).and_then(origins),
    })
}

fn trend(model: &str, serial: &str, mut points: Vec<HealthPoint>) -> HealthTrend {
    points.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    let (mut since, mut warnings) = (0, Vec::new());
    for later in 1..points.len() {
        let before = points[later - 1].clone();
        let after = &mut points[later];
        let decreased = LIFE_COUNTERS.iter().filter_map(|(name, of)| {
            let (was, is) = of(&before.last).zip(of(&after.first))?;
            (is < was).then(|| format!("{name} from {was} to {is}"))
        });
        let decreased: Vec<String> = decreased.collect();
        if !decreased.is_empty() {
            since = later;
            warnings.push(TrendWarning {
                message: format!(
                    "counters of {model} {serial} decreased between the runs of {} and {}: {}",
                    before.date,
                    after.date,
                    decreased.join(", ")
                ),
                advice: "counters over a life never decrease: check that both runs are of the \
                         same drive, and whether its log was reset (by a firmware update or a \
                         return to the factory); growth is counted anew from the later run",
            });
            continue;
        }
        let grown = |of: fn(&HealthReading) -> Option<u64>| {
            let (was, is) = of(&before.last).zip(of(&after.last))?;
            is.checked_sub(was)
        };
        let grown = grown(|r| r.media_bytes).zip(grown(|r| r.host_bytes));
        after.amplification_since = grown.and_then(|(media, host)| after.ratio(media, host));
    }
    let projection = project(&points[since..]);
    HealthTrend {
        model: model.to_owned(),
        serial: serial.to_owned(),
        points,
        since,
        warnings,
        projection,
    }
}

fn project(points: &[HealthPoint]) -> Result<Projection, String> {
    if points.len() < MIN_RUNS {
        return Err(format!(
            "no projection of {} runs: at least {MIN_RUNS} are needed",
            points.len()
        ));
    }
    let used = |point: &HealthPoint| Some((point.at_s / DAY_S, point.last.used_pct? as f64));
    let used: Vec<(f64, f64)> = points.iter().filter_map(used).collect();
    let (Some(first), Some(last)) = (used.first(), used.last()) else {
        return Err("no projection: the drive does not report Percentage Used".to_owned());
    };
    let grown = last.1 - first.1;
    if grown < MIN_GROWTH_PCT {
        return Err(format!(
            "no projection: Percentage Used grew by {grown:.0} %, at least {MIN_GROWTH_PCT:.0} \
             are needed, because it counts whole per cent"
        ));
    }
    let count = used.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| used.iter().map(of).sum::<f64>() / count;
    let (mid_day, mid_used) = (mean(|p| p.0), mean(|p| p.1));
    let squares: f64 = used.iter().map(|p| (p.0 - mid_day).powi(2)).sum();
    let products: f64 = used.iter().map(|p| (p.0 - mid_day) * (p.1 - mid_used)).sum();
    let pct_per_day = products / squares;
    if squares <= 0.0 || pct_per_day <= 0.0 {
        return Err("no projection: Percentage Used does not grow with the date".to_owned());
    }
    // The date at which a line through the middle of the points is at 100 %.
    let at = |slope: f64| {
        let day = mid_day + (100.0 - mid_used) / slope;
        (day - last.0 <= FARTHEST_DAYS).then_some(day * DAY_S)
    };
    let error = USED_STEP_PCT / (last.0 - first.0);
    Ok(Projection {
        pct_per_day,
        at_s: at(pct_per_day),
        earliest_s: at(pct_per_day + error),
        latest_s: Some(pct_per_day - error).filter(|slope| *slope > 0.0).and_then(at),
    })
}

#[cfg(test)]
#[path = "../tests/unit/health_trend.rs"]
mod tests;
