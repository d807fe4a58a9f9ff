//! From options to a workload that can run: every number checked against the drive, nothing textual left.

use std::num::{NonZeroU32, NonZeroU64};

use assay_target::{MAX_IO_BYTES, MAX_SLOTS};
use assay_units::{Nanos, SECTOR_BYTES, parse_duration, parse_size, text};

use crate::access::{AccessConfig, AddressPattern, BlockSizes, Region, StridedZones};
use crate::data::DataPattern;
use crate::options::JobOptions;

mod error;

pub use error::PlanError;
use crate::verify::interval_for;

/// Most threads of one job.
pub const MAX_JOBS: u32 = 4096;
/// Most I/Os in flight of one job, all threads together: a terabyte-per-second drive at 4 ms latency would need no more.
pub const MAX_IN_FLIGHT: u64 = 1 << 20;
/// Block size when none is given, as fio's.
const DEFAULT_BLOCK_BYTES: u32 = 4096;
/// Seed when none is given: runs repeat unless told otherwise.
pub const DEFAULT_SEED: u64 = 1;

/// What a plan must know of a drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveFacts {
    /// As named by the user, for messages.
    pub name: String,
    /// Capacity.
    pub capacity_bytes: u64,
    /// What offsets and lengths must be multiples of: the device's logical block under O_DIRECT.
    pub min_io_bytes: u32,
    /// Which engines it has.
    pub kind: FactsKind,
}

/// Whether a drive is driven by an engine of choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactsKind {
    /// A block device: sync or uring.
    Block {
        /// The device has polling queues.
        io_poll: bool,
    },
    /// A regular file: sync or uring.
    File,
    /// The null target.
    Null,
    /// A simulated drive.
    Simulated,
}

/// Which target implementation does the I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// One blocking call at a time.
    Sync,
    /// io_uring.
    Uring,
    /// The null target.
    Null,
    /// A simulated drive.
    Sim,
}

impl Engine {
    /// The word shown and stored.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Sync => "sync",
            Engine::Uring => "uring",
            Engine::Null => "null",
            Engine::Sim => "sim",
        }
    }
}

/// When the next I/O starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// As soon as a slot is free.
    Closed,
    /// As soon as a slot is free, but no faster than this; latency from submission.
    Limited {
        /// Whole job, I/Os per second.
        iops: NonZeroU64,
    },
    /// When it is due; latency from the due time.
    Open {
        /// Whole job, I/Os per second.
        iops: NonZeroU64,
        /// Exponential gaps instead of equal ones.
        poisson: bool,
    },
}

/// A workload that can run. Made by [`Workload::plan`]; `rw` and the sizes are consistent with the drive it was made for.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// fio's word for it.
    pub rw: String,
    /// Reads, percent: 100 reads only, 0 writes only.
    pub read_percent: u8,
    /// Order, sizes, zones.
    pub access: AccessConfig,
    /// The whole area.
    pub area: Region,
    /// Thread `i` works `i` times this further on.
    pub offset_increment_bytes: u64,
    /// Each thread has its own equal part of the area.
    pub split: bool,
    /// In flight per thread.
    pub iodepth: u32,
    /// Completions waited for at a time.
    pub batch_complete_min: u32,
    /// Threads.
    pub numjobs: u32,
    /// Closed or open loop.
    pub pacing: Pacing,
    /// Measured time; `None`: until the bytes are done.
    pub runtime: Option<Nanos>,
    /// Before measuring starts.
    pub ramp: Nanos,
    /// Bytes per thread; `None`: until the runtime is over.
    pub io_bytes: Option<u64>,
    /// What is written.
    pub data: DataPattern,
    /// Self-describing blocks of this length.
    pub verify_bytes: Option<u32>,
    /// Seed those blocks carry, which must be new for every run that writes on a drive that keeps data; `None`: the job's
    /// seed for writes, the first intact block's for reads.
    pub verify_seed: Option<u64>,
    /// Seed.
    pub seed: u64,
    /// Reporting interval.
    pub interval: Nanos,
    /// Who does the I/O.
    pub engine: Engine,
    /// O_DIRECT.
    pub direct: bool,
    /// io_uring SQPOLL.
    pub sqpoll: bool,
    /// io_uring IOPOLL.
    pub iopoll: bool,
}

