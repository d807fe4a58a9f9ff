//! One card per drive: identity, verdict with its reasons, key figures.

mod concluded;

use assay_store::model::{CellKind, Reason, ReasonWeight, Verdict, VerdictResult};
use assay_store::read::CellDrive;
use assay_store::series::IntervalSample;

use super::write::drive_name;
use crate::axis::Axis;
use crate::format::{capacity, escape, figure, humanise, percent, ratio};
use crate::grid::{Point, Section};
use crate::lineup::{Entrant, Lineup};
use crate::tables::aboard;

/// A figure to remember a drive by.
pub(super) struct Key {
    label: String,
    value: String,
    unit: &'static str,
    detail: String,
}

/// The cards of all drives.
pub fn cards(lineup: &Lineup<'_>, sections: &[Section<'_>]) -> String {
    let mut out = String::from(
        "<section id=\"drives\" aria-labelledby=\"drives-title\">\n<h2 id=\"drives-title\">Drives</h2>\n<div class=\"cards\">\n",
    );
    for position in 0..lineup.drives.len() {
        out.push_str(&card(lineup, sections, position));
    }
    out.push_str("</div>\n</section>\n");
    out
}

fn card(lineup: &Lineup<'_>, sections: &[Section<'_>], position: usize) -> String {
    let entrant = &lineup.drives[position];
    let mut out = format!(
        "<article class=\"card\" style=\"--c:var(--c{})\">\n<h3>{}</h3>\n",
        position % crate::charts::PALETTE,
        drive_name(&entrant.name, entrant.info.simulated)
    );
    out.push_str(&identity(entrant));
    let given: Vec<(&str, &Verdict)> = entrant
        .parts
        .iter()
        .filter_map(|(run, drive)| {
            let run = &lineup.runs[*run];
            let verdict = run.verdicts.get(*drive)?.as_ref()?;
            Some((run.manifest.suite.title.as_str(), verdict))
        })
        .collect();
    if given.is_empty() {
        out.push_str(&self::verdict(None));
    }
    for (suite, verdict) in &given {
        if entrant.parts.len() > 1 {
            out.push_str(&format!("<h4>{}</h4>\n", escape(suite)));
        }
        out.push_str(&self::verdict(Some(verdict)));
    }
    let keys = key_figures(lineup, sections, position);
    if !keys.is_empty() {
        out.push_str("<h4>Key figures</h4>\n<dl class=\"keys\">\n");
        for key in keys {
            out.push_str(&format!(
                "<div><dt>{}</dt><dd><b>{}</b> {} <small>{}</small></dd></div>\n",
                escape(&key.label),
                escape(&key.value),
                escape(key.unit),
                escape(&key.detail)
            ));
        }
        out.push_str("</dl>\n");
    }
    let details: Vec<(&str, String)> = entrant
        .info
        .details
        .iter()
        .map(|(k, v)| (k.as_str(), v.clone()))
        .collect();
    if !details.is_empty() {
        out.push_str("<details><summary>Everything known about it</summary>\n<dl class=\"facts\">");
        for (name, value) in details {
            out.push_str(&format!(
                "<div><dt>{}</dt><dd>{}</dd></div>",
                escape(&humanise(name)),
                escape(&value)
            ));
        }
        out.push_str("</dl></details>\n");
    }
    out.push_str(&probe(entrant));
    out.push_str("</article>\n");
    out
}

/// What its controller said of itself before the run, group by group.
fn probe(entrant: &Entrant<'_>) -> String {
    let facts = &entrant.info.probe;
    if facts.is_empty() {
        return String::new();
    }
    let mut out = "<details><summary>What its controller says of itself</summary>\n".to_owned();
    for group in facts.chunk_by(|a, b| a.group == b.group) {
        out.push_str(&format!(
            "<h5>{}</h5>\n<dl class=\"facts\">",
            escape(&humanise(&group[0].group))
        ));
        for fact in group {
            out.push_str(&format!(
                "<div><dt>{}</dt><dd>{}</dd></div>",
                escape(&humanise(&fact.name)),
                escape(&fact.value)
            ));
        }
        out.push_str("</dl>\n");
    }
    out.push_str("</details>\n");
    out
}

