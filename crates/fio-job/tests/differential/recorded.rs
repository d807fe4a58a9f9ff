//! The I/Os of a job file by assay: conversion, plan, workers and the I/O loop, on a target that
//! records them.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_device::identity::JoinedPart;
use assay_device::session::{TargetKind, TargetProperties};
use assay_fio_job::substitute::Substitution;
use assay_fio_job::{FioJob, JobFile, convert};
use assay_io::{Completion, Io, Target, TargetError, Telemetry};
use assay_stats::{Interval, Recorder};
use assay_units::{Nanos, Op};
use assay_workload::io_loop::{IntervalSink, IoLoopConfig, run_io_loop};
use assay_workload::plan::Workload;
use assay_workload::worker::Worker;

use crate::generator::JobText;
use crate::{FILE_STEP, Ios, MOST};

struct Recording<'a> {
    ios: Ios,
    done: Vec<Completion>,
    stop: &'a AtomicBool,
    buffers: Vec<Vec<u8>>,
    priorities: Vec<u16>,
    /// The content of the file, where it is of interest.
    content: &'a mut [u8],
}

impl Target for Recording<'_> {
    fn now(&mut self) -> Nanos {
        Nanos(1)
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError> {
        for io in batch {
            let letter = match io.op {
                Op::Read => 'r',
                Op::Write => 'w',
                Op::Discard => 't',
                _ => 'f',
            };
            let place = match letter {
                'f' => (letter, io.offset_bytes, 0),
                _ => (letter, io.offset_bytes, io.len_bytes.into()),
            };
            if self.ios.len() < MOST {
                self.ios.push(place);
                self.priorities.push(io.priority);
            } else {
                self.stop.store(true, Ordering::Relaxed);
            }
            let written = io.offset_bytes as usize..io.offset_bytes as usize + place.2 as usize;
            if let Some(written) = self.content.get_mut(written).filter(|_| letter == 'w') {
                written.copy_from_slice(&self.buffers[io.slot as usize][..place.2 as usize]);
            }
            let (slot, result) = (io.slot, io.len_bytes as i32);
            self.done.push(Completion { slot, result });
        }
        Ok(())
    }

    fn reap(
        &mut self,
        _min: usize,
        _until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        out.append(&mut self.done);
        Ok(())
    }

    fn buffer(&mut self, slot: u32) -> Option<&mut [u8]> {
        self.buffers.get_mut(slot as usize).map(Vec::as_mut_slice)
    }
}

struct NoSink;

impl IntervalSink for NoSink {
    fn interval(&mut self, _: usize, _: Interval, _: Option<Telemetry>) -> Option<Interval> {
        None
    }
}

/// What a job does, and the priorities of its I/Os.
type Done = (Ios, Vec<u16>);

fn of_job(job: &FioJob, lengths: &[u64], content: &mut [u8]) -> Result<Done, String> {
    let names = job.target.files();
    let part = |((name, &len_bytes), number): ((String, &u64), u64)| JoinedPart {
        name,
        serial: String::new(),
        start_bytes: number * FILE_STEP,
        len_bytes,
    };
    let files: Vec<JoinedPart> = names.into_iter().zip(lengths).zip(0..).map(part).collect();
    let joined_end = files.last().map(|file| file.start_bytes + file.len_bytes);
    let facts = TargetProperties {
        placement_handles: 0,
        atomic: None,
        name: "recorded".to_owned(),
        capacity_bytes: joined_end.unwrap_or(lengths[0]),
        files,
        min_io_bytes: 512,
        kind: TargetKind::File,
    };
    let workload = Workload::plan(&job.options, &facts).map_err(|error| error.to_string())?;
    let mut all = Done::default();
    for index in 0..workload.numjobs {
        let stop = AtomicBool::new(false);
        let mut target = Recording {
            ios: Ios::new(),
            done: Vec::new(),
            stop: &stop,
            priorities: Vec::new(),
            buffers: vec![vec![0; 4 << 20]; workload.iodepth as usize],
            content: &mut *content,
        };
        let mut worker = [Worker::new(&workload, index, 0, Nanos(1)).unwrap()];
        let mut recorder = [Recorder::new(Nanos(1), workload.interval, workload.ramp, false)];
        run_io_loop(
            &mut target,
            &mut worker,
            IoLoopConfig::new(&workload),
            &mut recorder,
            &stop,
            &mut NoSink,
        )
        .unwrap();
        all.0.append(&mut target.ios);
        all.1.append(&mut target.priorities);
    }
    Ok(all)
}

/// By section.
pub fn by_assay(text: &JobText) -> Result<Vec<Ios>, String> {
    let files = text.files();
    let lengths = |files: &Vec<(String, u64)>| files.iter().map(|file| file.1).collect();
    of_text(&text.plain(), files.iter().map(lengths))
}

/// Of each section, on files of these lengths.
pub fn of_text(text: &str, files: impl Iterator<Item = Vec<u64>>) -> Result<Vec<Ios>, String> {
    let jobs = jobs_of(text)?;
    let of_each = jobs.iter().zip(files);
    of_each.map(|(job, lengths)| Ok(of_job(job, &lengths, &mut [])?.0)).collect()
}

/// The priorities of the only section's I/Os, with their operations and lengths.
pub fn priorities_of(text: &str, len_bytes: u64) -> Result<Vec<(char, u64, u16)>, String> {
    let (ios, priorities) = of_job(&jobs_of(text)?[0], &[len_bytes], &mut [])?;
    let each = ios.iter().zip(priorities);
    Ok(each.map(|(io, priority)| (io.0, io.2, priority)).collect())
}

/// The content of a file of zeros after the only section of this text.
pub fn content_of(text: &str, len_bytes: u64) -> Result<Vec<u8>, String> {
    let mut content = vec![0; len_bytes as usize];
    let jobs = jobs_of(text)?;
    of_job(&jobs[0], &[len_bytes], &mut content)?;
    Ok(content)
}

pub fn jobs_of(text: &str) -> Result<Vec<FioJob>, String> {
    let with = Substitution { variable: &|_| None, page_bytes: 4096, memory_mib: 1024, cpus: 2 };
    let mut read = |_: &Path| Ok(text.as_bytes().to_vec());
    let file = JobFile::read(Path::new("job.fio"), &with, &mut read);
    let jobs = file.and_then(|file| convert(&file, None));
    Ok(jobs.map_err(|error| error.to_string())?.jobs)
}
