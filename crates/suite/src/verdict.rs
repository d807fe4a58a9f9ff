//! Rules come from a suite, or from a policy: a file of rules for any number of runs, with facts
//! that cannot be measured, such as rated endurance.

use assay_store::model::{DriveRecord, Reason, ReasonWeight, Verdict, VerdictResult};
use assay_store::read::Run;

use crate::schema::{DatasheetFacts, VerdictRule, VerdictRules};

mod condition;
mod metrics;
mod relative;

use metrics::RuleInput;

#[derive(Clone, Debug, Default)]
pub struct VerdictSubject<'a> {
    pub runs: Vec<(&'a Run, usize)>,
}

impl<'a> VerdictSubject<'a> {
    pub fn new(run: &'a Run, drive: usize) -> VerdictSubject<'a> {
        VerdictSubject { runs: vec![(run, drive)] }
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
                    None => subjects.push(VerdictSubject::new(run, index)),
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

    pub fn drive(&self) -> Option<&'a DriveRecord> {
        let (run, drive) = self.runs.first()?;
        run.manifest.drives.get(*drive)
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub enum Basis<'a> {
    /// The limits of the rules.
    #[default]
    Limits,
    /// The evaluated drive included; other figures by their limits.
    Drives(&'a [VerdictSubject<'a>]),
    /// For rules that name a rating; other rates, latencies and endurance are left out.
    Datasheet,
}

/// Evaluate the rules for a drive by their limits: [`evaluate_by`] with [`Basis::Limits`].
pub fn evaluate(rules: &VerdictRules, subject: &VerdictSubject<'_>) -> Verdict {
    evaluate_by(rules, subject, Basis::Limits)
}

/// A reason against gives *not recommended*, else a condition gives *conditionally*. With less than
/// half of the figures measured, or with none that says how good the drive is
/// ([`assay_analysis::figure::Definition::is_of_merit`]), the verdict is *undecided* unless a
/// reason rejects the drive. Rules for another price class, or for a suite that was not run, are
/// ignored.
pub fn evaluate_by(
    rules: &VerdictRules,
    subject: &VerdictSubject<'_>,
    basis: Basis<'_>,
) -> Verdict {
    let facts = subject.drive().and_then(|drive| facts_of(rules, drive));
    let mut reasons: Vec<Reason> = Vec::new();
    let mut merits_known = 0;
    let applying = rules.rules.iter();
    for rule in applying.filter(|rule| applies(rule, subject, facts, basis)) {
        let input = RuleInput { rule, subject, facts };
        let reason = reason(input, basis, rules);
        let known = reason.weight != ReasonWeight::Missing;
        merits_known += u32::from(known && rule.figure.is_of_merit);
        reasons.push(reason);
    }
    let rule_reasons = reasons.len();
    let used = rules.rules.iter();
    let used = used.filter(|rule| applies(rule, subject, facts, basis));
    let steps = used.filter_map(|rule| rule.step.as_deref()).collect();
    reasons.extend(condition::reasons(subject, &steps));
    let count = |weight| reasons.iter().filter(|r| r.weight == weight).count();
    let result = if count(ReasonWeight::Against) > 0 {
        VerdictResult::NotRecommended
    } else if merits_known == 0 || count(ReasonWeight::Missing) * 2 > rule_reasons {
        VerdictResult::Undecided
    } else if count(ReasonWeight::Caution) > 0 {
        VerdictResult::Conditionally
    } else {
        VerdictResult::Recommended
    };
    if merits_known == 0 {
        reasons
            .push(Reason { weight: ReasonWeight::Missing, text: nothing_applied(rules, subject) });
    }
    let limits = match basis {
        Basis::Limits => rules.limits.clone(),
        Basis::Drives(_) | Basis::Datasheet => None,
    };
    Verdict { result, reasons, limits }
}

pub fn figures<'r>(
    rules: &'r VerdictRules,
    subject: &VerdictSubject<'_>,
) -> Vec<(&'r VerdictRule, f64)> {
    let facts = subject.drive().and_then(|drive| facts_of(rules, drive));
    let applying = rules.rules.iter();
    let applying = applying.filter(|rule| applies(rule, subject, facts, Basis::Limits));
    let figure = |rule: &'r VerdictRule| {
        let input = RuleInput { rule, subject, facts };
        Some((rule, input.figure()?.0))
    };
    applying.filter_map(figure).collect()
}

