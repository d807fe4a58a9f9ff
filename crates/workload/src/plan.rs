use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::sync::Arc;

use assay_device::session::{DriveSession, OpenMode, TargetProperties};
use assay_integrity::data::{DataPattern, RepeatedData};
use assay_io::cpus::CpuList;
use assay_io::priority::IoPriority;
use assay_trace::replay::ReplayPlan;
use assay_units::{Nanos, Op};

use crate::access::fio::{FioAccess, FioArea};
use crate::access::{AccessConfig, AccessError, AddressGenerator, Region};
use crate::arrival::Rate;
use crate::exit::Exit;
use crate::flow::Flow;
use crate::options::JobOptions;
use crate::segments::Segments;
use crate::worker::LatencyTarget;

mod accesses;
mod atomic;
mod checks;
mod data;
mod error;
mod files;
mod fio_draws;
mod fio_zones;
mod flushes;
mod ordered;
mod pauses;
mod placement;
mod priorities;
mod segmented;
mod steady;
mod traced;
mod values;
mod zones;

use accesses::{access, own_direction};
use checks::*;
use data::{data, repeated};
pub use error::PlanError;
pub use files::file_length;
use flushes::{end_flush, flush_every, synchronous_writes, verify_backlog};
use pauses::{exit, flow, latency_target, think};
pub use placement::Placement;
use priorities::io_priority;
use segmented::segments;
pub use steady::SteadyState;
use steady::steady_state;
use values::*;

pub const MAX_JOBS: u32 = 4096;
/// A terabyte-per-second drive at 4 ms latency would need no more.
pub const MAX_IN_FLIGHT: u64 = 1 << 20;
/// Block size when none is given, as fio's.
pub const DEFAULT_BLOCK_BYTES: u32 = 4096;
/// Seed when none is given: runs are reproducible by default.
pub const DEFAULT_SEED: u64 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Sync,
    Uring,
    /// A blocking call per thread, as many as I/Os in flight.
    Threads,
    Passthru,
    Null,
    Sim,
}

impl Engine {
    pub fn name(self) -> &'static str {
        match self {
            Engine::Sync => "sync",
            Engine::Uring => "uring",
            Engine::Threads => "threads",
            Engine::Passthru => "passthru",
            Engine::Null => "null",
            Engine::Sim => "sim",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    Closed,
    /// As soon as a slot is free, but no faster than this; latency from submission.
    Limited {
        rate: Rate,
    },
    /// When it is due; latency from the due time.
    Open {
        iops: NonZeroU64,
        /// Exponential gaps instead of equal ones.
        poisson: bool,
    },
}

/// Pauses of a thread (fio's `thinktime`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Think {
    /// Length of a pause, from the completion of the last I/O in flight on.
    pub pause: Nanos,
    /// I/Os between two pauses; `None`: no limit.
    pub ios: Option<NonZeroU32>,
    /// They count when they are issued, not when they complete.
    pub by_issue: bool,
    /// At least one of both limits is set.
    pub active: Option<Nanos>,
}

/// Flushes of a thread between its writes (fio's `fsync` and `fdatasync`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlushEvery {
    pub writes: NonZeroU32,
    /// With the metadata of a file: fsync(2), not fdatasync(2).
    pub metadata: bool,
}

/// Writes that complete when they are on non-volatile media (fio's `sync`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SynchronousWrites {
    /// With the metadata of a file: O_SYNC, not O_DSYNC.
    pub metadata: bool,
}

