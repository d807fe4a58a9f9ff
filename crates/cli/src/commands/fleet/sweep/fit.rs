//! Section `[fit]`: the result is the best of the starts.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use assay_calibrate::{FitSettings, fit};
use assay_fleet::chunks::Chunks;
use assay_fleet::sweep::Fit;
use assay_sim_host::profile_file;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Units;
use crate::args::FitArguments;
use crate::commands::fit::{PUBLISHED, PreparedFit, check_profile_path, write_result};

const SHOWN_STARTS: usize = 10;
/// A start that ends within this share of the best cost has found the same optimum.
const SAME_COST: f64 = 0.01;

/// A line of a chunk.
#[derive(Serialize, Deserialize)]
struct StartResult {
    start: u64,
    seed: u64,
    /// Mean loss of the targets.
    cost: f64,
    evaluations: u64,
    profile: String,
    residuals: String,
}

pub(super) fn load(file: Fit, folder: &Path) -> anyhow::Result<(Chunks, Box<dyn Units>)> {
    let section = &file.fit;
    let beside = |name: &str| folder.join(name).display().to_string();
    let arguments = FitArguments {
        profile: match profile_file::is_file(&section.profile) {
            true => beside(&section.profile),
            false => section.profile.clone(),
        },
        to: match section.to.as_str() {
            PUBLISHED => section.to.clone(),
            other => beside(other),
        },
        recipe: None,
        drive: section.drive.clone(),
        free: section.free.clone(),
        hold_out: section.hold_out.clone(),
        evaluations: section.evaluations,
        seed: file.run.seed,
        threads: None,
        name: section.name.clone(),
        output: None,
    };
    let prepared = PreparedFit::new(&arguments)?;
    let figures = format!("{:?}", prepared.targets.measurements);
    let id = file.id(&prepared.text, &figures, env!("CARGO_PKG_VERSION"))?;
    let chunks = Chunks::open(&file.store.at, id, "starts", section.starts, section.chunk)?;
    Ok((chunks, Box::new(prepared)))
}

impl Units for PreparedFit {
    fn compute(&self, starts: Range<u64>, jobs: usize) -> anyhow::Result<String> {
        let mut text = String::new();
        for start in starts {
            let settings = FitSettings { start, threads: jobs, ..self.settings.clone() };
            let never = AtomicBool::new(false);
            let measurements = &self.targets.measurements;
            let fitted = fit(&self.text, measurements, &settings, &never, &mut |_| {})?;
            let result = StartResult {
                start,
                seed: settings.seed_of_start(),
                cost: fitted.cost(),
                evaluations: fitted.evaluations,
                profile: self.named(&fitted.text)?,
                residuals: fitted.residuals.to_csv(),
            };
            text +=
                &serde_json::to_string(&result).context("cannot write the result of a start")?;
            text.push('\n');
        }
        Ok(text)
    }

    fn check_output(&self, output: &Path) -> anyhow::Result<()> {
        check_profile_path(output)
    }

    fn write(&self, text: &str, output: &Path) -> anyhow::Result<(String, Value)> {
        let results = text.lines().map(serde_json::from_str);
        let mut results: Vec<StartResult> = results
            .collect::<Result<_, _>>()
            .context("a result of a start in the shared store is none of this version")?;
        // A total order: equal costs are sorted by the number of the start.
        results.sort_by(|a, b| a.cost.total_cmp(&b.cost).then(a.start.cmp(&b.start)));
        let best = results.first().context("the fit has no start")?;
        let table = write_result(&best.profile, &best.residuals, output)?;
        let alike = |r: &&StartResult| r.cost <= best.cost * (1.0 + SAME_COST);
        let alike = results.iter().filter(alike).count();
        let mut shown = format!(
            "Best: start {}, cost {:.4}; {alike} of {} starts end within 1 % of it.\n  \
             start       cost\n",
            best.start,
            best.cost,
            results.len()
        );
        for result in results.iter().take(SHOWN_STARTS) {
            let _ = writeln!(shown, "  {:>5} {:>10.4}", result.start, result.cost);
        }
        if let Some(more) = results.len().checked_sub(SHOWN_STARTS + 1) {
            let _ = writeln!(shown, "  and {} more", more + 1);
        }
        let (profile, table) = (output.display(), table.display());
        let _ = writeln!(shown, "Profile:   {profile}\nResiduals: {table}");
        let row = |r: &StartResult| {
            json!({
                "start": r.start,
                "seed": r.seed,
                "cost": r.cost,
                "evaluations": r.evaluations,
            })
        };
        let starts: Vec<Value> = results.iter().map(row).collect();
        Ok((shown, json!({ "best": best.start, "alike": alike, "starts": starts })))
    }
}
