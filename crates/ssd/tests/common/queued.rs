//! A host with threads of some commands in flight each, whose submissions take a host time one
//! after another. Latency counts from the intended submission, as on a real host.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use assay_ssd::{Command, Drive, Status};
use assay_units::{DataClass, Nanos, Op, Rng};

/// The job.
#[derive(Clone, Copy)]
pub struct Queued {
    pub op: Op,
    pub random: bool,
    pub threads: u32,
    /// Commands in flight per thread.
    pub depth: u32,
    pub block: u32,
    /// Bytes used, from the drive's start; sequential threads have a region each.
    pub area: u64,
    /// Added to every offset: not 0 for unaligned access.
    pub shift: u64,
    /// Measured commands, after a tenth as many unmeasured ones.
    pub commands: u64,
}

impl Queued {
    /// Total commands in flight, on at most four threads (AnandTech Optane Memory).
    pub fn report_e(op: Op, random: bool, depth: u32, block: u32, commands: u64) -> Queued {
        let threads = depth.min(4);
        Queued {
            op,
            random,
            threads,
            depth: depth / threads,
            block,
            area: 16 << 30,
            shift: 0,
            commands,
        }
    }
}

/// Results. Times in microseconds.
#[derive(Clone, Copy, Debug)]
pub struct CommandTiming {
    pub mb_per_s: f64,
    pub kiops: f64,
    pub mean: f64,
    pub median: f64,
    pub p99: f64,
    pub p99999: f64,
    /// The last completion.
    pub end: Nanos,
}

/// Run from `start` on a drive with nothing in flight.
pub fn run_queued(drive: &mut Drive, job: Queued, start: Nanos, overhead: Nanos) -> CommandTiming {
    let block = u64::from(job.block);
    let region = (job.area / u64::from(job.threads)) / block * block;
    // Other offsets than an earlier job's: reads in the order of the writes before would collide on
    // their dies.
    let mut rng = Rng::stream(start.0, "offsets");
    let mut next = vec![0; job.threads as usize];
    let mut host_free = vec![start; job.threads as usize];
    let slots = job.threads * job.depth;
    let mut wanted = vec![start; slots as usize];
    let mut arriving: BinaryHeap<_> = BinaryHeap::new();
    let mut order = 0_u64;
    let mut want = |at: Nanos, slot: u32, wanted: &mut [Nanos], arriving: &mut BinaryHeap<_>| {
        let free = &mut host_free[(slot / job.depth) as usize];
        *free = at.max(*free) + overhead;
        wanted[slot as usize] = at;
        arriving.push(Reverse((*free, order, slot)));
        order += 1;
    };
    for slot in 0..slots {
        want(start, slot, &mut wanted, &mut arriving);
    }
    let warm = job.commands / 10;
    let total = job.commands + warm;
    let (mut sent, mut done) = (0, 0);
    let (mut from, mut end) = (start, start);
    let mut latencies = Vec::with_capacity(job.commands as usize);
    let mut out = Vec::new();
    while done < total {
        let arrival = arriving.peek().map_or(Nanos::MAX, |&Reverse((at, ..))| at);
        let event = drive.next_event().unwrap_or(Nanos::MAX);
        if event < arrival || sent == total {
            drive.advance(event, &mut out);
            for completion in out.drain(..) {
                assert_eq!(completion.status, Status::Ok);
                done += 1;
                end = completion.at;
                if done == warm {
                    from = end;
                } else if done > warm {
                    latencies.push((end - wanted[completion.tag as usize]).0);
                }
                want(end, completion.tag, &mut wanted, &mut arriving);
            }
            continue;
        }
        let Some(Reverse((at, _, slot))) = arriving.pop() else {
            break;
        };
        let thread = slot / job.depth;
        let offset = if job.random {
            rng.below(job.area / block - 1) * block
        } else {
            let at = &mut next[thread as usize];
            let offset = u64::from(thread) * region + *at;
            *at = (*at + block) % region;
            offset
        };
        sent += 1;
        drive.submit(
            at,
            Command {
                tag: slot,
                queue: thread as u16,
                op: job.op,
                offset_bytes: offset + job.shift,
                len_bytes: job.block,
                data: DataClass::Incompressible,
                fua: false,
            },
        );
    }
    latencies.sort_unstable();
    let n = latencies.len();
    let rank = |share: f64| latencies[((n as f64 * share).ceil() as usize).clamp(1, n) - 1] as f64;
    let seconds = (end - from).0 as f64 / 1e9;
    CommandTiming {
        mb_per_s: n as f64 * block as f64 / seconds / 1e6,
        kiops: n as f64 / seconds / 1e3,
        mean: latencies.iter().sum::<u64>() as f64 / n as f64 / 1e3,
        median: rank(0.5) / 1e3,
        p99: rank(0.99) / 1e3,
        p99999: rank(0.999_99) / 1e3,
        end,
    }
}
