//! `assay fidelity`: simulated drives compared with published figures of the real ones.

use std::path::Path;

use assay_calibrate::fidelity::{LIMITS, ProfileComparison, compare, table};
use assay_calibrate::measurement::{AccessPattern, CHUNK_BYTES};
use assay_calibrate::measurement::{
    Measurement, Procedure, ReferenceMetric, ReferenceWorkload, Role, Tolerance,
};
use assay_report::fidelity::{
    FidelityDrive, FidelityFigure, FidelityPage, FigureKind, html, markdown,
};
use assay_sim_host::profile_file::load;
use assay_ssd::Profile;
use assay_units::Op;
use serde_json::json;

use super::fit::{residuals, summary};
use crate::args::FidelityArguments;
use crate::exit::CommandOutcome;
use crate::terminal::Output;

/// Compare and write the page.
pub fn run(arguments: &FidelityArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let profiles: Vec<Profile> = if arguments.profiles.is_empty() {
        let builtin = Profile::names().into_iter().map(Profile::builtin);
        builtin.collect::<Result<_, _>>()?
    } else {
        let named = arguments.profiles.iter().map(|name| load(name));
        named
            .map(|loaded| loaded.map(|(_, profile)| profile))
            .collect::<Result<_, _>>()?
    };
    super::check_replaceable(&arguments.output, "<!doctype html")?;
    let threads = super::fit::threads(arguments.threads);
    let all = compare(&profiles, threads, &mut |name| {
        if output.shows_progress() {
            anstream::eprintln!("{name}");
        }
    })?;
    let page = page(&all);
    super::write_atomically(&arguments.output, &html(&page)?)?;
    if let Some(path) = &arguments.markdown {
        super::write_atomically(path, &markdown(&page))?;
    }
    if let Some(path) = &arguments.table {
        super::write_atomically(path, &table(&all))?;
    }
    output.show(
        || shown(&all, &arguments.output),
        || {
            json!({
                "page": arguments.output,
                "simulated": true,
                "drives": all.iter().map(|one| json!({
                    "name": one.name,
                    "summary": summary(one.summary()),
                    "predicted": summary(one.predicted()),
                    "residuals": residuals(&one.residuals),
                })).collect::<Vec<_>>(),
            })
        },
    )?;
    Ok(CommandOutcome::Done)
}

fn shown(all: &[ProfileComparison], path: &Path) -> String {
    let mut text = format!(
        "  {:<24} {:>15} {:>8} {:>8} {:>22}\n",
        "drive", "figures met", "median", "worst", "of these predicted"
    );
    for one in all {
        let (sum, predicted) = (one.summary(), one.predicted());
        text.push_str(&format!(
            "  {:<24} {:>15} {:>6.1} % {:>6.1} % {:>22}\n",
            one.name,
            format!("{} of {}", sum.met, sum.count),
            sum.median_pct,
            sum.worst_pct,
            format!("{} of {}", predicted.met, predicted.count),
        ));
    }
    text.push_str(&format!("{}\n", path.display()));
    text
}

fn page(all: &[ProfileComparison]) -> FidelityPage {
    FidelityPage {
        drives: all
            .iter()
            .map(|one| FidelityDrive {
                name: one.name.clone(),
                title: one.title.clone(),
                figures: one
                    .residuals
                    .0
                    .iter()
                    .map(|residual| FidelityFigure {
                        simulated: residual.simulated,
                        error: residual.error(),
                        met: residual.is_met(),
                        ..figure(&residual.measurement)
                    })
                    .collect(),
            })
            .collect(),
        limits: LIMITS.iter().map(|&limit| limit.to_owned()).collect(),
    }
}

/// The published part of a figure.
fn figure(m: &Measurement) -> FidelityFigure {
    let quantile = m.metric.quantile();
    let (goal, error_unit) = match m.tolerance {
        Tolerance::Relative(share) => (share * 100.0, "%".to_owned()),
        Tolerance::Absolute(span) => (span, m.metric.unit().to_owned()),
    };
    FidelityFigure {
        kind: kind(m),
        title: if quantile.is_empty() {
            m.procedure.title()
        } else {
            format!("{}: {quantile}", m.procedure.title())
        },
        published: m.value,
        unit: m.metric.unit().to_owned(),
        error_unit,
        goal,
        predicted: m.role == Role::HeldOut,
        source: m.source.clone(),
        curve: curve(m),
        ..FidelityFigure::default()
    }
}

fn is_bandwidth(m: &Measurement, workload: &ReferenceWorkload) -> bool {
    m.metric == ReferenceMetric::MibPerS && workload.op == Op::Read && workload.queue_depth == 1
}

fn kind(m: &Measurement) -> FigureKind {
    match &m.procedure {
        Procedure::Steady(w) if is_bandwidth(m, w) && w.access == AccessPattern::Random => {
            FigureKind::RandomRead
        }
        Procedure::Steady(w) if is_bandwidth(m, w) => FigureKind::SequentialRead,
        Procedure::Steady(_) => FigureKind::Latency,
        Procedure::Chunks { .. } | Procedure::FullStream { .. } => FigureKind::Stream,
        _ => FigureKind::Other,
    }
}

fn curve(m: &Measurement) -> Option<(String, f64)> {
    match m.procedure {
        Procedure::Steady(w) if is_bandwidth(m, &w) && w.access == AccessPattern::Random => {
            Some((format!("{} threads", w.threads), f64::from(w.block_bytes)))
        }
        Procedure::Chunks { op, chunks } => Some((
            op.name().to_owned(),
            f64::from(chunks) * f64::from(CHUNK_BYTES),
        )),
        _ => None,
    }
}
