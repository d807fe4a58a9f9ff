//! `assay fit PROFILE --to WHAT`: a profile fitted to measured figures.

mod prepare;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use assay_calibrate::fit::FittedNumber;
use assay_calibrate::measurement::Role;
use assay_calibrate::residual::{ErrorSummary, Residual, Residuals};
use assay_calibrate::run_folder::FitTargets;
use assay_calibrate::twin::{STAGE_PROFILES, Twin, TwinSettings, twin};
use assay_calibrate::{FitResult, fit};
use assay_sim_host::profile_file::load;
use serde_json::{Value, json};

use crate::args::FitArguments;
use crate::exit::{CommandOutcome, bail_usage};
use crate::terminal::Output;

pub(super) use prepare::{PreparedFit, measured};
use prepare::{check_profile_name, hold_out_named, targets};

pub(super) const PUBLISHED: &str = "published";
/// Chooses the structure too.
const AUTO: &str = "auto";

pub fn run(arguments: FitArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    if arguments.profile == AUTO {
        return twin_of(&arguments, output);
    }
    let mut prepared = PreparedFit::new(&arguments)?;
    let path = profile_path(&arguments, prepared.new_name())?;
    let mut state_file = path.clone().into_os_string();
    state_file.push(".fit-state");
    prepared.settings.state_file = Some(state_file.clone().into());
    let PreparedFit { text, targets, settings, .. } = &prepared;
    let stop = super::stop_flag()?;
    let bar = crate::progress::bar(output, settings.evaluations);
    let fitted = fit(text, &targets.measurements, settings, &stop, &mut |p| {
        bar.set_length(p.of);
        bar.set_position(p.done);
        bar.set_message(format!(
            "{}: cost {:.3}, at first {:.3}",
            p.stage, p.best_cost, p.first_cost
        ));
    });
    bar.finish_and_clear();
    let mut fitted = fitted?;
    if !fitted.complete {
        anstream::eprintln!(
            "Interrupted after {} evaluations, kept in {}; the same command continues.",
            fitted.evaluations,
            Path::new(&state_file).display()
        );
        return Ok(CommandOutcome::Interrupted);
    }
    fitted.text = prepared.named(&fitted.text)?;
    let table = write(&fitted, &path)?;
    // The same command then starts a new fit.
    let _ = std::fs::remove_file(&state_file);
    output.show(
        || shown(&fitted, targets, "", &path, &table),
        || document(&fitted, targets, &path, &table),
    )
}

/// Structure and numbers, beginning from the nearest shipped profiles.
fn twin_of(arguments: &FitArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    if arguments.to == PUBLISHED {
        bail_usage!("fit {AUTO} needs --to with a run folder or a table of measurements");
    }
    if arguments.recipe.is_some() || !arguments.free.is_empty() {
        bail_usage!(
            "fit {AUTO} chooses the free parameters and the structure itself; name a profile to \
             use --free or --recipe"
        );
    }
    let mut targets = targets(arguments, AUTO)?;
    hold_out_named(&mut targets, &arguments.hold_out)?;
    let Some(name) = &arguments.name else {
        bail_usage!("fit {AUTO} makes a new profile: give it a name with --name, as in my-drive");
    };
    let path = profile_path(arguments, name)?;
    let settings = TwinSettings {
        name: name.clone(),
        label: targets.label.clone(),
        capacity_bytes: targets.capacity_bytes,
        bases: Vec::new(),
        threads: threads(arguments.threads),
    };
    let stop = super::stop_flag()?;
    let bar = crate::progress::spinner(output);
    let found = twin(&targets.measurements, &settings, &stop, &mut |p| {
        bar.set_message(match p.stage {
            STAGE_PROFILES => format!("nearest profiles, {} simulated drives", p.evaluations),
            name => format!("structures around {name}, {} simulated drives", p.evaluations),
        });
    });
    bar.finish_and_clear();
    let Some(Twin { nearest, structure, fit: fitted }) = found? else {
        anstream::eprintln!("Interrupted; nothing was written.");
        return Ok(CommandOutcome::Interrupted);
    };
    let table = write(&fitted, &path)?;
    output.show(
        || {
            let structure = structure_shown(&nearest, &structure);
            shown(&fitted, &targets, &structure, &path, &table)
        },
        || {
            let mut out = document(&fitted, &targets, &path, &table);
            out["nearest"] = json!(nearest);
            out["structure"] = moved(&structure);
            out
        },
    )
}