fn size(option: &'static str, text: &str) -> Result<u64, PlanError> {
    parse_size(text).map_err(|source| PlanError::Text { option, source })
}

fn duration(option: &'static str, text: &str) -> Result<Nanos, PlanError> {
    parse_duration(text).map_err(|source| PlanError::Text { option, source })
}

/// A size, or a percentage of the drive rounded down to whole MiB (or blocks on a tiny drive).
fn size_or_share(option: &'static str, text: &str, facts: &DriveFacts) -> Result<u64, PlanError> {
    let Some(percent) = text.trim().strip_suffix('%') else {
        return size(option, text);
    };
    let share: f64 = percent.trim().parse().unwrap_or(f64::NAN);
    if !(0.0..=100.0).contains(&share) {
        return Err(PlanError::Range {
            option,
            given: text.to_owned(),
            range: "a percentage is from 0% to 100%".to_owned(),
        });
    }
    let bytes = (facts.capacity_bytes as f64 * share / 100.0) as u64;
    let unit = if facts.capacity_bytes >= 100 << 20 {
        1 << 20
    } else {
        u64::from(facts.min_io_bytes)
    };
    Ok(if share == 100.0 {
        facts.capacity_bytes
    } else {
        bytes / unit * unit
    })
}

fn positive_rate(option: &'static str, text: &str) -> Result<NonZeroU64, PlanError> {
    let value = size(option, text)?;
    NonZeroU64::new(value).ok_or_else(|| PlanError::Range {
        option,
        given: text.to_owned(),
        range: "a rate is at least 1".to_owned(),
    })
}

fn within(
    option: &'static str,
    value: u32,
    range: std::ops::RangeInclusive<u32>,
) -> Result<u32, PlanError> {
    if range.contains(&value) {
        return Ok(value);
    }
    Err(PlanError::Range {
        option,
        given: value.to_string(),
        range: format!("from {} to {}", range.start(), range.end()),
    })
}