/// What only some drives have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DriveFeatures {
    /// Length of the zones that are emptied before the write at their start.
    pub zone_resets: Option<NonZeroU64>,
    /// Writes append to zones of this length.
    pub zone_append: Option<NonZeroU64>,
    /// Each write of a zoned drive is one that its zones take.
    pub in_zones: bool,
    /// Each write is done as a whole or not at all, also when power fails.
    pub atomic: bool,
    /// Placement identifiers of the writes.
    pub placement: Option<Placement>,
    /// Of the threads: what the kernel gives the drive with each I/O.
    pub io_priority: Option<IoPriority>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    pub rw: String,
    /// Reads, percent: 100 reads only, 0 writes only.
    pub read_percent: u8,
    /// What would be written is deallocated.
    pub trims: bool,
    pub access: AccessConfig,
    /// The trace that it replays, in place of addresses and times of its own.
    pub trace: Option<Arc<ReplayPlan>>,
    /// The order of fio, in place of addresses, passes and rates of its own.
    pub fio: Option<(Arc<FioAccess>, FioArea)>,
    pub area: Region,
    pub segments: Option<Segments>,
    /// Thread `i` works `i` times this further on.
    pub offset_increment_bytes: u64,
    pub split: bool,
    pub iodepth: u32,
    pub batch_complete_min: u32,
    /// An I/O that overlaps one in flight of its thread waits.
    pub serializes_overlap: bool,
    /// Where the threads may run; `None`: where the system puts them.
    pub cpus_allowed: Option<CpuList>,
    /// Each thread has one of them: the place in the list of the first thread's.
    pub cpus_split: Option<u32>,
    pub numjobs: u32,
    pub pacing: Pacing,
    /// Measured time; `None`: until the bytes are done.
    pub runtime: Option<Nanos>,
    /// Before measuring starts.
    pub ramp: Nanos,
    pub start_delay: Nanos,
    pub flow: Option<Flow>,
    pub exit: Option<Exit>,
    pub think: Option<Think>,
    pub latency_target: Option<LatencyTarget>,
    pub steady_state: Option<SteadyState>,
    pub flush_every: Option<FlushEvery>,
    pub synchronous_writes: Option<SynchronousWrites>,
    pub end_flush: bool,
    pub features: DriveFeatures,
    /// Bytes per thread; `None`: until the runtime is over.
    pub io_bytes: Option<u64>,
    /// I/Os per thread; `None`: no limit.
    pub ios: Option<u64>,
    pub data: DataPattern,
    pub repeated: RepeatedData,
    pub verify_bytes: Option<u32>,
    pub reads_back: bool,
    /// Writes after which they are read back, in place of all at the end.
    pub verify_backlog: Option<NonZeroU32>,
    /// New for every job that writes; `None`: the data seed, or that of the first block found.
    pub verify_seed: Option<u64>,
    /// Seed of every random choice but the data and the places of hot blocks.
    pub seed: u64,
    /// The job's, unless several jobs are to have one hot set in orders of their own.
    pub placement_seed: u64,
    /// The job's, unless no job may write what another has written.
    pub data_seed: u64,
    pub counts_coverage: bool,
    /// Writes of the order `steady` that are done, by the segments before this one.
    pub writes_before: u64,
    /// File for a log of its I/Os.
    pub io_log: Option<PathBuf>,
    pub interval: Nanos,
    pub engine: Engine,
    /// io_uring was asked for, and the kernel refuses it.
    pub replaces_uring: bool,
    pub direct: bool,
    pub sqpoll: bool,
    pub sqpoll_cpu: Option<u32>,
    pub iopoll: bool,
}

impl Workload {
    pub fn plan(options: &JobOptions, target: &TargetProperties) -> Result<Workload, PlanError> {
        zones::refuse_traces(options, target)?;
        if options.trace.is_some() {
            check_within_one(
                target,
                Region { offset_bytes: 0, size_bytes: target.capacity_bytes },
            )?;
            return traced::plan(options, target);
        }
        traced::none_without_trace(options)?;
        if options.order.as_deref().is_some_and(|order| order != "own") {
            return ordered::plan(options, target);
        }
        Workload::of_own_order(options, target)
    }

    /// [`Workload::plan`] on a drive, which is asked only for what the job needs.
    pub fn plan_on(options: &JobOptions, drive: &DriveSession) -> Result<Workload, PlanError> {
        let mut target = drive.target_properties();
        if options.fdp.is_some() {
            target.placement_handles = drive.placement_handles();
        }
        Workload::plan(options, &target)
    }