/// Whether a rule is for this drive and its runs.
fn applies(
    rule: &VerdictRule,
    subject: &VerdictSubject<'_>,
    facts: Option<&DatasheetFacts>,
    basis: Basis<'_>,
) -> bool {
    let class = facts.and_then(|f| f.price_class.as_deref());
    (rule.price_class.is_none() || rule.price_class.as_deref() == class)
        && rule.suite.as_deref().is_none_or(|suite| subject.ran(suite))
        && match basis {
            Basis::Limits => rule.limits().is_some(),
            Basis::Drives(_) => true,
            Basis::Datasheet => rule.rating.is_some() || !rule.figure.is_absolute(),
        }
}

/// Why no rule says how good the drive is.
fn nothing_applied(rules: &VerdictRules, subject: &VerdictSubject<'_>) -> String {
    let mut measured: Vec<&str> = Vec::new();
    for (run, _) in &subject.runs {
        let name = run.manifest.suite.name.as_str();
        if !measured.contains(&name) {
            measured.push(name);
        }
    }
    let mut wanted: Vec<&str> = Vec::new();
    for suite in rules.rules.iter().filter_map(|rule| rule.suite.as_deref()) {
        if !wanted.contains(&suite) && !subject.ran(suite) {
            wanted.push(suite);
        }
    }
    let text = format!("no rule rates what was measured ({})", measured.join(", "));
    match wanted.is_empty() {
        true => text,
        false => format!("{text}; further rules are for: {}", wanted.join(", ")),
    }
}

fn facts_of<'r>(rules: &'r VerdictRules, drive: &DriveRecord) -> Option<&'r DatasheetFacts> {
    let names = [Some(&drive.model), Some(&drive.label), drive.profile.as_ref()];
    rules.facts.iter().find(|facts| {
        let wanted = facts.drive.to_lowercase();
        let has = |name: &&String| name.to_lowercase().contains(&wanted);
        !wanted.is_empty() && names.iter().flatten().any(has)
    })
}

fn reason(input: RuleInput<'_>, basis: Basis<'_>, rules: &VerdictRules) -> Reason {
    let rule = input.rule;
    let missing = |why: &str| Reason {
        weight: ReasonWeight::Missing,
        text: format!("{}: {why}", rule.about),
    };
    let Some((value, shown)) = input.figure() else {
        return match input.not_steady_reason() {
            Some(why) => missing(&format!("not measured: not steady: {why}")),
            None => missing("not measured"),
        };
    };
    let is_absolute = rule.figure.is_absolute();
    let reference = match basis {
        Basis::Drives(drives) if is_absolute => Some(relative::best_of(input, drives, rules)),
        Basis::Datasheet if is_absolute => Some(relative::rated(input)),
        _ => None,
    };
    let (value, shown, (good, bad), lower_is_better) = match reference {
        None => {
            let Some(limits) = rule.limits() else {
                return missing("has no limits");
            };
            (value, shown, limits, rule.is_lower_better())
        }
        Some(Err(why)) => return missing(&format!("{shown}; {why}")),
        Some(Ok(reference)) => {
            let pct = match rule.is_lower_better() {
                true => reference.value / value * 100.0,
                false => value / reference.value * 100.0,
            };
            let shown = format!("{shown}, {pct:.0} % of {}", reference.text);
            let limits = rules.relative;
            (pct, shown, (limits.good_pct, limits.bad_pct), false)
        }
    };
    let sign = if lower_is_better { -1.0 } else { 1.0 };
    let at_least = |bound: f64| sign * value >= sign * bound;
    let weight = if at_least(good) {
        ReasonWeight::For
    } else if at_least(bad) {
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