impl Workload {
    /// Check options against a drive.
    ///
    /// # Errors
    /// The first thing that does not fit, with what would.
    pub fn plan(options: &JobOptions, facts: &DriveFacts) -> Result<Workload, PlanError> {
        let rw = options.rw.clone().unwrap_or_else(|| "read".to_owned());
        let (random, read_percent) = direction(&rw, options.rwmixread)?;
        let sizes = match &options.bs {
            Some(text) => text.parse::<BlockSizes>()?,
            None => BlockSizes::single(DEFAULT_BLOCK_BYTES.max(facts.min_io_bytes))?,
        };
        let direct = options.direct.unwrap_or(true);
        let unit = if direct {
            facts.min_io_bytes
        } else {
            1.max(SECTOR_BYTES as u32)
        };
        for (bytes, _) in sizes.entries() {
            aligned(facts, "bs", u64::from(bytes), unit)?;
        }
        if sizes.max_bytes() > MAX_IO_BYTES {
            return Err(AccessError::BadBlockSize {
                size_bytes: u64::from(sizes.max_bytes()),
            }
            .into());
        }
        let numjobs = within("numjobs", options.numjobs.unwrap_or(1), 1..=MAX_JOBS)?;
        let iodepth = within("iodepth", options.iodepth.unwrap_or(1), 1..=MAX_SLOTS)?;
        if u64::from(numjobs) * u64::from(iodepth) > MAX_IN_FLIGHT {
            return Err(PlanError::Conflict(format!(
                "--numjobs {numjobs} times --iodepth {iodepth} is more than {MAX_IN_FLIGHT} I/Os in flight; lower one of them"
            )));
        }
        let split = options.split.unwrap_or(false)
            // Threads that write verified blocks must not overwrite one another's.
            || options.verify.unwrap_or(false) && numjobs > 1 && options.offset_increment.is_none();
        let (area, offset_increment_bytes) = area(options, facts, unit, numjobs, split)?;
        let part = part_bytes(area, numjobs, split, u64::from(unit.max(sizes.min_bytes())));
        if u64::from(sizes.max_bytes()) > part {
            return Err(PlanError::BlockTooLarge {
                drive: facts.name.clone(),
                block_bytes: sizes.max_bytes(),
                area: if split {
                    "each thread's part of the area"
                } else {
                    "the area"
                },
                area_bytes: part,
            });
        }
        let access = AccessConfig {
            pattern: pattern(options, random)?,
            align_bytes: align(options, facts, unit)?,
            zones: zones(options, facts, unit)?,
            block_sizes: sizes,
        };
        let pacing = pacing(options, &access.block_sizes)?;
        let (engine, iopoll) = engine(options, facts, iodepth, direct)?;
        let verify_bytes = verify(options, facts, &access, offset_increment_bytes, area)?;
        let data: DataPattern = match &options.data {
            Some(text) => text.parse()?,
            None => DataPattern::Incompressible,
        };
        let runtime = options
            .runtime
            .as_deref()
            .map(|t| duration("runtime", t))
            .transpose()?;
        if runtime == Some(Nanos::ZERO) {
            return Err(PlanError::Range {
                option: "runtime",
                given: "0".to_owned(),
                range: "longer than nothing; leave it out to go over the area once".to_owned(),
            });
        }
        let ramp = options
            .ramp_time
            .as_deref()
            .map_or(Ok(Nanos::ZERO), |t| duration("ramp_time", t))?;
        let interval = options
            .interval
            .as_deref()
            .map_or(Ok(Nanos::SECOND), |t| duration("interval", t))?;
        if interval < Nanos::MILLISECOND {
            return Err(PlanError::Range {
                option: "interval",
                given: interval.to_string(),
                range: "at least 1ms".to_owned(),
            });
        }
        let io_bytes = match (&options.io_size, runtime) {
            (Some(text), _) => Some(size("io_size", text)?.max(1)),
            (None, Some(_)) => None,
            // Once over each thread's part, as fio does.
            (None, None) => Some(part),
        };
        let workload = Workload {
            rw,
            read_percent,
            access,
            area,
            offset_increment_bytes,
            split,
            iodepth,
            batch_complete_min: within(
                "iodepth_batch_complete_min",
                options.iodepth_batch_complete_min.unwrap_or(1),
                1..=iodepth,
            )?,
            numjobs,
            pacing,
            runtime,
            ramp,
            io_bytes,
            data,
            verify_bytes,
            verify_seed: options.verify_seed,
            seed: options.seed.unwrap_or(DEFAULT_SEED),
            interval,
            engine,
            direct,
            sqpoll: options.sqpoll.unwrap_or(false),
            iopoll,
        };
        // Zones, order and region are checked together where they are used: make one to see.
        for worker in [0, numjobs - 1] {
            crate::access::AddressGenerator::new(
                &workload.access,
                workload.region(worker),
                workload.seed,
                worker,
            )?;
        }
        Ok(workload)
    }

    /// Does it change what the drive holds?
    pub fn writes(&self) -> bool {
        self.read_percent < 100
    }

    /// The area of one thread.
    pub fn region(&self, worker: u32) -> Region {
        if self.split {
            let unit = u64::from(self.access.block_sizes.min_bytes());
            let part = part_bytes(self.area, self.numjobs, true, unit);
            return Region {
                offset_bytes: self.area.offset_bytes + u64::from(worker) * part,
                size_bytes: part,
            };
        }
        Region {
            offset_bytes: self.area.offset_bytes + u64::from(worker) * self.offset_increment_bytes,
            size_bytes: self.area.size_bytes,
        }
    }

