//! A simulated drive under a reference workload: a [`ClosedLoop`] of threads with a fixed queue
//! depth on the host of the profile's `bench`. A failed I/O is an error.

use assay_sim_host::{ClosedLoop, HostCosts};
use assay_ssd::{Command, Drive, DriveOptions, InitialState, Profile, Telemetry};
use assay_stats::Histogram;
use assay_units::{DataClass, Nanos, Op, Rng};

use crate::CalibrateError;
use crate::measurement::{AccessPattern, CHUNK_BYTES, PriorState, ReferenceWorkload};

/// Queue depth of the random overwrites of a [`PriorState::Overwritten`] drive.
const OVERWRITE_DEPTH: u32 = 32;
/// Chunk commands of a stream in flight; the brief of the MLE NVMe Streamer states only "several".
const STREAM_DEPTH: u32 = 8;
const STALLED: &str =
    "the model has I/Os in flight and nothing that would complete them: a defect of the model";

pub struct DriveUnderTest {
    host: ClosedLoop,
    workload: ReferenceWorkload,
    offsets: Offsets,
    rng: Rng,
    pub latency: Option<Box<Histogram>>,
    /// Time of the last completion, or the end of the last idle period.
    pub now: Nanos,
}

struct Offsets {
    access: AccessPattern,
    block_bytes: u64,
    area_bytes: u64,
    /// Part of the area that each thread of a sequential workload has for itself.
    region_bytes: u64,
    next: Vec<u64>,
}

impl Offsets {
    fn new(workload: &ReferenceWorkload, capacity_bytes: u64) -> Offsets {
        let (block_bytes, threads) = (u64::from(workload.block_bytes), u64::from(workload.threads));
        let whole_blocks = |bytes: u64| (bytes / block_bytes).max(1) * block_bytes;
        let area_bytes = whole_blocks(workload.area_bytes.min(capacity_bytes));
        let region_bytes = whole_blocks(area_bytes / threads);
        Offsets {
            access: workload.access,
            block_bytes,
            area_bytes,
            region_bytes,
            next: (0..threads).map(|thread| region_bytes * thread).collect(),
        }
    }

    fn next(&mut self, thread: u32, rng: &mut Rng) -> u64 {
        if self.access == AccessPattern::Random {
            return rng.below(self.area_bytes / self.block_bytes) * self.block_bytes;
        }
        let first = self.region_bytes * u64::from(thread);
        let next = &mut self.next[thread as usize];
        let offset = *next;
        *next += self.block_bytes;
        if *next >= first + self.region_bytes {
            *next = first;
        }
        offset
    }
}

impl DriveUnderTest {
    /// A drive in the workload's prior state, with its first I/Os submitted.
    pub fn new(
        profile: &Profile,
        workload: ReferenceWorkload,
        over_provisioning_percent: Option<u8>,
    ) -> Result<DriveUnderTest, CalibrateError> {
        let options = DriveOptions {
            state: match workload.state {
                PriorState::Fresh => InitialState::Fresh,
                PriorState::Filled | PriorState::Overwritten => InitialState::Filled,
            },
            over_provisioning_percent,
            ..DriveOptions::default()
        };
        let drive = Drive::new(profile.clone(), options)?;
        let mut drive = DriveUnderTest {
            workload,
            offsets: Offsets::new(&workload, drive.identity().capacity_bytes),
            host: ClosedLoop::new(drive),
            rng: Rng::stream(1, "offsets"),
            latency: None,
            now: Nanos::ZERO,
        };
        if workload.state == PriorState::Overwritten {
            drive.overwrite()?;
        }
        drive.set_workload(workload);
        Ok(drive)
    }

    fn overwrite(&mut self) -> Result<(), CalibrateError> {
        let workload = ReferenceWorkload {
            op: Op::Write,
            access: AccessPattern::Random,
            block_bytes: 4096,
            threads: 1,
            queue_depth: OVERWRITE_DEPTH,
            ..self.workload
        };
        // Host overhead would only lengthen the preparation.
        self.begin(workload, &HostCosts::default());
        self.run(2 * (self.offsets.area_bytes / 4096), Nanos::MAX)?;
        self.drain();
        Ok(())
    }