fn identity(entrant: &Entrant<'_>) -> String {
    let d = entrant.info;
    let kind = match (&d.profile, d.simulated) {
        (Some(profile), _) => format!("simulated drive, profile {profile}"),
        (None, true) => "simulated drive".to_owned(),
        (None, false) => match d.kind.as_str() {
            "block" => "block device".to_owned(),
            "file" => "file".to_owned(),
            "null" => "null target: the engine itself, no drive".to_owned(),
            other => other.to_owned(),
        },
    };
    let unless_empty = |label: &str, value: &str| {
        if value.is_empty() {
            String::new()
        } else {
            format!("{label}{value}")
        }
    };
    let parts = [
        d.model.clone(),
        capacity(d.capacity_bytes),
        unless_empty("serial ", &d.serial),
        unless_empty("firmware ", &d.firmware),
        if d.logical_block_bytes > 0 {
            format!("{} B blocks", d.logical_block_bytes)
        } else {
            String::new()
        },
        kind,
        d.spec.clone(),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|p| !p.is_empty())
        .map(|p| escape(p))
        .collect();
    format!("<p class=\"identity\">{}</p>\n", parts.join(" \u{b7} "))
}

fn verdict(verdict: Option<&Verdict>) -> String {
    let Some(verdict) = verdict else {
        return "<p class=\"verdict undecided\"><span aria-hidden=\"true\">?</span> No verdict: the run ended before one, or its suite gives none.</p>\n".to_owned();
    };
    let (class, sign, text) = match verdict.result {
        VerdictResult::Recommended => ("recommended", "\u{2713}", "Recommended"),
        VerdictResult::Conditionally => ("conditionally", "!", "Conditionally recommended"),
        VerdictResult::NotRecommended => ("not", "\u{2717}", "Not recommended"),
        VerdictResult::Undecided => ("undecided", "?", "Undecided: too little was measured"),
    };
    let mut out = format!(
        "<p class=\"verdict {class}\"><span aria-hidden=\"true\">{sign}</span> {text}</p>\n"
    );
    if !verdict.reasons.is_empty() {
        out.push_str("<ul class=\"reasons\">\n");
        for reason in &verdict.reasons {
            out.push_str(&self::reason(reason));
        }
        out.push_str("</ul>\n");
    }
    out
}

fn reason(reason: &Reason) -> String {
    let (class, word) = match reason.weight {
        ReasonWeight::For => ("for", "for"),
        ReasonWeight::Caution => ("caution", "caution"),
        ReasonWeight::Against => ("against", "against"),
        ReasonWeight::Missing => ("missing", "not measured"),
    };
    format!(
        "<li class=\"{class}\"><b>{word}</b> {}</li>\n",
        escape(&reason.text)
    )
}

/// Of each section what a reader remembers a drive by.
fn key_figures(lineup: &Lineup<'_>, sections: &[Section<'_>], position: usize) -> Vec<Key> {
    let mut keys = Vec::new();
    for section in sections {
        let points: Vec<&Point<'_>> = section
            .points
            .iter()
            .filter(|p| p.drive == position && p.result().is_some())
            .collect();
        if points.is_empty() {
            continue;
        }
        if section.view.is_some() {
            keys.extend(concluded::keys(lineup, section, position, &points));
            continue;
        }
        match section.kind {
            CellKind::Measure | CellKind::Prepare if section.varying().contains(&Axis::Data) => {
                keys.extend(blank_ratio(section, position));
            }
            CellKind::Measure | CellKind::Prepare => keys.extend(best(section, &points)),
            CellKind::Soak => keys.extend(endurance(section, &points)),
            CellKind::AllAboard => keys.extend(share(lineup, section, sections, position)),
            CellKind::Inspect | CellKind::Purge | CellKind::Idle => {}
        }
    }
    keys
}