    /// Threads, never zero.
    pub fn workers(&self) -> NonZeroU32 {
        NonZeroU32::new(self.numjobs).unwrap_or(NonZeroU32::MIN)
    }

    /// When it must end at the latest, if it has a runtime: ramp and runtime together.
    pub fn planned_span(&self) -> Option<Nanos> {
        self.runtime.map(|runtime| self.ramp + runtime)
    }

    /// All bytes it will move, if it ends by bytes.
    pub fn planned_bytes(&self) -> Option<u64> {
        self.io_bytes
            .map(|bytes| bytes.saturating_mul(u64::from(self.numjobs)))
    }
}

fn part_bytes(area: Region, numjobs: u32, split: bool, unit: u64) -> u64 {
    if split {
        area.size_bytes / u64::from(numjobs) / unit * unit
    } else {
        area.size_bytes
    }
}

fn direction(rw: &str, rwmixread: Option<u32>) -> Result<(bool, u8), PlanError> {
    let mix = within("rwmixread", rwmixread.unwrap_or(50), 0..=100)? as u8;
    Ok(match rw {
        "read" => (false, 100),
        "write" => (false, 0),
        "randread" => (true, 100),
        "randwrite" => (true, 0),
        "rw" | "readwrite" => (false, mix),
        "randrw" => (true, mix),
        _ => {
            return Err(PlanError::Choice {
                option: "rw",
                given: rw.to_owned(),
                choices: "read, write, randread, randwrite, rw, randrw",
            });
        }
    })
}

fn aligned(
    facts: &DriveFacts,
    option: &'static str,
    bytes: u64,
    unit: u32,
) -> Result<(), PlanError> {
    if bytes.is_multiple_of(u64::from(unit)) {
        return Ok(());
    }
    Err(PlanError::Misaligned {
        drive: facts.name.clone(),
        option,
        given_bytes: bytes,
        block_bytes: unit,
        suggestion: bytes.next_multiple_of(u64::from(unit)),
    })
}

fn area(
    options: &JobOptions,
    facts: &DriveFacts,
    unit: u32,
    numjobs: u32,
    split: bool,
) -> Result<(Region, u64), PlanError> {
    let offset_bytes = options
        .offset
        .as_deref()
        .map_or(Ok(0), |t| size_or_share("offset", t, facts))?;
    let increment = options
        .offset_increment
        .as_deref()
        .map_or(Ok(0), |t| size_or_share("offset_increment", t, facts))?;
    if split && increment > 0 {
        return Err(PlanError::Conflict(
            "--split and --offset_increment both say where threads work; use one".to_owned(),
        ));
    }
    let shift = increment.saturating_mul(u64::from(numjobs - 1));
    let usable = facts.capacity_bytes / u64::from(unit) * u64::from(unit);
    let size_bytes = match options.size.as_deref() {
        Some(text) => size_or_share("size", text, facts)?,
        None => usable.saturating_sub(offset_bytes).saturating_sub(shift),
    };
    for (option, bytes) in [
        ("offset", offset_bytes),
        ("size", size_bytes),
        ("offset_increment", increment),
    ] {
        aligned(facts, option, bytes, unit)?;
    }
    let end = offset_bytes
        .saturating_add(size_bytes)
        .saturating_add(shift);
    if end > usable || size_bytes == 0 {
        return Err(PlanError::BeyondEnd {
            drive: facts.name.clone(),
            offset_bytes,
            end_bytes: end.max(offset_bytes.saturating_add(u64::from(unit))),
            capacity_bytes: facts.capacity_bytes,
        });
    }
    Ok((
        Region {
            offset_bytes,
            size_bytes,
        },
        increment,
    ))
}

