//! A synchronous host: threads with one command in flight each, the profile's host time between a completion and the next command.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;

use assay_ssd::{Command, Drive, DriveOptions, Profile};
use assay_units::{DataClass, GIB, Nanos, Op, Rng};

/// The area that report A tests, in bytes.
pub const AREA_BYTES: u64 = 16 * GIB;

/// What every thread does.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    pub op: Op,
    /// Random offsets in the area, or a region of its own per thread in order, over and over.
    pub random: bool,
    pub threads: u32,
    pub block: u32,
    pub data: DataClass,
}

impl Job {
    /// Reads, random or sequential.
    pub fn read(random: bool, threads: u32, block: u32) -> Job {
        Job {
            op: Op::Read,
            random,
            threads,
            block,
            data: DataClass::Incompressible,
        }
    }
}

/// A drive and the threads that use it.
pub struct Host {
    drive: Drive,
    job: Job,
    overhead: Nanos,
    rng: Rng,
    next: Vec<u64>,
    ready: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// The last completion.
    pub now: Nanos,
}

impl Host {
    /// Switch a filled drive on.
    pub fn new(profile: &Profile, job: Job) -> Result<Host, Box<dyn Error>> {
        let drive = Drive::new(profile.clone(), DriveOptions::default())?;
        let mut host = Host {
            drive,
            job,
            overhead: Nanos(profile.bench.host_overhead_ns.value),
            rng: Rng::stream(1, "offsets"),
            next: Vec::new(),
            ready: BinaryHeap::new(),
            now: Nanos::ZERO,
        };
        host.set_job(job);
        Ok(host)
    }

    /// Let the threads do something else from now on. Nothing may be in flight: call it on a new host or after [`Host::drain`].
    pub fn set_job(&mut self, job: Job) {
        let region = self.region_bytes(job);
        self.job = job;
        self.next = (0..u64::from(job.threads)).map(|n| region * n).collect();
        self.ready = (0..job.threads)
            .map(|n| Reverse((self.now + Nanos(u64::from(n) * 100), n)))
            .collect();
    }

    fn region_bytes(&self, job: Job) -> u64 {
        (AREA_BYTES / u64::from(job.threads)) & !(u64::from(job.block) - 1)
    }

    /// The drive's temperatures and counters.
    pub fn health(&mut self) -> assay_ssd::Telemetry {
        self.drive.telemetry(self.now)
    }

    /// Run until so many commands have completed or the time has come; returns the bytes that moved.
    pub fn run(&mut self, commands: u64, until: Nanos) -> Result<u64, Box<dyn Error>> {
        let block = u64::from(self.job.block);
        let mut done = Vec::new();
        let mut completed = 0;
        loop {
            let submit = self.ready.peek().map_or(Nanos::MAX, |&Reverse((at, _))| at);
            let event = self.drive.next_event().unwrap_or(Nanos::MAX);
            if completed >= commands || submit.min(event) > until {
                return Ok(completed * block);
            }
            if event <= submit {
                self.drive.advance(event, &mut done);
                for completion in done.drain(..) {
                    if !completion.status.is_ok() {
                        return Err(completion.status.name().into());
                    }
                    completed += 1;
                    self.now = completion.at;
                    self.ready
                        .push(Reverse((completion.at + self.overhead, completion.tag)));
                }
                continue;
            }
            let Some(Reverse((at, thread))) = self.ready.pop() else {
                return Err("the drive lost a command".into());
            };
            let offset_bytes = self.offset(thread);
            self.drive.submit(
                at,
                Command {
                    tag: thread,
                    queue: thread as u16,
                    op: self.job.op,
                    offset_bytes,
                    len_bytes: self.job.block,
                    data: self.job.data,
                },
            );
        }
    }

    /// Let what is in flight complete and start nothing new.
    pub fn drain(&mut self) {
        let mut done = Vec::new();
        self.ready.clear();
        self.drive.advance(Nanos(u64::MAX - 1), &mut done);
        if let Some(last) = done.last() {
            self.now = last.at;
        }
    }

    fn offset(&mut self, thread: u32) -> u64 {
        let block = u64::from(self.job.block);
        if self.job.random {
            return self.rng.below(AREA_BYTES / block) * block;
        }
        let region = self.region_bytes(self.job);
        let at = &mut self.next[thread as usize];
        let offset = *at;
        *at += block;
        if *at >= region * (u64::from(thread) + 1) {
            *at = region * u64::from(thread);
        }
        offset
    }
}
