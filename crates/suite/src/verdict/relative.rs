use assay_analysis::figure::Unit;
use assay_calibrate::hardware::{Hardware, Rating};
use assay_units::MIB;
use assay_units::text::whole;

use super::metrics::RuleInput;
use super::{VerdictSubject, facts_of};
use crate::schema::VerdictRules;

pub(super) struct Reference {
    pub(super) value: f64,
    /// Completes "62 % of".
    pub(super) text: String,
}

/// The best value of the rule's figure among the drives; or why there is none.
pub(super) fn best_of(
    input: RuleInput<'_>,
    drives: &[VerdictSubject<'_>],
    rules: &VerdictRules,
) -> Result<Reference, String> {
    let measured = drives.iter().filter_map(|subject| {
        let drive = subject.drive()?;
        let facts = facts_of(rules, drive);
        let rule = input.rule;
        let (value, _) = RuleInput { rule, subject, facts }.figure()?;
        let mark = if drive.simulated { ", simulated" } else { "" };
        Some((value, format!("{}{mark}", drive.label)))
    });
    let measured: Vec<(f64, String)> = measured.filter(|(value, _)| *value > 0.0).collect();
    let [_, _, ..] = measured[..] else {
        return Err("no other drive to compare it with".to_owned());
    };
    let sign = if input.rule.is_lower_better() { -1.0 } else { 1.0 };
    let best = measured.into_iter().max_by(|a, b| (sign * a.0).total_cmp(&(sign * b.0)));
    best.map(|(value, label)| Reference {
        value,
        text: format!("the best of these drives ({label})"),
    })
    .ok_or_else(|| "no drive was measured".to_owned())
}

/// The rated value of the rule's figure; or why there is none.
pub(super) fn rated(input: RuleInput<'_>) -> Result<Reference, String> {
    let Some(rating) = input.rule.rating else {
        return Err("has no rating".to_owned());
    };
    let own = input.facts.and_then(|facts| {
        let value = *facts.rated.get(&rating)?;
        Some((value, facts.source.clone()))
    });
    let (value, source) = own.or_else(|| modelled(input, rating)).ok_or_else(|| {
        "its data sheet is not known; give its figures with --datasheet FILE".to_owned()
    })?;
    // Data sheets state rates in 10^6 bytes per second, verdicts in MiB/s.
    let (per_unit, unit) = match (input.rule.figure.unit, rating) {
        (
            Unit::MibPerS,
            Rating::SequentialReadMbS | Rating::SequentialWriteMbS | Rating::CachedWriteMbS,
        ) => (1e6 / MIB as f64, " MB/s"),
        _ => (1.0, ""),
    };
    let rated = whole(value);
    Ok(Reference {
        value: value * per_unit,
        text: format!("the {rated}{unit} of its data sheet ({source})"),
    })
}

/// The rated figure of the drive that a simulated one models.
fn modelled(input: RuleInput<'_>, rating: Rating) -> Option<(f64, String)> {
    let profile = input.subject.drive()?.profile.as_ref()?;
    let table = Hardware::embedded().expect("the embedded table is read in tests");
    let figure = table.drive(profile)?.highest(rating)?;
    let source = table.sources.get(&figure.source)?;
    Some((figure.value, source.title.clone()))
}
