//! Why a rate is what it is: the causes of a drive's phases, as labelled stretches beside the lines of a chart over time.

use std::rc::Rc;

use assay_analysis::attribution::{self, Cause};
use serde_json::{Value, json};

use super::plain;
use crate::format::for_drawing;
use crate::grid::Point;
use crate::lineup::Lineup;

/// A stretch of time with one cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Since the cell's start, seconds.
    pub from_s: f64,
    /// Since the cell's start, seconds.
    pub to_s: f64,
    /// Which kind of cause, for its colour and legend.
    pub kind: Kind,
    /// The cause in words, with its figures.
    pub words: String,
    /// Mean rate in it, MiB/s.
    pub mib_per_s: f64,
    /// Mean rate in it, completions per second.
    pub iops: f64,
    /// Size of the write cache that had filled, bytes, where that is the cause.
    pub cache_bytes: Option<u64>,
    /// What it rests on.
    pub evidence: String,
}

/// Kinds of causes, in the order of the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Writes find room ready.
    Fresh,
    /// The SLC cache is full.
    CacheFull,
    /// Collection has begun.
    CollectionOnset,
    /// Collection keeps pace.
    CollectionSteady,
    /// Held back because of heat.
    Thermal,
    /// Held back by its power state.
    Power,
    /// The measuring machine set the rate.
    Host,
    /// Nothing changes.
    Steady,
    /// Something changed, and nothing shows why.
    Unexplained,
}

impl Kind {
    fn of(cause: &Cause) -> Kind {
        match cause {
            Cause::Fresh => Kind::Fresh,
            Cause::SlcCacheExhausted { .. } => Kind::CacheFull,
            Cause::GcOnset => Kind::CollectionOnset,
            Cause::GcSteady { .. } => Kind::CollectionSteady,
            Cause::ThermalThrottling { .. } => Kind::Thermal,
            Cause::PowerLimited { .. } => Kind::Power,
            Cause::HostLimited => Kind::Host,
            Cause::Steady => Kind::Steady,
            Cause::Unexplained => Kind::Unexplained,
        }
    }

    /// In the legend.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Fresh => "fresh",
            Kind::CacheFull => "SLC cache full",
            Kind::CollectionOnset => "collection begins",
            Kind::CollectionSteady => "collection, steady",
            Kind::Thermal => "thermal throttling",
            Kind::Power => "power-state limit",
            Kind::Host => "host-limited",
            Kind::Steady => "steady",
            Kind::Unexplained => "unexplained",
        }
    }

    /// Colour, as the page's script knows it.
    pub fn colour(self) -> &'static str {
        match self {
            Kind::Fresh => "@2",
            Kind::CacheFull => "@4",
            Kind::CollectionOnset => "@6",
            Kind::CollectionSteady => "@0",
            Kind::Thermal => "@1",
            Kind::Power => "@5",
            Kind::Host => "@3",
            Kind::Steady => "@line",
            Kind::Unexplained => "@7",
        }
    }

    /// Is it the absence of a cause, so that shading it would say nothing?
    fn plain(self) -> bool {
        self == Kind::Steady
    }
}

impl Phase {
    fn of(concluded: attribution::RatePhase) -> Phase {
        let words = match concluded.cause.details() {
            Some(details) => format!("{}, {details}", concluded.cause.label()),
            None => concluded.cause.label().to_owned(),
        };
        Phase {
            from_s: concluded.from_s,
            to_s: concluded.to_s,
            kind: Kind::of(&concluded.cause),
            words,
            mib_per_s: concluded.mean_mib_per_s,
            iops: concluded.mean_iops,
            cache_bytes: match concluded.cause {
                Cause::SlcCacheExhausted { cache_bytes } => Some(cache_bytes),
                _ => None,
            },
            evidence: concluded.evidence,
        }
    }
}

/// The phases of a drive's part in a cell, in time order.
pub fn of(lineup: &Lineup<'_>, point: &Point<'_>) -> Rc<Vec<Phase>> {
    lineup.phases(point, |run, index| {
        let phases = attribution::of_cell(run, point.cell, index);
        phases.into_iter().map(Phase::of).collect()
    })
}