fn structure_shown(nearest: &str, structure: &[FittedNumber]) -> String {
    let mut text = format!("Structure: {nearest}");
    text.push_str(if structure.is_empty() { "\n\n" } else { ", but\n" });
    for FittedNumber { path, from, to } in structure {
        let _ = writeln!(text, "  {path:<34} {from:>14} -> {to}");
    }
    if !structure.is_empty() {
        text.push('\n');
    }
    text
}

fn write(fitted: &FitResult, path: &Path) -> anyhow::Result<PathBuf> {
    write_result(&fitted.text, &fitted.residuals.to_csv(), path)
}

pub(super) fn write_result(profile: &str, residuals: &str, path: &Path) -> anyhow::Result<PathBuf> {
    super::write_atomically(path, profile)?;
    let table = path.with_extension("residuals.csv");
    super::write_atomically(&table, residuals)?;
    Ok(table)
}

fn profile_path(arguments: &FitArguments, name: &str) -> anyhow::Result<PathBuf> {
    check_profile_name(name)?;
    let given = arguments.output.clone();
    let path = given.unwrap_or_else(|| PathBuf::from(format!("{name}.toml")));
    check_profile_path(&path)?;
    Ok(path)
}

/// Fails unless `path` is free, or an earlier profile.
pub(super) fn check_profile_path(path: &Path) -> anyhow::Result<()> {
    let file = path.display();
    if path.exists() && load(&path.to_string_lossy()).is_err() {
        bail_usage!(
            "{file} exists and is not a profile; remove it first or name another file (.toml) \
             with -o"
        );
    }
    if path.extension().is_none_or(|e| e != "toml") {
        bail_usage!("-o {file}: the file of a profile is named NAME.toml");
    }
    Ok(())
}

pub(super) fn threads(given: Option<usize>) -> usize {
    let here = || std::thread::available_parallelism().map_or(1, usize::from);
    given.unwrap_or_else(here).max(1)
}

fn number(value: f64) -> String {
    let digits = match value.abs() {
        0.0..10.0 => 2,
        10.0..100.0 => 1,
        _ => 0,
    };
    format!("{value:.digits$}")
}

fn line(text: &mut String, residual: &Residual) {
    let m = &residual.measurement;
    let error = |error| format!("{error:+.1} {}", m.error_unit("%"));
    let _ = writeln!(
        text,
        "  {:<52} {:>10} {:>10} {:<5} {:>9}{}",
        m.title(", "),
        number(m.value),
        residual.simulated.map_or_else(|| "none".to_owned(), number),
        m.metric.unit(),
        residual.error().map_or_else(|| "-".to_owned(), error),
        if residual.is_met() { "" } else { "  !" },
    );
}

/// `structure` says what was chosen before the numbers, empty where nothing was.
fn shown(
    fitted: &FitResult,
    targets: &FitTargets,
    structure: &str,
    path: &Path,
    table: &Path,
) -> String {
    let mut text = String::new();
    for (role, title) in [(Role::Target, "Fitted to"), (Role::HeldOut, "Held out")] {
        let s = fitted.residuals.summary(role);
        if s.count == 0 {
            continue;
        }
        let _ = writeln!(
            text,
            "{title}\n  {:<52} {:>10} {:>10} {:<5} {:>9}",
            "measurement", "measured", "simulated", "", "error"
        );
        for residual in fitted.residuals.with_role(role) {
            line(&mut text, residual);
        }
        let _ = writeln!(
            text,
            "{title}: {} of {} within their tolerance; errors in per cent: median {:.1}, worst \
             {:.1}\n",
            s.met, s.count, s.median_pct, s.worst_pct
        );
    }
    text.push_str(structure);
    parameters(&mut text, fitted);
    let next = &fitted.identification.next;
    if !next.is_empty() {
        text.push_str(
            "\nMeasure next (share of the variance of the predictions of reads that it removes, \
             with those above)\n",
        );
        for one in next {
            let share = one.removed * 100.0;
            let _ = writeln!(text, "  {:<36} {share:>3.0} %   {}", one.title, one.options);
        }
    }
    if !targets.left_out.is_empty() {
        let _ = writeln!(text, "\nNot used, {} cells:", targets.left_out.len());
        for (cell, why) in &targets.left_out {
            let _ = writeln!(text, "  {cell}: {why}");
        }
    }
    let (profile, table) = (path.display().to_string(), table.display());
    // The path as `sim:` takes it.
    let here = if profile.contains('/') { "" } else { "./" };
    let _ = writeln!(
        text,
        "\n{} evaluations.\nProfile:   {profile}  (use it as sim:{here}{profile})\nResiduals: \
         {table}",
        fitted.evaluations
    );
    text
}

