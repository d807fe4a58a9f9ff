//! `assay rank RUN`.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Context;
use assay_analysis::iocost::{self, IoCost};
use assay_analysis::rank::public::PublicTable;
use assay_analysis::rank::{Ranking, rank};
use assay_output::read;
use assay_report::ranked;
use assay_store::Run;
use serde_json::{Value, json};

use crate::args::judge::RankArguments;
use crate::exit::{CommandOutcome, UsageError};
use crate::terminal::{Output, simulated_mark};

/// Of a contributed file; a hundred times a large one.
const MOST_BYTES: u64 = 64 << 20;

pub fn run(arguments: &RankArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let run = super::open_run(&arguments.run, output)?;
    let table = table(&arguments.with)?;
    let drives = 0..run.manifest.drives.len();
    let ranked: Vec<(Ranking, Option<IoCost>)> =
        drives.map(|drive| (rank(&run, drive, &table), iocost::of_drive(&run, drive))).collect();
    output.show(|| text(&run, &ranked, output), || document(&run, &ranked))
}

/// The public drives, and those of these files.
fn table(files: &[PathBuf]) -> anyhow::Result<Cow<'static, PublicTable>> {
    let mut table = Cow::Borrowed(PublicTable::built_in());
    for file in files {
        let shown = file.display();
        let text = read(file, MOST_BYTES).with_context(|| format!("cannot read {shown}"))?;
        let added = table.to_mut().add(&text);
        added.map_err(|error| UsageError(format!("{shown}: {error}")))?;
    }
    Ok(table)
}

fn text(run: &Run, ranked: &[(Ranking, Option<IoCost>)], output: Output) -> String {
    let mut text = String::new();
    for (drive, (ranking, cost)) in run.manifest.drives.iter().zip(ranked) {
        let (label, mark) = (&drive.label, simulated_mark(drive.simulated));
        let model = match drive.model.is_empty() {
            true => String::new(),
            false => format!(", {}", drive.model),
        };
        let _ = writeln!(text, "{label}{mark}{model}");
        text.push_str(&ranked::text(ranking, output.columns(), output.style()));
        if let Some(cost) = cost {
            let (model, firmware) = (&drive.model, &drive.firmware);
            let _ = writeln!(text, "\n  io.cost.model: {}", cost.model());
            let _ = writeln!(text, "  io.cost.qos, a proposal: {}", cost.qos());
            let _ = writeln!(text, "  hwdb entry:\n{}", cost.hwdb(model, firmware));
        }
    }
    text
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
