//! `assay rank RUN`.

use std::fmt::Write;

use assay_analysis::iocost::{self, IoCost};
use assay_analysis::rank::{RankedFigure, Ranking, rank};
use assay_store::Run;
use assay_units::text::group_digits;
use serde_json::{Value, json};

use crate::args::judge::RankArguments;
use crate::exit::CommandOutcome;
use crate::terminal::{Output, simulated_mark};

/// Procedures that the text names as unlike; others are counted.
const UNLIKE_SHOWN: usize = 8;

pub fn run(arguments: &RankArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let run = super::open_run(&arguments.run, output)?;
    let drives = 0..run.manifest.drives.len();
    let ranked: Vec<(Ranking, Option<IoCost>)> = drives
        .map(|drive| (rank(&run, drive), iocost::of_drive(&run, drive)))
        .collect();
    output.show(|| text(&run, &ranked), || document(&run, &ranked))
}

fn text(run: &Run, ranked: &[(Ranking, Option<IoCost>)]) -> String {
    let mut text = String::new();
    for (drive, (ranking, cost)) in run.manifest.drives.iter().zip(ranked) {
        let (label, mark) = (&drive.label, simulated_mark(drive.simulated));
        let model = match drive.model.is_empty() {
            true => String::new(),
            false => format!(", {}", drive.model),
        };
        let _ = writeln!(text, "{label}{mark}{model}");
        let mut procedure = "";
        for figure in &ranking.figures {
            if figure.procedure != procedure {
                procedure = &figure.procedure;
                let _ = writeln!(text, "\n  beside {procedure}");
            }
            let _ = writeln!(text, "  {}", line(figure));
        }
        if ranking.figures.is_empty() {
            let _ = writeln!(text, "  no public figure is of a like procedure");
        }
        if !ranking.unlike.is_empty() {
            let _ = writeln!(text, "\n  not compared, since the procedure is another:");
        }
        for unlike in ranking.unlike.iter().take(UNLIKE_SHOWN) {
            let (workload, repository) = (&unlike.workload, &unlike.repository);
            let _ = writeln!(text, "  {workload}: {} ({repository})", unlike.reason);
        }
        let more = ranking.unlike.len().saturating_sub(UNLIKE_SHOWN);
        if more > 0 {
            let _ = writeln!(text, "  and {more} more (--json lists them)");
        }
        if let Some(cost) = cost {
            let (model, firmware) = (&drive.model, &drive.firmware);
            let _ = writeln!(text, "\n  io.cost.model: {}", cost.model());
            let _ = writeln!(text, "  io.cost.qos, a proposal: {}", cost.qos());
            let _ = writeln!(text, "  hwdb entry:\n{}", cost.hwdb(model, firmware));
        }
    }
    text
}

/// `4 KiB random read, depth 64: 311,000 IOPS, 7th of 30 (best ...; median ...; last ...); other
/// units of this model 309,000 to 312,000`.
fn line(figure: &RankedFigure) -> String {
    let number = |value: f64| match value {
        value if value >= 1000.0 => group_digits(value.round() as u64),
        value => format!("{value:.1}"),
    };
    let (unit, name) = match figure.metric.as_str() {
        "iops" => ("IOPS", String::new()),
        "bw" => ("MiB/s", String::new()),
        other => ("\u{b5}s", format!("{other} latency ")),
    };
    let same = figure.same_model.map_or(String::new(), |[low, high]| {
        format!(
            "; other units of this model {} to {}",
            number(low),
            number(high)
        )
    });
    format!(
        "{}: {name}{} {unit}, {} of {} (best {} {}, median {}, last {} {}){same}",
        figure.workload,
        number(figure.value),
        ordinal(figure.rank),
        figure.of,
        figure.best.model,
        number(figure.best.value),
        number(figure.median),
        figure.last.model,
        number(figure.last.value),
    )
}

/// 1st, 2nd, 3rd, 11th, 21st.
fn ordinal(n: usize) -> String {
    let ending = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

fn document(run: &Run, ranked: &[(Ranking, Option<IoCost>)]) -> Value {
    let drives = run.manifest.drives.iter().zip(ranked);
    let drives: Vec<Value> = drives
        .map(|(drive, (ranking, cost))| {
            json!({
                "drive": drive.label,
                "simulated": drive.simulated,
                "figures": ranking.figures,
                "not_compared": ranking.unlike,
                "io_cost_model": cost.as_ref().map(IoCost::model),
                "io_cost_qos": cost.as_ref().map(IoCost::qos),
                "hwdb": cost.as_ref().map(|cost| cost.hwdb(&drive.model, &drive.firmware)),
            })
        })
        .collect();
    json!({ "drives": drives })
}
