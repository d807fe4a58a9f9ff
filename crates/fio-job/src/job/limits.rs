use assay_workload::options::JobOptions;

use super::access::{Direction, only};
use super::given::Given;
use crate::JobFileError;
use crate::number::Size;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeastRate {
    /// Bytes per second (`rate_min`).
    pub bytes: Option<u64>,
    /// I/Os per second (`rate_iops_min`).
    pub ios: Option<u64>,
}

type Note<'a> = dyn FnMut(String) + 'a;

const SECONDS: f64 = 1e6;
const MICROSECONDS: f64 = 1.0;

/// A duration above zero as a job option.
fn duration(given: &Given<'_>, name: &str, unit_us: f64) -> Result<Option<String>, JobFileError> {
    let us = given.micros(name, unit_us)?.filter(|&us| us > 0);
    Ok(us.map(|us| match (us % 1_000_000, us % 1_000) {
        (0, _) => format!("{}s", us / 1_000_000),
        (_, 0) => format!("{}ms", us / 1_000),
        _ => format!("{us}us"),
    }))
}

fn number_above_0(given: &Given<'_>, name: &str) -> Result<Option<u32>, JobFileError> {
    Ok(given.number(name)?.filter(|&number| number > 0))
}

pub(super) fn limits(
    given: &Given<'_>,
    options: &mut JobOptions,
    note: &mut Note<'_>,
) -> Result<(), JobFileError> {
    options.runtime = duration(given, "runtime", SECONDS)?;
    options.ramp_time = duration(given, "ramp_time", SECONDS)?;
    if let Some((text, place)) = given.text("startdelay")
        && text.contains(['-', ':'])
    {
        return Err(given.error(
            place,
            format!("startdelay={text}: a random delay is not supported"),
        ));
    }
    options.startdelay = duration(given, "startdelay", SECONDS)?;
    let time_based = given.flag("time_based")?;
    if time_based && options.runtime.is_none() {
        note("time_based without a runtime changes nothing, as in fio".to_owned());
    }
    options.io_size = io_size(given, options, time_based)?;
    options.number_ios = given.bytes("number_ios")?.filter(|&ios| ios > 0);
    pace(given, options, note)?;
    options.thinktime = duration(given, "thinktime", MICROSECONDS)?;
    if options.thinktime.is_some() {
        options.thinktime_blocks = number_above_0(given, "thinktime_blocks")?;
        options.thinktime_iotime = duration(given, "thinktime_iotime", SECONDS)?;
    }
    options.flow = number_above_0(given, "flow")?;
    if options.flow.is_some() {
        options.flow_id = number_above_0(given, "flow_id")?;
        options.flow_sleep = duration(given, "flow_sleep", MICROSECONDS)?;
    }
    options.seed = given.parsed("randseed", "a number", |text| text.parse().ok())?;
    cpus(given, options)
}

fn io_size(
    given: &Given<'_>,
    options: &JobOptions,
    time_based: bool,
) -> Result<Option<String>, JobFileError> {
    let loops = u64::from(given.number("loops")?.unwrap_or(1).max(1));
    let io_size = given.size("io_size")?;
    Ok(match io_size.filter(|size| *size != Size::Bytes(0)) {
        _ if time_based && options.runtime.is_some() => None,
        Some(Size::Bytes(bytes)) => Some(bytes.saturating_mul(loops).to_string()),
        Some(Size::Percent(percent)) => Some(format!("{}%", percent.saturating_mul(loops))),
        // One pass ends a job without a runtime by itself.
        None if options.runtime.is_none() && loops == 1 => None,
        None => Some(match &options.size {
            // The area as often as that, in bytes: a percentage has a limit.
            Some(size) if loops > 1 && !size.ends_with('%') => {
                let bytes = size.parse::<u64>().unwrap_or(0);
                bytes.saturating_mul(loops).to_string()
            }
            _ => format!("{}%", loops.saturating_mul(100)),
        }),
    })
}

