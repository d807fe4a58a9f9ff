//! Causes of the rate over time: a strip of labelled bars above the panels of a chart.

use std::collections::BTreeSet;

use assay_analysis::attribution::{Cause, RatePhase};
use serde_json::{Value, json};

use crate::chart::{colour, plain};
use crate::charts::draw::band;
use crate::format::for_drawing;
use crate::grid::Point;
use crate::tables::phases::cause_text;

/// Position of a cause in the legend, its name there, and its colour as the page's script defines
/// it: none is a drive's.
fn style(cause: &Cause) -> (usize, &'static str, &'static str) {
    match cause {
        Cause::Fresh => (0, "fresh", "@p0"),
        Cause::SlcCacheExhausted { .. } => (1, "SLC cache full", "@p1"),
        Cause::GcOnset => (2, "garbage collection begins", "@p2"),
        Cause::GcSteady { .. } => (3, "garbage collection", "@p3"),
        Cause::ThermalThrottling { .. } => (4, "thermal throttling", "@p4"),
        Cause::PowerLimited { .. } => (5, "power-state limit", "@p5"),
        Cause::HostLimited => (6, "host-limited", "@p6"),
        Cause::Steady => (7, "no change", "@line"),
        Cause::Unexplained => (8, "unexplained", "@p7"),
        Cause::RateLimited { .. } => (9, "rate-limited", "@p8"),
    }
}

/// One row of the strip: the phases of a drive, in time order.
pub struct PhaseRow<'p> {
    /// Name, plain text.
    pub name: String,
    /// Position of the drive, whose lines have its colour.
    pub drive: usize,
    pub phases: &'p [RatePhase],
}

impl<'p> PhaseRow<'p> {
    /// The phases of a point.
    pub fn new(point: &'p Point<'_>, name: String) -> PhaseRow<'p> {
        PhaseRow { name, drive: point.drive, phases: point.phases() }
    }
}

/// Bars in one row per drive, on the vertical axis `axis`; each cause is listed once in the legend.
fn strip(rows: &[PhaseRow<'_>], axis: &str) -> Vec<Value> {
    let phases = rows.iter().flat_map(|r| r.phases);
    let styles: BTreeSet<_> = phases.map(|p| style(&p.cause)).collect();
    styles
        .into_iter()
        .map(|own @ (_, name, colour)| {
            let (mut base, mut length, mut names) = (Vec::new(), Vec::new(), Vec::new());
            let mut texts = Vec::new();
            for row in rows {
                for phase in row.phases.iter().filter(|p| style(&p.cause) == own) {
                    base.push(for_drawing(phase.from_s));
                    length.push(for_drawing(phase.to_s - phase.from_s));
                    names.push(plain(&row.name));
                    texts.push(plain(&format!("{}: {}", cause_text(&phase.cause), phase.evidence)));
                }
            }
            let inside = vec![name; base.len()];
            json!({
                "type": "bar", "orientation": "h", "name": name,
                "base": base, "x": length, "y": names, "yaxis": axis,
                "hovertext": texts, "hovertemplate": "%{hovertext}<extra>%{y}</extra>",
                "marker": {"color": colour, "line": {"width": 0}},
                "width": 0.8, "text": inside, "textposition": "inside", "insidetextanchor": "start",
                "textangle": 0, "textfont": {"size": 10.5},
            })
        })
        .collect()
}

/// Height of a row of the strip, pixels: one line of text; of more than [`MAX_NAMED`] rows, which
/// have no text.
const ROW_PX: f64 = 22.0;
const LOW_ROW_PX: f64 = 12.0;
const MAX_NAMED: usize = 3;

/// Height of a chart's title bar, axis labels and margins, pixels.
const MARGINS_PX: f64 = 82.0;

/// The vertical axis of the strip, distinct from those of the panels.
const AXIS: &str = "y9";

/// Adds the strip above the panels of a chart over time of this height; the phases of a single
/// drive are shaded.
pub fn put(layout: &mut Value, data: &mut Vec<Value>, rows: &[PhaseRow<'_>], height_px: u32) {
    let strip = strip(rows, AXIS);
    if strip.is_empty() {
        return;
    }
    let row_px = if rows.len() > MAX_NAMED { LOW_ROW_PX } else { ROW_PX };
    let row = row_px / (f64::from(height_px) - MARGINS_PX).max(4.0 * ROW_PX);
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
    let squares: Vec<String> =
        rows.iter().map(|r| format!("{}\u{25a0}", colour(r.drive))).collect();
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
        let causes = phases.iter().filter(|p| p.cause != Cause::Steady);
        shapes.extend(causes.map(|p| {
            let (_, _, colour) = style(&p.cause);
            band(p.from_s, p.to_s, &format!("{colour}~"))
        }));
        layout["shapes"] = shapes.into();
    }
    data.extend(strip);
}

#[cfg(test)]
#[path = "../../tests/unit/charts/phases.rs"]
mod tests;
