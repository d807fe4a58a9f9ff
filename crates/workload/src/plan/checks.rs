use std::fmt::Display;
use std::num::NonZeroU64;

use assay_io::cpus::CpuList;
use assay_units::{Nanos, parse_duration, parse_size, text};

use super::{Engine, Pacing, PlanError};
use crate::access::{
    AccessConfig, AccessStep, AddressPattern, BlockSizes, RankLaw, Region, StridedZones,
};
use crate::arrival::Rate;
use crate::options::JobOptions;
use assay_device::session::{PassthruSupport, TargetKind, TargetProperties};
use assay_integrity::blocks::interval_for;

pub(super) fn invalid(message: impl Into<String>) -> PlanError {
    PlanError::Invalid(message.into())
}

pub(super) fn out_of_range(option: &str, given: impl Display, range: &str) -> PlanError {
    invalid(format!("--{option} {given} is out of range: {range}"))
}

pub(super) fn not_a_choice(option: &str, given: &str, choices: &str) -> PlanError {
    let similar = text::did_you_mean(given, choices);
    invalid(format!(
        "--{option} {given:?} is not one of: {choices}{similar}"
    ))
}

fn size(option: &'static str, text: &str) -> Result<u64, PlanError> {
    parse_size(text).map_err(|source| PlanError::Text { option, source })
}

fn percentage(text: &str) -> Option<f64> {
    let percent = text.trim().strip_suffix('%')?;
    Some(percent.trim().parse().unwrap_or(f64::NAN))
}

/// A size, or a percentage of the thread's part: `200%` goes over it twice.
pub(super) fn size_or_passes(text: &str, part_bytes: u64) -> Result<u64, PlanError> {
    const OPTION: &str = "io_size";
    const RANGE: &str = "a percentage of the area is above 0% and at most 100000%";
    match percentage(text) {
        None => size(OPTION, text),
        Some(passes) if passes > 0.0 && passes <= 100_000.0 => {
            Ok((part_bytes as f64 * passes / 100.0) as u64)
        }
        Some(_) => Err(out_of_range(OPTION, text, RANGE)),
    }
}

pub(super) fn duration(
    option: &'static str,
    given: &Option<String>,
) -> Result<Option<Nanos>, PlanError> {
    let parsed = given.as_deref().map(parse_duration).transpose();
    parsed.map_err(|source| PlanError::Text { option, source })
}

/// A percentage is rounded down to whole MiB (or blocks on a tiny drive).
fn size_or_share(
    option: &'static str,
    text: &str,
    target: &TargetProperties,
) -> Result<u64, PlanError> {
    let capacity_bytes = target.capacity_bytes;
    let Some(share) = percentage(text) else {
        return size(option, text);
    };
    if !(0.0..=100.0).contains(&share) {
        return Err(out_of_range(
            option,
            text,
            "a percentage is from 0% to 100%",
        ));
    }
    let bytes = (capacity_bytes as f64 * share / 100.0) as u64;
    let unit = match capacity_bytes >= 100 << 20 {
        true => 1 << 20,
        false => u64::from(target.min_io_bytes),
    };
    Ok(match share == 100.0 {
        true => capacity_bytes,
        false => bytes / unit * unit,
    })
}

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
    let unit = text
        .trim()
        .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if unit.is_empty() || unit.eq_ignore_ascii_case("k") {
        return Ok(());
    }
    Err(PlanError::Invalid(format!(
        "--{option} {text}: {unit:?} suggests bytes per second, and --{option} counts I/Os per \
         second; for bytes write --rate_bw {text} (fio's --rate), for I/Os a plain number or k \
         (1024)"
    )))
}

pub(super) fn within(
    option: &'static str,
    value: u32,
    range: std::ops::RangeInclusive<u32>,
) -> Result<u32, PlanError> {
    if range.contains(&value) {
        return Ok(value);
    }
    let range = format!("from {} to {}", range.start(), range.end());
    Err(out_of_range(option, value, &range))
}

pub(super) fn cpus(list: Option<&str>) -> Result<Option<CpuList>, PlanError> {
    let Some(text) = list else { return Ok(None) };
    let cpus: CpuList = text.parse()?;
    cpus.check()?;
    Ok(Some(cpus))
}

pub(super) struct Direction {
    /// Without the number behind a colon.
    pub(super) word: String,
    pub(super) random: bool,
    pub(super) read_percent: u8,
    pub(super) trims: bool,
    pub(super) step: AccessStep,
}

pub(super) fn direction(rw: &str, rwmixread: Option<u32>) -> Result<Direction, PlanError> {
    let (word, number) = match rw.split_once(':') {
        Some((word, number)) => (word, Some(number)),
        None => (rw, None),
    };
    let (random, read_percent) = word_of(word, rwmixread)?;
    let trims = word.ends_with("trim");
    let step = number.map_or(Ok(AccessStep::Plain), |number| step(rw, number, random))?;
    Ok(Direction {
        word: word.to_owned(),
        random,
        read_percent,
        trims,
        step,
    })
}

