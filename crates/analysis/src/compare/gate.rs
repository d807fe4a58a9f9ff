//! `--fail-if slower`: whether a comparison has an answer that a script acts on.

use std::str::FromStr;

use assay_stats::compare::{Better, Difference};

use super::{Comparisons, MetricComparison};

/// Fails where the other side is slower by more than this share of 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowerBy(pub f64);

impl FromStr for SlowerBy {
    type Err = String;

    /// `slower`, `slower=5%`.
    fn from_str(text: &str) -> Result<SlowerBy, String> {
        let wrong = || "write slower, or slower=5%".to_owned();
        let rest = text.strip_prefix("slower").ok_or_else(wrong)?;
        if rest.is_empty() {
            return Ok(SlowerBy(0.0));
        }
        let number = rest.strip_prefix('=').ok_or_else(wrong)?;
        let percent = number.trim_end_matches('%').parse::<f64>().map_err(|_| wrong())?;
        match (0.0..100.0).contains(&percent) {
            true => Ok(SlowerBy(percent / 100.0)),
            false => Err(wrong()),
        }
    }
}

/// What a gate found.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct GateOutcome {
    /// Answers that fail it: sides, step, workload, metric.
    pub slower: Vec<String>,
    /// Workloads that were compared.
    pub workloads: usize,
}

impl GateOutcome {
    /// A comparison of nothing passes no gate.
    pub fn has_failed(&self) -> bool {
        self.workloads == 0 || !self.slower.is_empty()
    }
}

impl SlowerBy {
    /// Only answers count: what cannot be told is no reason to fail.
    pub fn check(self, all: &Comparisons) -> GateOutcome {
        let mut outcome = GateOutcome::default();
        for pair in &all.pairs {
            outcome.workloads += pair.workloads.len();
            let sides = [pair.other, pair.baseline].map(|at| all.groups[at].full_name());
            let metrics = pair.distinct_metrics();
            for workload in &pair.workloads {
                let slower = workload.metrics.iter();
                let slower = slower.filter(|c| metrics.contains(&c.metric) && self.is_slower(c));
                outcome.slower.extend(slower.map(|c| {
                    let ratio = c.comparison.ratio.unwrap_or_default();
                    format!(
                        "{} against {}: {} {}: {} {ratio:.2} times",
                        sides[0],
                        sides[1],
                        workload.plan.step,
                        workload.label,
                        c.metric.label()
                    )
                }));
            }
        }
        outcome
    }

    fn is_slower(self, compared: &MetricComparison) -> bool {
        let Some(ratio) = compared.comparison.ratio else {
            return false;
        };
        let loss = match compared.metric.better() {
            Better::More => 1.0 - ratio,
            Better::Less => ratio - 1.0,
        };
        compared.comparison.answer == Difference::Slower && loss > self.0
    }
}

#[cfg(test)]
#[path = "../../tests/unit/compare/gate.rs"]
mod tests;
