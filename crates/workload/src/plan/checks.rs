use std::num::NonZeroU64;

use assay_io::MAX_SLOTS;
use assay_io::cpus::CpuList;
use assay_io::uring;
use assay_units::{Nanos, text};

use super::accesses::Direction;
use super::values::{
    ROUNDED_FROM_BYTES, aligned, duration, invalid, not_a_choice, out_of_range, percentage, size,
    size_or_passes, size_or_share, within,
};
use super::{Engine, MAX_IN_FLIGHT, MAX_JOBS, Pacing, PlanError};
use crate::access::{AccessConfig, Region};
use crate::arrival::Rate;
use crate::options::JobOptions;
use assay_device::identity::JoinedPart;
use assay_device::session::{PassthruSupport, TargetKind, TargetProperties};
use assay_integrity::blocks::interval_for;

/// The option is per thread, as fio's rates are per job and `numjobs` clones the job.
fn total_rate(option: &'static str, text: &str, threads: u32) -> Result<NonZeroU64, PlanError> {
    const RANGE: &str = "a rate is at least 1, and that of all threads together below 2^64";
    if option != "rate_bw" {
        not_bytes(option, text)?;
    }
    let total = size(option, text)?.checked_mul(u64::from(threads));
    let total = total.and_then(NonZeroU64::new);
    total.ok_or_else(|| out_of_range(option, text, RANGE))
}

/// Error for a rate in I/Os per second that is written as a rate in bytes. fio's `--rate` is one:
/// `--rate 100m` is 100 MiB/s there and would offer 104,857,600 I/Os per second here. `k` is
/// accepted: rates in thousands of I/Os per second are usual, in millions per thread they are not.
fn not_bytes(option: &'static str, text: &str) -> Result<(), PlanError> {
    let text = text.trim();
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number = &text[..text.len() - unit.len()];
    let unit = unit.trim();
    if unit.is_empty() || unit.eq_ignore_ascii_case("k") {
        return Ok(());
    }
    // The value as --rate_bw takes it: `100MB/s` is no size.
    let prefix = unit.chars().next().map(|c| c.to_ascii_lowercase());
    let bytes = match prefix.filter(|c| "kmgtp".contains(*c)) {
        Some(prefix) if !number.is_empty() => format!("{number}{prefix}"),
        _ => "100m, say".to_owned(),
    };
    Err(PlanError::Invalid(format!(
        "--{option} {text}: {unit:?} suggests bytes per second, and --{option} counts I/Os per \
         second; for bytes write --rate_bw {bytes} (fio's --rate), for I/Os a plain number or k \
         (1024)"
    )))
}

/// Threads, and the I/Os that each has in flight.
pub(super) fn in_flight(options: &JobOptions) -> Result<(u32, u32), PlanError> {
    let numjobs = within("numjobs", options.numjobs.unwrap_or(1), 1..=MAX_JOBS)?;
    let iodepth = within("iodepth", options.iodepth.unwrap_or(1), 1..=MAX_SLOTS)?;
    if u64::from(numjobs) * u64::from(iodepth) > MAX_IN_FLIGHT {
        return Err(invalid(format!(
            "--numjobs {numjobs} times --iodepth {iodepth} is more than {MAX_IN_FLIGHT} I/Os in \
             flight; lower one of them"
        )));
    }
    Ok((numjobs, iodepth))
}

pub(super) fn batch_complete_min(options: &JobOptions, iodepth: u32) -> Result<u32, PlanError> {
    let given = options.iodepth_batch_complete_min.unwrap_or(1);
    within("iodepth_batch_complete_min", given, 1..=iodepth)
}

/// The measured time, if it is limited, and the length of an interval.
pub(super) fn times(options: &JobOptions) -> Result<(Option<Nanos>, Nanos), PlanError> {
    let runtime = duration("runtime", &options.runtime)?;
    if runtime == Some(Nanos::ZERO) {
        let range = "longer than nothing; leave it out to go over the area once";
        return Err(out_of_range("runtime", 0, range));
    }
    let interval = duration("interval", &options.interval)?.unwrap_or(Nanos::SECOND);
    if interval < Nanos::MILLISECOND {
        return Err(out_of_range("interval", interval, "at least 1ms"));
    }
    Ok((runtime, interval))
}

/// Bytes per thread.
pub(super) fn io_bytes(
    options: &JobOptions,
    runtime: Option<Nanos>,
    part_bytes: u64,
) -> Result<Option<u64>, PlanError> {
    Ok(match (&options.io_size, runtime) {
        (Some(text), _) => Some(size_or_passes(text, part_bytes)?.max(1)),
        (None, Some(_)) => None,
        // Once over each thread's part, as fio does.
        (None, None) => Some(part_bytes),
    })
}

