//! Rounds repeated until steady state: the measurement window, and figures over it.

use assay_store::model::{CellResult, Round, WorkloadRecord};
use assay_store::read::{CellRecord, Run};

fn measured<'a>(
    run: &'a Run,
    step: &str,
    drive: usize,
) -> impl Iterator<Item = (&'a Round, &'a CellRecord, &'a CellResult)> {
    let cells = run.cells.iter().filter(move |cell| cell.plan.step == step);
    cells.filter_map(move |cell| {
        let result = cell.drive(drive)?.result.as_ref()?;
        Some((cell.plan.round.as_ref()?, cell, result))
    })
}

/// First and last round: as evaluated, else the last rounds, or all of fewer than a window.
pub fn window(run: &Run, step: &str, drive: usize) -> Option<(u32, u32)> {
    let rounds = || measured(run, step, drive).map(|(round, ..)| round);
    let done = rounds().map(|round| round.number).max()?;
    let length = rounds().last()?.window.max(1);
    let steady = run.steady.iter();
    let evaluated = steady.filter(|s| s.drive == drive && s.step == step);
    let evaluated = evaluated.map(|s| s.window).max();
    let evaluated = evaluated.filter(|w| w.0 >= 1 && w.1 <= done && w.0 <= w.1);
    Some(evaluated.unwrap_or((done.saturating_sub(length - 1).max(1), done)))
}

/// `None` where a round of the window is missing.
pub fn mean_over_window(
    run: &Run,
    cell: &CellRecord,
    drive: usize,
    of: fn(&CellResult) -> f64,
) -> Option<f64> {
    // Options hold the seed, which differs between rounds.
    let key =
        |cell: &CellRecord| WorkloadRecord { options: String::new(), ..cell.plan.workload.clone() };
    let (wanted, step) = (key(cell), cell.plan.step.as_str());
    let (from, to) = window(run, step, drive)?;
    let of_round = |number: u32| {
        let mut cells = measured(run, step, drive)
            .filter(|(round, cell, _)| round.number == number && key(cell) == wanted);
        cells.next().map(|(.., result)| of(result))
    };
    let values: Vec<f64> = (from..=to).map(of_round).collect::<Option<_>>()?;
    Some(assay_stats::mean(&values))
}
