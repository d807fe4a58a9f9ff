//! The profile of a twin from the best candidate.

use std::collections::BTreeMap;

use assay_ssd::Profile;
use toml::{Table, Value};

use super::structure::{NOT_OF_THE_DRIVE, STRUCTURE};
use super::{Candidate, Twin, TwinSettings};
use crate::CalibrateError;
use crate::fit::{FitResult, FittedNumber, remarks};
use crate::identification::identify;
use crate::measurement::Measurement;
use crate::numbers::get;
use crate::parameter::FreeParameter;
use crate::profile_text::{remarked, renamed, significant, with_fitted, without};
use crate::residual::Residuals;
use crate::simulate::{Effort, simulate};
use crate::spread::{spreads, with_spreads};
use crate::structures::Structure;
use crate::template::ReferenceDrive;

/// Numbers on which the figures do not depend have derivatives below this.
pub(super) const INSENSITIVE: f64 = 1e-3;

pub(super) fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "none".to_owned(), Value::to_string)
}

/// What of the structure differs from the nearest profile, and the numbers that the twin is
/// without.
pub(super) fn changed_structure(
    original: &Table,
    table: &Table,
    values: &mut BTreeMap<String, Value>,
) -> (Vec<FittedNumber>, Vec<&'static str>) {
    let (mut structure, mut removed) = (Vec::new(), NOT_OF_THE_DRIVE.to_vec());
    for path in STRUCTURE {
        let (from, to) = (get(original, path), get(table, path));
        if from != to {
            match to {
                Some(value) => {
                    values.insert(path.to_owned(), value.clone());
                }
                None => removed.push(path),
            }
            structure.push(FittedNumber {
                path: path.to_owned(),
                from: shown(from),
                to: shown(to),
            });
        }
    }
    (structure, removed)
}

pub(super) fn finished(
    best: &Candidate,
    measurements: &[Measurement],
    targets: &[Measurement],
    settings: &TwinSettings,
    evaluations: u64,
) -> Result<Twin, CalibrateError> {
    let before = Profile::builtin_text(&best.nearest)?;
    let title = format!(
        "{}: twin of the drive measured in {}, from {}",
        settings.name, settings.label, best.nearest
    );
    let text = renamed(before, &settings.name, &title)?;
    let original = ReferenceDrive::new(&best.nearest)?.table;
    let table = best.template.table_at(&Structure::new(), &best.mode.point);
    let is_sensitive = |place: usize| {
        let mut derivatives = best.mode.jacobian.iter().map(|row| row[place].abs());
        derivatives.any(|d| d > INSENSITIVE)
    };
    let places = best.template.paths.iter().enumerate();
    let (sensitive, insensitive): (Vec<_>, Vec<_>) = places.partition(|(at, _)| is_sensitive(*at));
    let mut values = BTreeMap::new();
    for (_, path) in &sensitive {
        let value = get(&table, path).ok_or_else(|| CalibrateError::parameter(*path, "is lost"))?;
        values.insert((*path).clone(), rounded(value));
    }
    let (structure, removed) = changed_structure(&original, &table, &mut values);
    let text = without(&text, &removed)?;
    let text = with_fitted(&text, &values, &settings.label)?;
    let free: Vec<FreeParameter> =
        sensitive.iter().map(|(_, path)| FreeParameter::whole((*path).clone())).collect();
    let identification = identify(&text, &free, targets, settings.threads)?;
    let text = remarked(&text, &remarks(&identification))?;
    let profile = Profile::from_toml(&text)?;
    let figures = simulate(&profile, measurements, Effort::Full, settings.threads)?;
    let residuals = Residuals::new(measurements, figures);
    let text = with_spreads(&text, &spreads(&residuals, sensitive.len()), &settings.label)?;
    let moved = sensitive.iter().map(|(_, path)| FittedNumber {
        path: (*path).clone(),
        from: shown(get(&original, path)),
        to: shown(values.get(*path)),
    });
    Ok(Twin {
        nearest: best.nearest.clone(),
        structure,
        fit: FitResult {
            residuals,
            evaluations,
            costs: Vec::new(),
            moved: moved.collect(),
            at_bounds: Vec::new(),
            insensitive: insensitive.into_iter().map(|(_, path)| path.clone()).collect(),
            identification,
            complete: true,
            text,
        },
    })
}

/// Rounded to the digits of a fitted number; a list number by number.
pub(super) fn rounded(value: &Value) -> Value {
    match value {
        Value::Integer(n) => Value::Integer(significant(*n as f64).round() as i64),
        Value::Float(n) => Value::Float(significant(*n)),
        Value::Array(list) => Value::Array(list.iter().map(rounded).collect()),
        other => other.clone(),
    }
}
