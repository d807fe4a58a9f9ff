use assay_units::Rng;

use super::*;

fn command(offset_bytes: u64, len_bytes: u64, op: Op) -> DiskCommand {
    DiskCommand { tag: 0, op, offset_bytes, len_bytes }
}

/// One command after the other; the mean time of each.
fn mean_ms(offsets: impl Iterator<Item = u64>, len: u64, op: Op) -> f64 {
    let mut disk = Disk::new(DISK_7200);
    let (mut now, mut count) = (Nanos::ZERO, 0);
    for offset in offsets {
        disk.submit(now, command(offset, len, op));
        now = disk.advance(Nanos::MAX).unwrap().0;
        count += 1;
    }
    now.0 as f64 / 1e6 / f64::from(count)
}

/// The latency of a random read is the mean seek, half a revolution, the transfer and the overhead.
#[test]
fn random_reads_take_a_seek_and_half_a_revolution() {
    let mut rng = Rng::stream(1, "disk");
    let blocks = DISK_7200.capacity_bytes / 4096;
    let found = mean_ms((0..40_000).map(|_| rng.below(blocks) * 4096), 4096, Op::Read);
    let transfer = 4096.0 / 160e6 * 1e3;
    let expected = 7.4 + 8.333_333 / 2.0 + 0.1 + transfer;
    assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected}");
}

#[test]
fn sequential_reads_run_at_the_rate_of_their_zone() {
    let rate = |start: u64| {
        let len = 128 << 10;
        let ms = mean_ms((0..4000).map(|n| start + n * len), len, Op::Read);
        len as f64 / 1e6 / (ms / 1e3)
    };
    // The rate of the medium less the changes of track.
    let (outer, inner) = (rate(0), rate(DISK_7200.capacity_bytes - (1 << 30)));
    assert!((outer / (220.0 * 8.333 / 8.563) - 1.0).abs() < 0.01, "{outer}");
    assert!((inner / (105.0 * 8.333 / 8.563) - 1.0).abs() < 0.02, "{inner}");
}

/// Without a write cache, a synchronous sequential write misses its turn by the overhead and waits
/// a revolution.
#[test]
fn synchronous_writes_lose_a_revolution() {
    let ms = mean_ms((0..2000).map(|n| n * 4096), 4096, Op::Write);
    assert!((ms / 8.333 - 1.0).abs() < 0.02, "{ms}");
}

/// Queued commands are served in the order in which they are reached.
#[test]
fn a_queue_is_faster_than_single_commands() {
    let mut rng = Rng::stream(2, "disk");
    let blocks = DISK_7200.capacity_bytes / 4096;
    let rate = |depth: usize, rng: &mut Rng| {
        let mut disk = Disk::new(DISK_7200);
        for _ in 0..depth {
            disk.submit(Nanos::ZERO, command(rng.below(blocks) * 4096, 4096, Op::Read));
        }
        let mut now = Nanos::ZERO;
        for _ in 0..4000 {
            now = disk.advance(Nanos::MAX).unwrap().0;
            disk.submit(now, command(rng.below(blocks) * 4096, 4096, Op::Read));
        }
        4000.0 / now.as_secs_f64()
    };
    let (one, many) = (rate(1, &mut rng), rate(32, &mut rng));
    assert!((80.0..90.0).contains(&one), "{one}");
    assert!(many > 2.0 * one, "{one} {many}");
}

/// Every byte has one place, in order from the outermost track inwards.
#[test]
fn places_follow_one_another() {
    let disk = Disk::new(DISK_7200);
    let mut rng = Rng::stream(3, "disk");
    for _ in 0..10_000 {
        let at = rng.below(DISK_7200.capacity_bytes / 512 - 1) * 512;
        let (here, next) = (disk.place(at), disk.place(at + 512));
        assert!(next.track == here.track || next.track == here.track + 1);
        assert!((0.0..1.0).contains(&here.angle) && here.track < disk.tracks);
    }
}