pub(super) fn cpus(list: Option<&str>) -> Result<Option<CpuList>, PlanError> {
    let Some(text) = list else { return Ok(None) };
    let cpus: CpuList = text.parse()?;
    cpus.check()?;
    Ok(Some(cpus))
}

pub(super) fn cpus_split(options: &JobOptions) -> Result<Option<u32>, PlanError> {
    const OPTION: &str = "cpus_allowed_policy";
    let Some(text) = options.cpus_allowed_policy.as_deref() else {
        return Ok(None);
    };
    let first = match text.split_once(':') {
        None if text == "split" => Some(0),
        Some(("split", first)) => first.parse().ok(),
        None if text == "shared" => return Ok(None),
        _ => None,
    };
    let first = first.ok_or_else(|| not_a_choice(OPTION, text, "shared, split, split:N"))?;
    match options.cpus_allowed {
        Some(_) => Ok(Some(first)),
        None => Err(invalid(format!("--{OPTION} {text} needs --cpus_allowed"))),
    }
}

/// Another order than fio's knows no turns.
pub(super) fn check_within_one(target: &TargetProperties, area: Region) -> Result<(), PlanError> {
    let end_bytes = area.offset_bytes.saturating_add(area.size_bytes);
    let holds = |file: &JoinedPart| {
        let file_end = file.start_bytes + file.len_bytes;
        file.start_bytes <= area.offset_bytes && end_bytes <= file_end
    };
    match target.files.is_empty() || target.files.iter().any(holds) {
        true => Ok(()),
        false => Err(invalid(format!(
            "{}: files take turns in a job of fio only: --order fio",
            target.name
        ))),
    }
}

/// An offset in percent of a small drive is rounded up to `block_bytes`, as fio rounds it to its
/// block (on a large one shares are whole MiB): blocks that straddle those of the drive measure
/// something else.
pub(super) fn area(
    options: &JobOptions,
    target: &TargetProperties,
    (unit, block_bytes): (u32, u32),
    numjobs: u32,
    split: bool,
) -> Result<(Region, u64), PlanError> {
    let share = |option, given: &Option<String>| {
        let share = given.as_deref().map(|text| size_or_share(option, text, target));
        share.transpose()
    };
    let mut offset_bytes = share("offset", &options.offset)?.unwrap_or(0);
    let percent = options.offset.as_deref().and_then(percentage);
    if let Some(percent) = percent.filter(|_| target.capacity_bytes < ROUNDED_FROM_BYTES) {
        let exact = (target.capacity_bytes as f64 * percent / 100.0) as u64;
        offset_bytes = exact.next_multiple_of(u64::from(block_bytes.max(unit)));
    }
    let increment = share("offset_increment", &options.offset_increment)?.unwrap_or(0);
    if split && increment > 0 {
        return Err(invalid("--split and --offset_increment both say where threads work; use one"));
    }
    // Saturated sums lie beyond the end of any drive, which is refused below; an area that would
    // begin there is empty.
    let last_bytes = offset_bytes.saturating_add(increment.saturating_mul(u64::from(numjobs - 1)));
    let usable = target.capacity_bytes / u64::from(unit) * u64::from(unit);
    let left_bytes = usable.saturating_sub(last_bytes);
    let mut size_bytes = share("size", &options.size)?.unwrap_or(left_bytes);
    let size_percent = options.size.as_deref().and_then(percentage);
    let beyond_bytes = size_bytes.saturating_sub(left_bytes);
    if percent.and(size_percent).is_some() && beyond_bytes < u64::from(block_bytes) {
        // The offset may have been rounded up by less than a block.
        size_bytes -= beyond_bytes;
    }
    for (option, bytes) in
        [("offset", offset_bytes), ("size", size_bytes), ("offset_increment", increment)]
    {
        aligned(target, option, bytes, unit)?;
    }
    let end = last_bytes.saturating_add(size_bytes);
    let (drive, capacity_bytes) = (&target.name, target.capacity_bytes);
    if size_bytes == 0 && last_bytes < usable.max(1) {
        return Err(invalid(format!(
            "{drive}: the area is empty: give --size at least a block of {unit} bytes; the drive \
             has {capacity_bytes}"
        )));
    }
    if end > usable || size_bytes == 0 {
        let end_bytes = end.max(offset_bytes.saturating_add(u64::from(unit)));
        return Err(invalid(format!(
            "{drive}: the area from {offset_bytes} to {end_bytes} does not fit on it, it ends at \
             {capacity_bytes}; lower --offset, --size or --offset_increment"
        )));
    }
    Ok((Region { offset_bytes, size_bytes }, increment))
}

