//! The machine that uses a simulated drive: threads with several I/Os in flight each, and time of their own per I/O.
//!
//! A thread needs the profile's `bench.host_overhead_ns` for each I/O, one after the other, between a completion and the next
//! submission, of one of the `bench.host_cores` processors where the profile has a number of them ([`assay_sim_host::processors`]). Latency counts from the completion that made room to the completion of the I/O, as assay's engine counts it: the
//! thread hands the next I/O over at once, and what it takes to get it to the drive is part of what a program sees.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use assay_sim_host::HostProcessors;
use assay_ssd::profile::BenchProfile;
use assay_ssd::{Command, Drive, DriveOptions, InitialState, Profile, Telemetry};
use assay_stats::Histogram;
use assay_units::{DataClass, GIB, Nanos, Op, Rng};

use crate::CalibrateError;
use crate::measurement::{Access, State, Workload};

/// The area that report A tests, in bytes.
pub const AREA_BYTES: u64 = 16 * GIB;

/// Between the first submissions of two threads, in nanoseconds: they do not start in the same instant.
const STAGGER_NS: u64 = 100;
/// I/Os in flight of the random overwrites that precede an [`State::Overwritten`] drive's measurement.
const OVERWRITE_DEPTH: u32 = 32;
/// Latest instant that a drive can be asked to live up to.
const FOREVER: Nanos = Nanos(u64::MAX - 1);

/// A drive and the threads that use it.
#[derive(Clone)]
pub struct Host {
    drive: Drive,
    name: String,
    job: Workload,
    /// The machine, and what gives the threads their time.
    bench: BenchProfile,
    cpus: HostProcessors,
    area_bytes: u64,
    rng: Rng,
    /// Per thread: next offset of sequential I/Os.
    next: Vec<u64>,
    /// Slots that will submit, by when.
    ready: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// Per slot: when its last I/O completed, which is when the next was handed over.
    handed: Vec<Nanos>,
    latency: Option<Box<Histogram>>,
    now: Nanos,
    done: Vec<assay_ssd::Completion>,
}

impl Host {
    /// Switch on a drive in the workload's state, and let the threads begin.
    ///
    /// # Errors
    /// When the profile makes no drive, or the drive fails an I/O of the preparation.
    pub fn new(profile: &Profile, job: Workload) -> Result<Host, CalibrateError> {
        Host::with_options(profile, job, DriveOptions::default())
    }

    /// [`Host::new`] with options of the drive; their initial state is the workload's.
    ///
    /// # Errors
    /// As [`Host::new`].
    pub fn with_options(
        profile: &Profile,
        job: Workload,
        options: DriveOptions,
    ) -> Result<Host, CalibrateError> {
        let state = match job.state {
            State::Fresh => InitialState::Fresh,
            State::Filled | State::Overwritten => InitialState::Filled,
        };
        let drive = Drive::new(profile.clone(), DriveOptions { state, ..options })?;
        let mut host = Host {
            drive,
            name: profile.name.clone(),
            job,
            bench: profile.bench.clone(),
            cpus: HostProcessors::new(&profile.bench, 1, Nanos::ZERO),
            area_bytes: 0,
            rng: Rng::stream(1, "offsets"),
            next: Vec::new(),
            ready: BinaryHeap::new(),
            handed: Vec::new(),
            latency: None,
            now: Nanos::ZERO,
            done: Vec::new(),
        };
        if job.state == State::Overwritten {
            host.overwrite()?;
        }
        host.set_job(job);
        Ok(host)
    }

    /// The area overwritten twice, at random, 4 KiB at a time.
    fn overwrite(&mut self) -> Result<(), CalibrateError> {
        // The host's own time would only add to the wait.
        let bench = self.bench.clone();
        self.bench.host_overhead_ns.value = 0;
        self.bench.host_cores = None;
        self.set_job(Workload {
            op: Op::Write,
            access: Access::Random,
            block_bytes: 4096,
            threads: 1,
            queue_depth: OVERWRITE_DEPTH,
            ..self.job
        });
        self.run(2 * (self.area_bytes / 4096), FOREVER)?;
        self.bench = bench;
        self.drain();
        Ok(())
    }

    /// Let the threads do something else from now on, on the drive as it is. Nothing may be in flight: call it on a new host or
    /// after [`Host::drain`].
    pub fn set_job(&mut self, job: Workload) {
        let block = u64::from(job.block_bytes.max(1));
        let capacity = self.drive.identity().capacity_bytes;
        self.area_bytes = (job.area_bytes.min(capacity) / block).max(1) * block;
        self.job = job;
        let region = self.region_bytes();
        self.next = (0..u64::from(job.threads)).map(|n| region * n).collect();
        self.cpus = HostProcessors::new(&self.bench, job.threads, self.now);
        let slots = job.threads * job.queue_depth;
        self.handed = vec![self.now; slots as usize];
        self.ready = (0..slots)
            .map(|n| Reverse((self.now + Nanos(u64::from(n) * STAGGER_NS), n)))
            .collect();
    }

    fn region_bytes(&self) -> u64 {
        let block = u64::from(self.job.block_bytes.max(1));
        (self.area_bytes / u64::from(self.job.threads.max(1)) / block).max(1) * block
    }

    /// Record latencies from now on; what was recorded before is forgotten.
    pub fn record(&mut self) {
        self.latency = Some(Box::default());
    }

    /// Latencies since [`Host::record`].
    pub fn latency(&self) -> Option<&Histogram> {
        self.latency.as_deref()
    }

