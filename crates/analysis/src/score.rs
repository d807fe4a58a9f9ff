//! The consistency score of a cell: how even its rate was at the end.

use assay_stats::consistency::{self, Score};
use assay_store::read::CellDrive;

use crate::series;

/// The procedure's length, seconds (AnandTech, "Plextor M8Pe", 15 Dec 2016).
pub const HOUR_S: f64 = 3600.0;
/// The part at its end that is scored, seconds.
pub const SCORED_S: f64 = 400.0;

/// A score and the part of the cell it is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellScore {
    /// Of the per-interval IOPS.
    pub score: Score,
    /// Where the scored part begins, seconds since the cell's start.
    pub from_s: f64,
    /// Where it ends.
    pub to_s: f64,
    /// The cell was shorter than the hour of the procedure, and so is the part that is scored: a ninth of it.
    pub shortened: bool,
}

/// The score over the last 400 s of an hour or more, and of a shorter cell over its last ninth (the same share). `None` with fewer than two
/// intervals in that part.
pub fn of(drive: &CellDrive) -> Option<CellScore> {
    let seconds = series::seconds(drive);
    let (first, last) = (seconds.first()?, seconds.last()?);
    let end = last.start_s + last.elapsed_s;
    let length = end - first.start_s;
    // A cell of an hour is measured a little short of it.
    let shortened = length < HOUR_S * 0.99;
    let scored = if shortened {
        length * SCORED_S / HOUR_S
    } else {
        SCORED_S
    };
    // Half an interval of leeway, for edges that are not exactly on the second.
    let from = end - scored - last.elapsed_s / 2.0;
    let rates: Vec<f64> = seconds
        .iter()
        .filter(|s| s.start_s >= from)
        .map(|s| s.iops)
        .collect();
    let score = consistency::score(&rates, rates.len())?;
    Some(CellScore {
        score,
        from_s: end - scored,
        to_s: end,
        shortened,
    })
}

#[cfg(test)]
mod tests {
    use assay_stats::LatencySummary;
    use assay_store::read::SeriesPoint;
    use assay_units::{Nanos, Op};

    use super::*;

    fn hour(seconds: u32, iops: impl Fn(u32) -> u64) -> CellDrive {
        let series = (0..seconds)
            .map(|index| SeriesPoint {
                index,
                ramp: false,
                start: Nanos::from_secs(index.into()),
                end: Nanos::from_secs(u64::from(index) + 1),
                op: Op::Write,
                ios: iops(index),
                bytes: iops(index) * 4096,
                errors: 0,
                latency: LatencySummary::default(),
            })
            .collect();
        CellDrive {
            drive: 0,
            result: None,
            series,
            telemetry: Vec::new(),
            distributions: Vec::new(),
        }
    }

    #[test]
    fn the_last_400_seconds_of_an_hour() {
        let s = of(&hour(3600, |i| {
            if i < 3200 {
                90_000
            } else {
                22_000 + u64::from(i % 2)
            }
        }))
        .unwrap();
        assert_eq!(
            (s.score.samples, s.from_s, s.to_s, s.shortened),
            (400, 3200.0, 3600.0, false)
        );
        assert_eq!((s.score.mean, s.score.min), (22_000.5, 22_000.0));
    }

    #[test]
    fn the_last_ninth_of_less() {
        let s = of(&hour(90, |i| if i < 80 { 90_000 } else { 22_000 })).unwrap();
        assert_eq!((s.score.samples, s.from_s, s.shortened), (10, 80.0, true));
        assert_eq!(s.score.mean, 22_000.0);
        assert_eq!(of(&hour(1, |_| 5)), None);
        assert_eq!(of(&hour(0, |_| 5)), None);
    }
}
