//! Figures of the run beside their references.

use assay_store::model::DriveRecord;
use assay_store::model::warning::code;
use assay_store::read::{CellRecord, CellState};
use assay_units::GIB;

use super::reference::{Published, published};
use super::{
    CheckInput, FAR_PCT, FULL_PCT, Finding, LEAST_DRIVES, PARTITION_UNIT_BYTES, Rating,
    Unreferenced, no_drive, not_a_drive,
};
use crate::figure::{FigureInput, Measured};
use crate::link::Link;

/// With these, a figure is not one of the drive by the procedure.
const NOT_ITS_FIGURE: [&str; 7] = [
    code::NOT_FROM_DRIVE,
    code::BUFFERED,
    code::DATA_COMPRESSIBLE,
    code::ENGINE_REPLACED,
    code::SCALED,
    code::IO_ERRORS,
    code::GAVE_UP,
];
/// With these the drive can be faster than its figure.
const COULD_BE_FASTER: [&str; 4] =
    [code::HOST_LIMITED, code::ENGINE_LIMITED, code::HOST_STOPPED, code::OTHER_USERS];
/// What makes a drive slower, the first to look at first.
const CAUSES: [&str; 6] = [
    code::LINK_BELOW_CAPABILITY,
    code::CRITICAL_WARNING,
    code::HOT_BEFORE_START,
    code::FALLS_ASLEEP,
    code::IO_SCHEDULER,
    code::WRITE_CACHE_OFF,
];
/// The area of the public procedures.
const AREA_BYTES: u64 = 16 * GIB;

/// Findings, and what was measured without a reference.
pub(super) fn figures(
    input: &CheckInput<'_>,
    record: &DriveRecord,
) -> (Vec<Finding>, Vec<Unreferenced>) {
    let mut findings = Vec::new();
    let mut judged: Vec<&str> = Vec::new();
    if let Some(layer) = no_drive(record) {
        findings.push(not_a_drive("rates", &layer));
    } else {
        for sheet in &input.sheet {
            judged.push(&sheet.step);
            findings.push(of_sheet(input, sheet));
        }
        for cell in finished(input) {
            let class = of_class(input, record, cell);
            if class.as_ref().is_some_and(|_| cell.plan.workload.numjobs > 1) {
                judged.push(&cell.plan.step);
            }
            findings.extend(class);
        }
    }
    (findings, without_reference(input, &judged))
}

fn without_reference(input: &CheckInput<'_>, judged: &[&str]) -> Vec<Unreferenced> {
    let headlines = input.headlines.iter();
    let others = headlines.filter(|headline| !judged.contains(&headline.step.as_str()));
    let others = others.filter_map(|headline| {
        let cells = finished(input).filter(|cell| headline.selects(&cell.plan));
        let cells = cells.filter_map(|cell| Measured::new(input.run, cell, input.drive));
        let of = FigureInput { cells: cells.collect(), with_intervals: false };
        let value = headline.figure.compute(&of)?;
        Some(Unreferenced {
            about: headline.title.clone(),
            value: value.text_or_value(headline.figure.unit),
        })
    });
    others.collect()
}

fn finished<'a>(input: &CheckInput<'a>) -> impl Iterator<Item = &'a CellRecord> + use<'a> {
    let cells = input.run.cells.iter();
    cells.filter(|cell| cell.state == CellState::Finished)
}

fn of_sheet(input: &CheckInput<'_>, sheet: &super::SheetFigure) -> Finding {
    let Some(rating) = sheet.rating else {
        return Finding::new(&sheet.about, Rating::CannotBeJudged, &sheet.text);
    };
    // A sheet states the best case, often of the largest capacity. Of the modelled drives, which
    // give what reviews measured, several reach only 56 to 75 % of theirs.
    if rating == Rating::Below {
        let text = format!("{}; healthy drives fall short of theirs by as much", sheet.text);
        return Finding::new(&sheet.about, Rating::CannotBeJudged, text)
            .then("a run on another drive of the same model tells: assay compare");
    }
    let cells = input.run.cells.iter();
    let cells = cells.filter(|cell| cell.plan.step == sheet.step);
    let ids: Vec<&str> = cells.map(|cell| cell.plan.id.as_str()).collect();
    doubted(input, &ids, Finding::new(&sheet.about, rating, &sheet.text))
}

