//! What is shown and written after the jobs: as fio does where its options ask for it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use assay_device::identity::DriveInfo;
use assay_export::fio::{FioGroup, FioOutput, FioRun, write_fio_output};
use assay_export::fio_logs::{FioLog, FioLogs};
use assay_fio_job::job::{Limits, LogKind};
use assay_fio_job::line::Format;
use assay_fio_job::{CommandLine, FioJob};
use assay_store::Run;
use assay_store::read::CellRecord;
use assay_store::replace::replace_content;
use assay_units::Nanos;
use assay_units::rate::per_second;
use assay_units::text::printable_lines;

use crate::commands::report;
use crate::json;
use crate::terminal::Output;

/// The result is shown first, whatever becomes of logs and page. `name`: of a run that is kept.
pub(super) fn show(
    run: &Run,
    (cells, jobs): (&[CellRecord], &[FioJob]),
    beyond: &[String],
    (page, name): (Option<&Path>, Option<&str>),
    as_fio: bool,
    (line, info, output): (&CommandLine, &[DriveInfo], Output),
) -> anyhow::Result<()> {
    let group = |job: &FioJob| FioGroup { number: job.group, is_one: job.is_reported_as_one };
    let groups: Vec<FioGroup> = jobs.iter().map(group).collect();
    let names: Vec<String> = jobs.iter().map(|job| job.section.clone()).collect();
    let of_fio = FioRun {
        names: &names,
        first_cell: run.cells.len() - cells.len(),
        groups: &groups,
        pid: std::process::id(),
    };
    let logs = write_logs(run, cells, jobs);
    let written = report::write_page_of(run, page);
    let page = page.filter(|_| written.is_ok());
    let text = || {
        let mut text = assay_report::terminal::render(run, output.columns(), output.style());
        for line in beyond {
            let _ = writeln!(text, "\n{line}");
        }
        for log in logs.iter().flatten() {
            let _ = writeln!(text, "Log:        {}", log.display());
        }
        let kept = name.map(|name| report::lines(run, page, name));
        text += &kept.unwrap_or_default();
        if as_fio {
            let mut lines = b"\n".to_vec();
            write_fio_output(run, &of_fio, FioOutput::Text, &mut lines)?;
            text += &String::from_utf8_lossy(&lines);
        }
        anyhow::Ok(text)
    };
    match line.output.is_none() && line.formats.is_empty() {
        true => {
            let json = || match (info, line.files.is_empty()) {
                ([only], true) => json::job(run, cells, only),
                _ => json::suite(run),
            };
            let text = match output.json {
                true => String::new(),
                false => text()?,
            };
            output.show(|| text, json)?;
        }
        false => write_formats(run, &of_fio, line, text)?,
    }
    logs?;
    written
}

/// fio's `--output` and `--output-format`.
fn write_formats(
    run: &Run,
    of_fio: &FioRun<'_>,
    line: &CommandLine,
    text: impl Fn() -> anyhow::Result<String>,
) -> anyhow::Result<()> {
    let mut document = Vec::new();
    let formats = match line.formats.as_slice() {
        [] => &[Format::Normal],
        given => given,
    };
    for format in formats {
        let other = match format {
            Format::Normal => {
                document.extend_from_slice(printable_lines(&text()?).as_bytes());
                continue;
            }
            Format::Json => FioOutput::Json,
            Format::Terse => FioOutput::Terse(line.terse_version.unwrap_or(3)),
        };
        write_fio_output(run, of_fio, other, &mut document)?;
    }
    match &line.output {
        Some(path) => replace_content(path, &document)?,
        None => std::io::stdout().lock().write_all(&document)?,
    }
    Ok(())
}

/// The logs in fio's format: the file, the kind, and the places of its jobs.
pub(super) fn log_files(jobs: &[FioJob]) -> Vec<(PathBuf, FioLog, Vec<usize>)> {
    let mut files: Vec<(PathBuf, FioLog, Vec<usize>)> = Vec::new();
    for (number, job) in jobs.iter().enumerate() {
        for request in &job.logs {
            let logs: &[FioLog] = match request.kind {
                LogKind::Bandwidth => &[FioLog::Bandwidth],
                LogKind::Iops => &[FioLog::Iops],
                LogKind::Latency => &[FioLog::Latency, FioLog::Completion],
                LogKind::Histogram => &[FioLog::Histogram],
            };
            for &log in logs {
                let (prefix, suffix) = (&request.prefix, log.suffix());
                let path = PathBuf::from(match request.thread {
                    Some(thread) => format!("{prefix}_{suffix}.{thread}.log"),
                    None => format!("{prefix}_{suffix}.log"),
                });
                match files.iter_mut().find(|(other, ..)| *other == path) {
                    Some((_, _, numbers)) => numbers.push(number),
                    None => files.push((path, log, vec![number])),
                }
            }
        }
    }
    files
}

/// Returns the files.
fn write_logs(run: &Run, cells: &[CellRecord], jobs: &[FioJob]) -> anyhow::Result<Vec<PathBuf>> {
    let files = log_files(jobs);
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let logs = FioLogs::read(run)?;
    let written = files.into_iter().map(|(path, log, numbers)| {
        let cells = numbers.iter().map(|&number| cells[number].plan.id.as_str());
        logs.write(&cells.collect::<Vec<_>>(), log, &path)?;
        Ok(path)
    });
    written.collect()
}

/// The last interval may be a part of one, and is left out where there are others.
pub(super) fn beyond_limits(cell: &CellRecord, job: &FioJob) -> Option<String> {
    let Limits { bytes, ios, latency_us } = job.limits;
    let drive = cell.drives.first()?;
    let slowest = Nanos(drive.series.iter().map(|sample| sample.latency.max).max()?);
    if let Some(most) = latency_us.map(Nanos::from_micros)
        && slowest > most
    {
        return Some(format!(
            "[{}]: an I/O took {slowest}, above the max_latency of {most}: the job has failed",
            job.name
        ));
    }
    let mut intervals = drive.measured_intervals();
    if intervals.len() > 1 {
        intervals.pop();
    }
    intervals.retain(|interval| interval.elapsed() > Nanos::ZERO);
    intervals.iter().find_map(|interval| {
        let below = |what, least: u64, is: f64| {
            (is < least as f64).then(|| {
                format!(
                    "[{}]: {is:.0} {what} in interval {}, below the least rate of {least}: the \
                     job has failed",
                    job.name, interval.index
                )
            })
        };
        let bytes_per_second = per_second(interval.bytes(), interval.elapsed());
        bytes
            .and_then(|least| below("bytes per second", least, bytes_per_second))
            .or_else(|| ios.and_then(|least| below("IOPS", least, interval.iops())))
    })
}