fn pattern(options: &JobOptions, random: bool) -> Result<AddressPattern, PlanError> {
    const CHOICES: &str = "random (each place equally likely), cover (each block once per pass), zipf:THETA (e.g. zipf:1.2)";
    let Some(text) = options.random_distribution.as_deref() else {
        return Ok(if random {
            AddressPattern::Uniform
        } else {
            AddressPattern::Sequential
        });
    };
    if !random {
        return Err(PlanError::Conflict(
            "--random_distribution needs a random --rw: randread, randwrite or randrw".to_owned(),
        ));
    }
    match text.split_once(':') {
        None if text == "random" => Ok(AddressPattern::Uniform),
        None if text == "cover" => Ok(AddressPattern::Cover),
        Some(("zipf", theta)) if theta.parse::<f64>().is_ok() => Ok(AddressPattern::Zipf {
            theta: theta.parse().unwrap_or(f64::NAN),
        }),
        _ => Err(PlanError::Choice {
            option: "random_distribution",
            given: text.to_owned(),
            choices: CHOICES,
        }),
    }
}

fn align(options: &JobOptions, facts: &DriveFacts, unit: u32) -> Result<Option<u32>, PlanError> {
    let Some(text) = options.blockalign.as_deref() else {
        return Ok(None);
    };
    let bytes = size("blockalign", text)?;
    aligned(facts, "blockalign", bytes, unit)?;
    u32::try_from(bytes)
        .map(Some)
        .map_err(|_| PlanError::Range {
            option: "blockalign",
            given: text.to_owned(),
            range: "below 4 GiB".to_owned(),
        })
}

fn zones(
    options: &JobOptions,
    facts: &DriveFacts,
    unit: u32,
) -> Result<Option<StridedZones>, PlanError> {
    let Some(zone) = options.zonesize.as_deref() else {
        if options.zonerange.is_some() || options.zoneskip.is_some() {
            return Err(PlanError::Conflict(
                "--zonerange and --zoneskip need --zonesize".to_owned(),
            ));
        }
        return Ok(None);
    };
    let size_bytes = size("zonesize", zone)?;
    let range_bytes = options
        .zonerange
        .as_deref()
        .map_or(Ok(size_bytes), |t| size("zonerange", t))?;
    let skip_bytes = options
        .zoneskip
        .as_deref()
        .map_or(Ok(0), |t| size("zoneskip", t))?;
    for (option, bytes) in [
        ("zonesize", size_bytes),
        ("zonerange", range_bytes),
        ("zoneskip", skip_bytes),
    ] {
        aligned(facts, option, bytes, unit)?;
    }
    Ok(Some(StridedZones {
        size_bytes,
        range_bytes,
        skip_bytes,
    }))
}

fn pacing(options: &JobOptions, sizes: &BlockSizes) -> Result<Pacing, PlanError> {
    let poisson = match options.arrival.as_deref() {
        None | Some("constant") => false,
        Some("poisson") => true,
        Some(other) => {
            return Err(PlanError::Choice {
                option: "arrival",
                given: other.to_owned(),
                choices: "constant, poisson",
            });
        }
    };
    let given = [&options.rate, &options.rate_iops, &options.rate_bw]
        .iter()
        .filter(|o| o.is_some())
        .count();
    if given > 1 {
        return Err(PlanError::Conflict(
            "--rate (open loop), --rate_iops and --rate_bw (limits of a closed loop) exclude one another".to_owned(),
        ));
    }
    if let Some(text) = options.rate.as_deref() {
        return Ok(Pacing::Open {
            iops: positive_rate("rate", text)?,
            poisson,
        });
    }
    if options.arrival.is_some() {
        return Err(PlanError::Conflict(
            "--arrival needs --rate: how many I/Os per second arrive".to_owned(),
        ));
    }
    if let Some(text) = options.rate_iops.as_deref() {
        return Ok(Pacing::Limited {
            iops: positive_rate("rate_iops", text)?,
        });
    }
    if let Some(text) = options.rate_bw.as_deref() {
        let bytes_per_s = positive_rate("rate_bw", text)?.get();
        let iops = (bytes_per_s as f64 / sizes.mean_bytes()).round() as u64;
        return Ok(Pacing::Limited {
            iops: NonZeroU64::new(iops).unwrap_or(NonZeroU64::MIN),
        });
    }
    Ok(Pacing::Closed)
}

