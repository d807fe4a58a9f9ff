use assay_workload::options::JobOptions;

use super::access::{Direction, only};
use super::given::Given;
use crate::JobFileError;
use crate::number::Size;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Bytes per second (`rate_min`).
    pub bytes: Option<u64>,
    /// I/Os per second (`rate_iops_min`).
    pub ios: Option<u64>,
    /// Longest time of an I/O, microseconds (`max_latency`).
    pub latency_us: Option<u64>,
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
        return Err(
            given.error(place, format!("startdelay={text}: a random delay is not supported"))
        );
    }
    options.startdelay = duration(given, "startdelay", SECONDS)?;
    let time_based = given.flag("time_based")?;
    if time_based && options.runtime.is_none() {
        note("time_based without a runtime changes nothing, as in fio".to_owned());
    }
    let io_size = given.size("io_size")?.filter(|size| *size != Size::Bytes(0));
    options.io_size = io_size.map(Size::text);
    options.number_ios = given.bytes("number_ios")?.filter(|&ios| ios > 0);
    pace(given, options, note)?;
    options.thinktime = duration(given, "thinktime", MICROSECONDS)?;
    if options.thinktime.is_some() {
        options.thinktime_blocks = number_above_0(given, "thinktime_blocks")?;
        options.thinktime_iotime = duration(given, "thinktime_iotime", SECONDS)?;
    }
    options.latency_target = duration(given, "latency_target", MICROSECONDS)?;
    if options.latency_target.is_some() {
        options.latency_window = duration(given, "latency_window", MICROSECONDS)?;
        options.latency_percentile =
            (given.text("latency_percentile")).map(|(percentile, _)| percentile.to_owned());
        options.latency_run = given.flag("latency_run")?.then_some(true);
    }
    steady_state(given, options)?;
    options.flow = number_above_0(given, "flow")?;
    if options.flow.is_some() {
        options.flow_id = number_above_0(given, "flow_id")?;
        options.flow_sleep = duration(given, "flow_sleep", MICROSECONDS)?;
    }
    options.seed = given.parsed("randseed", "a number", |text| crate::number::bytes(text, 1024))?;
    cpus(given, options)
}

/// As in fio, nothing is looked for without a duration.
fn steady_state(given: &Given<'_>, options: &mut JobOptions) -> Result<(), JobFileError> {
    let window = duration(given, "steadystate_duration", SECONDS)?;
    let Some((rule, _)) = given.text("steadystate").filter(|_| window.is_some()) else {
        return Ok(());
    };
    options.steadystate = Some(rule.to_owned());
    options.steadystate_duration = window;
    options.steadystate_ramp_time = duration(given, "steadystate_ramp_time", SECONDS)?;
    options.interval = duration(given, "steadystate_check_interval", SECONDS)?;
    Ok(())
}

/// A rate for the directions of the job.
fn rate(given: &Given<'_>, name: &str) -> Result<Option<u64>, JobFileError> {
    let Some([reads, writes, trims]) = given.rates(name)? else {
        return Ok(None);
    };
    let rate = match only(given) {
        Some(Direction::Reads) => reads,
        Some(Direction::Writes) => writes,
        Some(Direction::Trims) => trims,
        None => reads.saturating_add(writes),
    };
    Ok(Some(rate).filter(|&rate| rate > 0))
}

fn pace(
    given: &Given<'_>,
    options: &mut JobOptions,
    note: &mut Note<'_>,
) -> Result<(), JobFileError> {
    let poisson = match given.text("rate_process") {
        None | Some(("linear", _)) => false,
        Some(("poisson", _)) => true,
        Some((other, place)) => {
            return Err(given.error(place, format!("rate_process={other}: linear or poisson")));
        }
    };
    if !poisson {
        return Ok(());
    }
    if given.rates("rate")?.is_some()
        && let Some(place) = given.place("rate_process")
    {
        return Err(given.error(place, "rate_process=poisson needs rate_iops, not rate".to_owned()));
    }
    if let Some(ios) = rate(given, "rate_iops")? {
        options.rate = Some(ios.to_string());
        options.arrival = Some("poisson".to_owned());
        note(
            "rate_process=poisson: latency counts from the time at which an I/O was due, which \
             fio does not do"
                .to_owned(),
        );
    }
    Ok(())
}