/// `None` where nobody published figures by the procedure of the cell.
fn of_class(input: &CheckInput<'_>, record: &DriveRecord, cell: &CellRecord) -> Option<Finding> {
    let workload = &cell.plan.workload;
    if workload.rw != "randread" || workload.bs_bytes != 4096 {
        return None;
    }
    let published: Vec<Published> = published()
        .filter(|p| (p.threads, p.depth) == (workload.numjobs, workload.iodepth))
        .collect();
    let first = published.first()?;
    let result = cell.drive(input.drive)?.result.as_ref()?;
    let (value, unit) = (first.of_result(result), first.unit);
    let about = match workload.numjobs {
        1 => format!("4K random reads, depth {}", workload.iodepth),
        threads => format!("4K random reads, {threads} threads"),
    };
    let cannot = |why: String| {
        let finding = Finding::new(&about, Rating::CannotBeJudged, why);
        Some(finding.then("a run on another drive of the same model tells: assay compare"))
    };
    if record.capacity_bytes < AREA_BYTES {
        return cannot(format!(
            "{value:.0} {unit}; it is smaller than the 16 GiB of the public procedure"
        ));
    }
    let ids = [cell.plan.id.as_str()];
    if let Some(own) = published.iter().find(|p| p.is_of(record)) {
        let pct = value / own.value * 100.0;
        let text = format!(
            "{value:.0} {unit}, {pct:.0} % of the {:.0} of this model ({})",
            own.value, own.source
        );
        return Some(doubted(input, &ids, Finding::new(&about, Rating::of_pct(pct), text)));
    }
    let Some(class) = Link::new(record) else {
        return cannot(format!(
            "{value:.0} {unit}; its class, a link of PCIe or SATA, is not known"
        ));
    };
    let rates = published.iter().filter(|p| class.includes(p.link));
    let rates: Vec<f64> = rates.map(|p| p.value).collect();
    if rates.len() < LEAST_DRIVES {
        let drives = rates.len();
        return cannot(format!(
            "{value:.0} {unit}; of links up to {class} only {drives} drives are public"
        ));
    }
    let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let fastest = rates.iter().copied().fold(0.0, f64::max);
    let rank = 1 + rates.iter().filter(|&&rate| rate > value).count();
    let text = format!(
        "{value:.0} {unit}, rank {rank} among {} client drives with links up to {class} \
         ({slowest:.0} to {fastest:.0}; {})",
        rates.len() + 1,
        first.source
    );
    // One of them has to be the slowest: only a drive slower than all of them is below.
    let rating = match value / slowest * 100.0 {
        pct if pct >= 100.0 => Rating::AsExpected,
        pct if pct >= FAR_PCT => Rating::Below,
        _ => Rating::FarBelow,
    };
    Some(doubted(input, &ids, Finding::new(&about, rating, text)))
}

/// Takes back a rating that warnings about these cells put in doubt; otherwise adds what to look
/// at.
fn doubted(input: &CheckInput<'_>, cells: &[&str], mut finding: Finding) -> Finding {
    let about = |id: Option<&str>| id.is_none_or(|id| cells.contains(&id));
    let mut warnings = input.warnings().filter(|w| about(w.cell.as_deref()));
    let doubt = warnings.find(|w| {
        let code = w.code.as_str();
        NOT_ITS_FIGURE.contains(&code)
            || finding.rating.is_below() && COULD_BE_FASTER.contains(&code)
    });
    if let Some(doubt) = doubt {
        finding.rating = Rating::CannotBeJudged;
        finding.text = format!("{}; {}", finding.text, doubt.message);
        return finding.then(&doubt.advice);
    }
    if finding.rating.is_below() {
        finding.next = next(input);
    }
    finding
}

/// What can make it slow, the observed first.
fn next(input: &CheckInput<'_>) -> Vec<String> {
    let causes = CAUSES.iter().filter_map(|code| input.warning(code));
    let mut next: Vec<String> = causes.map(|w| format!("{}: {}", w.message, w.advice)).collect();
    let parts = input.run.cells.iter().filter_map(|c| c.drive(input.drive));
    if parts.flat_map(|p| &p.telemetry).any(|t| t.throttled == Some(true)) {
        next.push("it throttled while it was measured: add airflow or a heat sink".to_owned());
    }
    if let Some(pct) = input.used_pct.filter(|&pct| pct >= FULL_PCT) {
        next.push(format!(
            "{pct:.0} % of it is in use by its own count: fstrim what is free, and assay run fill \
             on a spare one shows what that costs"
        ));
    }
    let start = input.partition_start_bytes;
    if let Some(start) = start.filter(|start| !start.is_multiple_of(PARTITION_UNIT_BYTES)) {
        next.push(format!(
            "its partition begins at byte {start}, which is no multiple of 4096: blocks of 4 KiB \
             touch two units of the drive; align it"
        ));
    }
    if next.is_empty() {
        next.push(
            "no cause was seen: measure again on an idle host and in another slot; assay run \
             thermal DRIVE for heat, and docs/slow.md for the order"
                .to_owned(),
        );
    }
    next
}