fn engine(
    options: &JobOptions,
    facts: &DriveFacts,
    iodepth: u32,
    direct: bool,
) -> Result<(Engine, bool), PlanError> {
    let wanted = options.engine.as_deref().unwrap_or("auto");
    let hipri = options.hipri.unwrap_or(false);
    let own = match facts.kind {
        FactsKind::Null => Some(Engine::Null),
        FactsKind::Simulated => Some(Engine::Sim),
        FactsKind::Block { .. } | FactsKind::File => None,
    };
    let engine = match (wanted, own) {
        // A suite that asks for synchronous threads runs unchanged on a simulated drive: depth 1 is depth 1.
        ("sync", Some(own)) if iodepth == 1 => own,
        ("auto" | "uring", Some(own)) => own,
        ("auto", None) if iodepth == 1 => Engine::Sync,
        ("auto" | "uring" | "io_uring", None) => Engine::Uring,
        ("sync" | "psync", None) if iodepth == 1 => Engine::Sync,
        ("sync" | "psync", _) => {
            return Err(PlanError::Conflict(format!(
                "--engine sync has one I/O in flight per thread, not {iodepth}; use --numjobs {iodepth} or --engine uring"
            )));
        }
        ("passthru", _) => {
            return Err(PlanError::Conflict(
                "--engine passthru is not built into this version; use uring on /dev/nvmeXnY"
                    .to_owned(),
            ));
        }
        _ => {
            return Err(PlanError::Choice {
                option: "engine",
                given: wanted.to_owned(),
                choices: "auto, sync, uring",
            });
        }
    };
    if (hipri || options.sqpoll.unwrap_or(false)) && engine != Engine::Uring {
        return Err(PlanError::Conflict(format!(
            "--hipri and --sqpoll are io_uring's; the engine here is {}: use --engine uring on a real drive",
            engine.name()
        )));
    }
    if hipri && !direct {
        return Err(PlanError::Conflict(
            "--hipri needs --direct true: the page cache is not polled".to_owned(),
        ));
    }
    if hipri && !matches!(facts.kind, FactsKind::Block { io_poll: true }) {
        return Err(PlanError::Conflict(format!(
            "{}: has no polling queues, so --hipri cannot work (for NVMe, load the driver with poll_queues=N)",
            facts.name
        )));
    }
    Ok((engine, hipri))
}

fn verify(
    options: &JobOptions,
    facts: &DriveFacts,
    access: &AccessConfig,
    increment: u64,
    area: Region,
) -> Result<Option<u32>, PlanError> {
    if !options.verify.unwrap_or(false) {
        if options.verify_interval.is_some() {
            return Err(PlanError::Conflict(
                "--verify_interval needs --verify".to_owned(),
            ));
        }
        return Ok(None);
    }
    if facts.kind == FactsKind::Null {
        return Err(PlanError::Conflict(
            "the null target keeps no data, so nothing on it can be verified".to_owned(),
        ));
    }
    if increment > 0 && increment < area.size_bytes {
        return Err(PlanError::Conflict(format!(
            "--verify needs threads that do not overwrite one another: make --offset_increment at least --size ({})",
            text::format_size(area.size_bytes)
        )));
    }
    let chosen = match options.verify_interval.as_deref() {
        Some(text) => Some(u32::try_from(size("verify_interval", text)?).unwrap_or(u32::MAX)),
        None => None,
    };
    let align = access.grid_bytes();
    Ok(Some(interval_for(&access.block_sizes, align, chosen)?))
}