    /// The last completion, or the end of the last rest.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// The drive's temperatures and counters.
    pub fn health(&mut self) -> Telemetry {
        self.drive.telemetry(self.now)
    }

    /// What of the drive's capacity the host sees, in bytes.
    pub fn capacity_bytes(&self) -> u64 {
        self.drive.identity().capacity_bytes
    }

    /// Run until so many I/Os have completed or the time has come; returns the bytes that moved. Can be called again to go on.
    ///
    /// # Errors
    /// When the drive fails an I/O.
    pub fn run(&mut self, ios: u64, until: Nanos) -> Result<u64, CalibrateError> {
        let block = u64::from(self.job.block_bytes);
        let depth = self.job.queue_depth;
        let mut done = std::mem::take(&mut self.done);
        let mut completed = 0;
        let outcome = loop {
            let event = self.drive.next_event().unwrap_or(Nanos::MAX);
            let mut submit = self.ready.peek().map_or(Nanos::MAX, |&Reverse((at, _))| at);
            while let Some((at, slot)) = self.cpus.pop(submit.min(event).min(until)) {
                self.ready.push(Reverse((at, slot)));
                submit = submit.min(at);
            }
            if completed >= ios || submit.min(event) > until {
                break Ok(completed * block);
            }
            if event <= submit {
                self.drive.advance(event, &mut done);
                let mut failed = None;
                for completion in done.drain(..) {
                    if !completion.status.is_ok() {
                        failed = Some(completion.status.name());
                    }
                    completed += 1;
                    self.complete(completion.tag, completion.at, depth);
                }
                if let Some(what) = failed {
                    break Err(self.failure(what));
                }
                continue;
            }
            let Some(Reverse((at, slot))) = self.ready.pop() else {
                break Err(self.failure(
                    "the model has I/Os in flight and nothing that would complete them: a defect of the model",
                ));
            };
            let thread = slot / depth;
            let command = Command {
                tag: slot,
                queue: thread as u16,
                op: self.job.op,
                offset_bytes: self.offset(thread),
                len_bytes: self.job.block_bytes,
                data: self.job.data,
            };
            self.drive.submit(at, command);
        };
        self.done = done;
        outcome
    }

    /// A slot is free: its thread hands over the next I/O, after those it is still busy with.
    #[inline]
    fn complete(&mut self, slot: u32, at: Nanos, depth: u32) {
        self.now = at;
        if let Some(latency) = &mut self.latency {
            latency.record(at - self.handed[slot as usize]);
        }
        self.handed[slot as usize] = at;
        if let Some(sent) = self.cpus.submit(slot / depth, slot, at) {
            self.ready.push(Reverse((sent, slot)));
        }
    }

    fn failure(&self, what: &str) -> CalibrateError {
        CalibrateError::Simulation {
            drive: self.name.clone(),
            procedure: crate::Procedure::Steady(self.job).title(),
            what: what.to_owned(),
        }
    }

    /// Let what is in flight complete and start nothing new.
    pub fn drain(&mut self) {
        self.ready.clear();
        self.cpus = HostProcessors::new(&self.bench, self.job.threads, self.now);
        self.drive.advance(FOREVER, &mut self.done);
        if let Some(last) = self.done.last() {
            self.now = last.at;
        }
        self.done.clear();
    }

    /// Let drive and host rest for this long. Nothing may be in flight.
    pub fn rest(&mut self, span: Nanos) {
        self.now += span;
        self.drive.advance(self.now, &mut self.done);
        self.done.clear();
    }

    /// One stream: `chunks` I/Os of the workload's block from `first_bytes` on, `queue_depth` in flight, nothing between them;
    /// returns the time from the first submission to the last completion.
    ///
    /// The streamer of report C has no processor in its data path: no host time is added.
    ///
    /// # Errors
    /// When the drive fails an I/O.
    pub fn stream(
        &mut self,
        op: Op,
        first_bytes: u64,
        chunks: u64,
        chunk_bytes: u32,
        queue_depth: u32,
    ) -> Result<Nanos, CalibrateError> {
        let start = self.now;
        let mut submitted = 0;
        let mut in_flight = 0;
        let mut at = start;
        let mut done = std::mem::take(&mut self.done);
        loop {
            while in_flight < queue_depth && submitted < chunks {
                let command = Command {
                    tag: (submitted % u64::from(queue_depth)) as u32,
                    queue: 0,
                    op,
                    offset_bytes: first_bytes + submitted * u64::from(chunk_bytes),
                    len_bytes: chunk_bytes,
                    data: DataClass::Incompressible,
                };
                self.drive.submit(at, command);
                submitted += 1;
                in_flight += 1;
            }
            if in_flight == 0 {
                break;
            }
            let Some(event) = self.drive.next_event() else {
                return Err(self.failure(
                    "the model has I/Os in flight and nothing that would complete them: a defect of the model",
                ));
            };
            self.drive.advance(event, &mut done);
            for completion in done.drain(..) {
                if !completion.status.is_ok() {
                    return Err(self.failure(completion.status.name()));
                }
                in_flight -= 1;
                at = completion.at;
            }
        }
        self.done = done;
        self.now = at;
        Ok(at - start)
    }

    fn offset(&mut self, thread: u32) -> u64 {
        let block = u64::from(self.job.block_bytes);
        if self.job.access == Access::Random {
            return self.rng.below(self.area_bytes / block) * block;
        }
        let region = self.region_bytes();
        let at = &mut self.next[thread as usize];
        let offset = *at;
        *at += block;
        if *at >= region * (u64::from(thread) + 1) {
            *at = region * u64::from(thread);
        }
        offset
    }
}