/// Where the threads work.
pub(super) struct Places {
    pub(super) area: Region,
    pub(super) offset_increment_bytes: u64,
    pub(super) split: bool,
    /// What one thread goes over.
    pub(super) part_bytes: u64,
}

pub(super) fn places(
    options: &JobOptions,
    target: &TargetProperties,
    unit: u32,
    numjobs: u32,
    access: &AccessConfig,
) -> Result<Places, PlanError> {
    let split = options.split.unwrap_or(false)
        // Threads that write verified blocks must not overwrite each other.
        || options.verify.unwrap_or(false) && numjobs > 1 && options.offset_increment.is_none();
    let (area, offset_increment_bytes) =
        area(options, target, (unit, access.min_bytes()), numjobs, split)?;
    check_within_one(target, area)?;
    let least_bytes = u64::from(unit.max(access.min_bytes()));
    let part_bytes = part_bytes(area, numjobs, split, least_bytes);
    if u64::from(access.max_bytes()) > part_bytes {
        return Err(PlanError::BlockTooLarge {
            drive: target.name.clone(),
            block_bytes: access.max_bytes(),
            area: match split {
                true => "each thread's part of the area",
                false => "the area",
            },
            area_bytes: part_bytes,
        });
    }
    Ok(Places { area, offset_increment_bytes, split, part_bytes })
}

pub(super) fn part_bytes(area: Region, numjobs: u32, split: bool, unit: u64) -> u64 {
    if split { area.size_bytes / u64::from(numjobs) / unit * unit } else { area.size_bytes }
}

pub(super) fn pacing(
    options: &JobOptions,
    mean_bytes: f64,
    threads: u32,
) -> Result<Pacing, PlanError> {
    let poisson = match options.arrival.as_deref() {
        None | Some("constant") => false,
        Some("poisson") => true,
        Some(other) => return Err(not_a_choice("arrival", other, "constant, poisson")),
    };
    let pacing = match (&options.rate, &options.rate_iops, &options.rate_bw) {
        (None, None, None) => Pacing::Closed,
        (Some(iops), None, None) => {
            return Ok(Pacing::Open { iops: total_rate("rate", iops, threads)?, poisson });
        }
        (None, Some(iops), None) => {
            Pacing::Limited { rate: Rate::iops(total_rate("rate_iops", iops, threads)?) }
        }
        (None, None, Some(bytes)) => Pacing::Limited {
            rate: Rate::of_bytes(total_rate("rate_bw", bytes, threads)?, mean_bytes),
        },
        _ => {
            return Err(invalid(
                "--rate (open loop), --rate_iops and --rate_bw (limits of a closed loop) exclude \
                 one another",
            ));
        }
    };
    if options.arrival.is_some() {
        return Err(invalid("--arrival needs --rate: how many I/Os per second arrive"));
    }
    Ok(pacing)
}

fn named_engine(
    options: &JobOptions,
    target: &TargetProperties,
    iodepth: u32,
) -> Result<Engine, PlanError> {
    let wanted = options.engine.as_deref().unwrap_or("auto");
    let own = match target.kind {
        TargetKind::Null => Some(Engine::Null),
        TargetKind::Simulated => Some(Engine::Sim),
        TargetKind::Block { .. } | TargetKind::File => None,
    };
    let passthru = match target.kind {
        TargetKind::Block { passthru, .. } => passthru,
        _ => PassthruSupport::No,
    };
    let places = options.fdp.is_some() && passthru == PassthruSupport::Possible;
    Ok(match (wanted, own) {
        ("auto" | "passthru" | "io_uring_cmd", None) if passthru == PassthruSupport::Named => {
            Engine::Passthru
        }
        (_, None) if passthru == PassthruSupport::Named => {
            return Err(invalid(format!(
                "{}: an NVMe generic device takes commands only; for --engine {wanted} name the \
                 block device ({})",
                target.name,
                target.name.replacen("/ng", "/nvme", 1)
            )));
        }
        ("passthru" | "io_uring_cmd", None) if passthru == PassthruSupport::Possible => {
            Engine::Passthru
        }
        // A suite with synchronous threads runs unchanged on a simulated drive: depth 1 is depth 1.
        ("sync" | "psync", Some(own)) if iodepth == 1 => own,
        ("auto" | "uring" | "io_uring" | "threads", Some(own)) => own,
        // Only commands have placement identifiers.
        ("auto", None) if places => Engine::Passthru,
        ("auto", None) if iodepth == 1 => Engine::Sync,
        ("auto" | "uring" | "io_uring", None) if uring::refusal().is_none() => Engine::Uring,
        // The nearest that the kernel allows; a warning says so.
        ("uring" | "io_uring", None) if iodepth == 1 => Engine::Sync,
        ("auto" | "uring" | "io_uring" | "threads", None) => Engine::Threads,
        ("sync" | "psync", None) if iodepth == 1 => Engine::Sync,
        ("sync" | "psync", _) => {
            return Err(invalid(format!(
                "--engine {wanted} has one I/O in flight per thread, not {iodepth}; use --numjobs \
                 {iodepth} or --engine uring"
            )));
        }
        ("passthru" | "io_uring_cmd", _) => {
            return Err(invalid(format!(
                "{}: --engine passthru sends NVMe commands, and needs a whole NVMe namespace with \
                 a generic device (/dev/ngXnY); use uring",
                target.name
            )));
        }
        _ => {
            let choices = "auto, sync, uring, threads, passthru";
            return Err(not_a_choice("engine", wanted, choices));
        }
    })
}

