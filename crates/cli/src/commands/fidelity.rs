//! `assay fidelity`: simulated drives compared with published figures of the real ones.

use std::path::Path;

use assay_calibrate::fidelity::{LIMITS, ProfileComparison, compare, table};
use assay_calibrate::measurement::{
    AccessPattern, Measurement, Procedure, ReferenceMetric, ReferenceWorkload, Role, Tolerance,
    chunk_bytes,
};
use assay_calibrate::residual::{ErrorSummary, Residual};
use assay_report::fidelity::{
    FidelityDrive, FidelityFigure, FidelityPage, FigureKind, html, markdown,
};
use assay_sim_host::profile_file::load;
use assay_ssd::Profile;
use assay_store::replace::check_replaceable;
use assay_units::Op;
use serde_json::json;

use super::fit::{residuals, summary};
use crate::args::FidelityArguments;
use crate::exit::CommandOutcome;
use crate::terminal::Output;

pub fn run(arguments: &FidelityArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let profiles: Vec<Profile> = if arguments.profiles.is_empty() {
        let builtin = Profile::names().into_iter().map(Profile::builtin);
        builtin.collect::<Result<_, _>>()?
    } else {
        let named = arguments.profiles.iter().map(|name| Ok(load(name)?.1));
        named.collect::<anyhow::Result<_>>()?
    };
    check_replaceable(&arguments.output, "<!doctype html")?;
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
                    "summary": summary(ErrorSummary::new(&one.residuals.0)),
                    "predicted": summary(one.residuals.summary(Role::HeldOut)),
                    "residuals": residuals(&one.residuals),
                })).collect::<Vec<_>>(),
            })
        },
    )
}

fn shown(all: &[ProfileComparison], path: &Path) -> String {
    let mut text = format!(
        "  {:<24} {:>15} {:>8} {:>8} {:>22}\n",
        "drive", "figures met", "median", "worst", "of these predicted"
    );
    for one in all {
        let (sum, predicted) =
            (ErrorSummary::new(&one.residuals.0), one.residuals.summary(Role::HeldOut));
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
    let drive = |one: &ProfileComparison| FidelityDrive {
        name: one.name.clone(),
        title: one.title.clone(),
        figures: one.residuals.0.iter().map(figure).collect(),
    };
    FidelityPage {
        drives: all.iter().map(drive).collect(),
        limits: LIMITS.iter().map(|&limit| limit.to_owned()).collect(),
    }
}

fn figure(residual: &Residual) -> FidelityFigure {
    let m = &residual.measurement;
    FidelityFigure {
        kind: kind(m),
        title: m.title(": "),
        published: m.value,
        simulated: residual.simulated,
        unit: m.metric.unit().to_owned(),
        error: residual.error(),
        error_unit: m.error_unit("%").to_owned(),
        met: residual.is_met(),
        goal: match m.tolerance {
            Tolerance::Relative(share) => share * 100.0,
            Tolerance::Absolute(span) => span,
        },
        predicted: m.role == Role::HeldOut,
        source: m.source.clone(),
        curve: curve(m),
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
        Procedure::Chunks { op, chunks } => {
            Some((op.name().to_owned(), chunk_bytes(chunks) as f64))
        }
        _ => None,
    }
}
