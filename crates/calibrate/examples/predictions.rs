//! `make predictions`: the cross-validation, its tables in `reference/`, and the ensembles of the shipped profiles.
//!
//! Arguments: the repository's folder, threads (one per processor), a part (`folds`, `twins` or `ensembles`), and names: groups of folds, or truths
//! of twins. Deterministic, whatever the number of threads.

use std::path::Path;

use assay_calibrate::prediction::discrepancy::ShippedResiduals;
use assay_calibrate::prediction::folds::{FoldGroup, Study};
use assay_calibrate::prediction::score::Scored;
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
    let named: Vec<String> = arguments.collect();
    let is_named = |name: &str| named.is_empty() || named.iter().any(|n| n == name);
    if wants("folds") {
        // Named groups are replaced in the table, the others kept.
        let mut study = Study::new(SEED, threads)?;
        if is_named(FoldGroup::Reads.name()) {
            study.bases(&mut |name, lacks| eprintln!("{name}: random reads, {lacks:?}"))?;
        }
        let mut all = score::embedded()?;
        all.retain(|s| !FoldGroup::of(&s.fold).is_some_and(|group| is_named(group.name())));
        let mut drives = Vec::new();
        for group in FoldGroup::ALL {
            let of_group = study.drives_of(group)?;
            for name in of_group.iter().filter(|_| is_named(group.name())) {
                let here = study.fold_group(name, group)?;
                eprintln!("{name}: {} predictions, {}", here.len(), group.name());
                all.extend(score::score(&here));
            }
            drives.extend(of_group);
        }
        let place = |s: &Scored| {
            let drive = drives.iter().position(|d| *d == s.drive);
            (drive, FoldGroup::of(&s.fold))
        };
        all.sort_by_key(place);
        let scored = score::rescored(&all);
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
        let mut all = twins::embedded()?;
        all.retain(|cell| !is_named(&cell.truth));
        for truth in twins::TRUTHS.into_iter().filter(|truth| is_named(truth)) {
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