    fn of_own_order(
        options: &JobOptions,
        target: &TargetProperties,
    ) -> Result<Workload, PlanError> {
        let rw = options.rw.clone().unwrap_or_else(|| "read".to_owned());
        let direction = own_direction(&rw, options.rwmixread)?;
        let direct = options.direct.unwrap_or(true);
        let unit = unit_bytes(direct, target);
        let access = access(options, target, &rw, &direction, unit)?;
        let (numjobs, iodepth) = in_flight(options)?;
        let places = places(options, target, unit, numjobs, &access)?;
        let pacing = pacing(options, access.mean_bytes(direction.read_percent), numjobs)?;
        let (engine, iopoll) = engine(options, target, iodepth, direct)?;
        let writes = direction.read_percent < 100 && !direction.trims;
        let (runtime, interval) = times(options)?;
        let seed = options.seed.unwrap_or(DEFAULT_SEED);
        let workload = Workload {
            verify_bytes: verify(options, target, &access, &direction, &places)?,
            rw: direction.word,
            read_percent: direction.read_percent,
            trims: direction.trims,
            segments: segments(options, target, places.area, &access, unit)?,
            access,
            trace: None,
            fio: None,
            area: places.area,
            offset_increment_bytes: places.offset_increment_bytes,
            split: places.split,
            iodepth,
            batch_complete_min: batch_complete_min(options, iodepth)?,
            serializes_overlap: options.serialize_overlap.unwrap_or(false),
            cpus_allowed: cpus(options.cpus_allowed.as_deref())?,
            cpus_split: cpus_split(options)?,
            numjobs,
            pacing,
            runtime,
            ramp: duration("ramp_time", &options.ramp_time)?.unwrap_or_default(),
            start_delay: duration("startdelay", &options.startdelay)?.unwrap_or_default(),
            think: think(options)?,
            latency_target: latency_target(options)?,
            steady_state: steady_state(options, interval)?,
            flow: flow(options)?,
            exit: exit(options)?,
            flush_every: flush_every(options, writes)?,
            synchronous_writes: synchronous_writes(options, writes)?,
            end_flush: end_flush(options, writes)?,
            io_bytes: io_bytes(options, runtime, zones::writable_bytes(&places, target))?,
            features: DriveFeatures::default(),
            ios: options.number_ios,
            data: data(options)?,
            repeated: repeated(options)?,
            reads_back: options.do_verify.unwrap_or(true),
            verify_backlog: verify_backlog(options, writes)?,
            verify_seed: options.verify_seed,
            seed,
            placement_seed: seed,
            data_seed: seed,
            counts_coverage: false,
            writes_before: 0,
            io_log: options.write_iolog.as_ref().map(PathBuf::from),
            interval,
            replaces_uring: replaces_uring(options, engine),
            engine,
            direct,
            sqpoll: options.sqpoll.unwrap_or(false),
            sqpoll_cpu: options.sqpoll_cpu,
            iopoll,
        };
        workload.on_drive(options, &places, target)
    }

    fn on_drive(
        mut self,
        options: &JobOptions,
        places: &Places,
        target: &TargetProperties,
    ) -> Result<Workload, PlanError> {
        self.features = DriveFeatures {
            in_zones: zones::write_zones(target).is_some(),
            zone_append: zones::appends(options, &self, target)?,
            zone_resets: zones::resets(&self, options, places, target)?,
            placement: placement::placement(options, target, &self)?,
            atomic: options.atomic.unwrap_or(false),
            io_priority: io_priority(options)?,
        };
        if self.features.atomic {
            atomic::check(&self, target)?;
        }
        if self.steady_state.is_some()
            && self.verify_bytes.is_some()
            && self.writes()
            && self.reads_back
        {
            return Err(invalid(
                "--steadystate ends a job in the middle, and nothing is read back then: leave out \
                 --verify, or give --runtime in place of --steadystate",
            ));
        }
        // Zones, order and region are checked together by the generator.
        for worker in [0, self.numjobs - 1] {
            self.addresses(worker)?;
        }
        Ok(self)
    }

