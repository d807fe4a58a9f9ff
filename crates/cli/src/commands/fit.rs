//! `assay fit PROFILE --to WHAT`: a profile fitted to measured figures.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use assay_calibrate::measurement::{Measurement, Role, Tolerance};
use assay_calibrate::parameter::{FreeParameter, free_by_default, renamed};
use assay_calibrate::residual::{ErrorSummary, Residual, Residuals};
use assay_calibrate::shipped::{FitRecipe, hold_out, recipes};
use assay_calibrate::{FitResult, FitSettings, fit, published, run_folder, table};
use assay_sim_host::profile_file::load;
use assay_ssd::Profile;
use assay_store::Run;
use serde_json::{Value, json};

use crate::args::FitArguments;
use crate::exit::{CommandOutcome, UsageError};
use crate::terminal::Output;

/// Value of `--to` for the built-in published figures.
const PUBLISHED: &str = "published";
/// Overhead of the measuring host: free if the figures come from another host than the published ones.
const HOST_OVERHEAD: &str = "bench.host_overhead_ns";

/// The figures to fit to.
struct Targets {
    measurements: Vec<Measurement>,
    /// Label of fitted parameters.
    label: String,
    /// Cells without a usable figure, with the reason.
    left_out: Vec<(String, String)>,
}

