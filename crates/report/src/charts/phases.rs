//! Causes of the rate over time: a strip of labelled bars above the panels of a chart.

use std::collections::BTreeSet;
use std::rc::Rc;

use assay_analysis::attribution::{self, Cause};
use serde_json::{Value, json};

use super::draw::band;
use super::plain;
use crate::drive_set::DriveSet;
use crate::format::for_drawing;
use crate::grid::Point;

/// A phase with one cause.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseBand {
    /// Since the cell's start, seconds.
    pub from_s: f64,
    /// Since the cell's start, seconds.
    pub to_s: f64,
    /// Kind of its cause, for its colour and legend.
    pub kind: CauseKind,
    /// The cause, with its figures.
    pub cause: String,
    /// Mean rate in it, MiB/s.
    pub mib_per_s: f64,
    /// Mean rate in it, completions per second.
    pub iops: f64,
    /// Size of the exhausted write cache, bytes, where that is the cause.
    pub cache_bytes: Option<u64>,
    /// Evidence of the cause.
    pub evidence: String,
}

/// Kinds of causes, in the order of the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CauseKind {
    /// Fresh flash.
    Fresh,
    /// The SLC cache is full.
    CacheFull,
    /// Garbage collection has begun.
    GcOnset,
    /// Garbage collection in steady state.
    GcSteady,
    /// Thermal throttling.
    Thermal,
    /// Limit of the power state.
    Power,
    /// Limit of the host.
    Host,
    /// No change.
    Steady,
    /// A change without evidence of a cause.
    Unexplained,
}

use CauseKind::{CacheFull, Fresh, GcOnset, GcSteady, Host, Power, Steady, Thermal, Unexplained};

impl CauseKind {
    fn of(cause: &Cause) -> CauseKind {
        match cause {
            Cause::Fresh => Fresh,
            Cause::SlcCacheExhausted { .. } => CacheFull,
            Cause::GcOnset => GcOnset,
            Cause::GcSteady { .. } => GcSteady,
            Cause::ThermalThrottling { .. } => Thermal,
            Cause::PowerLimited { .. } => Power,
            Cause::HostLimited => Host,
            Cause::Steady => Steady,
            Cause::Unexplained => Unexplained,
        }
    }

    /// Name in the legend, and colour as the page's script defines it.
    fn style(self) -> (&'static str, &'static str) {
        match self {
            Fresh => ("fresh", "@2"),
            CacheFull => ("SLC cache full", "@4"),
            GcOnset => ("garbage collection begins", "@6"),
            GcSteady => ("garbage collection, steady", "@0"),
            Thermal => ("thermal throttling", "@1"),
            Power => ("power-state limit", "@5"),
            Host => ("host-limited", "@3"),
            Steady => ("steady", "@line"),
            Unexplained => ("unexplained", "@7"),
        }
    }
}

impl PhaseBand {
    fn of(phase: attribution::RatePhase) -> PhaseBand {
        let cause = phase.cause.label();
        PhaseBand {
            from_s: phase.from_s,
            to_s: phase.to_s,
            kind: CauseKind::of(&phase.cause),
            cause: match phase.cause.details() {
                Some(details) => format!("{cause}, {details}"),
                None => cause.to_owned(),
            },
            mib_per_s: phase.mean_mib_per_s,
            iops: phase.mean_iops,
            cache_bytes: match phase.cause {
                Cause::SlcCacheExhausted { cache_bytes } => Some(cache_bytes),
                _ => None,
            },
            evidence: phase.evidence,
        }
    }
}

/// The phases of a point, in time order.
pub fn of(set: &DriveSet<'_>, point: &Point<'_>) -> Rc<Vec<PhaseBand>> {
    set.phases(point, |run, index| {
        let phases = attribution::of_cell(run, point.cell, index);
        phases.into_iter().map(PhaseBand::of).collect()
    })
}

