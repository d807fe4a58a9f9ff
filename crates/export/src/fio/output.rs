//! What fio prints after a run of its jobs: one entry for each job, or with `group_reporting` one
//! for each group.

use std::collections::BTreeMap;
use std::io::Write;

use assay_stats::JobTotals;
use assay_store::read::Run;
use assay_units::Nanos;

pub use super::terse::VERSIONS as TERSE_VERSIONS;
use super::text::groups;
use super::{Job, document, millis};
use crate::{ExportError, output_error, write_document};

/// What fio prints after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioOutput {
    Json,
    /// Of this version.
    Terse(u32),
    /// The lines of rates and latency.
    Text,
}

/// fio's group of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FioGroup {
    pub number: usize,
    /// Its jobs are reported as one (`group_reporting`).
    pub is_one: bool,
}

/// What a run of fio's jobs is for fio.
#[derive(Clone, Debug, Default)]
pub struct FioRun<'a> {
    /// The cells before it fill files.
    pub first_cell: usize,
    /// Of the jobs from there on.
    pub groups: &'a [FioGroup],
    /// Their names in fio.
    pub names: &'a [String],
    pub pid: u32,
}

/// As after a run of fio. Fails like [`export_fio_json`].
pub fn write_fio_output(
    run: &Run,
    of: &FioRun<'_>,
    output: FioOutput,
    out: &mut impl Write,
) -> Result<(), ExportError> {
    let (run, reported) = reported_jobs(run, of)?;
    match output {
        FioOutput::Json => {
            let jobs = reported.into_iter().map(|(_, job)| job).collect();
            write_document(&document(&run, jobs), out)
        }
        FioOutput::Terse(version) => {
            let lines = reported.iter().map(|(_, job)| job.terse(version));
            print(out, &lines.collect::<String>())
        }
        FioOutput::Text => {
            let time = document(&run, Vec::new()).time;
            let jobs = reported.iter();
            let mut text: String =
                jobs.map(|(threads, job)| job.text(*threads, of.pid, &time)).collect();
            let jobs: Vec<Job> = reported.into_iter().map(|(_, job)| job).collect();
            text += &groups(&jobs);
            print(out, &text)
        }
    }
}

fn print(out: &mut impl Write, text: &str) -> Result<(), ExportError> {
    out.write_all(text.as_bytes()).map_err(output_error)
}

/// Jobs as fio reports them, and how many threads each has.
fn reported_jobs(run: &Run, of: &FioRun<'_>) -> Result<(Run, Vec<(u64, Job)>), ExportError> {
    let mut all: BTreeMap<(usize, usize), JobTotals> = BTreeMap::new();
    let run = Run::open_with_totals(&run.path, &mut |cell, place, totals| {
        if cell >= of.first_cell {
            all.insert((cell, place), totals.clone());
        }
    })?;
    all.retain(|_, totals| totals.elapsed() > Nanos::ZERO);
    let group_of = |cell: usize| of.groups.get(cell - of.first_cell).copied();
    let mut reported: Vec<(u64, Job)> = Vec::new();
    let mut all = all.into_iter().peekable();
    while let Some(((cell, place), mut totals)) = all.next() {
        let group = group_of(cell);
        let mut members = vec![(cell, place)];
        while let Some((at, other)) = all.next_if(|((next, _), _)| {
            group.is_some_and(|group| group.is_one) && group_of(*next) == group
        }) {
            totals.join(&other);
            members.push(at);
        }
        let number = group.map_or(reported.len(), |group| group.number);
        let record = &run.cells[cell];
        let mut job = Job::new(&totals).complete(&run, number, record, &record.drives[place]);
        if let Some(name) = of.names.get(cell - of.first_cell) {
            job.jobname.clone_from(name);
        }
        let mut threads = u64::from(record.plan.workload.numjobs.max(1));
        for (cell, place) in members.into_iter().skip(1) {
            let record = &run.cells[cell];
            job.sample_beside(&record.drives[place]);
            threads += u64::from(record.plan.workload.numjobs.max(1));
        }
        job.job_runtime = millis(totals.elapsed()).saturating_mul(threads);
        reported.push((threads, job));
    }
    Ok((run, reported))
}