/// Fit a profile; writes the profile and its residuals.
pub fn run(arguments: FitArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let (text, profile) = load(&arguments.profile)?;
    let recipe = recipe(&arguments, &profile.name)?;
    let text = recipe.begin(&text)?;
    let mut targets = targets(&arguments, &profile)?;
    let unused = hold_out(&mut targets.measurements, &recipe.hold_out);
    if let Some(pattern) = unused.first() {
        let some: Vec<String> = targets
            .measurements
            .iter()
            .take(3)
            .map(|m| m.key())
            .collect();
        let what = format!(
            "{pattern:?} matches no measurement to hold out; examples of names: {}",
            some.join("; ")
        );
        return Err(UsageError(what).into());
    }
    let name = arguments.name.clone().unwrap_or(profile.name.clone());
    check_name(&name)?;
    let path = arguments
        .output
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{name}.toml")));
    check_profile_path(&path)?;
    let mut state_file = path.clone().into_os_string();
    state_file.push(".fit-state");
    let settings = FitSettings {
        free: free(&arguments, &recipe, &text)?,
        evaluations: recipe.evaluations.max(1),
        seed: recipe.seed,
        threads: threads(arguments.threads),
        state_file: Some(state_file.clone().into()),
        label: targets.label.clone(),
        keep_sources: arguments.to == PUBLISHED,
    };
    let stop = super::stop_flag()?;
    let bar = crate::progress::bar(output, settings.evaluations);
    let fitted = fit(&text, &targets.measurements, &settings, &stop, &mut |p| {
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
    if name != profile.name {
        let title = format!("{name}: {} fitted to {}", profile.name, targets.label);
        fitted.text = renamed(&fitted.text, &name, &title)?;
    }
    super::write_atomically(&path, &fitted.text)?;
    let table = path.with_extension("residuals.csv");
    super::write_atomically(&table, &fitted.residuals.to_csv())?;
    // The same command then starts a new fit.
    let _ = std::fs::remove_file(&state_file);
    output.show(
        || shown(&fitted, &targets, &path, &table),
        || document(&fitted, &targets, &path, &table),
    )?;
    Ok(CommandOutcome::Done)
}

fn targets(arguments: &FitArguments, profile: &Profile) -> anyhow::Result<Targets> {
    let path = Path::new(&arguments.to);
    if arguments.to == PUBLISHED {
        let measurements = published::published(&profile.name)?;
        if measurements.is_empty() {
            let what = format!(
                "there are no published figures of {}; fit it to a table of measurements or to a run",
                profile.name
            );
            return Err(UsageError(what).into());
        }
        return Ok(Targets {
            measurements,
            label: "the published figures (reference/)".to_owned(),
            left_out: Vec::new(),
        });
    }
    if path.is_dir() {
        let run = Run::open(path)?;
        let found = run_folder::measurements(&run, arguments.drive.as_deref())?;
        return Ok(Targets {
            measurements: found.measurements,
            label: format!("run {} of {}", run.manifest.run_id, found.drive),
            left_out: found.left_out,
        });
    }
    if !path.exists() {
        let what = format!(
            "--to {}: there is no such file or folder; give a table of measurements (.csv), a run folder, or published",
            arguments.to
        );
        return Err(UsageError(what).into());
    }
    Ok(Targets {
        measurements: table::load(path)?,
        label: path
            .file_name()
            .map_or_else(String::new, |n| n.to_string_lossy().into_owned()),
        left_out: Vec::new(),
    })
}

/// The recipe, from its file or from the command line.
fn recipe(arguments: &FitArguments, profile: &str) -> anyhow::Result<FitRecipe> {
    let Some(path) = &arguments.recipe else {
        return Ok(FitRecipe {
            seed: arguments.seed,
            evaluations: arguments.evaluations,
            free: arguments.free.clone(),
            hold_out: arguments.hold_out.clone(),
            ..FitRecipe::default()
        });
    };
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the recipes in {}", path.display()))?;
    let mut all = recipes(&path.display().to_string(), &text)?;
    let found = all.remove(profile);
    Ok(found.ok_or_else(|| {
        UsageError(format!(
            "{} has no recipe for {profile}; it has: {}",
            path.display(),
            all.into_keys().collect::<Vec<_>>().join(", ")
        ))
    })?)
}

fn free(
    arguments: &FitArguments,
    recipe: &FitRecipe,
    text: &str,
) -> anyhow::Result<Vec<FreeParameter>> {
    let named = recipe.free()?;
    if !named.is_empty() {
        return Ok(named);
    }
    let mut free = free_by_default(text)?;
    if arguments.to != PUBLISHED && !free.iter().any(|f| f.path == HOST_OVERHEAD) {
        free.push(FreeParameter {
            path: HOST_OVERHEAD.to_owned(),
            index: None,
            range: None,
        });
    }
    Ok(free)
}

/// Error unless the name is valid in `sim:` and as a file name.
fn check_name(name: &str) -> Result<(), UsageError> {
    let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || !name.chars().all(fine) {
        return Err(UsageError(format!(
            "--name {name:?}: write lower-case letters, digits and hyphens, as in my-drive"
        )));
    }
    Ok(())
}

/// Error unless `path` is free, or an earlier profile.
fn check_profile_path(path: &Path) -> anyhow::Result<()> {
    if path.exists() && load(&path.to_string_lossy()).is_err() {
        let what = format!(
            "{} exists and is not a profile; remove it first or name another file (.toml) with -o",
            path.display()
        );
        return Err(UsageError(what).into());
    }
    if path.extension().is_none_or(|e| e != "toml") {
        let what = format!(
            "-o {}: the file of a profile is named NAME.toml",
            path.display()
        );
        return Err(UsageError(what).into());
    }
    Ok(())
}

/// Number of simulation threads.
pub(super) fn threads(given: Option<usize>) -> usize {
    let here = || std::thread::available_parallelism().map_or(1, usize::from);
    given.unwrap_or_else(here).max(1)
}

fn number(value: f64) -> String {
    if value.abs() < 10.0 {
        format!("{value:.2}")
    } else if value.abs() < 100.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

fn error_text(residual: &Residual) -> String {
    match (residual.error(), residual.measurement.tolerance) {
        (None, _) => "-".to_owned(),
        (Some(error), Tolerance::Relative(_)) => format!("{error:+.1} %"),
        (Some(error), Tolerance::Absolute(_)) => {
            format!("{error:+.1} {}", residual.measurement.metric.unit())
        }
    }
}

fn line(text: &mut String, residual: &Residual) {
    let m = &residual.measurement;
    let quantile = m.metric.quantile();
    let title = if quantile.is_empty() {
        m.procedure.title()
    } else {
        format!("{}, {quantile}", m.procedure.title())
    };
    let simulated = residual.simulated.map_or_else(|| "none".to_owned(), number);
    let _ = writeln!(
        text,
        "  {title:<52} {:>10} {simulated:>10} {:<5} {:>9}{}",
        number(m.value),
        m.metric.unit(),
        error_text(residual),
        if residual.is_met() { "" } else { "  !" },
    );
}

fn summary_line(text: &mut String, what: &str, summary: ErrorSummary) {
    let _ = writeln!(
        text,
        "{what}: {} of {} within their tolerance; errors in per cent: median {:.1}, worst {:.1}",
        summary.met, summary.count, summary.median_pct, summary.worst_pct
    );
}

fn shown(fitted: &FitResult, targets: &Targets, path: &Path, table: &Path) -> String {
    let mut text = String::new();
    let head = format!(
        "  {:<52} {:>10} {:>10} {:<5} {:>9}\n",
        "measurement", "measured", "simulated", "", "error"
    );
    for (role, title) in [(Role::Target, "Fitted to"), (Role::HeldOut, "Held out")] {
        let residuals: Vec<&Residual> = fitted.residuals.of(role).collect();
        if residuals.is_empty() {
            continue;
        }
        let _ = write!(text, "{title}\n{head}");
        for residual in &residuals {
            line(&mut text, residual);
        }
        summary_line(&mut text, title, fitted.residuals.summary(role));
        text.push('\n');
    }
    text.push_str("Free parameters\n");
    for number in &fitted.moved {
        let bound = if fitted.at_bounds.iter().any(|b| b.starts_with(&number.path)) {
            "  at a bound: the optimum may lie beyond it, see --free"
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "  {:<36} {:>20} -> {}{bound}",
            number.path, number.from, number.to
        );
    }
    for path in &fitted.insensitive {
        let _ = writeln!(text, "  {path:<36} unchanged: no figure depends on it");
    }
    if !targets.left_out.is_empty() {
        let _ = writeln!(text, "\nNot used, {} cells:", targets.left_out.len());
        for (cell, why) in &targets.left_out {
            let _ = writeln!(text, "  {cell}: {why}");
        }
    }
    let _ = writeln!(
        text,
        "\n{} evaluations.\nProfile:   {}  (use it as sim:{})\nResiduals: {}",
        fitted.evaluations,
        path.display(),
        as_spec(path),
        table.display()
    );
    text
}

/// The path as `sim:` takes it.
fn as_spec(path: &Path) -> String {
    let text = path.display().to_string();
    if text.contains('/') {
        text
    } else {
        format!("./{text}")
    }
}

/// Residuals as JSON.
pub(super) fn residuals(all: &Residuals) -> Vec<Value> {
    all.0
        .iter()
        .map(|residual| {
            let m = &residual.measurement;
            json!({
                "measurement": m.key(),
                "role": match m.role { Role::Target => "target", Role::HeldOut => "held_out" },
                "metric": m.metric.name(),
                "measured": m.value,
                "simulated": residual.simulated,
                "error": residual.error(),
                "error_unit": match m.tolerance { Tolerance::Relative(_) => "percent", Tolerance::Absolute(_) => m.metric.unit() },
                "within_tolerance": residual.is_met(),
                "source": m.source,
            })
        })
        .collect()
}

/// Summary of residuals as JSON.
pub(super) fn summary(summary: ErrorSummary) -> Value {
    json!({
        "figures": summary.count,
        "within_tolerance": summary.met,
        "median_error_pct": summary.median_pct,
        "worst_error_pct": summary.worst_pct,
    })
}

fn document(fitted: &FitResult, targets: &Targets, path: &Path, table: &Path) -> Value {
    let file = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    json!({
        "profile": file(path),
        "residuals_file": file(table),
        "fitted_to": targets.label,
        "evaluations": fitted.evaluations,
        "costs": fitted.costs.iter().map(|(stage, first, last)| json!({ "stage": stage, "first": first, "last": last })).collect::<Vec<_>>(),
        "targets": summary(fitted.residuals.summary(Role::Target)),
        "held_out": summary(fitted.residuals.summary(Role::HeldOut)),
        "residuals": residuals(&fitted.residuals),
        "free": fitted.moved.iter().map(|m| json!({ "path": m.path, "from": m.from, "to": m.to })).collect::<Vec<_>>(),
        "at_bounds": fitted.at_bounds,
        "unfelt": fitted.insensitive,
        "left_out": targets.left_out.iter().map(|(cell, why)| json!({ "cell": cell, "why": why })).collect::<Vec<_>>(),
        "simulated": true,
    })
}
