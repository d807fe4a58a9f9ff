//! A collection as a run folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::mpsc::{SendError, SyncSender, sync_channel};

use assay_stats::{Histogram, Interval, OpInterval};
use assay_store::model::warning::code;
use assay_store::model::{
    BuildRecord, CellKind, CellPlan, CellResult, DriveRecord, Entry, HostRecord, ImportRecord,
    IntervalRecord, Manifest, RunEnd, SCHEMA, SuiteRecord, Warning,
};
use assay_store::{Destination, EncodedEntries, RunWriter, StoreError};
use assay_units::text::compact_size;
use assay_units::{Nanos, Op};

use crate::collect::Collection;
use crate::{Direction, ImportError, Job, Note};

/// What the files do not say of the drive, and the run itself.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Model, serial, firmware and capacity, where they are known; the rest is overwritten.
    pub drive: DriveRecord,
    /// Only jobs of this device.
    pub device: Option<String>,
    /// `empty`, `filled`, `steady` or `unknown`.
    pub state: String,
    /// This program.
    pub tool: BuildRecord,
    /// The command as typed.
    pub command_line: Vec<String>,
    /// Now, RFC 3339 in UTC.
    pub imported_at: String,
    /// Makes the run's name unique.
    pub run_id: String,
}

/// A run that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The folder.
    pub path: std::path::PathBuf,
    /// Labels of its drives.
    pub drives: Vec<String>,
    /// Workloads.
    pub cells: usize,
    /// Those that are not compared, by reason.
    pub unfit: BTreeMap<String, usize>,
}

/// Name of the suite of imported runs.
pub const IMPORT: &str = "import";
/// Name of the device of files that do not name one.
const NO_DEVICE: &str = "drive";

/// Cells that one processor encodes before the next one's are appended.
const CELLS_PER_TURN: usize = 16;
/// A longer part of the journal is appended before the next one is encoded.
const PART_BYTES: usize = 64 << 10;
/// Parts of all processors that wait for the journal, at most 32 MiB: most are encoded while the
/// folder is made durable.
const PARTS_WAITING: usize = 512;

/// A job, where it is from, and its drive.
struct Placed<'a> {
    job: &'a Job,
    file: usize,
    drive: usize,
}

/// A job and its cell.
type Cell<'a> = (&'a Placed<'a>, &'a CellPlan);
/// Lines of the journal, or `None` at the end of a turn.
type Part = Option<Result<EncodedEntries, StoreError>>;

/// Writes the run folder. Errors: [`ImportError::NoSuchDevice`], [`ImportError::SeveralDrives`],
/// [`ImportError::Store`].
pub fn write(
    collection: &Collection,
    about: &About,
    destination: &Destination,
) -> Result<Written, ImportError> {
    let (labels, placed) = place(collection, about)?;
    let mut ids = Ids::default();
    let cells: Vec<CellPlan> =
        placed.iter().map(|placed| cell(placed, &labels[placed.drive], &mut ids)).collect();
    let manifest = manifest(collection, about, &labels, cells);
    let cells: Vec<Cell<'_>> = placed.iter().zip(&manifest.cells).collect();
    let writer = create_with(destination, &manifest, &cells)?;
    let path = writer.finish(RunEnd::Complete, &manifest.created)?;
    let mut unfit = BTreeMap::new();
    let reasons = placed.iter().flat_map(|placed| &placed.job.unfit);
    reasons.for_each(|reason| *unfit.entry(reason.clone()).or_default() += 1);
    Ok(Written { path, drives: labels, cells: placed.len(), unfit })
}

/// The devices, and the jobs on them.
fn place<'a>(
    collection: &'a Collection,
    about: &About,
) -> Result<(Vec<String>, Vec<Placed<'a>>), ImportError> {
    let name = |job: &Job| match job.device.is_empty() {
        true => NO_DEVICE.to_owned(),
        false => job.device.clone(),
    };
    let jobs = || {
        let files = collection.imported.iter().enumerate();
        files.flat_map(|(file, imported)| imported.jobs.iter().map(move |job| (file, job)))
    };
    let known: BTreeSet<String> = jobs().map(|(_, job)| name(job)).collect();
    let listed = || known.iter().take(10).cloned().collect::<Vec<_>>().join(", ");
    let labels: Vec<String> = match &about.device {
        None => known.iter().cloned().collect(),
        Some(device) if known.contains(device) => vec![device.clone()],
        Some(device) => {
            return Err(ImportError::NoSuchDevice { device: device.clone(), known: listed() });
        }
    };
    let is_named = about.drive != DriveRecord::default();
    if labels.len() > 1 && is_named {
        return Err(ImportError::SeveralDrives(listed()));
    }
    let of = |(file, job): (usize, &'a Job)| {
        let drive = labels.iter().position(|label| *label == name(job))?;
        Some(Placed { job, file, drive })
    };
    let placed = jobs().filter_map(of).collect();
    Ok((labels, placed))
}