pub(super) fn replaces_uring(options: &JobOptions, engine: Engine) -> bool {
    match options.engine.as_deref() {
        Some("threads") => false,
        Some("uring" | "io_uring") => matches!(engine, Engine::Threads | Engine::Sync),
        _ => engine == Engine::Threads,
    }
}

/// The engine, and whether completions are polled.
pub(super) fn engine(
    options: &JobOptions,
    target: &TargetProperties,
    iodepth: u32,
    direct: bool,
) -> Result<(Engine, bool), PlanError> {
    let engine = named_engine(options, target, iodepth)?;
    let hipri = options.hipri.unwrap_or(false);
    if options.sqpoll_cpu.is_some() && !options.sqpoll.unwrap_or(false) {
        return Err(invalid("--sqpoll_cpu needs --sqpoll"));
    }
    if (hipri || options.sqpoll.unwrap_or(false))
        && !matches!(engine, Engine::Uring | Engine::Passthru)
    {
        return Err(invalid(format!(
            "--hipri and --sqpoll are io_uring's; the engine here is {}: use --engine uring on a \
             real drive",
            engine.name()
        )));
    }
    if hipri && !direct {
        return Err(invalid("--hipri needs --direct true: the page cache is not polled"));
    }
    if hipri && !matches!(target.kind, TargetKind::Block { io_poll: true, .. }) {
        return Err(invalid(format!(
            "{}: has no polling queues, so --hipri cannot work (for NVMe, load the driver with \
             poll_queues=N)",
            target.name
        )));
    }
    Ok((engine, hipri))
}

pub(super) fn verify(
    options: &JobOptions,
    target: &TargetProperties,
    access: &AccessConfig,
    direction: &Direction,
    places: &Places,
) -> Result<Option<u32>, PlanError> {
    if !options.verify.unwrap_or(false) {
        if options.do_verify.is_some() {
            return Err(invalid("--do_verify needs --verify"));
        }
        if options.verify_interval.is_some() {
            return Err(invalid("--verify_interval needs --verify"));
        }
        return Ok(None);
    }
    if target.kind == TargetKind::Null {
        return Err(invalid("the null target keeps no data, so nothing on it can be verified"));
    }
    let (increment, area_bytes) = (places.offset_increment_bytes, places.area.size_bytes);
    if increment > 0 && increment < area_bytes {
        return Err(invalid(format!(
            "--verify needs threads that do not overwrite one another: make --offset_increment at \
             least --size ({})",
            text::format_size(area_bytes)
        )));
    }
    let chosen = options.verify_interval.as_deref();
    let chosen = chosen.map(|text| size("verify_interval", text)).transpose()?;
    // What does not fit is refused like any other length over 4 MiB.
    let chosen = chosen.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
    let (block, align) = (access.common_power_of_two(), access.grid_bytes());
    // A block of its own for each write, so that one that is there in part shows.
    let whole_writes = options.atomic.unwrap_or(false).then_some(block);
    let chosen = chosen.or(whole_writes);
    let interval = interval_for(block, align, chosen)?;
    if direction.trims {
        return Err(invalid(
            "--verify needs a job that reads or writes: deallocated blocks have no content to \
             check",
        ));
    }
    Ok(Some(interval))
}
