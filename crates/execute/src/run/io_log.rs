//! The log of a job's I/Os as fio's iolog of version 3 (fio's HOWTO.rst, "Trace file format v3").

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use assay_device::identity::{DriveInfo, JoinedPart};
use assay_stats::{Interval, SubmittedIo};
use assay_store::replace::{check_output, check_replaceable};
use assay_suite::expand::{Cell, RunPlan};
use assay_units::{Nanos, Op};

use crate::ExecuteError;

/// Begin of the first line of every version.
const HEAD: &str = "fio version";

/// How late a thread may hand over what it submitted.
const HELD_BACK: Nanos = Nanos::from_secs(1);

/// Before anything is measured: each log that the plan asks for can be written, or appended to.
pub fn check_io_logs(plan: &RunPlan) -> Result<(), ExecuteError> {
    let workloads = plan.cells.iter().flat_map(|cell| &cell.workloads);
    let mut logs = workloads.filter_map(|workload| workload.io_log.as_deref());
    Ok(logs.try_for_each(|path| check_output(path, HEAD))?)
}

pub(super) struct IoLog {
    path: PathBuf,
    file: BufWriter<File>,
    /// The drive, or its files in the order of their addresses, each in one word.
    files: Vec<JoinedPart>,
    /// Not written yet.
    later: Vec<SubmittedIo>,
    end: Nanos,
    /// Time of the last line.
    written: Nanos,
    offset_bytes: u64,
}

impl IoLog {
    /// The log that the cell asks for.
    pub(super) fn open(cell: &Cell, drive: &DriveInfo) -> Result<Option<IoLog>, ExecuteError> {
        let Some(path) = cell.workloads.iter().find_map(|workload| workload.io_log.clone()) else {
            return Ok(None);
        };
        let mut files = drive.files.clone();
        if files.is_empty() {
            files.push(JoinedPart { name: drive.spec.clone(), ..JoinedPart::default() });
        }
        for file in &mut files {
            file.name = file.name.replace(char::is_whitespace, "_");
        }
        // Another may have made something else of it since the check before the run.
        check_replaceable(&path, HEAD)?;
        let begun = assay_output::open_log(&path).and_then(|file| {
            let mut file = BufWriter::new(file);
            writeln!(file, "{HEAD} 3 iolog")?;
            for action in ["add", "open"] {
                for JoinedPart { name, .. } in &files {
                    writeln!(file, "0 {name} {action}")?;
                }
            }
            Ok(file)
        });
        match begun {
            Ok(file) => Ok(Some(IoLog {
                path,
                file,
                files,
                later: Vec::new(),
                end: Nanos::ZERO,
                written: Nanos::ZERO,
                offset_bytes: 0,
            })),
            Err(source) => Err(ExecuteError::IoLog { path, source }),
        }
    }

    /// Threads pass the end of an interval one after the other, and one without a processor long
    /// after the others: what was submitted waits for [`HELD_BACK`].
    pub(super) fn interval(&mut self, interval: &Interval) -> Result<(), ExecuteError> {
        self.later.extend_from_slice(&interval.submitted);
        self.end = self.end.max(interval.end);
        self.write_until(Nanos(self.end.0.saturating_sub(HELD_BACK.0)))
    }

    fn write_until(&mut self, end: Nanos) -> Result<(), ExecuteError> {
        self.later.sort_by_key(|io| io.at);
        let count = self.later.partition_point(|io| io.at < end);
        let (log, offset_bytes) = (&mut self.file, &mut self.offset_bytes);
        let files = &self.files;
        let last = &mut self.written;
        let written = self.later.drain(..count).try_for_each(|io| {
            let after = files.partition_point(|file| file.start_bytes <= io.offset_bytes);
            let file = &files[after.saturating_sub(1)];
            // A flush has the offset of the I/O before it.
            if io.op != Op::Flush {
                *offset_bytes = io.offset_bytes - file.start_bytes;
            }
            // Of a thread that stood still for longer: due at once, as a replay would have it.
            *last = io.at.max(*last);
            let (micros, action) = (last.0 / 1000, action(io.op));
            let (name, bytes) = (&file.name, io.len_bytes);
            writeln!(log, "{micros} {name} {action} {offset_bytes} {bytes}")
        });
        written.map_err(|source| ExecuteError::IoLog { path: self.path.clone(), source })
    }

    pub(super) fn close(mut self) -> Result<(), ExecuteError> {
        self.write_until(Nanos::MAX)?;
        let micros = self.end.0 / 1000;
        let mut names = self.files.iter().map(|file| &file.name);
        let closed = names.try_for_each(|name| writeln!(self.file, "{micros} {name} close"));
        let closed = closed.and_then(|()| self.file.flush());
        closed.map_err(|source| ExecuteError::IoLog { path: self.path, source })
    }
}

fn action(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Discard | Op::WriteZeroes => "trim",
        Op::Flush => "sync",
    }
}

#[cfg(test)]
#[path = "../../tests/unit/run/io_log.rs"]
mod tests;