fn manifest(
    collection: &Collection,
    about: &About,
    labels: &[String],
    cells: Vec<CellPlan>,
) -> Manifest {
    let files = collection.imported.iter().map(|imported| imported.source.clone());
    let files: Vec<_> = files.collect();
    let tools: BTreeSet<String> = files.iter().map(|file| file.tool.clone()).collect();
    let tools: Vec<String> = tools.into_iter().filter(|tool| !tool.is_empty()).collect();
    let jobs = collection.imported.iter().flat_map(|imported| &imported.jobs);
    let first = jobs.filter_map(|job| job.ended).min();
    let drive = |label: &String| DriveRecord {
        spec: label.clone(),
        label: label.clone(),
        kind: "imported".to_owned(),
        ..about.drive.clone()
    };
    Manifest {
        schema: SCHEMA,
        run_id: about.run_id.clone(),
        created: first.map_or_else(|| about.imported_at.clone(), |first| first.to_string()),
        tool: about.tool.clone(),
        command_line: about.command_line.clone(),
        suite: SuiteRecord {
            name: IMPORT.to_owned(),
            title: format!("Imported from {}", tools.join(", ")),
            summary: "Figures that another program measured. What its files do not say is \
                      unknown here: the state of the drive, other load, and where no logs are \
                      the course over time."
                .to_owned(),
            ..SuiteRecord::default()
        },
        scale: 1.0,
        host: HostRecord {
            kernel: "unknown".to_owned(),
            cpu_model: "an unknown host".to_owned(),
            ..HostRecord::default()
        },
        drives: labels.iter().map(drive).collect(),
        cells,
        imported: Some(ImportRecord { tools, files, state: about.state.clone() }),
        ..Manifest::default()
    }
}

/// Identifiers of cells, each once.
#[derive(Default)]
struct Ids(BTreeMap<String, u32>);

impl Ids {
    fn unique(&mut self, id: String) -> String {
        let count = self.0.entry(id.clone()).or_default();
        *count += 1;
        match *count {
            1 => id,
            n => self.unique(format!("{id}#{n}")),
        }
    }
}

/// Step and its title, by fio's `rw`.
fn step(rw: &str) -> (&'static str, &'static str) {
    match rw {
        "read" => ("sequential-read", "Sequential read"),
        "write" => ("sequential-write", "Sequential write"),
        "randread" => ("random-read", "Random read"),
        "randwrite" => ("random-write", "Random write"),
        "rw" => ("sequential-mixed", "Sequential reads and writes"),
        "randrw" => ("random-mixed", "Random reads and writes"),
        "trim" | "randtrim" => ("trim", "Deallocation"),
        _ => ("other", "Other workloads"),
    }
}

fn cell(placed: &Placed<'_>, label: &str, ids: &mut Ids) -> CellPlan {
    let workload = &placed.job.workload;
    let (step, title) = step(&workload.rw);
    let known = |name: &str, value: u64, text: String| match value {
        0 => String::new(),
        _ => format!("{name}={text},"),
    };
    let mix = workload.rwmixread.map(|share| format!("rwmixread={share},"));
    let point = [
        known("bs", workload.bs_bytes, compact_size(workload.bs_bytes)),
        known("iodepth", workload.iodepth.into(), workload.iodepth.to_string()),
        known("numjobs", workload.numjobs.into(), workload.numjobs.to_string()),
        mix.unwrap_or_default(),
    ];
    let point = point.concat();
    let reasons = placed.job.unfit.join("; ");
    CellPlan {
        id: ids.unique(format!("{label}/{step}/{}", point.trim_end_matches(','))),
        step: step.to_owned(),
        title: title.to_owned(),
        kind: CellKind::Measure,
        drives: vec![placed.drive],
        workload: workload.clone(),
        file: Some(placed.file),
        unfit: Some(reasons).filter(|reasons| !reasons.is_empty()),
        ..CellPlan::default()
    }
}

/// Makes the folder, and appends the lines of all cells in their order. They are encoded on all
/// processors; what waits for the journal is bounded.
fn create_with(
    destination: &Destination,
    manifest: &Manifest,
    cells: &[Cell<'_>],
) -> Result<RunWriter, StoreError> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let (folder, created) = (destination.folder(&manifest.run_id), &manifest.created);
    std::thread::scope(|scope| {
        let encoders: Vec<_> = (0..workers)
            .map(|worker| {
                let (sender, receiver) = sync_channel((PARTS_WAITING / workers).max(1));
                let (folder, turns) = (&folder, cells.chunks(CELLS_PER_TURN));
                scope.spawn(move || {
                    for turn in turns.skip(worker).step_by(workers) {
                        if encode(turn, created, folder, &sender).is_err() {
                            return;
                        }
                    }
                });
                receiver
            })
            .collect();
        let mut writer = RunWriter::create(destination, manifest)?;
        writer.append(&Entry::Start { at: created.clone(), resumed: 0 })?;
        let turns = cells.len().div_ceil(CELLS_PER_TURN);
        for encoder in encoders.iter().cycle().take(turns) {
            while let Ok(Some(part)) = encoder.recv() {
                writer.append_encoded(&part?)?;
            }
        }
        Ok(writer)
    })
}

