//! Of preconditioning and the state in which a cell begins.

use assay_store::model::Warning;
use assay_store::model::warning::code;
use assay_units::Nanos;
use assay_units::text::format_size;
use assay_workload::plan::SteadyState;

use super::warning;

pub(crate) fn start_not_reached(
    celsius: Option<(f64, f64)>,
    cool_k: f64,
    waited: Nanos,
) -> Warning {
    let waited_s = waited.as_secs_f64();
    let message = match celsius {
        Some((now, then)) => format!(
            "the cell began at {now:.0} degrees C, {:.0} above the start of the run, after \
             {waited_s:.0} s of idle time; it asks for {cool_k} at most",
            now - then
        ),
        None => "the drive reports no temperature: whether it had cooled down before its cells is \
                 unknown"
            .to_owned(),
    };
    warning(
        code::START_NOT_REACHED,
        message,
        "a drive that begins hot throttles earlier: allow a longer wait (the timeout of the \
         step's `start`), or cool the drive",
    )
}

/// Share of the area's blocks that a preconditioning wrote at least once, percent.
pub(crate) fn area_not_covered(written_pct: f64) -> Warning {
    // Rounded down: a share below the whole must not read 100.
    let shown = (written_pct * 100.0).floor() / 100.0;
    warning(
        code::AREA_NOT_COVERED,
        format!(
            "the preconditioning wrote {shown} % of the area's blocks: the others hold what was \
             there before"
        ),
        "blocks never written are spare for garbage collection, and reads of them can be faster \
         than of flash: write the whole area, random writes with random_distribution = \"cover\" \
         and io_size = \"100%\" or a multiple",
    )
}

pub(crate) fn writes_cut_units(cell: &str, grid_bytes: u64, unit_bytes: u64) -> Warning {
    let (grid, unit) = (format_size(grid_bytes), format_size(unit_bytes));
    warning(
        code::WRITES_CUT_UNITS,
        format!(
            "random writes at multiples of {grid} cut the drive's units of {unit} (its preferred \
             write granularity, NPWG): it reads and programs whole units; first in {cell}"
        ),
        "that is the drive's figure for such a program; for the drive's best use a multiple of \
         the unit for --bs and --offset (the suite indirection shows what each costs)",
    )
}

/// Figures of a `steady` step were not measured in steady state.
pub(crate) fn not_steady(why: &str) -> Warning {
    warning(
        code::NOT_STEADY,
        format!("the drive was not in steady state: {why}"),
        "do not quote it as steady; the verdict does not use it. Write for longer, at the suite's \
         own durations and without --scale",
    )
}

pub(crate) fn never_steady(rule: &SteadyState, why: &str) -> Warning {
    warning(
        code::NOT_STEADY,
        format!("the job ended before its rate was steady by {}: {why}", rule.text),
        "do not quote it as steady; give a longer --runtime, or a wider limit in --steadystate",
    )
}

/// `share`: of the area, written while borrowed flash was given back.
pub(crate) fn cache_borrows(share: f64) -> Warning {
    warning(
        code::NOT_STEADY,
        format!(
            "by its counters the drive moved data during {:.0} % of the area before its free space \
             ended, at a level rate: its write cache borrows flash and gave it back. Such drives \
             are 6 to 7 % faster right after the pass than in steady state, with a shorter tail, \
             whatever the probe says",
            share * 100.0
        ),
        "write at random for two capacities more where that matters, and without a pause",
    )
}

pub(crate) fn probe_not_steady(why: &str) -> Warning {
    warning(
        code::NOT_STEADY,
        format!("random writes were not steady at the end of the preconditioning: {why}"),
        "figures of writes that follow are not those of steady state; write at random for longer \
         (assay prepare again, or a soak)",
    )
}

pub(crate) fn no_collection() -> Warning {
    warning(
        code::NOT_STEADY,
        "the rate did not fall as far as the pass to steady state goes: where garbage collection \
         began is not known"
            .to_owned(),
        "the probe that followed says whether the rate is steady; a drive whose rate garbage \
         collection does not limit needs no more, and one with more than half its capacity as \
         spare is written at random for longer",
    )
}

pub(crate) fn preconditioned_again(why: &str) -> Warning {
    warning(
        code::PRECONDITIONED_AGAIN,
        format!(
            "the interrupted run had preconditioned the drive; the preconditioning is repeated: \
             {why}"
        ),
        "do not use a drive between a run and its resumption",
    )
}

pub(crate) fn state_in_doubt(why: &str) -> Warning {
    warning(
        code::STATE_IN_DOUBT,
        format!("the drive may not be in the state in which the interrupted run left it: {why}"),
        "if another program may have written to the drive since, start a new run",
    )
}
