//! Rates and latencies of drives in real time behind a front, against the model's.

use anyhow::{Context, Result, ensure};
use assay_ssd::{Drive, DriveOptions, Profile};
use assay_units::{Nanos, Op, Rng};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::simulation::command;
use crate::Bench;
use crate::document::{Section, Table};
use crate::hosts::{self, Work};
use crate::rounds::{Figure, Spread};
use crate::serving::{AREA_BYTES, Front, Serving};
use crate::tools::Sample;

/// Permitted deviation of paced figures from the model's with the round-trip overhead.
const GOAL_AGREEMENT: f64 = 0.05;
/// Many short ones, because a 99th percentile varies from second to second by more than the goal.
const PACED_ROUNDS: usize = 3;
const PACED_MS: u64 = 1500;
const RAMP_MS: u64 = 250;
/// It wakes a hundred times a second, as often as a 99th percentile of 8,000 reads a second is
/// exceeded, so it must share neither the server's processor nor that of fio's reading thread.
const HOUSEKEEPING_PROCESSOR: &str = "0";
/// Waking an idle processor of a virtual machine takes 15 to 40 us, varying by the minute, so that
/// the overhead measured before would not be that of the reads.
pub const SHARED_PROCESSOR: &str = "1";
const DRIVES: [(&str, u32); 6] = [
    ("samsung-951", 1),
    ("samsung-951", 4),
    ("intel-600p", 1),
    ("intel-600p", 8),
    ("toshiba-rd400", 1),
    ("toshiba-rd400", 4),
];

/// Each completion takes `overhead_ns` to be seen, which counts as latency; the next command
/// follows `between_ns` later, which does not.
fn in_process(
    profile: &str,
    depth: u32,
    (overhead_ns, between_ns): (f64, f64),
    span: Nanos,
) -> Result<Sample> {
    let profile = Profile::builtin(profile).with_context(|| format!("no profile {profile}"))?;
    let mut drive = Drive::new(profile, DriveOptions::default())?;
    let mut rng = Rng::new(3);
    let mut sent = vec![Nanos::ZERO; depth as usize];
    let mut times = Vec::new();
    let mut done = Vec::new();
    let mut read = |drive: &mut Drive, tag: u32, at: Nanos| {
        let offset_bytes = rng.below(AREA_BYTES / 4096) * 4096;
        drive.submit(at, command(tag, 0, Op::Read, offset_bytes, 4096));
    };
    // One delay for all keeps that order.
    let mut waiting: std::collections::VecDeque<(Nanos, u32)> =
        (0..depth).map(|tag| (Nanos::ZERO, tag)).collect();
    let mut now = Nanos::ZERO;
    while now < span {
        let due = waiting.front().map_or(Nanos::MAX, |&(at, _)| at);
        now = due.min(drive.next_event().unwrap_or(Nanos::MAX));
        ensure!(now < Nanos::MAX, "the model has nothing to do");
        while let Some(&(at, tag)) = waiting.front()
            && at <= now
        {
            waiting.pop_front();
            sent[tag as usize] = at;
            read(&mut drive, tag, at);
        }
        drive.advance(now, &mut done);
        for completion in done.drain(..) {
            let at = completion.at + Nanos(overhead_ns as u64);
            times.push((at - sent[completion.tag as usize]).0);
            waiting.push_back((at + Nanos(between_ns as u64), completion.tag));
        }
    }
    Ok(Sample::of_latencies(times, span))
}

const FIGURES: [(&str, Figure); 3] =
    [("IOPS", |s| s.iops), ("p50 us", |s| s.p50_ns / 1e3), ("p99 us", |s| s.p99_ns / 1e3)];

struct Paced {
    overhead_ns: [f64; 3],
    between_ns: f64,
    seen: Sample,
    model: Sample,
    slowest: Sample,
}

