//! Rule-based verdicts: each rule evaluates one figure and gives a reason for or against a drive.
//!
//! Rules come from a suite, or from a policy: a file of rules for any number of runs, with facts that cannot be measured, such as
//! rated endurance.

use assay_store::model::{DriveRecord, Reason, ReasonWeight, Verdict, VerdictResult};
use assay_store::read::Run;

use crate::schema::{DatasheetFacts, VerdictMetric, VerdictRule, VerdictRules};

mod metrics;

use metrics::RuleInput;

/// A drive and the runs it was measured in.
#[derive(Clone, Debug, Default)]
pub struct VerdictSubject<'a> {
    /// Each run, with the index of the drive in it.
    pub runs: Vec<(&'a Run, usize)>,
}

impl<'a> VerdictSubject<'a> {
    /// One drive of one run.
    pub fn of(run: &'a Run, drive: usize) -> VerdictSubject<'a> {
        VerdictSubject {
            runs: vec![(run, drive)],
        }
    }

    /// The drives of several runs, merged by [`DriveRecord::is_same`].
    pub fn all(runs: &'a [Run]) -> Vec<VerdictSubject<'a>> {
        let mut subjects: Vec<VerdictSubject<'a>> = Vec::new();
        for run in runs {
            for (index, drive) in run.manifest.drives.iter().enumerate() {
                let same =
                    |s: &&mut VerdictSubject<'_>| s.drive().is_some_and(|d| d.is_same(drive));
                match subjects.iter_mut().find(same) {
                    Some(subject) => subject.runs.push((run, index)),
                    None => subjects.push(VerdictSubject::of(run, index)),
                }
            }
        }
        subjects
    }

    /// Whether a run of this suite is among them.
    fn ran(&self, suite: &str) -> bool {
        let mut runs = self.runs.iter();
        runs.any(|(run, _)| run.manifest.suite.name == suite)
    }

    /// The drive, from the first run.
    pub fn drive(&self) -> Option<&'a DriveRecord> {
        let (run, drive) = self.runs.first()?;
        run.manifest.drives.get(*drive)
    }
}

/// Evaluate the rules for a drive.
///
/// A reason against gives *not recommended*, else a condition gives *conditionally*. With less than half of the figures measured, or
/// only the error count where rules ask for more, the verdict is *undecided* unless a reason rejects the drive. Rules for another
/// price class, or for a suite that was not run, are ignored.
pub fn evaluate(rules: &VerdictRules, subject: &VerdictSubject<'_>) -> Verdict {
    let facts = subject.drive().and_then(|drive| facts_of(rules, drive));
    let class = facts.and_then(|f| f.price_class.as_deref());
    let mut reasons: Vec<Reason> = Vec::new();
    // Excludes "no errors", which holds for an unused drive.
    let (mut others, mut others_known) = (0, 0);
    let applies = |rule: &&VerdictRule| {
        (rule.price_class.is_none() || rule.price_class.as_deref() == class)
            && rule.suite.as_deref().is_none_or(|suite| subject.ran(suite))
    };
    for rule in rules.rules.iter().filter(applies) {
        let reason = reason(RuleInput {
            rule,
            subject,
            facts,
        });
        if rule.figure != VerdictMetric::Errors {
            others += 1;
            others_known += u32::from(reason.weight != ReasonWeight::Missing);
        }
        reasons.push(reason);
    }
    let nothing_known = others > 0 && others_known == 0;
    let count = |weight| reasons.iter().filter(|r| r.weight == weight).count();
    let result = if count(ReasonWeight::Against) > 0 {
        VerdictResult::NotRecommended
    } else if nothing_known || count(ReasonWeight::Missing) * 2 > reasons.len() {
        VerdictResult::Undecided
    } else if count(ReasonWeight::Caution) > 0 {
        VerdictResult::Conditionally
    } else {
        VerdictResult::Recommended
    };
    Verdict { result, reasons }
}

fn facts_of<'r>(rules: &'r VerdictRules, drive: &DriveRecord) -> Option<&'r DatasheetFacts> {
    let names = [
        Some(&drive.model),
        Some(&drive.label),
        drive.profile.as_ref(),
    ];
    rules.facts.iter().find(|facts| {
        let wanted = facts.drive.to_lowercase();
        let has = |name: &&String| name.to_lowercase().contains(&wanted);
        !wanted.is_empty() && names.iter().flatten().any(has)
    })
}

fn reason(input: RuleInput<'_>) -> Reason {
    let rule = input.rule;
    let Some((value, shown)) = input.figure() else {
        let mut text = format!("{}: not measured", rule.about);
        if let Some(why) = input.not_steady_reason() {
            text += &format!(": not steady: {why}");
        }
        return Reason {
            weight: ReasonWeight::Missing,
            text,
        };
    };
    let sign = if rule.lower_is_better { -1.0 } else { 1.0 };
    let at_least = |bound: f64| sign * value >= sign * bound;
    let weight = if at_least(rule.good) {
        ReasonWeight::For
    } else if at_least(rule.bad) {
        ReasonWeight::Caution
    } else {
        ReasonWeight::Against
    };
    let mut text = format!("{}: {shown}", rule.about);
    if weight != ReasonWeight::For {
        text += &format!("; {}", rule.advice);
    }
    Reason { weight, text }
}