fn step(rw: &str, number: &str, random: bool) -> Result<AccessStep, PlanError> {
    if random {
        let ios = number
            .parse()
            .ok()
            .filter(|ios| (1..=1 << 20).contains(ios));
        let wrong = || {
            out_of_range(
                "rw",
                rw,
                "the number of I/Os from each random offset on is from 1 to 1048576",
            )
        };
        return ios.map(AccessStep::Run).ok_or_else(wrong);
    }
    let (sign, digits) = match number.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, number),
    };
    let bytes = i64::try_from(size("rw", digits)?);
    let bytes = bytes.map_err(|_| out_of_range("rw", rw, "a gap below 2^63 bytes"))?;
    Ok(AccessStep::Gap(sign * bytes))
}

fn word_of(rw: &str, rwmixread: Option<u32>) -> Result<(bool, u8), PlanError> {
    let mix = within("rwmixread", rwmixread.unwrap_or(50), 0..=100)? as u8;
    Ok(match rw {
        "read" => (false, 100),
        "write" => (false, 0),
        "randread" => (true, 100),
        "randwrite" => (true, 0),
        "rw" | "readwrite" => (false, mix),
        "randrw" => (true, mix),
        "trim" => (false, 0),
        "randtrim" => (true, 0),
        _ => {
            let choices = "read, write, randread, randwrite, rw, randrw, trim, randtrim";
            return Err(not_a_choice("rw", rw, choices));
        }
    })
}

pub(super) fn aligned(
    target: &TargetProperties,
    option: &'static str,
    bytes: u64,
    unit: u32,
) -> Result<(), PlanError> {
    if bytes.is_multiple_of(u64::from(unit)) {
        return Ok(());
    }
    Err(PlanError::Misaligned {
        drive: target.name.clone(),
        option,
        given_bytes: bytes,
        block_bytes: unit,
        suggestion: bytes.next_multiple_of(u64::from(unit)),
    })
}

pub(super) fn area(
    options: &JobOptions,
    target: &TargetProperties,
    unit: u32,
    numjobs: u32,
    split: bool,
) -> Result<(Region, u64), PlanError> {
    let share = |option, given: &Option<String>| {
        let share = given
            .as_deref()
            .map(|text| size_or_share(option, text, target));
        share.transpose()
    };
    let offset_bytes = share("offset", &options.offset)?.unwrap_or(0);
    let increment = share("offset_increment", &options.offset_increment)?.unwrap_or(0);
    if split && increment > 0 {
        return Err(invalid(
            "--split and --offset_increment both say where threads work; use one",
        ));
    }
    // Saturated sums lie beyond the end of any drive, which is refused below; an area that would
    // begin there is empty.
    let last_bytes = offset_bytes.saturating_add(increment.saturating_mul(u64::from(numjobs - 1)));
    let usable = target.capacity_bytes / u64::from(unit) * u64::from(unit);
    let size_bytes = share("size", &options.size)?.unwrap_or(usable.saturating_sub(last_bytes));
    for (option, bytes) in [
        ("offset", offset_bytes),
        ("size", size_bytes),
        ("offset_increment", increment),
    ] {
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
    Ok((
        Region {
            offset_bytes,
            size_bytes,
        },
        increment,
    ))
}

pub(super) fn pattern(options: &JobOptions, random: bool) -> Result<AddressPattern, PlanError> {
    const OPTION: &str = "random_distribution";
    const CHOICES: &str = "random (each place equally likely), cover (each block once per pass), \
                           zipf:THETA (e.g. zipf:1.2), pareto:POWER (e.g. pareto:0.2), \
                           normal:PERCENT (e.g. normal:10), zoned:ACCESS/SIZE:... (percent, e.g. \
                           zoned:50/5:30/15:20/80)";
    let Some(text) = options.random_distribution.as_deref() else {
        return Ok(match random {
            true => AddressPattern::Uniform,
            false => AddressPattern::Sequential,
        });
    };
    if !random {
        return Err(invalid(
            "--random_distribution needs a random --rw: randread, randwrite or randrw",
        ));
    }
    match text.split_once(':') {
        None if text == "random" => Ok(AddressPattern::Uniform),
        None if text == "cover" => Ok(AddressPattern::Cover),
        Some(("zoned", shares)) => Ok(AddressPattern::Zoned(shares.parse()?)),
        Some((law, number)) => {
            let number = number.parse();
            let law = match (law, number) {
                ("zipf", Ok(theta)) => RankLaw::Zipf { theta },
                ("pareto", Ok(h)) => RankLaw::Pareto { h },
                ("normal", Ok(deviation_percent)) => RankLaw::Normal { deviation_percent },
                _ => return Err(not_a_choice(OPTION, text, CHOICES)),
            };
            Ok(AddressPattern::Ranked(law))
        }
        None => Err(not_a_choice(OPTION, text, CHOICES)),
    }
}

pub(super) fn align(
    options: &JobOptions,
    target: &TargetProperties,
    unit: u32,
) -> Result<Option<u32>, PlanError> {
    let Some(text) = options.blockalign.as_deref() else {
        return Ok(None);
    };
    let bytes = size("blockalign", text)?;
    aligned(target, "blockalign", bytes, unit)?;
    let align = u32::try_from(bytes);
    align
        .map(Some)
        .map_err(|_| out_of_range("blockalign", text, "below 4 GiB"))
}

pub(super) fn zones(
    options: &JobOptions,
    target: &TargetProperties,
    unit: u32,
) -> Result<Option<StridedZones>, PlanError> {
    let Some(zone) = options.zonesize.as_deref() else {
        if options.zonerange.is_some() || options.zoneskip.is_some() {
            return Err(invalid("--zonerange and --zoneskip need --zonesize"));
        }
        return Ok(None);
    };
    let length = |option, given: Option<&str>, default| {
        let bytes = given.map_or(Ok(default), |text| size(option, text))?;
        aligned(target, option, bytes, unit)?;
        Ok::<u64, PlanError>(bytes)
    };
    let size_bytes = length("zonesize", Some(zone), 0)?;
    let range_bytes = length("zonerange", options.zonerange.as_deref(), size_bytes)?;
    let skip_bytes = length("zoneskip", options.zoneskip.as_deref(), 0)?;
    Ok(Some(StridedZones {
        size_bytes,
        range_bytes,
        skip_bytes,
    }))
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
            return Ok(Pacing::Open {
                iops: total_rate("rate", iops, threads)?,
                poisson,
            });
        }
        (None, Some(iops), None) => Pacing::Limited {
            rate: Rate::iops(total_rate("rate_iops", iops, threads)?),
        },
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
        return Err(invalid(
            "--arrival needs --rate: how many I/Os per second arrive",
        ));
    }
    Ok(pacing)
}

