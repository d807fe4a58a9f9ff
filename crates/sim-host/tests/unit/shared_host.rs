use std::thread;

use super::*;

/// Closed loops of threads on drives of constant latency: the mean rate of each drive, I/Os per
/// second, over the second half of the time.
fn rates(profile: HostProfile, drives: &[(u32, Nanos)], bytes: u64, work: Nanos) -> Vec<f64> {
    const END: Nanos = Nanos::from_millis(400);
    let shares = SharedHost::shares(profile, drives.len());
    thread::scope(|scope| {
        let run = |(mut share, &(threads, latency)): (HostShare, &(u32, Nanos))| {
            scope.spawn(move || {
                let mut next: std::collections::BinaryHeap<_> =
                    (0..threads).map(|_| std::cmp::Reverse(Nanos::ZERO)).collect();
                let mut counted = 0_u64;
                while let Some(std::cmp::Reverse(now)) = next.pop().filter(|at| at.0 < END) {
                    let at_drive = share.admit(now, bytes, work);
                    next.push(std::cmp::Reverse(at_drive + latency));
                    counted += u64::from(now > Nanos(END.0 / 2));
                }
                counted as f64 / (END.as_secs_f64() / 2.0)
            })
        };
        let running: Vec<_> = shares.into_iter().zip(drives).map(run).collect();
        running.into_iter().map(|drive| drive.join().unwrap()).collect()
    })
}

fn near(found: f64, expected: f64, percent: f64) {
    assert!((found / expected - 1.0).abs() < percent / 100.0, "{found} for {expected}");
}

const MICROSECOND: Nanos = Nanos::from_micros(1);

fn host(processors: u32, uplink: Option<u64>) -> HostProfile {
    HostProfile { processors, uplink_bytes_per_second: uplink }
}

/// 64 threads a drive of 100 us, and 6 us of a processor for each I/O: 64 / 106 us, of five drives
/// 18 processors' worth.
#[test]
fn a_large_host_costs_each_drive_its_processor_time_only() {
    let drives = [(64, Nanos::from_micros(100)); 5];
    for rate in rates(host(32, None), &drives, 4096, Nanos(6 * MICROSECOND.0)) {
        near(rate, 64.0 / 106e-6, 1.0);
    }
}

/// The same on 8 processors: they do 8 / 6 us, of which each drive gets a fifth.
#[test]
fn saturated_processors_set_the_sum_of_the_rates() {
    let drives = [(64, Nanos::from_micros(100)); 5];
    let found = rates(host(8, None), &drives, 4096, Nanos(6 * MICROSECOND.0));
    near(found.iter().sum(), 8.0 / 6e-6, 3.0);
    for rate in found {
        near(rate, 8.0 / 6e-6 / 5.0, 5.0);
    }
}

/// A slow drive beside a fast one: the slow one hardly notices, as its threads rarely want a
/// processor.
#[test]
fn processors_are_shared_by_the_threads_that_want_them() {
    let drives = [(64, Nanos::from_micros(20)), (4, Nanos::from_millis(10))];
    let found = rates(host(4, None), &drives, 4096, Nanos(6 * MICROSECOND.0));
    near(found[0], 4.0 / 6e-6, 3.0);
    near(found[1], 4.0 / 10.1e-3, 2.0);
}

/// Drives that want 2, 1 and 0.25 GB/s of an uplink: of 4 GB/s they get that; of 1.5 GB/s the last
/// one gets what it wants, and the others share the other 1.25.
#[test]
fn the_uplink_is_divided_fairly() {
    let block = 100_000;
    let latency = Nanos::from_micros(390);
    let drives = [(8, latency), (4, latency), (1, latency)];
    let work = Nanos(10 * MICROSECOND.0);
    let free = rates(host(32, Some(100_000_000_000)), &drives, block, work);
    for (rate, wanted) in free.iter().zip([2e9, 1e9, 0.25e9]) {
        near(rate * block as f64, wanted, 2.0);
    }
    let shared = rates(host(32, Some(1_500_000_000)), &drives, block, work);
    near(shared.iter().sum::<f64>() * block as f64, 1.5e9, 4.0);
    near(shared[0] / shared[1], 1.0, 8.0);
    assert!(shared[2] * block as f64 > 0.15e9, "{shared:?}");
}

#[test]
fn levels_are_fair() {
    assert_eq!(fair_level(&mut [3, 1, 2], 6), None);
    assert_eq!(fair_level(&mut [30, 1, 20], 11), Some(5));
    assert_eq!(fair_level(&mut [30, 40], 11), Some(5));
    assert_eq!(fair_level(&mut [7], 5), Some(5));
    assert_eq!(fair_level(&mut [0, 9], 5), Some(5));
}

/// The same to the last I/O, however the threads are scheduled; and a drive that ends does not hold
/// the others.
#[test]
fn results_do_not_depend_on_the_schedule() {
    let drives =
        [(64, Nanos::from_micros(80)), (16, Nanos::from_micros(300)), (1, Nanos::from_millis(500))];
    let profile = host(2, Some(2_000_000_000));
    let first = rates(profile, &drives, 4096, Nanos(3 * MICROSECOND.0));
    for _ in 0..5 {
        assert_eq!(rates(profile, &drives, 4096, Nanos(3 * MICROSECOND.0)), first);
    }
}
