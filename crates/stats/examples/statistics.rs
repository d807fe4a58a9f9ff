//! Regenerates the simulated tables of docs/statistics.md (`make statistics`): coverage of
//! intervals, and answers of comparisons with and without a difference. The test `interval_rates`
//! asserts bounds with fewer series.
//!
//! ```sh
//! cargo run --release -p assay-stats --example statistics -- docs/statistics.md
//! ```

use std::fmt::Write as _;
use std::process::ExitCode;

use assay_stats::compare::Quantity;
use assay_units::text::group_digits;

#[path = "../tests/interval_rates/answers.rs"]
mod answers;
#[path = "../tests/interval_rates/series.rs"]
mod series;

use series::{Coverage, Family, OTHERS, PROMISED};

/// Lengths of series, seconds.
const LENGTHS: [usize; 11] = [10, 30, 40, 60, 120, 300, 600, 1200, 2400, 3600, 7200];
/// Series of each family and length.
const SERIES: u32 = 1000;
/// Comparisons of each row; of short runs, which take little time, more.
fn comparisons(sides: &answers::Sides) -> u32 {
    match (sides.quantity, sides.seconds.1) {
        (Quantity::TailPercentile, _) => 40_000,
        (Quantity::Mean, 0..=300) => 4000,
        (Quantity::Mean, _) => 1000,
    }
}

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: statistics docs/statistics.md");
        return ExitCode::FAILURE;
    };
    match regenerate(&path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{path}: {why}");
            ExitCode::FAILURE
        }
    }
}

fn regenerate(path: &str) -> Result<(), String> {
    let tables = [
        ("coverage", coverage()),
        ("false-answers", false_answers()),
        ("true-answers", true_answers()),
    ];
    // Read after the simulations: the document may change during them.
    let mut text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    for (key, table) in tables {
        text = replaced(&text, key, &table)?;
    }
    std::fs::write(path, text).map_err(|e| e.to_string())
}

/// The text with what is between `<!-- KEY:begin -->` and `<!-- KEY:end -->` replaced.
fn replaced(text: &str, key: &str, table: &str) -> Result<String, String> {
    let (begin, end) = (format!("<!-- {key}:begin -->"), format!("<!-- {key}:end -->"));
    let missing = || format!("has no {begin} and {end}");
    let (before, rest) = text.split_once(&begin).ok_or_else(missing)?;
    let (_, after) = rest.split_once(&end).ok_or_else(missing)?;
    Ok(format!("{before}{begin}\n{table}{end}{after}"))
}

/// One row per family, one column per length.
fn coverage() -> String {
    let heads: Vec<String> = LENGTHS.iter().map(|n| group_digits(*n as u64)).collect();
    let mut table = format!("| series | {} |\n", heads.join(" | "));
    table += &format!("|---|{}\n", "---:|".repeat(LENGTHS.len()));
    for family in PROMISED.into_iter().chain(OTHERS) {
        let cells: Vec<String> = LENGTHS.iter().map(|n| cell(family, *n)).collect();
        let _ = writeln!(table, "| {} | {} |", family.label(), cells.join(" | "));
    }
    table
}

/// `95.1 (98)`: coverage and share with an interval, percent; in italics where under half have one,
/// without coverage of under a twentieth.
fn cell(family: Family, n: usize) -> String {
    let found = Coverage::new(family, n, SERIES);
    let printed = found.printed_pct();
    let covering = 100.0 * f64::from(found.covering) / f64::from(found.printed.max(1));
    match found.covering_pct() {
        Some(pct) => format!("{pct:.1} ({printed:.0})"),
        None if printed >= 5.0 => format!("*{covering:.1} ({printed:.0})*"),
        None if printed == 0.0 => "none".to_owned(),
        None => format!("*({printed:.1})*"),
    }
}

fn false_answers() -> String {
    let mut table = "| sides without a difference | faster or slower, % | these runs differ, % | \
                     with an interval, % |\n|---|---:|---:|---:|\n"
        .to_owned();
    for sides in answers::without_difference() {
        let found = sides.answers(comparisons(&sides));
        let _ = writeln!(
            table,
            "| {} | {:.1} | {:.1} | {:.0} |",
            sides.label(),
            found.faster + found.slower,
            found.runs_differ,
            found.decidable
        );
    }
    table
}

fn true_answers() -> String {
    let mut table = "| sides with a difference | true ratio | found, % | with the wrong sign, % \
                     |\n|---|---:|---:|---:|\n"
        .to_owned();
    for (sides, _) in answers::with_difference() {
        let found = sides.answers(comparisons(&sides));
        let _ = writeln!(
            table,
            "| {} | {} | {:.0} | {:.1} |",
            sides.label(),
            sides.ratio,
            found.faster + found.runs_differ,
            found.slower
        );
    }
    table
}
