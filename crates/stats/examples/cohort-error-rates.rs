//! Prints the table of simulated error rates in docs/cohorts.md, from ten times as many cohorts as the test `cohort_rates`.
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
    writeln!(
        out,
        "| simulated | promised | found | cohorts |\n|---|---|---:|---:|"
    )?;
    for rate in rates::all(10) {
        let (found, cohorts) = (100.0 * rate.found, group_digits(u64::from(rate.cohorts)));
        writeln!(
            out,
            "| {} | {} | {found:.1} % | {cohorts} |",
            rate.what, rate.promised
        )?;
    }
    Ok(())
}
