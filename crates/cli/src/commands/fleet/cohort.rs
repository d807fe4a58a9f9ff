//! `assay fleet cohort`.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use assay_analysis::cohort::observe::{Origin, serial_of};
use assay_analysis::cohort::progress::{self, RunProgress};
use assay_analysis::cohort::{CohortSettings, Grouping, Observation, Soaks, conclude, soak};
use assay_export::lake::Lake;
use assay_fleet::collect::{claim_in, claim_of, collect, missing_beside};
use assay_fleet::missing::MissingRun;
use assay_fleet::{FleetError, Plan, shared_store};
use assay_report::cohort as page;
use assay_store::Run;
use assay_store::find::folders as folders_below;
use assay_store::replace::check_replaceable;
use serde_json::json;
use tempfile::TempDir;

use crate::args::fleet::CohortArguments;
use crate::commands::report::PAGE_HEAD;
use crate::exit::{CommandOutcome, bail_usage};
use crate::terminal::Output;

/// Run folders are looked for in so many levels below a named folder.
const DEEPEST: usize = 6;

#[derive(Default)]
struct Input {
    settings: CohortSettings,
    observations: Vec<Observation>,
    soaks: Soaks,
    runs: Vec<RunProgress>,
    left_out: Vec<String>,
    /// Run folders that claims name, in the shared store or in a folder of collected runs.
    missing: Vec<MissingRun>,
}

pub fn run(arguments: &CohortArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    if let Some(path) = &arguments.output {
        check_replaceable(path, PAGE_HEAD)?;
    }
    let (plans, folders): (Vec<&PathBuf>, Vec<&PathBuf>) =
        arguments.sources.iter().partition(|path| is_plan(path));
    let plan = match plans[..] {
        [] => None,
        [path] => Some(Plan::load(path).map_err(FleetError::from)?),
        _ => bail_usage!(
            "several plans: conclusions are those of one plan, declared before measuring"
        ),
    };
    let mut input = Input { settings: settings(arguments, plan.as_ref()), ..Input::default() };
    let id = plan.as_ref().map(Plan::id).transpose();
    let id = id.map_err(FleetError::from)?.map(|id| id.to_string());
    if let Some(lake) = &arguments.lake {
        input.observations = Lake::new(lake).observations(id.as_deref())?;
        let why = "drift in soaks: the tables of a lake do not have it; name run folders";
        input.left_out.push(why.to_owned());
    }
    read_runs(&mut input, &folders, plan.as_ref(), id.as_deref(), arguments)?;
    let described = input.observations.iter_mut().chain(input.soaks.about_mut());
    assign_groups(described, plan.as_ref());
    let mut cohort = conclude(&input.observations, &input.soaks, &input.settings);
    cohort = cohort.with_audits(&input.runs);
    cohort.left_out.append(&mut input.left_out);
    cohort.left_out.extend(input.missing.iter().map(ToString::to_string));
    if cohort.drives.is_empty() {
        check_missing(&plans, &folders, &input.missing)?;
        bail_usage!("nothing to conclude from: no run has a finished cell");
    }
    if let Some(path) = &arguments.output {
        crate::commands::write_atomically(path, &page::html(&cohort, &input.runs)?)?;
    }
    let text = || {
        let mut text = page::text(&cohort, &input.runs, output.columns(), output.style());
        if let Some(path) = &arguments.output {
            text.push_str(&format!("\nPage: {}\n", path.display()));
        }
        text
    };
    output
        .show(text, || json!({ "cohort": cohort, "runs": input.runs, "page": arguments.output }))?;
    check_missing(&plans, &folders, &input.missing)?;
    Ok(CommandOutcome::Done)
}

/// Those of the named folders; without any or a lake, those of the plan in its shared store.
fn read_runs(
    input: &mut Input,
    named: &[&PathBuf],
    plan: Option<&Plan>,
    id: Option<&str>,
    arguments: &CohortArguments,
) -> anyhow::Result<()> {
    let mut folders: Vec<PathBuf> = named.iter().copied().cloned().collect();
    // Removed at the end: the shared store keeps the runs.
    let temporary;
    if let (Some(plan), true) = (plan, named.is_empty() && arguments.lake.is_none()) {
        temporary = collected(plan, input)?;
        folders.push(temporary.path().to_owned());
    }
    let (found, missing) = all_run_folders(&folders, !input.missing.is_empty())?;
    // Of a plan's runs, the shared store has told what is missing.
    if !named.is_empty() {
        input.missing.extend(missing);
    }
    for folder in found {
        match Run::open(&folder) {
            Ok(run) => add(input, &run, plan, id),
            Err(error) => input.left_out.push(format!("{}: {error}", folder.display())),
        }
    }
    Ok(())
}