impl Paced {
    /// With a server of its own, because the overhead varies by the minute.
    fn measure(bench: &Bench, front: Front, profile: &str, depth: u32) -> Result<Paced> {
        let drive = format!("sim:{profile}");
        let serving = Serving::assay(bench, front, &drive, "real", Some(SHARED_PROCESSOR))?;
        let overhead_ns @ [mean_ns, p50_ns, p99_ns] = serving.overhead_ns;
        let span_ms = bench.span_ms(PACED_MS);
        let seen = match front {
            Front::NvmeTcp => {
                let work = Work {
                    op: hosts::Op::Read,
                    depth,
                    area_bytes: AREA_BYTES,
                    ramp: Nanos::from_millis(RAMP_MS),
                    span: Nanos::from_millis(span_ms),
                };
                on_shared_processor(|| serving.work(1, work))?
            }
            _ => {
                // As the measurement of the round-trip overhead, which warms up first.
                let options = format!(
                    "--iodepth={depth} --ramp_time={RAMP_MS}ms --cpus_allowed={SHARED_PROCESSOR}"
                );
                let job = serving.job("paced", &options, span_ms);
                job.run_on(&bench.runner, HOUSEKEEPING_PROCESSOR)?
            }
        };
        // By Little's law, from the host's own rate and mean latency.
        let between_ns = (f64::from(depth) * 1e9 / seen.iops - seen.mean_ns).max(0.0);
        let span = Nanos::from_millis(2000);
        let model = in_process(profile, depth, (0.0, 0.0), span)?;
        let mut slowest = in_process(profile, depth, (p50_ns, 0.0), span)?;
        slowest.p99_ns += p99_ns - p50_ns;
        slowest.iops = in_process(profile, depth, (mean_ns, between_ns), span)?.iops;
        Ok(Paced { overhead_ns, between_ns, seen, model, slowest })
    }

    fn beyond(&self, figure: Figure) -> f64 {
        let (here, there) = (figure(&self.model), figure(&self.slowest));
        let (least, most) = (here.min(there), here.max(there));
        match figure(&self.seen) {
            seen if seen < least => 100.0 * (seen / least - 1.0),
            seen if seen > most => 100.0 * (seen / most - 1.0),
            _ => 0.0,
        }
    }
}

/// Filled simulated drives in real time, against the model.
pub fn paced(bench: &Bench, section: &mut Section, front: Front) -> Result<()> {
    let (protocol, host) = match front {
        Front::NvmeTcp => ("NVMe/TCP", "this program"),
        _ => ("NBD", "fio"),
    };
    let mut rounds: Vec<Vec<Paced>> = DRIVES.iter().map(|_| Vec::new()).collect();
    bench.repeat("paced", PACED_ROUNDS * bench.rounds(), |_| {
        for ((profile, depth), samples) in DRIVES.into_iter().zip(&mut rounds) {
            bench.runner.check_stopped()?;
            samples.push(Paced::measure(bench, front, profile, depth)?);
        }
        Ok(())
    })?;
    let mut overheads = Table::new(&[
        "drive, depth",
        "round trip p50, us",
        "round trip mean, us",
        "round trip p99, us",
        &format!("{host} between I/Os, us"),
    ]);
    let mut table = Table::new(&[
        "drive, depth",
        "figure",
        "model",
        "model + round trip",
        &format!("{host} over {protocol}"),
        "outside this range, %",
    ]);
    let mut worst: [f64; 3] = [0.0; 3];
    for ((profile, depth), samples) in DRIVES.into_iter().zip(&rounds) {
        let title = format!("{profile}, depth {depth}");
        let spread = |of: &dyn Fn(&Paced) -> f64| Spread::new(samples.iter().map(of));
        let us = |of: &dyn Fn(&Paced) -> f64| spread(&|s| of(s) / 1e3).show(1);
        overheads.row([
            &title,
            &us(&|s| s.overhead_ns[1]),
            &us(&|s| s.overhead_ns[0]),
            &us(&|s| s.overhead_ns[2]),
            &us(&|s| s.between_ns),
        ]);
        for ((name, figure), worst) in FIGURES.into_iter().zip(&mut worst) {
            let beyond = spread(&|s| s.beyond(figure));
            if beyond.median.abs() > worst.abs() {
                *worst = beyond.median;
            }
            table.row([
                &title,
                &name,
                &spread(&|s| figure(&s.model)).show(1),
                &spread(&|s| figure(&s.slowest)).show(1),
                &spread(&|s| figure(&s.seen)).show(1),
                &beyond.show(1),
            ]);
        }
    }
    for ((name, _), worst) in FIGURES.into_iter().zip(worst) {
        let name = name.trim_end_matches(" us");
        section.goal(
            format!(
                "paced {name} over {protocol} at most {:.0} % outside the range from the \
                 model's to the model's with the round-trip overhead",
                100.0 * GOAL_AGREEMENT
            ),
            format!("worst {worst:+.1} %"),
            worst.abs() <= 100.0 * GOAL_AGREEMENT,
        );
    }
    section.tables.extend([overheads, table]);
    Ok(())
}

/// Runs `work` on the processor of the server.
pub fn on_shared_processor<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let before = sched_getaffinity(None)?;
    let mut shared = CpuSet::new();
    shared.set(SHARED_PROCESSOR.parse()?);
    sched_setaffinity(None, &shared)?;
    let result = work();
    sched_setaffinity(None, &before)?;
    result
}
