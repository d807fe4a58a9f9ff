use assay_ssd::{DriveOptions, Profile};
use assay_units::Rng;

use super::*;
use crate::block_cache::disk::DISK_7200;

struct Host {
    cache: CachedDisk,
    drive: Drive,
    now: Nanos,
}

impl Host {
    fn new(cache_bytes: u64, block_bytes: u64, mode: CacheMode) -> Host {
        let profile = Profile::builtin("intel-optane-memory-32gb").unwrap();
        Host {
            cache: CachedDisk::new(DISK_7200, cache_bytes, block_bytes, mode).unwrap(),
            drive: Drive::new(profile, DriveOptions::default()).unwrap(),
            now: Nanos::ZERO,
        }
    }

    /// One command, until it completes; its latency.
    fn one(&mut self, op: Op, offset_bytes: u64, len_bytes: u32) -> Nanos {
        let command = Command { op, offset_bytes, len_bytes, ..BACKGROUND };
        let begin = self.now;
        self.cache.submit(begin, command, &mut self.drive);
        let mut out = Vec::new();
        while out.is_empty() {
            let next = self.next();
            assert!(next < Nanos::MAX, "a command never completes");
            self.step(next, &mut out);
        }
        assert_eq!(out[0].2, Status::Ok);
        self.now - begin
    }

    fn next(&self) -> Nanos {
        self.cache.next_event().min(self.drive.next_event().unwrap_or(Nanos::MAX))
    }

    fn step(&mut self, next: Nanos, out: &mut Vec<HostCompletion>) {
        self.now = self.now.max(next);
        let mut finished = Vec::new();
        if self.drive.next_event().is_some_and(|at| at <= next) {
            self.drive.advance(next, &mut finished);
        }
        for completion in &finished {
            self.cache.cache_completed(completion, out);
        }
        self.cache.advance(next, &mut self.drive, out);
    }

    fn idle(&mut self, span: Nanos) {
        let until = self.now + span;
        while self.next() <= until {
            let next = self.next();
            self.step(next, &mut Vec::new());
        }
        self.now = until;
    }
}

fn ms(latency: Nanos) -> f64 {
    latency.0 as f64 / 1e6
}

#[test]
fn a_second_read_is_a_hit() {
    let mut host = Host::new(1 << 30, DEFAULT_BLOCK_BYTES, CacheMode::WriteBack);
    let cold = host.one(Op::Read, 1 << 40, 4096);
    // Until the block is in the cache, a read of it waits for that write.
    host.idle(Nanos::from_millis(10));
    let warm = host.one(Op::Read, 1 << 40, 4096);
    assert!(ms(cold) > 3.0 && ms(warm) < 0.1, "{cold} {warm}");
    // The block as a whole was read.
    assert!(ms(host.one(Op::Read, (1 << 40) + 32768, 4096)) < 0.1);
    assert_eq!((host.cache.counters().reads, host.cache.counters().read_hits), (3, 2));
}

#[test]
fn writes_wait_for_the_disk_only_in_write_through_mode() {
    let mut back = Host::new(1 << 30, DEFAULT_BLOCK_BYTES, CacheMode::WriteBack);
    assert!(ms(back.one(Op::Write, 1 << 40, 4096)) < 0.5);
    assert_eq!(back.cache.dirty_bytes(), 4096);
    // The idle disk gets it.
    back.idle(Nanos::SECOND);
    assert_eq!((back.cache.dirty_bytes(), back.cache.counters().cleaned), (0, 1));
    let mut through = Host::new(1 << 30, DEFAULT_BLOCK_BYTES, CacheMode::WriteThrough);
    assert!(ms(through.one(Op::Write, 1 << 40, 4096)) > 3.0);
    assert_eq!(through.cache.dirty_bytes(), 0);
    assert!(ms(through.one(Op::Read, 1 << 40, 4096)) < 0.1);
}

/// Without a cache every read takes the disk, and only what was asked for is read.
#[test]
fn the_disk_alone_has_no_hits() {
    let mut host = Host::new(1 << 30, DEFAULT_BLOCK_BYTES, CacheMode::None);
    for _ in 0..3 {
        assert!(ms(host.one(Op::Read, 1 << 40, 4096)) > 0.1);
        host.one(Op::Read, 0, 4096);
    }
    assert!(ms(host.one(Op::Write, 1 << 40, 4096)) > 1.0);
    assert_eq!((host.cache.counters().reads, host.cache.counters().read_hits), (6, 0));
    assert_eq!(host.drive.telemetry(host.now).host_bytes_read, 0);
}

/// A cache full of dirty blocks takes new ones at the pace of the disk.
#[test]
fn a_full_cache_writes_at_the_pace_of_the_disk() {
    let mut host = Host::new(64 * DEFAULT_BLOCK_BYTES, DEFAULT_BLOCK_BYTES, CacheMode::WriteBack);
    let mut rng = Rng::stream(1, "writes");
    let mut write =
        |host: &mut Host| ms(host.one(Op::Write, rng.below(1 << 25) * DEFAULT_BLOCK_BYTES, 65536));
    let free: f64 = (0..64).map(|_| write(&mut host)).sum::<f64>() / 64.0;
    let full: f64 = (0..200).map(|_| write(&mut host)).sum::<f64>() / 200.0;
    assert!(free < 1.0 && full > 5.0, "{free} {full}");
}

