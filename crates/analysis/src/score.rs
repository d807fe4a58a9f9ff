use assay_stats::consistency::{self, Score};
use assay_store::read::CellDrive;
use assay_store::series::IntervalSample;

/// Length of the procedure (AnandTech, "Plextor M8Pe", 15 Dec 2016).
pub const HOUR_S: f64 = 3600.0;
/// The scored part at its end.
pub const SCORED_S: f64 = 400.0;

#[derive(Clone, Debug, PartialEq)]
pub struct CellScore {
    /// Score of the per-interval IOPS.
    pub score: Score,
    /// Begin of the scored part, since the cell's start.
    pub from_s: f64,
    pub to_s: f64,
    /// The cell was shorter than an hour: a ninth of it is scored.
    pub shortened: bool,
}

/// Over the last 400 s of an hour or more, and of a shorter cell over its last ninth (the same
/// share). `None` with fewer than two intervals in that part.
pub fn score_of_cell(drive: &CellDrive) -> Option<CellScore> {
    let samples = drive.measured_intervals();
    let (first, last) = (samples.first()?, samples.last()?);
    let end = last.end_s();
    let length = end - first.start_s();
    // An hour's measured span is slightly shorter.
    let shortened = length < HOUR_S * 0.99;
    let scored = if shortened { length * SCORED_S / HOUR_S } else { SCORED_S };
    // Half an interval of tolerance for edges that are not exactly on the second.
    let from = end - scored - last.elapsed_s() / 2.0;
    let inside = samples.iter().filter(|s| s.start_s() >= from);
    let rates: Vec<f64> = inside.map(IntervalSample::iops).collect();
    let score = consistency::score(&rates, rates.len())?;
    Some(CellScore { score, from_s: end - scored, to_s: end, shortened })
}

#[cfg(test)]
#[path = "../tests/unit/score.rs"]
mod tests;
