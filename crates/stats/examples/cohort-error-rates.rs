//! Prints the table of simulated error rates in docs/cohorts.md, from ten times as many cohorts as
//! the test `cohort_rates`.
//!
//! ```sh
//! cargo run --release -p assay-stats --example cohort-error-rates
//! ```

use std::io::Write as _;

use assay_units::text::group_digits;

#[path = "../tests/cohort_rates/rates.rs"]
mod rates;

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "| simulated | promised | found | cohorts |\n|---|---|---:|---:|")?;
    for rate in rates::all(10) {
        let (found, cohorts) = (100.0 * rate.found, group_digits(u64::from(rate.cohorts)));
        let (least, most) = rate.bounds;
        let mark = match (least..=most).contains(&rate.found) {
            true => "",
            false => " (beyond the bounds of the test)",
        };
        writeln!(out, "| {} | {} | {found:.1} %{mark} | {cohorts} |", rate.what, rate.promised)?;
    }
    Ok(())
}