/// Bars in one row per drive, on the vertical axis `axis`; each cause is listed once in the legend.
fn strip(rows: &[PhaseRow], axis: &str) -> Vec<Value> {
    let phases = rows.iter().flat_map(|r| r.phases.iter());
    let kinds: BTreeSet<CauseKind> = phases.map(|p| p.kind).collect();
    kinds
        .into_iter()
        .map(|kind| {
            let (mut base, mut length, mut names) = (Vec::new(), Vec::new(), Vec::new());
            let (mut texts, mut inside) = (Vec::new(), Vec::new());
            let (name, colour) = kind.style();
            for row in rows {
                for phase in row.phases.iter().filter(|p| p.kind == kind) {
                    inside.push(name);
                    base.push(for_drawing(phase.from_s));
                    length.push(for_drawing(phase.to_s - phase.from_s));
                    names.push(plain(&row.name));
                    texts.push(plain(&format!("{}: {}", phase.cause, phase.evidence)));
                }
            }
            json!({
                "type": "bar", "orientation": "h", "name": name,
                "base": base, "x": length, "y": names, "yaxis": axis,
                "hovertext": texts, "hovertemplate": "%{hovertext}<extra>%{y}</extra>",
                "marker": {"color": colour, "line": {"width": 0}},
                "width": 0.8, "text": inside, "textposition": "inside", "insidetextanchor": "start", "textangle": 0, "textfont": {"size": 10.5},
            })
        })
        .collect()
}

/// One row of the strip: the phases of a drive.
pub struct PhaseRow {
    /// Name, plain text.
    pub name: String,
    /// Colour of the drive's lines.
    pub colour: String,
    /// In time order.
    pub phases: Rc<Vec<PhaseBand>>,
}

/// Height of a row of the strip, pixels: one line of text.
const ROW_PX: f64 = 22.0;

/// Height of a chart's title bar, axis labels and margins, pixels.
const MARGINS_PX: f64 = 82.0;

/// The vertical axis of the strip, distinct from those of the panels.
const AXIS: &str = "y9";

/// Adds the strip above the panels of a chart over time of this height; the phases of a single drive are shaded.
pub fn put(layout: &mut Value, data: &mut Vec<Value>, rows: &[PhaseRow], height_px: u32) {
    let strip = strip(rows, AXIS);
    if strip.is_empty() {
        return;
    }
    let row = ROW_PX / (f64::from(height_px) - MARGINS_PX).max(4.0 * ROW_PX);
    let height = (row * rows.len() as f64).min(0.4);
    let remaining = 1.0 - height - 0.02;
    if let Some(axes) = layout.as_object_mut() {
        for (key, axis) in axes.iter_mut().filter(|(k, _)| k.starts_with("yaxis")) {
            let domain = |i: usize, or: f64| axis["domain"][i].as_f64().unwrap_or(or) * remaining;
            let domain = json!([domain(0, 0.0), domain(1, 1.0)]);
            if key != "yaxis9" {
                axis["domain"] = domain;
            }
        }
    }
    let names: Vec<String> = rows.iter().map(|r| plain(&r.name)).collect();
    // Each row begins with a square in the colour of its drive, which the page's script replaces.
    let squares: Vec<String> = rows
        .iter()
        .map(|r| format!("{}\u{25a0}", r.colour))
        .collect();
    layout["yaxis9"] = json!({
        "type": "category", "range": [names.len() as f64 - 0.5, -0.5],
        "categoryorder": "array", "categoryarray": names, "tickvals": names, "ticktext": squares,
        "showgrid": false, "ticks": "",
        "fixedrange": true, "domain": [1.0 - height, 1.0], "anchor": "x",
    });
    layout["barmode"] = "overlay".into();
    // A label that does not fit into its bar is left out: the legend has it.
    layout["uniformtext"] = json!({"minsize": 9, "mode": "hide"});
    if let [PhaseRow { phases, .. }] = rows {
        let mut shapes = layout["shapes"].as_array().cloned().unwrap_or_default();
        // A steady rate is the absence of a cause and is not shaded.
        let causes = phases.iter().filter(|p| p.kind != Steady);
        shapes.extend(causes.map(|p| band(p.from_s, p.to_s, &format!("{}~", p.kind.style().1))));
        layout["shapes"] = shapes.into();
    }
    data.extend(strip);
}

#[cfg(test)]
#[path = "../../tests/unit/charts/phases.rs"]
mod tests;