/// `rate_min` and `rate_iops_min`, checked once per `rate_cycle`, and `max_latency`.
pub(super) fn checked_after(
    given: &Given<'_>,
    options: &mut JobOptions,
) -> Result<Limits, JobFileError> {
    let limits = Limits {
        bytes: rate(given, "rate_min")?,
        ios: rate(given, "rate_iops_min")?,
        latency_us: given.micros("max_latency", MICROSECONDS)?.filter(|&us| us > 0),
    };
    if limits.bytes.or(limits.ios).is_some() && options.interval.is_none() {
        // In milliseconds.
        let cycle = given.number("rate_cycle")?.unwrap_or(1000).max(1);
        options.interval = Some(format!("{cycle}ms"));
    }
    Ok(limits)
}

fn cpus(given: &Given<'_>, options: &mut JobOptions) -> Result<(), JobFileError> {
    options.cpus_allowed = given.text("cpus_allowed").map(|(list, _)| list.to_owned());
    let mask = given
        .parsed("cpumask", "a bit mask of processors", |text| crate::number::bytes(text, 1024))?;
    if let Some(mask) = mask.filter(|&mask| mask > 0) {
        let cpus = (0..64).filter(|cpu| mask >> cpu & 1 == 1);
        let cpus: Vec<String> = cpus.map(|cpu: u32| cpu.to_string()).collect();
        options.cpus_allowed = Some(cpus.join(","));
    }
    options.ioprio = super::priorities::of_threads(given)?;
    nodes(given, options)?;
    options.cpus_allowed_policy = match given.text("cpus_allowed_policy") {
        None | Some(("shared", _)) => None,
        Some(("split", _)) => options.cpus_allowed.as_ref().map(|_| "split".to_owned()),
        Some((other, place)) => {
            let message = format!("cpus_allowed_policy={other}: shared or split");
            return Err(given.error(place, message));
        }
    };
    Ok(())
}

/// `numa_cpu_nodes` and `numa_mem_policy`.
fn nodes(given: &Given<'_>, options: &mut JobOptions) -> Result<(), JobFileError> {
    let nodes = given.text("numa_cpu_nodes").map(|(nodes, _)| nodes.trim());
    if let (Some(_), Some(_), Some(place)) =
        (nodes, &options.cpus_allowed, given.place("numa_cpu_nodes"))
    {
        let message = "numa_cpu_nodes and cpus_allowed exclude one another".to_owned();
        return Err(given.error(place, message));
    }
    if nodes == Some("all") {
        return policy(given, nodes);
    }
    let list = given.parsed("numa_cpu_nodes", "a list of nodes such as 0-1,3", |text| {
        let mut list = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            let count = last.checked_sub(first)?;
            (count < MAX_NODES).then_some(())?;
            list.extend((first..=last).map(|node| format!("node{node}")));
        }
        Some(list.join(","))
    })?;
    options.cpus_allowed = list.or(options.cpus_allowed.take());
    policy(given, nodes)
}

/// Linux, `CONFIG_NODES_SHIFT`.
const MAX_NODES: u32 = 1024;

fn policy(given: &Given<'_>, nodes: Option<&str>) -> Result<(), JobFileError> {
    let Some((text, place)) = given.text("numa_mem_policy") else {
        return Ok(());
    };
    let own = match text.split_once(':') {
        None => matches!(text, "local" | "default"),
        Some((policy, of)) => matches!(policy, "bind" | "prefer") && nodes == Some(of.trim()),
    };
    match own {
        true => Ok(()),
        false => Err(given.error(
            place,
            format!(
                "numa_mem_policy={text} is not supported; instead: numactl --membind=NODE assay \
                 ..., or numa_cpu_nodes of the same nodes"
            ),
        )),
    }
}