/// Sends the lines of these cells in parts, and `None` after the last. Fails when nobody receives.
fn encode(
    cells: &[Cell<'_>],
    created: &str,
    folder: &Path,
    parts: &SyncSender<Part>,
) -> Result<(), SendError<Part>> {
    let mut part = EncodedEntries::default();
    for (placed, plan) in cells {
        for entry in entries(placed, plan, created) {
            if let Err(error) = part.push(&entry, folder) {
                return parts.send(Some(Err(error)));
            }
            if part.bytes() >= PART_BYTES {
                parts.send(Some(Ok(std::mem::take(&mut part))))?;
            }
        }
    }
    parts.send(Some(Ok(part)))?;
    parts.send(None)
}

/// The journal's lines of a job.
fn entries<'a>(
    placed: &'a Placed<'_>,
    plan: &'a CellPlan,
    created: &str,
) -> impl Iterator<Item = Entry> + 'a {
    let job = placed.job;
    let at = |date: Option<jiff::Timestamp>| date.map_or(created.to_owned(), |d| d.to_string());
    let span = jiff::SignedDuration::from_nanos(i64::try_from(job.elapsed.0).unwrap_or(i64::MAX));
    let began = job.ended.and_then(|ended| ended.checked_sub(span).ok());
    let start = Entry::CellStart { cell: plan.id.clone(), at: at(began) };
    let record = |interval| Entry::Interval(IntervalRecord::new(&plan.id, placed.drive, interval));
    let logged = job.logs.iter();
    let logged = logged.flat_map(|logs| logs.series(job.workload.bs_bytes));
    let unlogged = job.logs.is_none().then(|| whole(job)).flatten();
    let result = CellResult {
        drive: placed.drive,
        elapsed: job.elapsed,
        read: job.read.summary.clone(),
        write: job.write.summary.clone(),
        discard: job.discard.summary.clone(),
        flush: job.flush.summary.clone(),
        busiest_thread_pct: job.busiest_thread_pct,
        values: job.values.clone(),
        ..CellResult::default()
    };
    let finish =
        Entry::CellFinish { cell: plan.id.clone(), at: at(job.ended), results: vec![result] };
    std::iter::once(start)
        .chain(unlogged.into_iter().chain(logged).map(record))
        .chain(warnings(placed, plan))
        .chain(std::iter::once(finish))
}

/// What the figures of a job cannot tell, and why they are not compared.
fn warnings(placed: &Placed<'_>, plan: &CellPlan) -> Vec<Entry> {
    let warning = |code: &str, message: &str, advice: &str| {
        Entry::Warning(Warning {
            code: code.to_owned(),
            cell: Some(plan.id.clone()),
            drive: Some(placed.drive),
            message: message.to_owned(),
            advice: advice.to_owned(),
        })
    };
    let notes = placed.job.notes.iter();
    let of_note = |note: &Note| warning(code::IMPORT_INCOMPLETE, note.message(), note.advice());
    let unfit = placed.job.unfit.iter().map(|reason| {
        let message = format!("Not compared with other drives and runs: {reason}.");
        let advice = "Options that the file does not have are given with --assume OPTION=VALUE.";
        warning(code::IMPORT_UNFIT, &message, advice)
    });
    notes.map(of_note).chain(unfit).collect()
}

/// The whole span as one interval, for its distributions; `None` without any.
fn whole(job: &Job) -> Option<Interval> {
    let named = [Op::Read, Op::Write, Op::Discard, Op::Flush].into_iter();
    let of = |(op, direction): (Op, &Direction)| {
        let counts = OpInterval {
            ios: direction.summary.ios,
            bytes: direction.summary.bytes,
            errors: direction.summary.errors,
            latency: Histogram::decode(&direction.distribution).ok()?,
            ..OpInterval::default()
        };
        Some((op, counts))
    };
    let ops: Vec<_> = named.zip(job.operations()).filter_map(of).collect();
    (!ops.is_empty()).then_some(Interval {
        index: 0,
        ramp: false,
        start: Nanos::ZERO,
        end: job.elapsed,
        ops,
        submitted: Vec::new(),
    })
}
