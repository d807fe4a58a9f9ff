use std::collections::BTreeSet;

use assay_store::model::{Reason, ReasonWeight};
use assay_store::read::Run;

use super::VerdictSubject;

/// Shorter throttling is usual after a long load.
const MOST_THROTTLED_PCT: f64 = 5.0;

#[derive(Default)]
struct Readings {
    hottest_c: Option<f64>,
    /// Readings that state whether the drive throttles, and those of them where it does.
    stated: u32,
    throttled: u32,
}

impl Readings {
    fn new(subject: &VerdictSubject<'_>) -> Readings {
        let mut found = Readings::default();
        let parts = subject
            .runs
            .iter()
            .flat_map(|(run, drive)| run.cells.iter().filter_map(|cell| cell.drive(*drive)));
        for reading in parts.flat_map(|part| &part.telemetry) {
            let hottest = found.hottest_c.into_iter().chain(reading.temperature_c);
            found.hottest_c = hottest.max_by(f64::total_cmp);
            found.stated += u32::from(reading.throttled.is_some());
            found.throttled += u32::from(reading.throttled == Some(true));
        }
        found
    }

    fn throttled_pct(&self) -> f64 {
        f64::from(self.throttled) / f64::from(self.stated.max(1)) * 100.0
    }
}

/// Cells of these steps in which the host set the drive's rate.
fn host_limited_cells(subject: &VerdictSubject<'_>, steps: &BTreeSet<&str>) -> usize {
    let of_run = |(run, drive): &(&Run, usize)| {
        let plans = run.cells.iter().map(|cell| &cell.plan);
        plans
            .filter(|plan| steps.contains(plan.step.as_str()))
            .filter(|plan| run.is_host_limited(&plan.id, *drive))
            .count()
    };
    subject.runs.iter().map(of_run).sum()
}

/// CCTEMP and WCTEMP: NVMe Base 2.0c, figure 276.
pub(super) fn reasons(subject: &VerdictSubject<'_>, steps: &BTreeSet<&str>) -> Vec<Reason> {
    let readings = Readings::new(subject);
    let drive = subject.drive();
    let limit_c = |of: fn(&assay_store::model::DriveRecord) -> Option<i32>| drive.and_then(of);
    let mut reasons = Vec::new();
    if let Some(hottest_c) = readings.hottest_c {
        let reached = |limit_c: Option<i32>| limit_c.filter(|&limit| hottest_c >= f64::from(limit));
        let at_limit = reached(limit_c(|d| d.critical_c))
            .map(|limit| (ReasonWeight::Against, "critical", limit))
            .or_else(|| {
                let limit = reached(limit_c(|d| d.warning_c))?;
                Some((ReasonWeight::Caution, "warning", limit))
            });
        if let Some((weight, name, limit)) = at_limit {
            let text = format!(
                "temperature: {hottest_c:.0} degrees C, at or over the drive's own {name} limit \
                 of {limit}; cool it better and measure again"
            );
            reasons.push(Reason { weight, text });
        }
    }
    let host_limited = host_limited_cells(subject, steps);
    if host_limited > 0 {
        let cells = if host_limited == 1 { "1 cell" } else { &format!("{host_limited} cells") };
        let text = format!(
            "host: it, not the drive, set the rate of {cells}; those figures are lower bounds for \
             the drive"
        );
        reasons.push(Reason { weight: ReasonWeight::Caution, text });
    }
    let pct = readings.throttled_pct();
    if pct >= MOST_THROTTLED_PCT {
        let text = format!(
            "throttling: the drive reported it for {pct:.0} % of the measured time; its figures \
             are those of a hot drive"
        );
        reasons.push(Reason { weight: ReasonWeight::Caution, text });
    }
    reasons
}
