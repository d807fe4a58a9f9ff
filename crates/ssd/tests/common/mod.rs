//! A synchronous host: threads with one command in flight each.
#![allow(dead_code)]

pub mod queued;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use assay_ssd::{Command, Drive, DriveOptions, Profile, Status};
use assay_units::{DataClass, Nanos, Op, Rng};

/// A drive of a built-in profile.
pub fn drive(name: &str, options: DriveOptions) -> Drive {
    let profile = Profile::builtin(name).expect("a built-in profile");
    Drive::new(profile, options).expect("a profile that makes a drive")
}

/// A plain command on queue 0.
pub fn command(tag: u32, op: Op, offset_bytes: u64, len_bytes: u32) -> Command {
    Command {
        tag,
        queue: tag as u16,
        op,
        offset_bytes,
        len_bytes,
        data: DataClass::Incompressible,
        fua: false,
    }
}

/// Submit one command and wait for it.
pub fn one(drive: &mut Drive, now: Nanos, command: Command) -> assay_ssd::Completion {
    drive.submit(now, command);
    let mut out = Vec::new();
    drive.advance(Nanos(u64::MAX - 1), &mut out);
    assert_eq!(out.len(), 1);
    out[0]
}

/// A synchronous job.
#[derive(Clone, Copy)]
pub struct Job {
    pub op: Op,
    pub random: bool,
    pub threads: u32,
    pub block: u32,
    pub area: u64,
    /// Start of a sequential job within each thread's region.
    pub first: u64,
}

/// Run a job from `start` until `until` or `limit` I/Os, each in pieces of at most the host's
/// longest command, one after the other; returns bytes moved and the last completion's time.
pub fn run(drive: &mut Drive, job: Job, start: Nanos, until: Nanos, limit: u64) -> (u64, Nanos) {
    let host = Nanos(drive.profile().bench.sync_io_ns.value);
    let longest = drive.profile().bench.max_io_bytes.as_ref();
    let longest = longest.map_or(job.block, |longest| longest.value.min(job.block));
    let block = u64::from(job.block);
    // Per thread: offset and bytes of the rest of its I/O.
    let mut rest = vec![(0, 0); job.threads as usize];
    let region = (job.area / u64::from(job.threads)) & !(block - 1);
    let mut rng = Rng::stream(1, "offsets");
    let mut next = vec![job.first; job.threads as usize];
    // Threads that start together would send all first pieces, then all second ones, for ever.
    let stagger_ns = if longest < job.block { 100_000 } else { 100 };
    let mut ready: BinaryHeap<_> =
        (0..job.threads).map(|n| Reverse((start + Nanos(u64::from(n) * stagger_ns), n))).collect();
    let mut out = Vec::new();
    let (mut sent, mut done, mut last) = (0, 0, start);
    loop {
        let submit = ready.peek().map_or(Nanos::MAX, |&Reverse((at, _))| at);
        match drive.next_event() {
            Some(event) if event <= submit => {
                drive.advance(event, &mut out);
                for completion in out.drain(..) {
                    assert_eq!(completion.status, Status::Ok);
                    assert!(completion.at >= last);
                    last = completion.at;
                    done += u64::from(rest[completion.tag as usize].1 == 0);
                    if completion.at < until || rest[completion.tag as usize].1 > 0 {
                        ready.push(Reverse((completion.at + host, completion.tag)));
                    }
                }
                continue;
            }
            _ => {}
        }
        let Some(Reverse((at, thread))) = ready.pop() else {
            break;
        };
        let left = &mut rest[thread as usize];
        if left.1 > 0 {
            let len = left.1.min(longest);
            drive.submit(at, command(thread, job.op, left.0, len));
            *left = (left.0 + u64::from(len), left.1 - len);
            continue;
        }
        if sent == limit {
            continue;
        }
        let offset = if job.random {
            rng.below(job.area / block) * block
        } else {
            let at = next[thread as usize];
            next[thread as usize] = (at + block) % region;
            u64::from(thread) * region + at
        };
        drive.submit(at, command(thread, job.op, offset, longest));
        *left = (offset + u64::from(longest), job.block - longest);
        sent += 1;
    }
    assert_eq!(sent, done, "every command completes once");
    (done * block, last)
}
