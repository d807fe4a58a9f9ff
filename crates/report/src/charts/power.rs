//! Power against rate: what each cell's rate costs.

use crate::chart::{Chart, ChartView, dash, symbol};
use crate::charts::draw::{Trace, linear, panels};
use crate::charts::series::{series_name, style};
use crate::grid::Section;
use crate::tables::power::{mean_watts, mib_per_joule};
use crate::tables::rate::{rate_of, rate_unit};

/// Property of the chart by which a view finds it.
pub const SWITCH: &str = "power";

/// One line per drive and column through its cells in the order of the rows; `None` with fewer than
/// two cells with power.
pub fn chart(section: &Section<'_>, height: u32) -> Option<Chart> {
    let unit = rate_unit(section);
    let mut data = Vec::new();
    let mut cells = 0;
    for points in section.series() {
        let known = points.iter().filter_map(|p| {
            let (result, watts) = (p.result()?, mean_watts(p)?);
            let at = section.location_or_title(p.row, p.column);
            let per_joule = mib_per_joule(result, watts);
            let text = format!("{at}: {per_joule:.1} MiB/J");
            Some(((rate_of(section, result), watts), text))
        });
        let (points_drawn, texts): (Vec<(f64, f64)>, Vec<String>) = known.unzip();
        let Some(first) = points.first().filter(|_| !points_drawn.is_empty()) else {
            continue;
        };
        cells += points_drawn.len();
        let (colour, column) = style(section, first, false);
        let trace = Trace {
            name: series_name(section, first, false),
            mode: if points_drawn.len() > 1 { "lines+markers" } else { "markers" },
            points: points_drawn,
            texts,
            colour,
            dash: dash(column),
            symbol: symbol(column),
            size: 2.0,
            hover: format!("%{{text}}<br>%{{x:,.4~g}} {unit}, %{{y:.3~g}} W"),
            ..Trace::default()
        };
        data.push(trace.json());
    }
    if cells < 2 {
        return None;
    }
    let title = if unit == "IOPS" { "operations per second" } else { unit };
    let layout = panels(title, &[linear("power, W")]);
    let views = ChartView::new("", data, layout).into_iter().collect();
    let chart = Chart::new(section.caption("power by rate"), SWITCH, height, views)?;
    let notes = vec![
        "one point per cell, joined in the order of the rows; the lower and the further right, \
         the more efficient"
            .to_owned(),
    ];
    Some(Chart { log_switch: false, log_x_switch: true, notes, ..chart })
}