fn check_missing(
    plans: &[&PathBuf],
    named: &[&PathBuf],
    missing: &[MissingRun],
) -> anyhow::Result<()> {
    match (plans, named) {
        ([file], []) => super::check_missing(&super::open_plan(file)?, file, missing),
        _ if missing.is_empty() => Ok(()),
        _ => {
            let folders = missing.iter().map(|run| run.folder.clone()).collect();
            Err(FleetError::MissingCollected { folders }.into())
        }
    }
}

/// The runs of a plan, in a temporary folder.
fn collected(plan: &Plan, input: &mut Input) -> anyhow::Result<TempDir> {
    let temporary =
        tempfile::tempdir().context("no temporary directory for the runs of the plan")?;
    let store = shared_store::open(&plan.store.at)?;
    let collected = collect(store.as_ref(), &plan.id()?, temporary.path())?;
    let is_empty = collected.folders.is_empty() && collected.failed.is_empty();
    if is_empty && collected.missing.is_empty() {
        bail_usage!(
            "{}: no run of this plan was shipped to {}; `assay fleet status` shows how far it is",
            plan.name,
            plan.store.at
        );
    }
    input.left_out.extend(collected.failed);
    input.missing.extend(collected.missing);
    Ok(temporary)
}

/// With those that are missing beside a claim.
fn all_run_folders(
    folders: &[PathBuf],
    may_be_none: bool,
) -> anyhow::Result<(Vec<PathBuf>, Vec<MissingRun>)> {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for folder in folders {
        crate::commands::check_folder(folder)?;
        let before = found.len();
        let mut visit = |at: &Path, is_run: bool| {
            if let Some(claim) = claim_in(at) {
                missing.extend(missing_beside(&claim, at));
            }
            if is_run {
                found.push(at.to_owned());
            }
        };
        folders_below(folder, DEEPEST, &mut visit)
            .with_context(|| format!("{} cannot be searched for run folders", folder.display()))?;
        if found.len() == before && missing.is_empty() && !may_be_none {
            bail_usage!("{} holds no run folder", folder.display());
        }
    }
    Ok((found, missing))
}

fn is_plan(path: &Path) -> bool {
    path.is_file()
}

/// Options come before what the plan declares.
fn settings(arguments: &CohortArguments, plan: Option<&Plan>) -> CohortSettings {
    let mut settings = CohortSettings::default();
    if let Some(plan) = plan {
        settings.primary.clone_from(&plan.compare.primary);
        settings.minimum_effect = plan.compare.minimum_effect;
        settings.grouping = match plan.drives.groups.as_deref() {
            None => Grouping::Automatic,
            Some("firmware") => Grouping::Firmware,
            Some("model") => Grouping::Model,
            Some(_) => Grouping::Group,
        };
    }
    if !arguments.primary.is_empty() {
        settings.primary.clone_from(&arguments.primary);
    }
    if let Some(effect) = arguments.minimum_effect {
        settings.minimum_effect = effect;
    }
    if let Some(groups) = arguments.groups {
        settings.grouping = groups.into();
    }
    settings.baseline = arguments.baseline.clone().unwrap_or_default();
    settings.limits = arguments.limit.iter().cloned().collect();
    settings
}

fn assign_groups<'o>(described: impl Iterator<Item = &'o mut Observation>, plan: Option<&Plan>) {
    let Some(plan) = plan else { return };
    for o in described.filter(|o| o.group.is_empty()) {
        o.group = plan.group_of(&o.serial).unwrap_or_default();
    }
}

/// A plan selects runs of drives in its list of serials.
fn add(input: &mut Input, run: &Run, plan: Option<&Plan>, id: Option<&str>) {
    let claim = claim_of(&run.path);
    let slot = claim.as_ref().and_then(|c| c.holder.slot.clone());
    let origin = Origin {
        plan: id.unwrap_or_default().to_owned(),
        host: claim.map_or_else(String::new, |c| c.holder.host.to_string()),
        slot: slot.unwrap_or_default(),
        ..Origin::default()
    };
    let list = plan.and_then(|plan| plan.drives.serials.as_ref());
    let is_of_plan = |serial: &str| {
        list.is_none_or(|list| list.drives.keys().any(|known| known.to_string() == serial))
    };
    for drive in &run.manifest.drives {
        let serial = serial_of(drive);
        if !is_of_plan(&serial) {
            let path = run.path.display();
            input.left_out.push(format!("{path}: drive {serial} is not in the plan"));
        }
    }
    let observed = page::observations(run, &origin);
    input.observations.extend(observed.into_iter().filter(|o| is_of_plan(&o.serial)));
    let mut soaks = soak::of_run(run, &origin);
    soaks.retain(|about| is_of_plan(&about.serial));
    input.soaks.extend(soaks);
    let runs = progress::of_run(run, &origin);
    input.runs.extend(runs.into_iter().filter(|r| is_of_plan(&r.serial)));
}