fn parameters(text: &mut String, fitted: &FitResult) {
    // A list is one line; its numbers are `path[place]`.
    let is_of = |name: &str, path: &str| name.split('[').next() == Some(path);
    text.push_str("Free parameters\n");
    let (mut any_open, mut any_bound) = (false, false);
    for FittedNumber { path, from, to } in &fitted.moved {
        let mut notes = Vec::new();
        let numbers = fitted.identification.numbers.iter();
        let open = numbers.filter(|n| n.is_undetermined && is_of(&n.path, path));
        if let Some(factor) = open.map(|n| n.factor).reduce(f64::max) {
            any_open = true;
            notes.push(format!("undetermined ({factor:.1})"));
        }
        if fitted.at_bounds.iter().any(|b| is_of(b, path)) {
            any_bound = true;
            notes.push("at bound".to_owned());
        }
        let line = format!("  {path:<34} {from:>14} -> {to:<14}  {}", notes.join(", "));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    for path in &fitted.insensitive {
        let _ = writeln!(text, "  {path:<34} unchanged: no figure depends on it");
    }
    if any_open {
        text.push_str(
            "Undetermined (factor): the figures say little of the number; its 90 % interval is \
             from the fitted\nnumber divided by the factor to the fitted number times it.\n",
        );
    }
    if any_bound {
        text.push_str("At bound: the optimum may lie beyond it; see --free.\n");
    }
}

pub(super) fn residuals(all: &Residuals) -> Vec<Value> {
    let row = |residual: &Residual| {
        let m = &residual.measurement;
        json!({
            "measurement": m.key(),
            "role": m.role.name(),
            "metric": m.metric.name(),
            "measured": m.value,
            "simulated": residual.simulated,
            "error": residual.error(),
            "error_unit": m.error_unit("percent"),
            "within_tolerance": residual.is_met(),
            "source": m.source,
        })
    };
    all.0.iter().map(row).collect()
}

pub(super) fn summary(summary: ErrorSummary) -> Value {
    json!({
        "figures": summary.count,
        "within_tolerance": summary.met,
        "median_error_pct": summary.median_pct,
        "worst_error_pct": summary.worst_pct,
    })
}

fn moved(numbers: &[FittedNumber]) -> Value {
    let one = |m: &FittedNumber| json!({ "path": m.path, "from": m.from, "to": m.to });
    numbers.iter().map(one).collect()
}

fn document(fitted: &FitResult, targets: &FitTargets, path: &Path, table: &Path) -> Value {
    let file = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    json!({
        "profile": file(path),
        "residuals_file": file(table),
        "fitted_to": targets.label,
        "evaluations": fitted.evaluations,
        "costs": fitted.costs.iter()
            .map(|(stage, first, last)| json!({ "stage": stage, "first": first, "last": last }))
            .collect::<Vec<_>>(),
        "targets": summary(fitted.residuals.summary(Role::Target)),
        "held_out": summary(fitted.residuals.summary(Role::HeldOut)),
        "residuals": residuals(&fitted.residuals),
        "free": moved(&fitted.moved),
        "at_bounds": fitted.at_bounds,
        "unfelt": fitted.insensitive,
        "numbers": fitted.identification.numbers.iter()
            .map(|n| json!({
                "path": n.path, "factor_90": n.factor, "undetermined": n.is_undetermined,
            }))
            .collect::<Vec<_>>(),
        "next": fitted.identification.next.iter()
            .map(|n| json!({
                "cell": n.title, "options": n.options, "variance_removed": n.removed,
            }))
            .collect::<Vec<_>>(),
        "left_out": targets.left_out.iter()
            .map(|(cell, why)| json!({ "cell": cell, "why": why }))
            .collect::<Vec<_>>(),
        "simulated": true,
    })
}
