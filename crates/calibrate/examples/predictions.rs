//! `make predictions`: the cross-validation, its tables in `reference/`, and the ensembles of the shipped profiles.
//!
//! Arguments: the repository's folder, threads (one per processor), a part (`folds`, `twins` or `ensembles`), and truths for `twins`. Deterministic, whatever the number of threads.

use std::path::Path;

use assay_calibrate::prediction::discrepancy::ShippedResiduals;
use assay_calibrate::prediction::folds::Study;
use assay_calibrate::prediction::{ensemble, score, twins};
use assay_calibrate::predictive;
use assay_calibrate::twin::TwinProgress;

/// Seed of all starts and members.
const SEED: u64 = 18;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| ".".to_owned());
    let folder = Path::new(&folder);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = arguments.next().map_or(Ok(processors), |n| n.parse())?;
    let only = arguments.next();
    let wants = |part: &str| only.as_deref().is_none_or(|only| only == part);
    if wants("folds") {
        let mut study = Study::new(SEED, threads)?;
        for name in study.drives() {
            eprintln!("{name}: random reads, {:?}", study.lacks(&name));
            study.base(&name)?;
        }
        let mut all = Vec::new();
        for name in study.drives() {
            eprintln!("{name}: folds");
            let mut here = study.read_folds(&name)?;
            here.extend(study.write_fold(&name)?);
            here.extend(study.heat_fold(&name)?);
            all.extend(here);
            let scored = score::score(&all);
            for s in score::summary(&scored) {
                eprintln!(
                    "  {} {:?}: {} median {:.1} p90 {:.1}",
                    s.fold, s.kind, s.count, s.median, s.p90
                );
            }
        }
        let scored = score::score(&all);
        std::fs::write(
            folder.join("reference/cross_validation.csv"),
            score::table(&scored),
        )?;
        let intervals = predictive::table(&score::intervals(&scored));
        std::fs::write(folder.join("reference/predictive_intervals.csv"), intervals)?;
        print!("{}", score::markdown(&scored));
    }
    if wants("twins") {
        // Named ones are replaced in the table, the others kept.
        let named: Vec<String> = arguments.collect();
        let is_wanted = |truth: &str| named.is_empty() || named.iter().any(|n| n == truth);
        let mut all = twins::embedded()?;
        all.retain(|cell| !is_wanted(&cell.truth));
        for truth in twins::TRUTHS.into_iter().filter(|truth| is_wanted(truth)) {
            let mut progress = |p: TwinProgress<'_>| {
                let (evaluations, evidence) = (p.evaluations, p.log_evidence);
                eprintln!(
                    "  {}: {evaluations} drives, log evidence {evidence:.1}",
                    p.stage
                );
            };
            let (found, cells) = twins::study(truth, threads, &mut progress)?;
            let share = 100.0 * twins::share_within(&cells);
            eprintln!("{truth}: {share:.0} % within, from {}", found.nearest);
            for number in &found.structure {
                eprintln!("  {} {} -> {}", number.path, number.from, number.to);
            }
            all.extend(cells);
            std::fs::write(folder.join("reference/twins.csv"), twins::table(&all))?;
        }
        print!("{}", twins::markdown(&all));
    }
    if wants("ensembles") {
        let residuals = ShippedResiduals::of(assay_ssd::Profile::names(), threads)?;
        for name in ensemble::profiles()? {
            eprintln!("{name}: members");
            let members = ensemble::build(&name, &residuals, (SEED, threads))?;
            if members.members.len() < ensemble::LEAST_MEMBERS {
                eprintln!("  only {} of weight: not written", members.members.len());
                continue;
            }
            let file = folder.join(format!("profiles/ensembles/{name}.csv"));
            std::fs::write(file, members.to_csv())?;
        }
    }
    Ok(())
}