    pub fn write_op(&self) -> Op {
        match self.trims {
            true => Op::Discard,
            false => Op::Write,
        }
    }

    pub fn writes(&self) -> bool {
        self.read_percent < 100
    }

    pub fn is_open_loop(&self) -> bool {
        matches!(self.pacing, Pacing::Open { .. })
            || self.trace.as_ref().is_some_and(|trace| trace.is_timed())
    }

    pub fn open_mode(&self) -> OpenMode {
        OpenMode {
            writes: self.writes(),
            direct: self.direct,
            passthru: self.engine == Engine::Passthru,
            in_zones: self.features.in_zones,
        }
    }

    pub fn region(&self, worker: u32) -> Region {
        if let Some((_, area)) = &self.fio {
            // The plan has checked that every thread has one.
            return area.part(worker).map_or(self.area, |part| Region {
                offset_bytes: part.offset_bytes,
                size_bytes: part.area_bytes,
            });
        }
        let unit = u64::from(self.access.min_bytes());
        let size_bytes = part_bytes(self.area, self.numjobs, self.split, unit);
        let step_bytes = match self.split {
            true => size_bytes,
            false => self.offset_increment_bytes,
        };
        Region { offset_bytes: self.area.offset_bytes + u64::from(worker) * step_bytes, size_bytes }
    }

    /// What a worker's I/Os reach: the last one of fio's order begins in the region, and may end
    /// behind it.
    pub fn reached_region(&self, worker: u32) -> Region {
        let region = self.region(worker);
        let part = self.fio.as_ref().and_then(|(_, area)| area.part(worker));
        let most_bytes = u64::from(self.access.max_bytes());
        let size_bytes = part.map_or(region.size_bytes, |part| {
            let reached = region.size_bytes.saturating_add(most_bytes - 1);
            reached.min(part.capacity_bytes.saturating_sub(region.offset_bytes))
        });
        Region { size_bytes, ..region }
    }

    /// Threads that work in one region share their covering passes.
    pub fn addresses(&self, worker: u32) -> Result<AddressGenerator, AccessError> {
        let region = self.region(worker);
        let addresses = AddressGenerator::new(&self.access, region, self.seed, worker)?;
        let addresses = addresses.with_placement(self.placement_seed);
        let shared = self.numjobs > 1 && self.region(0) == self.region(1);
        let addresses = match shared {
            true => addresses.sharing_passes(self.seed, worker, self.numjobs),
            false => addresses,
        };
        Ok(addresses.after_writes(self.writes_before))
    }

    pub fn workers(&self) -> NonZeroU32 {
        NonZeroU32::new(self.numjobs).expect("a plan has at least one thread")
    }

    /// When it must end at the latest, if it has a runtime: delay, ramp and runtime together.
    pub fn planned_span(&self) -> Option<Nanos> {
        self.runtime.map(|runtime| self.lead() + runtime)
    }

    /// How long its trace lasts, if it replays one at its times; shorter where idle time is cut.
    pub fn trace_span(&self) -> Option<Nanos> {
        self.trace.as_ref()?.span()
    }

    pub fn lead(&self) -> Nanos {
        self.start_delay + self.ramp
    }

    /// From the start to what is measured; without an end while a depth is searched for.
    pub fn measures_from(&self) -> Nanos {
        match self.latency_target {
            Some(target) if !target.runs_on => Nanos::MAX,
            _ => self.lead(),
        }
    }

    pub fn planned_bytes(&self) -> Option<u64> {
        // Saturates: for progress only.
        let all = |bytes: u64| bytes.saturating_mul(u64::from(self.numjobs));
        let of_trace = self.trace.as_ref().map(|trace| trace.bytes());
        self.io_bytes.or(of_trace).map(all)
    }
}
