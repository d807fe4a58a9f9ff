//! The head of the page: what was measured, on what, when, and badges with the limitations that
//! apply to the figures.

use assay_analysis::warnings::by_cause;
use assay_store::model::warning::code;
use assay_store::model::{ImportRecord, RunEnd};
use assay_store::read::{CellRecord, CellState, Run};
use maud::{Markup, html};

use crate::drive_set::DriveSet;
use crate::format::{distinct, joined, plural, stamp};
use crate::resume;

/// A limitation: its short name, and its explanations.
struct Badge {
    class: &'static str,
    label: String,
    details: Vec<Markup>,
}

/// The head of the page.
pub fn header(set: &DriveSet<'_>, title: &str) -> Markup {
    let summaries = set.runs.iter().map(|r| r.manifest.suite.summary.as_str());
    let summaries = distinct(summaries.filter(|summary| !summary.is_empty()));
    html! {
        h1 { (title) }
        div.facts-line {
            p { (subject(set)) }
            @for badge in badges(set) {
                details class={ "badge " (badge.class) } {
                    summary { (badge.label) }
                    div { @for text in &badge.details { p { (text) } } }
                }
            }
            details class="badge about" {
                summary { "About this test" }
                div {
                    @for summary in summaries { p { (summary) } }
                    dl.facts {
                        @for (i, run) in set.runs.iter().enumerate() {
                            @let m = &run.manifest;
                            div {
                                dt {
                                    @if set.runs.len() > 1 { "Run " (i + 1) } @else { "Measured" }
                                }
                                dd {
                                    (stamp(&m.created)) " on " (m.host.cpu_model) ", "
                                    @if let Some(imported) = &m.imported {
                                        (origin(imported)) ", "
                                    }
                                    (m.tool.name) " " (m.tool.version)
                                    " (commit "
                                    (m.tool.commit.chars().take(12).collect::<String>()) ")"
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Where imported figures come from: `imported from fio 3.33, 2 files (a.json, SHA-256 2c26...)`.
fn origin(imported: &ImportRecord) -> String {
    let files = plural(imported.files.len(), "file");
    let first = imported.files.first().map(|file| {
        let hash: String = file.sha256.chars().take(16).collect();
        let more = if imported.files.len() > 1 { ", ..." } else { "" };
        format!(" ({}, SHA-256 {hash}...{more})", file.name)
    });
    let tools = imported.tools.join(", ");
    let state = &imported.state;
    format!(
        "imported from {tools}, {files}{}, state of the drive: {state}",
        first.unwrap_or_default()
    )
}

/// What was measured, when, and on which host, in one line.
pub fn subject(set: &DriveSet<'_>) -> String {
    let drives = match set.drives.as_slice() {
        [one] => one.heading.text.clone(),
        drives if set.are_repeats(&Vec::from_iter(0..drives.len())) => drives[0].info.label.clone(),
        drives => plural(drives.len(), "drive"),
    };
    let manifests = || set.runs.iter().map(|r| &r.manifest);
    let runs = match set.runs.len() {
        1 => String::new(),
        n => plural(n, "run"),
    };
    let mut stamps: Vec<String> = manifests().map(|m| stamp(&m.created)).collect();
    stamps.sort();
    stamps.dedup();
    let when = match stamps.as_slice() {
        [first, .., last] => format!("{first} to {last}"),
        all => all.concat(),
    };
    let hosts = distinct(manifests().map(|m| m.host.cpu_model.as_str())).join(" and ");
    let tools = distinct(manifests().map(|m| format!("{} {}", m.tool.name, m.tool.version)));
    let tools = tools.join(" and ");
    joined([drives, runs, when, hosts, tools], " \u{b7} ")
}

/// Limitations that apply to the figures. Those of the same name are one badge.
fn badges(set: &DriveSet<'_>) -> Vec<Badge> {
    let mut badges: Vec<Badge> = Vec::new();
    let mut add = |class, label: String, details: Markup| match badges
        .iter_mut()
        .find(|b| b.label == label)
    {
        Some(badge) => badge.details.push(details),
        None => badges.push(Badge { class, label, details: vec![details] }),
    };
    if set.any_simulated() {
        let (label, which) = if set.all_simulated() {
            ("simulated", "Every drive figure on this page is simulated.")
        } else {
            ("partly simulated", "Some figures on this page are simulated.")
        };
        let details = html! {
            strong { (which) }
            " They are results of a drive model in virtual time, and are marked \
             as simulated throughout."
        };
        add("simulated", label.to_owned(), details);
    }
    for (i, run) in set.runs.iter().enumerate() {
        let several = set.runs.len() > 1;
        let which = several.then(|| format!("Run {}: ", i + 1));
        of_run(run, &which.unwrap_or_default(), &mut add);
    }
    let warnings = by_cause(set.warnings()).len();
    if warnings > 0 {
        let details = html! {
            strong { (plural(warnings, "warning")) } " about these results, with advice: "
            a href="#warnings" { "see Warnings" } "."
        };
        add("caution", plural(warnings, "warning"), details);
    }
    badges
}

fn scaled(scale: f64, which: &str) -> (String, Markup) {
    let (name, effect) = if scale < 1.0 {
        let effect = "Thermal effects, full caches and steady state may not have been reached.";
        ("shortened", effect)
    } else {
        ("lengthened", "It ran for longer than published.")
    };
    let durations = match which {
        "" => "Durations",
        _ => "durations",
    };
    let details = html! {
        strong { (which) (durations) " multiplied by " (scale) }
        " (" code { "--scale " (scale) } "): this is not the procedure as published. " (effect)
    };
    (format!("{name} \u{d7}{scale}"), details)
}

/// Why a run is not complete.
fn unfinished(run: &Run, which: &str) -> Option<(&'static str, Markup)> {
    let lost = || run.warnings.iter().any(|w| w.code == code::DRIVE_LOST);
    let (label, strong, rest) = match run.outcome {
        Some(RunEnd::Complete) => return None,
        Some(RunEnd::Interrupted) if lost() => {
            ("interrupted", "Interrupted: a drive was lost.", "")
        }
        Some(RunEnd::Interrupted) => ("interrupted", "Interrupted by its user.", ""),
        None => {
            let rest = " the run was killed or is still in progress.";
            ("unfinished", "Unfinished:", rest)
        }
    };
    Some((label, html! { strong { (which) (strong) } (rest) }))
}

fn of_run(run: &Run, which: &str, add: &mut impl FnMut(&'static str, String, Markup)) {
    let scale = run.manifest.scale;
    if (scale - 1.0).abs() > f64::EPSILON {
        let (label, details) = scaled(scale, which);
        add("caution", label, details);
    }
    let finished = |c: &&CellRecord| matches!(c.state, CellState::Finished | CellState::Skipped(_));
    if let Some((label, reason)) = unfinished(run, which) {
        add(
            "caution",
            label.to_owned(),
            html! {
                (reason) " " (run.cells.iter().filter(finished).count()) " of " (run.cells.len())
                " cells are complete or were skipped with a reason; available results are shown"
                @if let Some(command) = resume::of_run(run) {
                    ", and " code { (command) } " continues"
                }
                "."
            },
        );
    }
    let cells = run.cells.iter();
    let failed = cells.filter(|c| matches!(c.state, CellState::Failed(_))).count();
    if failed > 0 {
        add(
            "alarm",
            "failed cells".to_owned(),
            html! {
                strong { (which) (plural(failed, "cell")) " failed." }
                " The sections below state the reasons."
            },
        );
    }
    let damaged = run.damaged_lines.len();
    if damaged > 0 {
        add(
            "alarm",
            "damaged journal".to_owned(),
            html! {
                strong { (which) (plural(damaged, "damaged line")) " of the journal left out" }
                "; listed in " a href="#provenance" { "Provenance" } "."
            },
        );
    }
}
