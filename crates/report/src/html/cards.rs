//! Drive cards: identity, verdict with its reasons, key figures.

use assay_store::model::{LAYERS, Verdict};
use maud::{Markup, html};

use crate::drive_set::{DriveSet, ReportDrive};
use crate::format::{capacity, distinct, humanise, joined, plural};
use crate::grid::Section;
use crate::html::board::{verdict_style, weight_style};
use crate::html::elements::{drive_name, facts, simulated_mark, titled};
use crate::views;
use crate::views::KeyFigure;

pub fn cards(set: &DriveSet<'_>, sections: &[Section<'_>]) -> Markup {
    let positions: Vec<usize> = (0..set.drives.len()).collect();
    let cards =
        html! { div.cards { @for position in &positions { (card(set, sections, *position)) } } };
    let content = match set.are_repeats(&positions) {
        true => html! { (repeated(set)) details { summary { "Each run" } (cards) } },
        false => cards,
    };
    titled("drives", "Drives", &content)
}

/// The only drive of many runs: its identity, and how many runs gave each verdict.
fn repeated(set: &DriveSet<'_>) -> Markup {
    let drive = &set.drives[0];
    let verdicts = set.runs.iter().flat_map(|run| run.verdicts.iter().flatten());
    let results: Vec<_> = verdicts.map(|verdict| verdict.result).collect();
    html! {
        article.card {
            h3 { (drive.info.label) @if drive.info.simulated { (simulated_mark()) } }
            p.identity { (identity(drive)[0]) " \u{b7} " (plural(set.runs.len(), "run")) }
            @for result in distinct(results.iter().copied()) {
                @let (class, sign, text) = verdict_style(result);
                @let count = results.iter().filter(|other| **other == result).count();
                p class={ "verdict " (class) } {
                    span aria-hidden="true" { (sign) } " " (text) " in " (plural(count, "run"))
                }
            }
        }
    }
}

fn card(set: &DriveSet<'_>, sections: &[Section<'_>], position: usize) -> Markup {
    let drive = &set.drives[position];
    // Several cards are lists to look things up in; a single one is read.
    let open = set.drives.len() == 1;
    let verdicts = drive.origins.iter().filter_map(|(run, index)| {
        let run = &set.runs[*run];
        let verdict = run.verdicts.get(*index)?.as_ref()?;
        Some((run.manifest.suite.title.as_str(), verdict))
    });
    let verdicts: Vec<(&str, &Verdict)> = verdicts.collect();
    let keys = key_figures(sections, position);
    let details = &drive.info.details;
    let [short, full] = identity(drive);
    html! {
        article.card
            id={ "drive-" (position + 1) }
            style={ "--c:var(--c" (position % crate::chart::PALETTE) ")" } {
            h3 { (drive_name(&drive.heading)) }
            p.identity { (short) }
            @if verdicts.is_empty() {
                p class="verdict undecided" {
                    span aria-hidden="true" { "?" }
                    @if drive.info.kind == "imported" {
                        " No verdict: another program measured; assay verdict judges the figures."
                    } @else {
                        " No verdict: the run ended before it, or its suite defines none."
                    }
                }
            }
            @for (suite, verdict) in &verdicts {
                @if drive.origins.len() > 1 { h4 { (suite) } }
                (self::verdict(verdict, open))
            }
            @if !keys.is_empty() {
                details open[open] {
                    summary { "Key figures" }
                    dl.keys {
                        @for key in keys {
                            div {
                                dt { (key.label) }
                                dd { b { (key.value) } " " (key.unit) " " small { (key.details) } }
                            }
                        }
                    }
                }
            }
            details {
                summary { "All properties" }
                p.identity { (full) }
                dl.facts {
                    @for (name, value) in details { div { dt { (humanise(name)) } dd { (value) } } }
                }
            }
            @if !drive.info.probe.is_empty() {
                details {
                    summary { "Reported by the controller" }
                    @for group in drive.info.probe.chunk_by(|a, b| a.group == b.group) {
                        h5 { (humanise(&group[0].group)) }
                        (facts(group.iter().map(|fact| (humanise(&fact.name), fact.value.clone()))))
                    }
                }
            }
        }
    }
}

/// Model and capacity; and everything that identifies the drive.
fn identity(drive: &ReportDrive<'_>) -> [String; 2] {
    let d = drive.info;
    let kind = match (&d.profile, d.simulated, d.kind.as_str()) {
        (Some(profile), ..) => format!("simulated drive, profile {profile}"),
        (None, true, _) => "simulated drive".to_owned(),
        (None, false, "block") => "block device".to_owned(),
        (None, false, "null") => "null target (no drive): the ceiling of the I/O engine".to_owned(),
        (None, false, other) => other.to_owned(),
    };
    let labelled = |label: &str, value: &str, unit: &str| match value {
        "" | "0" => String::new(),
        _ => format!("{label}{value}{unit}"),
    };
    let layers = d.details.get(LAYERS);
    let parts = [
        d.model.clone(),
        capacity(d.capacity_bytes),
        labelled("serial ", &d.serial, ""),
        labelled("firmware ", &d.firmware, ""),
        labelled("", &d.logical_block_bytes.to_string(), " B blocks"),
        kind,
        labelled("not a drive: ", layers.map_or("", String::as_str), ""),
        d.spec.clone(),
    ];
    [joined(&parts[..2], " \u{b7} "), joined(&parts[2..], " \u{b7} ")]
}

/// A verdict with its reasons, folded unless `open`.
fn verdict(verdict: &Verdict, open: bool) -> Markup {
    let (class, sign, text) = verdict_style(verdict.result);
    let title = html! { span aria-hidden="true" { (sign) } " " (text) };
    html! {
        @if verdict.reasons.is_empty() {
            p class={ "verdict " (class) } { (title) }
        } @else {
            details.reasoned open[open] {
                summary class={ "verdict " (class) } { (title) }
                ul.reasons {
                    @for reason in &verdict.reasons {
                        @let (class, label) = weight_style(reason.weight);
                        li class=(class) { b { (label) } " " (reason.text) }
                    }
                }
                @if let Some(limits) = &verdict.limits {
                    p.key { "The limits are opinions about " (limits) "." }
                }
            }
        }
    }
}

/// The key figures of every section with results of the drive.
fn key_figures(sections: &[Section<'_>], drive: usize) -> Vec<KeyFigure> {
    let measured = |section: &&Section<'_>| section.measured(drive).next().is_some();
    let sections = sections.iter().filter(measured);
    sections.flat_map(|section| (views::of_section(section).key_figures)(section, drive)).collect()
}
