//! Runs of one drive repeated: how its figures are distributed over them, and whether they drift.

use assay_units::median;

use crate::drive_set::DriveSet;
use crate::format::plural;
use crate::scoreboard::Scoreboard;
use crate::table::{Column, Heading, Row, Table, TableCell};

/// Fewer runs are compared with each other.
const FEWEST: usize = 5;

/// Two-sided 5 % of the normal distribution.
const NORMAL_95: f64 = 1.96;

/// True when every row is a run of the same drive.
pub fn are_repeats(set: &DriveSet<'_>, scores: &Scoreboard<'_>) -> bool {
    let mut drives = scores.rows.iter().map(|row| set.drives[row.drive].info);
    let Some(first) = drives.next().filter(|_| scores.rows.len() >= FEWEST) else {
        return false;
    };
    drives.all(|info| info.is_same(first) && info.label == first.label)
}

/// One row per metric: distribution over the runs, and the trend in the order of their dates.
pub fn table(set: &DriveSet<'_>, scores: &Scoreboard<'_>) -> Table {
    let mut rows: Vec<_> = scores.rows.iter().collect();
    let created = |drive: usize| {
        let (run, _) = set.drives[drive].origins[0];
        (&set.runs[run].manifest.created, run)
    };
    rows.sort_by_key(|row| created(row.drive));
    let row = |(n, (metric, _)): (usize, &(_, usize))| {
        let metric: &assay_analysis::figure::headline::HeadlineMetric = metric;
        let values = rows
            .iter()
            .filter_map(|r| Some(r.scores[n].as_ref()?.value));
        let values: Vec<f64> = values.collect();
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
        let mut cells = vec![TableCell::Text(metric.figure.unit.text().to_owned())];
        cells.push(TableCell::number(values.len().to_string()));
        cells.extend([0.0, 0.25, 0.5, 0.75, 1.0].map(|share| TableCell::figure(at(share))));
        cells.push(TableCell::Text(match trend_pct(&values) {
            Some(pct) => format!("{pct:+.1} % over the runs"),
            None => "none seen".to_owned(),
        }));
        Row::new(Heading::plain(metric.title.clone()), cells)
    };
    let first = &set.drives[scores.rows[0].drive];
    Table {
        caption: format!("{} of {}", plural(rows.len(), "run"), first.info.label),
        corner: "metric".to_owned(),
        columns: Column::list([
            ("unit", ""),
            ("runs", ""),
            ("lowest", ""),
            ("25 %", ""),
            ("median", ""),
            ("75 %", ""),
            ("highest", ""),
            ("trend by date", ""),
        ]),
        rows: scores.columns.iter().enumerate().map(row).collect(),
        notes: vec![
            "trend: median slope between pairs of runs (Theil and Sen) times their number, where \
             the test of Mann and Kendall finds one at 5 %"
                .to_owned(),
        ],
    }
}

/// Change over all values, percent of their median; `None` where it may be chance.
fn trend_pct(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let pairs = (0..values.len()).flat_map(|i| (i + 1..values.len()).map(move |j| (i, j)));
    let rises = pairs
        .clone()
        .map(|(i, j)| values[j].total_cmp(&values[i]) as i32);
    let score = f64::from(rises.sum::<i32>());
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let slopes = pairs.map(|(i, j)| (values[j] - values[i]) / (j - i) as f64);
    let slope = median(slopes)?;
    let middle = median(values.iter().copied()).filter(|m| *m != 0.0)?;
    let found = (score.abs() - 1.0) / deviation > NORMAL_95;
    found.then(|| 100.0 * slope * (n - 1.0) / middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_is_found_in_a_drift_and_not_in_noise() {
        let drift: Vec<f64> = (0..20).map(|i| 100.0 + f64::from(i)).collect();
        let pct = trend_pct(&drift).expect("a trend");
        assert!((pct - 100.0 * 19.0 / 109.5).abs() < 1e-9, "{pct}");
        let noise: Vec<f64> = (0..20).map(|i| 100.0 + f64::from(i * 7 % 5)).collect();
        assert_eq!(trend_pct(&noise), None);
        assert_eq!(trend_pct(&[100.0; 20]), None);
    }
}