/// The hit rate of uniform reads is the cache's share of the area.
#[test]
fn hits_of_random_reads_are_the_share_of_the_cache() {
    // Uniform over twice the cache: half of the reads hit.
    let mut host = Host::new(256 << 20, DEFAULT_BLOCK_BYTES, CacheMode::WriteBack);
    let mut rng = Rng::stream(2, "reads");
    for _ in 0..20_000 {
        host.one(Op::Read, rng.below(8192) * DEFAULT_BLOCK_BYTES, 4096);
    }
    let before = host.cache.counters();
    for _ in 0..20_000 {
        host.one(Op::Read, rng.below(8192) * DEFAULT_BLOCK_BYTES, 4096);
    }
    let after = host.cache.counters();
    let hits = (after.read_hits - before.read_hits) as f64 / 20_000.0;
    assert!((hits - 0.5).abs() < 0.02, "{hits}");
}

/// What is outside of the disk is refused; a flush and a discard complete.
#[test]
fn every_command_completes() {
    let mut host = Host::new(1 << 30, DEFAULT_BLOCK_BYTES, CacheMode::WriteBack);
    host.one(Op::Write, 0, 4096);
    host.one(Op::Flush, 0, 0);
    host.one(Op::Discard, 0, 1 << 20);
    let command = Command {
        tag: 3,
        op: Op::Read,
        offset_bytes: host.cache.capacity_bytes(),
        len_bytes: 4096,
        ..BACKGROUND
    };
    host.cache.submit(host.now, command, &mut host.drive);
    let mut out = Vec::new();
    host.cache.advance(host.now, &mut host.drive, &mut out);
    assert_eq!(out, [(host.now, 3, Status::LbaOutOfRange)]);
    assert!(CachedDisk::new(DISK_7200, 1 << 30, 3000, CacheMode::WriteBack).is_err());
}

/// Pages that were written apart are written to the disk apart, and nothing else of their block.
#[test]
fn only_dirty_pages_are_written_to_the_disk() {
    assert_eq!(runs(0b1011_0110).collect::<Vec<_>>(), [(1, 2), (4, 2), (7, 1)]);
    assert_eq!(runs(u64::MAX).collect::<Vec<_>>(), [(0, 64)]);
    assert_eq!(runs(1 << 63).collect::<Vec<_>>(), [(63, 1)]);
    let mut host = Host::new(1 << 30, DEFAULT_BLOCK_BYTES, CacheMode::WriteBack);
    for page in [0, 2, 3, 15] {
        host.one(Op::Write, page * PAGE_BYTES, 4096);
    }
    assert_eq!(host.cache.dirty_bytes(), 4 * PAGE_BYTES);
    let read_before = host.drive.telemetry(host.now).host_bytes_read;
    host.idle(Nanos::SECOND);
    let read = host.drive.telemetry(host.now).host_bytes_read - read_before;
    assert_eq!((read, host.cache.dirty_bytes()), (4 * PAGE_BYTES, 0));
    assert!(host.cache.is_idle());
    host.cache.clear();
    assert!(ms(host.one(Op::Read, 0, 4096)) > 1.0, "what was cleared is read from the disk");
}

/// Random commands of several in flight, idle times and clearing: every command completes once,
/// counters add up, and the dirty pages are those that were written and not yet written back.
#[test]
fn random_commands_complete_once() {
    for seed in 0..20 {
        let (mode, _) = CacheMode::ALL[seed as usize % 3];
        let mut host = Host::new(16 * DEFAULT_BLOCK_BYTES, DEFAULT_BLOCK_BYTES, mode);
        let mut rng = Rng::stream(seed, "commands");
        let mut in_flight = std::collections::BTreeSet::new();
        let (mut reads, mut writes) = (0, 0);
        let mut out = Vec::new();
        for tag in 0..400 {
            let op = [Op::Read, Op::Write, Op::Flush, Op::Discard][rng.below(10).min(3) as usize];
            let (reading, writing) = (op == Op::Read, op == Op::Write);
            reads += u64::from(reading);
            writes += u64::from(writing);
            let command = Command {
                tag,
                op,
                offset_bytes: rng.below(64 * 16) * PAGE_BYTES,
                len_bytes: (1 + rng.below(40) as u32) * 4096,
                ..BACKGROUND
            };
            in_flight.insert(tag);
            host.cache.submit(host.now, command, &mut host.drive);
            while in_flight.len() > 8 || (rng.below(4) == 0 && !in_flight.is_empty()) {
                let next = host.next();
                assert!(next < Nanos::MAX, "a command never completes");
                host.step(next, &mut out);
                for (at, tag, status) in out.drain(..) {
                    assert!(at <= host.now && status.is_ok());
                    assert!(in_flight.remove(&tag), "{tag} completes twice");
                }
            }
            if rng.below(50) == 0 {
                let until = host.now + Nanos::from_millis(rng.below(400));
                while host.next() <= until {
                    let next = host.next();
                    host.step(next, &mut out);
                }
                host.now = until;
                for (_, tag, _) in out.drain(..) {
                    assert!(in_flight.remove(&tag));
                }
            }
        }
        while host.next() < Nanos::MAX {
            let next = host.next();
            host.step(next, &mut out);
        }
        for (_, tag, _) in out.drain(..) {
            assert!(in_flight.remove(&tag));
        }
        assert!(in_flight.is_empty() && host.cache.is_idle());
        let counters = host.cache.counters();
        assert_eq!((counters.reads, counters.writes), (reads, writes));
        assert!(counters.read_hits <= reads);
        assert_eq!(host.cache.dirty_bytes(), 0, "the idle disk has everything");
    }
}