/// A strip of bars, one row per drive, on the vertical axis `axis`; causes are listed once in the legend.
fn strip(rows: &[Row], axis: &str) -> Vec<Value> {
    let mut kinds: Vec<Kind> = rows
        .iter()
        .flat_map(|r| r.phases.iter())
        .map(|p| p.kind)
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
        .into_iter()
        .map(|kind| {
            let (mut base, mut length, mut names) = (Vec::new(), Vec::new(), Vec::new());
            let mut texts = Vec::new();
            let mut inside = Vec::new();
            for row in rows {
                for phase in row.phases.iter().filter(|p| p.kind == kind) {
                    inside.push(kind.words());
                    base.push(for_drawing(phase.from_s));
                    length.push(for_drawing(phase.to_s - phase.from_s));
                    names.push(plain(&row.name));
                    texts.push(plain(&format!("{}: {}", phase.words, phase.evidence)));
                }
            }
            json!({
                "type": "bar", "orientation": "h", "name": kind.words(),
                "base": base, "x": length, "y": names, "yaxis": axis,
                "hovertext": texts, "hovertemplate": "%{hovertext}<extra>%{y}</extra>",
                "marker": {"color": kind.colour(), "line": {"width": 0}},
                "width": 0.8, "text": inside, "textposition": "inside", "insidetextanchor": "start", "textangle": 0, "textfont": {"size": 10.5},
            })
        })
        .collect()
}

/// One row of the strip: whose phases they are.
pub struct Row {
    /// Name, plain text.
    pub name: String,
    /// Of the palette: what the drive's lines have.
    pub colour: String,
    /// In time order.
    pub phases: Rc<Vec<Phase>>,
}

/// Height of a row of the strip, pixels: room for a word.
const ROW_PX: f64 = 22.0;

/// What the title bar, axis labels and margins take of a chart's height, pixels.
const AROUND_PX: f64 = 82.0;

/// The vertical axis of the strip: far from those of panels.
const AXIS: &str = "y9";

/// Puts a strip of the drives' phases above the panels of a chart over time of that height, and shades them where there is one drive.
pub fn put(layout: &mut Value, data: &mut Vec<Value>, rows: &[Row], height_px: u32) {
    let strip = strip(rows, AXIS);
    if strip.is_empty() {
        return;
    }
    let row = ROW_PX / (f64::from(height_px) - AROUND_PX).max(4.0 * ROW_PX);
    let height = (row * rows.len() as f64).min(0.4);
    let room = 1.0 - height - 0.02;
    if let Some(axes) = layout.as_object_mut() {
        for (key, axis) in axes.iter_mut().filter(|(k, _)| k.starts_with("yaxis")) {
            let domain = |i: usize, or: f64| axis["domain"][i].as_f64().unwrap_or(or) * room;
            let domain = json!([domain(0, 0.0), domain(1, 1.0)]);
            if key != "yaxis9" {
                axis["domain"] = domain;
            }
        }
    }
    let names: Vec<String> = rows.iter().map(|r| plain(&r.name)).collect();
    // Each row begins with a square in the colour of its drive; the page's script knows `@0`.
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
    // A word that does not fit into its bar is left out: the legend has it.
    layout["uniformtext"] = json!({"minsize": 9, "mode": "hide"});
    if let [Row { phases, .. }] = rows {
        let mut shapes = layout["shapes"].as_array().cloned().unwrap_or_default();
        shapes.extend(bands(phases));
        layout["shapes"] = shapes.into();
    }
    data.extend(strip);
}

/// Shaded bands over the whole height, for a chart of one drive.
fn bands(phases: &[Phase]) -> Vec<Value> {
    phases
        .iter()
        .filter(|p| !p.kind.plain())
        .map(|p| super::draw::band(p.from_s, p.to_s, &format!("{}~", p.kind.colour())))
        .collect()
}

#[cfg(test)]
#[path = "../../tests/unit/charts/phases.rs"]
mod tests;
