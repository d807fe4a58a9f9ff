use std::path::Path;

use anyhow::Context;
use assay_calibrate::measurement::Measurement;
use assay_calibrate::parameter::{FreeParameter, HOST_COSTS, free_by_default};
use assay_calibrate::profile_text::{renamed, with_values};
use assay_calibrate::run_folder::{self, FitTargets};
use assay_calibrate::shipped::{FitRecipe, hold_out, recipes};
use assay_calibrate::{FitSettings, Procedure, published, table};
use assay_sim_host::profile_file::load;
use assay_store::Run;

use super::{PUBLISHED, threads};
use crate::args::FitArguments;
use crate::exit::bail_usage;

/// Whatever host the profile has: no computer is faster, and few are slower.
const HOST_RANGE_NS: (f64, f64) = (200.0, 50_000.0);

pub(in crate::commands) struct PreparedFit {
    /// The profile with the start values.
    pub(in crate::commands) text: String,
    pub(in crate::commands) targets: FitTargets,
    pub(in crate::commands) settings: FitSettings,
    profile: String,
    /// Set where the new profile has another name.
    name: Option<String>,
}

impl PreparedFit {
    pub(in crate::commands) fn new(arguments: &FitArguments) -> anyhow::Result<PreparedFit> {
        let (text, profile) = load(&arguments.profile)?;
        let recipe = recipe(arguments, &profile.name)?;
        let text = with_values(&text, &recipe.start)?;
        let mut targets = targets(arguments, &profile.name)?;
        hold_out_named(&mut targets, &recipe.hold_out)?;
        if let Some(name) = &arguments.name {
            check_profile_name(name)?;
        }
        let settings = FitSettings {
            free: free(arguments, &recipe, &text, &targets)?,
            evaluations: recipe.evaluations.max(1),
            seed: recipe.seed,
            start: 0,
            threads: threads(arguments.threads),
            state_file: None,
            label: targets.label.clone(),
            keep_sources: arguments.to == PUBLISHED,
        };
        Ok(PreparedFit {
            text,
            targets,
            settings,
            profile: profile.name,
            name: arguments.name.clone(),
        })
    }

    pub(super) fn new_name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.profile)
    }

    pub(in crate::commands) fn named(&self, text: &str) -> anyhow::Result<String> {
        let name = self.new_name();
        if name == self.profile {
            return Ok(text.to_owned());
        }
        let title = format!("{name}: {} fitted to {}", self.profile, self.targets.label);
        Ok(renamed(text, name, &title)?)
    }
}

/// Fails for a name that `sim:` and files cannot have.
pub(super) fn check_profile_name(name: &str) -> anyhow::Result<()> {
    let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || !name.chars().all(fine) {
        bail_usage!(
            "--name {name:?}: write lower-case letters, digits and hyphens, as in my-drive"
        );
    }
    Ok(())
}

/// Fails for a pattern that names nothing.
pub(super) fn hold_out_named(targets: &mut FitTargets, patterns: &[String]) -> anyhow::Result<()> {
    let unused = hold_out(&mut targets.measurements, patterns);
    if let Some(pattern) = unused.first() {
        let examples = targets.measurements.iter().take(3).map(Measurement::key);
        let examples = examples.collect::<Vec<_>>().join("; ");
        bail_usage!(
            "{pattern:?} matches no measurement to hold out; examples of names: {examples}"
        );
    }
    Ok(())
}

pub(super) fn targets(arguments: &FitArguments, profile: &str) -> anyhow::Result<FitTargets> {
    if arguments.to != PUBLISHED {
        return measured("--to", &arguments.to, arguments.drive.as_deref());
    }
    let measurements = published::published(profile)?;
    if measurements.is_empty() {
        bail_usage!(
            "there are no published figures of {profile}; fit it to a table of measurements or to \
             a run"
        );
    }
    Ok(FitTargets {
        measurements,
        label: "the published figures (reference/)".to_owned(),
        ..FitTargets::default()
    })
}

/// Figures of a run folder or a table, which an option names.
pub(in crate::commands) fn measured(
    option: &str,
    what: &str,
    drive: Option<&str>,
) -> anyhow::Result<FitTargets> {
    let path = Path::new(what);
    if path.is_dir() {
        return Ok(run_folder::measurements(&Run::open(path)?, drive)?.required()?);
    }
    if !path.exists() {
        bail_usage!(
            "{option} {what}: there is no such file or folder; give a table of measurements \
             (.csv) or a run folder"
        );
    }
    let name = path.file_name().unwrap_or_default();
    let measurements = table::load(path).with_context(|| {
        format!("{option} {what}: a table of measurements (.csv) or a run folder is needed")
    })?;
    Ok(FitTargets {
        measurements,
        label: name.to_string_lossy().into_owned(),
        ..FitTargets::default()
    })
}

/// Reads the recipe from a file or from the command line.
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
    let text = assay_output::read_text(path)
        .with_context(|| format!("cannot read the recipes in {}", path.display()))?;
    let mut all = recipes(&path.display().to_string(), &text)?;
    let Some(recipe) = all.remove(profile) else {
        let names: Vec<String> = all.into_keys().collect();
        let (file, names) = (path.display(), names.join(", "));
        bail_usage!("{file} has no recipe for {profile}; it has: {names}");
    };
    Ok(recipe)
}

fn free(
    arguments: &FitArguments,
    recipe: &FitRecipe,
    text: &str,
    targets: &FitTargets,
) -> anyhow::Result<Vec<FreeParameter>> {
    let named = recipe.free()?;
    if !named.is_empty() {
        return Ok(named);
    }
    let mut free = free_by_default(text)?;
    if arguments.to == PUBLISHED {
        return Ok(free);
    }
    // The figures come from another host than the published ones.
    let figures = || targets.measurements.iter();
    for (path, deep) in HOST_COSTS {
        let is_of_kind = |m: &Measurement| match m.procedure {
            Procedure::Steady(workload) => (workload.queue_depth > 1) == deep,
            _ => false,
        };
        if figures().any(is_of_kind) && !free.iter().any(|f| f.path == path) {
            free.push(FreeParameter { range: Some(HOST_RANGE_NS), ..FreeParameter::whole(path) });
        }
    }
    Ok(free)
}