fn values(given: &Given<'_>, name: &str) -> Result<Option<[u64; 3]>, JobFileError> {
    given.parsed(
        name,
        "a number, or one each for reads, writes and trims",
        |text| {
            let parts: Vec<&str> = text.split(',').map(str::trim).collect();
            let one = |text: &str| match text {
                "" => Some(0),
                text => crate::number::bytes(text, given.kb_base),
            };
            match parts.as_slice() {
                [all] => one(all).map(|all| [all; 3]),
                // Trims without a value of their own have the writes', as in fio.
                [reads, writes] => Some([one(reads)?, one(writes)?, one(writes)?]),
                [reads, writes, trims] => Some([one(reads)?, one(writes)?, one(trims)?]),
                _ => None,
            }
        },
    )
}

/// A rate for the directions of the job. fio limits reads and writes of a mix each for itself, so
/// that the rates make the mix.
fn rate(given: &Given<'_>, options: &JobOptions, name: &str) -> Result<Option<u64>, JobFileError> {
    let Some([reads, writes, trims]) = values(given, name)? else {
        return Ok(None);
    };
    let rate = match only(given) {
        Some(Direction::Reads) => reads,
        Some(Direction::Writes) => writes,
        Some(Direction::Trims) => trims,
        None => {
            let mix = u128::from(options.rwmixread.unwrap_or(50));
            let sum = u128::from(reads) + u128::from(writes);
            if sum > 0 && u128::from(reads) * 100 != mix * sum {
                let message = format!(
                    "{name}: reads and writes of a mix are limited each for itself, and these \
                     limits ({reads} and {writes}) contradict rwmixread={mix}"
                );
                return Err(given.wrong(name, message));
            }
            reads.saturating_add(writes)
        }
    };
    Ok(Some(rate).filter(|&rate| rate > 0))
}

fn pace(
    given: &Given<'_>,
    options: &mut JobOptions,
    note: &mut Note<'_>,
) -> Result<(), JobFileError> {
    let (bytes, ios) = (
        rate(given, options, "rate")?,
        rate(given, options, "rate_iops")?,
    );
    if let (Some(_), Some(_), Some(place)) = (bytes, ios, given.place("rate")) {
        return Err(given.error(place, "rate and rate_iops exclude one another".to_owned()));
    }
    options.rate_bw = bytes.map(|rate| rate.to_string());
    let poisson = match given.text("rate_process") {
        None | Some(("linear", _)) => false,
        Some(("poisson", _)) => true,
        Some((other, place)) => {
            return Err(given.error(place, format!("rate_process={other}: linear or poisson")));
        }
    };
    match ios {
        Some(ios) if poisson => {
            options.rate = Some(ios.to_string());
            options.arrival = Some("poisson".to_owned());
            note(
                "rate_process=poisson: latency counts from the time at which an I/O was due, \
                 which fio does not do"
                    .to_owned(),
            );
        }
        ios => options.rate_iops = ios.map(|ios| ios.to_string()),
    }
    if let (true, Some(_), Some(place)) = (poisson, bytes, given.place("rate_process")) {
        return Err(given.error(
            place,
            "rate_process=poisson needs rate_iops, not rate".to_owned(),
        ));
    }
    Ok(())
}

/// `rate_min` and `rate_iops_min`, checked once per `rate_cycle`.
pub(super) fn least_rate(
    given: &Given<'_>,
    options: &mut JobOptions,
) -> Result<LeastRate, JobFileError> {
    let least = |name| rate(given, options, name);
    let least = LeastRate {
        bytes: least("rate_min")?,
        ios: least("rate_iops_min")?,
    };
    if least != LeastRate::default() && options.interval.is_none() {
        // In milliseconds.
        let cycle = given.number("rate_cycle")?.unwrap_or(1000).max(1);
        options.interval = Some(format!("{cycle}ms"));
    }
    Ok(least)
}

fn cpus(given: &Given<'_>, options: &mut JobOptions) -> Result<(), JobFileError> {
    options.cpus_allowed = given.text("cpus_allowed").map(|(list, _)| list.to_owned());
    let mask = given.parsed("cpumask", "a bit mask of processors", |text| {
        crate::number::bytes(text, 1024)
    })?;
    if let Some(mask) = mask.filter(|&mask| mask > 0) {
        let cpus = (0..64).filter(|cpu| mask >> cpu & 1 == 1);
        let cpus: Vec<String> = cpus.map(|cpu: u32| cpu.to_string()).collect();
        options.cpus_allowed = Some(cpus.join(","));
    }
    Ok(())
}
