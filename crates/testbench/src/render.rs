use assay_units::text::{format_size, group_digits};

use super::{BenchReport, TestOutcome, TestResult};

/// Width of the longest test name.
const NAME: usize = 18;

pub fn line(test: &TestResult) -> String {
    let word = match test.result {
        TestOutcome::Pass => "PASS",
        TestOutcome::Fail => "FAIL",
        TestOutcome::NotApplicable => "N/A ",
    };
    format!("{word}  {}  {:<NAME$} {}", test.id, test.name, test.detail)
}

pub fn render(report: &BenchReport) -> String {
    let mut out = String::new();
    let simulated = if report.simulated { " (simulated)" } else { "" };
    out += &format!("Test bench on {}{simulated}\n", report.drives.join(", "));
    let range = &report.range;
    out += &format!(
        "addresses {} to {} in chunks of {}, {} in flight, seed {}\n",
        group_digits(range.first),
        group_digits(range.last),
        format_size(u64::from(range.chunk_bytes)),
        report.depth,
        report.seed
    );
    if !report.direct {
        out += "through the page cache, without O_DIRECT: the data read may never have been on \
                the drive\n";
    }
    out.push('\n');
    for test in &report.tests {
        out += &line(test);
        out.push('\n');
    }
    out.push('\n');
    let verdict = match (report.failed, report.interrupted) {
        (0, false) => "PASS",
        (0, true) => "INTERRUPTED",
        (_, _) => "FAIL",
    };
    out += &format!(
        "{verdict}: {} passed, {} failed, {} not applicable",
        report.passed, report.failed, report.not_applicable
    );
    let missing = super::TESTS.len() - report.tests.len();
    if missing > 0 {
        out += &format!(", {missing} not run");
    }
    out += if report.simulated { " (simulated drive)\n" } else { "\n" };
    out
}