    pub fn set_workload(&mut self, workload: ReferenceWorkload) {
        let bench = HostCosts::of_bench(&self.drive().profile().bench);
        self.begin(workload, &bench);
    }

    fn begin(&mut self, workload: ReferenceWorkload, host: &HostCosts) {
        self.offsets = Offsets::new(&workload, self.capacity_bytes());
        self.workload = workload;
        let (threads, depth) = (workload.threads, workload.queue_depth);
        self.host.begin(host, threads, depth, workload.block_bytes);
    }

    fn drive(&self) -> &Drive {
        self.host.events().drive()
    }

    /// Write zeroes to the area of the workload, in order, and begin the workload again.
    pub fn write_zeroes(&mut self) -> Result<(), CalibrateError> {
        let workload = self.workload;
        self.drain();
        self.set_workload(ReferenceWorkload {
            op: Op::Write,
            access: AccessPattern::Sequential,
            block_bytes: 1 << 20,
            threads: 1,
            queue_depth: 1,
            data: DataClass::Zero,
            ..workload
        });
        let area_bytes = workload.area_bytes.min(self.capacity_bytes());
        self.run(area_bytes >> 20, Nanos::MAX)?;
        self.drain();
        self.set_workload(workload);
        Ok(())
    }

    pub fn telemetry(&mut self) -> Telemetry {
        self.host.drive_mut().telemetry(self.now)
    }

    pub fn capacity_bytes(&self) -> u64 {
        self.drive().identity().capacity_bytes
    }

    /// Run until `ios` I/Os have completed or the time is reached; returns the bytes moved.
    pub fn run(&mut self, ios: u64, until: Nanos) -> Result<u64, CalibrateError> {
        let (workload, mut completed, mut failed) = (self.workload, 0, None);
        while completed < ios {
            let command = |slot| Command {
                tag: slot,
                queue: (slot / workload.queue_depth) as u16,
                op: workload.op,
                offset_bytes: self.offsets.next(slot / workload.queue_depth, &mut self.rng),
                len_bytes: workload.block_bytes,
                data: workload.data,
                fua: false,
            };
            let went_on = self.host.step(until, command, |completion, latency| {
                if !completion.status.is_ok() {
                    failed = Some(completion.status.name());
                }
                completed += 1;
                self.now = completion.at;
                if let Some(histogram) = &mut self.latency {
                    histogram.record(latency);
                }
            });
            if let Some(what) = failed {
                return Err(self.failure(what));
            }
            if !went_on {
                if self.host.events().next_event() == Nanos::MAX {
                    return Err(self.failure(STALLED));
                }
                break;
            }
        }
        Ok(completed * u64::from(workload.block_bytes))
    }

    fn failure(&self, what: &str) -> CalibrateError {
        CalibrateError::Simulation {
            drive: self.drive().profile().name.clone(),
            procedure: crate::Procedure::Steady(self.workload).title(),
            what: what.to_owned(),
        }
    }

    pub fn drain(&mut self) {
        self.host.drain();
        self.now = self.host.events().now();
    }

    /// Nothing may be in flight.
    pub fn idle(&mut self, span: Nanos) {
        self.host.idle(span);
        self.now = self.host.events().now();
    }

    /// Time of one stream of `chunks` from first submission to last completion. The MLE NVMe
    /// Streamer has no processor in its data path, so no host overhead is added.
    pub fn stream(
        &mut self,
        op: Op,
        first_bytes: u64,
        chunks: u64,
    ) -> Result<Nanos, CalibrateError> {
        let (mut submitted, mut failed) = (0, None);
        let next = || {
            let number = submitted;
            submitted += 1;
            (number < chunks).then(|| Command {
                tag: (number % u64::from(STREAM_DEPTH)) as u32,
                queue: 0,
                op,
                offset_bytes: first_bytes + number * u64::from(CHUNK_BYTES),
                len_bytes: CHUNK_BYTES,
                data: DataClass::Incompressible,
                fua: false,
            })
        };
        let time = self.host.stream(STREAM_DEPTH, next, |completion| {
            if !completion.status.is_ok() {
                failed = Some(completion.status.name());
            }
        });
        self.now = self.host.events().now();
        match (time, failed) {
            (_, Some(what)) => Err(self.failure(what)),
            (None, None) => Err(self.failure(STALLED)),
            (Some(time), None) => Ok(time),
        }
    }
}