/// The highest bandwidth and where it was reached; of random work the highest rate of operations as well.
fn best(section: &Section<'_>, points: &[&Point<'_>]) -> Vec<Key> {
    let axes = section.varying();
    let highest = |of: fn(&assay_store::model::CellResult) -> f64| {
        let measured = points.iter().filter_map(|p| Some((of(p.result()?), p)));
        measured.max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let mut keys = Vec::new();
    let several = points.len() > 1;
    if let Some((value, point)) = highest(|r| r.mib_per_s()) {
        keys.push(Key {
            label: format!("{}{}", section.title, if several { ", peak" } else { "" }),
            value: figure(value),
            unit: "MiB/s",
            detail: if several {
                point.coordinates(&axes)
            } else {
                unsteadiness(point)
            },
        });
    }
    let random = points
        .iter()
        .all(|p| p.plan().workload.rw.starts_with("rand"));
    if let Some((value, point)) = highest(|r| r.iops()).filter(|_| random) {
        keys.push(Key {
            label: format!("{}{}", section.title, if several { ", peak" } else { "" }),
            value: figure(value),
            unit: "IOPS",
            detail: point.coordinates(&axes),
        });
    }
    keys
}

/// Of a rate that was not kept, from where to where it went; of a steady one, nothing.
fn unsteadiness(point: &Point<'_>) -> String {
    let samples = point.part.map(CellDrive::measured_intervals);
    let samples = samples.unwrap_or_default();
    let rates = || samples.iter().map(IntervalSample::mib_per_s);
    match (rates().reduce(f64::min), rates().reduce(f64::max)) {
        (Some(slowest), Some(fastest)) if slowest < 0.7 * fastest => format!(
            "fastest interval {}, slowest {}",
            figure(fastest),
            figure(slowest)
        ),
        _ => String::new(),
    }
}

/// How much faster blank areas are read, where that was compared.
fn blank_ratio(section: &Section<'_>, position: usize) -> Option<Key> {
    let column = |wanted: bool| {
        section.columns.iter().position(|c| {
            let data = section.column_axes.iter().position(|a| *a == Axis::Data);
            data.is_some_and(|i| (c[i].label == "incompressible") == wanted)
        })
    };
    let (base, other) = (column(true)?, column(false)?);
    let mut best: Option<(f64, usize)> = None;
    for row in 0..section.rows.len() {
        let rate = |column| {
            let point = section.at(row, column, position)?;
            point
                .result()
                .map(assay_store::model::CellResult::mib_per_s)
        };
        if let (Some(base), Some(other)) = (rate(base), rate(other)) {
            let times = other / base;
            if base > 0.0 && best.is_none_or(|(most, _)| times > most) {
                best = Some((times, row));
            }
        }
    }
    let (times, row) = best?;
    Some(Key {
        label: section.title.to_owned(),
        value: ratio(times),
        unit: "",
        detail: {
            let (blank, written) = (section.column_label(other), section.column_label(base));
            match section.rows[row].label.as_str() {
                "" => format!("{blank} against {written}"),
                place => format!("{blank} against {written}, {place}"),
            }
        },
    })
}

fn endurance(section: &Section<'_>, points: &[&Point<'_>]) -> Option<Key> {
    let point = points.first()?;
    let part = point.part?;
    let rates: Vec<f64> = part
        .measured_intervals()
        .iter()
        .map(IntervalSample::mib_per_s)
        .collect();
    let slowest = rates.iter().copied().reduce(f64::min);
    let degrees = part.telemetry.iter().filter_map(|t| t.temperature_c);
    let hottest = degrees.reduce(f64::max);
    let mut detail: Vec<String> = Vec::new();
    if let Some(slowest) = slowest {
        detail.push(format!("slowest interval {}", figure(slowest)));
    }
    if let Some(hottest) = hottest {
        detail.push(format!("up to {hottest:.0} \u{b0}C"));
    }
    Some(Key {
        label: format!("{}, mean", section.title),
        value: figure(point.result()?.mib_per_s()),
        unit: "MiB/s",
        detail: detail.join(", "),
    })
}

fn share(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    all: &[Section<'_>],
    position: usize,
) -> Option<Key> {
    let entrant = &lineup.drives[position];
    for crowd in aboard::crowds(section, all) {
        for (point, alone) in crowd.points.iter().zip(&crowd.alone) {
            let together = point.result().map(|r| r.mib_per_s());
            let alone = alone
                .as_ref()
                .and_then(|a| a.result())
                .map(|r| r.mib_per_s());
            if let (true, Some(together), Some(alone)) = (point.drive == position, together, alone)
                && alone > 0.0
            {
                return Some(Key {
                    label: section.title.to_owned(),
                    value: percent(100.0 * together / alone),
                    unit: "% of alone",
                    detail: format!(
                        "{} of {} MiB/s{}",
                        figure(together),
                        figure(alone),
                        if entrant.info.simulated {
                            ", simulated"
                        } else {
                            ""
                        }
                    ),
                });
            }
        }
    }
    None
}