pub(super) fn engine(
    options: &JobOptions,
    target: &TargetProperties,
    iodepth: u32,
    direct: bool,
) -> Result<(Engine, bool), PlanError> {
    let wanted = options.engine.as_deref().unwrap_or("auto");
    let hipri = options.hipri.unwrap_or(false);
    let own = match target.kind {
        TargetKind::Null => Some(Engine::Null),
        TargetKind::Simulated => Some(Engine::Sim),
        TargetKind::Block { .. } | TargetKind::File => None,
    };
    let passthru = match target.kind {
        TargetKind::Block { passthru, .. } => passthru,
        _ => PassthruSupport::No,
    };
    let engine = match (wanted, own) {
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
        ("auto" | "uring" | "io_uring", Some(own)) => own,
        ("auto", None) if iodepth == 1 => Engine::Sync,
        ("auto" | "uring" | "io_uring", None) => Engine::Uring,
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
            let choices = "auto, sync, uring, passthru";
            return Err(not_a_choice("engine", wanted, choices));
        }
    };
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
        return Err(invalid(
            "--hipri needs --direct true: the page cache is not polled",
        ));
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
    increment: u64,
    area: Region,
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
        return Err(invalid(
            "the null target keeps no data, so nothing on it can be verified",
        ));
    }
    if increment > 0 && increment < area.size_bytes {
        return Err(invalid(format!(
            "--verify needs threads that do not overwrite one another: make --offset_increment at \
             least --size ({})",
            text::format_size(area.size_bytes)
        )));
    }
    let chosen = options.verify_interval.as_deref();
    let chosen = chosen
        .map(|text| size("verify_interval", text))
        .transpose()?;
    // What does not fit is refused like any other length over 4 MiB.
    let chosen = chosen.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
    let (block, align) = (access.common_power_of_two(), access.grid_bytes());
    Ok(Some(interval_for(block, align, chosen)?))
}

/// The sizes of `--bs`: `4k`, or `4k,8k` for reads and writes; those of writes where they differ.
pub(super) fn block_sizes(
    text: &str,
    read_percent: u8,
) -> Result<(BlockSizes, Option<BlockSizes>), PlanError> {
    let Some((reads, writes)) = text.split_once(',') else {
        return Ok((text.parse()?, None));
    };
    let (reads, writes): (BlockSizes, BlockSizes) = (reads.parse()?, writes.parse()?);
    Ok(match read_percent {
        100 => (reads, None),
        0 => (writes, None),
        _ if reads == writes => (reads, None),
        _ => (reads, Some(writes)),
    })
}
