//! A simulated host that runs a workload on a drive and records each second.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use assay_analysis::attribution::ObservedInterval;
use assay_sim_host::{HostCosts, HostProcessors};
use assay_ssd::{Command, Drive, Telemetry};
use assay_store::series::{IntervalSample, OpCounts};
use assay_units::{DataClass, Nanos, Op, Rng};

/// The workload of the host.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    pub op: Op,
    pub random: bool,
    pub block_bytes: u32,
    pub threads: u32,
    pub depth: u32,
    pub seconds: u32,
    /// Limit of the closed loop, I/Os per second.
    pub limit_iops: Option<f64>,
}

/// One second: the data of a run folder, and the state of the model.
pub struct Second {
    pub observed: ObservedInterval,
    pub telemetry: Telemetry,
    /// Bytes moved by garbage collection and folding.
    pub relocated_bytes: u64,
}

/// A workload on a drive in its present state.
pub fn work(drive: &mut Drive, job: Job, seed: u64) -> Vec<Second> {
    let block = u64::from(job.block_bytes);
    let blocks = drive.identity().capacity_bytes / block;
    let region = (blocks / u64::from(job.threads)).max(1);
    let mut rng = Rng::stream(seed, "offsets");
    let mut next: Vec<u64> = (0..job.threads).map(|n| u64::from(n) * region).collect();
    let host = HostCosts::of_bench(&drive.profile().bench);
    let mut cpus = HostProcessors::new(&host, job.threads, job.depth, Nanos::ZERO);
    let cores = (host.processors).map_or(job.threads, u32::from).min(job.threads);
    let slots = job.threads * job.depth;
    let mut ready: BinaryHeap<Reverse<(Nanos, u32)>> =
        (0..slots).map(|slot| Reverse((Nanos(u64::from(slot) * 100), slot))).collect();
    let gap_ns = job.limit_iops.map_or(0, |iops| (1e9 / iops) as u64);
    let mut due = Nanos::ZERO;
    let mut begun = vec![Nanos::ZERO; slots as usize];
    let mut done = Vec::new();
    let mut out = Vec::new();
    let mut before = drive.telemetry(Nanos::ZERO);
    for second in 0..job.seconds {
        let end = Nanos::from_millis((u64::from(second) + 1) * 1000);
        let (mut ios, mut latency_ns) = (0u64, 0u64);
        loop {
            let submit = ready.peek().map_or(Nanos::MAX, |&Reverse((at, _))| at);
            let event = drive.next_event().unwrap_or(Nanos::MAX);
            // Threads that share a processor submit when scheduled.
            if let Some((at, slot)) = cpus.pop(submit.min(event).min(end)) {
                ready.push(Reverse((at, slot)));
                continue;
            }
            if submit.min(event).min(cpus.next_event()) > end {
                break;
            }
            if event <= submit {
                drive.advance(event, &mut done);
                for completion in done.drain(..) {
                    ios += 1;
                    latency_ns += (completion.at - begun[completion.tag as usize]).0;
                    begun[completion.tag as usize] = completion.at;
                    let thread = completion.tag / job.depth;
                    let at = completion.at.max(due);
                    due = at + Nanos(gap_ns);
                    if let Some(at) = cpus.submit(thread, completion.tag, job.block_bytes, at) {
                        ready.push(Reverse((at, completion.tag)));
                    }
                }
                continue;
            }
            let Some(Reverse((at, slot))) = ready.pop() else {
                break;
            };
            let thread = (slot / job.depth) as usize;
            let index = if job.random {
                rng.below(blocks)
            } else {
                let at = next[thread];
                let first = thread as u64 * region;
                next[thread] = if at + 1 >= first + region { first } else { at + 1 };
                at
            };
            let command = Command {
                tag: slot,
                queue: thread as u16,
                op: job.op,
                offset_bytes: index * block,
                len_bytes: job.block_bytes,
                data: DataClass::Incompressible,
                fua: false,
            };
            drive.submit(at, command);
        }
        let now = drive.telemetry(end);
        let bytes = ios * block;
        let overhead_s = host.work_ns(job.depth, block) as f64 / 1e9;
        let busy_pct = (ios as f64 * overhead_s / f64::from(cores) * 100.0).min(100.0);
        out.push(Second {
            observed: ObservedInterval {
                sample: sample(second, job.op, ios, bytes, latency_ns),
                nand_bytes: Some(now.nand_bytes_written - before.nand_bytes_written),
                temperature_c: Some(f64::from(now.composite_celsius)),
                throttled: Some(now.throttled),
                warning_time_s: Some(now.warning_time_s),
                power_mw: Some(
                    (now.energy_uj - before.energy_uj) * 1_000_000
                        / (now.energy_until - before.energy_until).0.max(1),
                ),
                power_state: Some(now.power_state),
                // A host with more processors than this job uses is mostly idle.
                host_idle_pct: Some(100.0 - busy_pct / 4.0),
                busiest_thread_pct: Some(busy_pct),
            },
            relocated_bytes: now.relocated_bytes - before.relocated_bytes,
            telemetry: now.clone(),
        });
        before = now;
    }
    out
}

fn sample(second: u32, op: Op, ios: u64, bytes: u64, latency_ns: u64) -> IntervalSample {
    let counts = OpCounts {
        ios,
        bytes,
        latencies: ios,
        latency_sum_ns: latency_ns as f64,
        ..OpCounts::default()
    };
    let mut sample = IntervalSample {
        index: second,
        start: Nanos::from_secs(second.into()),
        end: Nanos::from_secs(u64::from(second) + 1),
        ..IntervalSample::default()
    };
    match op {
        Op::Write => sample.write = counts,
        _ => sample.read = counts,
    }
    sample
}

/// Mean I/Os per second over seconds.
pub fn mean_iops(seconds: &[Second]) -> f64 {
    seconds.iter().map(|s| s.observed.sample.iops()).sum::<f64>() / seconds.len().max(1) as f64
}
