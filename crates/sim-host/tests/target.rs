//! The simulated target: virtual time, stored data, errors.

use assay_io::placement::PlacementIds;
use assay_io::{Completion, DataClass, Io, Nanos, Op, Target};
use assay_sim_host::{HostCosts, SimTarget};
use assay_ssd::{DriveOptions, Profile};

fn target(options: &[(&str, &str)]) -> SimTarget {
    let mut chosen = DriveOptions::default();
    for (key, value) in options {
        chosen.set(key, value).unwrap();
    }
    SimTarget::new("sim:samsung-951", Profile::builtin("samsung-951").unwrap(), chosen).unwrap()
}

fn io(op: Op, slot: u32, offset_bytes: u64) -> Io {
    Io {
        op,
        data: DataClass::Incompressible,
        slot,
        len_bytes: 4096,
        offset_bytes,
        fua: false,
        priority: 0,
    }
}

fn all(target: &mut SimTarget, batch: &[Io]) -> Vec<Completion> {
    let mut done = Vec::new();
    target.submit(batch).unwrap();
    target.reap(batch.len(), Nanos::MAX, &mut done).unwrap();
    done
}

#[test]
fn virtual_time_advances_only_in_waits() {
    let mut target = target(&[]);
    target.begin_job(1, 4, 4096).unwrap();
    let start = target.now();
    target.submit(&[io(Op::Read, 0, 0)]).unwrap();
    assert_eq!(target.now(), start);
    let mut done = Vec::new();
    // With a deadline before the completion, time advances to the deadline.
    target.reap(1, start + Nanos(500), &mut done).unwrap();
    assert_eq!((target.now(), done.len()), (start + Nanos(500), 0));
    target.reap(1, Nanos::MAX, &mut done).unwrap();
    assert_eq!(done.len(), 1);
    assert!(target.now() > start + Nanos::from_micros(10));
    // Without I/O in flight, waiting jumps to the deadline.
    let later = target.now() + Nanos::from_secs(3600);
    target.reap(1, later, &mut done).unwrap();
    assert_eq!(target.now(), later);
}

#[test]
fn written_data_is_read_back() {
    let mut target = target(&[("data", "keep")]);
    target.begin_job(1, 4, 4096).unwrap();
    target.buffer(1).unwrap().fill(0xa7);
    assert!(all(&mut target, &[io(Op::Write, 1, 8192)])[0].moved(4096));
    assert!(all(&mut target, &[io(Op::Read, 2, 8192)])[0].moved(4096));
    assert!(target.buffer(2).unwrap().iter().all(|&b| b == 0xa7));
    assert!(all(&mut target, &[io(Op::Discard, 0, 8192)])[0].moved(4096));
    assert!(all(&mut target, &[io(Op::Read, 3, 8192)])[0].moved(4096));
    assert!(target.buffer(3).unwrap().iter().all(|&b| b == 0));
}

#[test]
fn without_kept_data_there_are_no_buffers() {
    let mut target = target(&[]);
    target.begin_job(1, 4, 1 << 20).unwrap();
    assert!(target.buffer(0).is_none());
    assert!(all(&mut target, &[io(Op::Write, 0, 0)])[0].moved(4096));
}

#[test]
fn failures_are_linux_errnos() {
    let mut target = target(&[("fault", "read-error@2"), ("fault", "write-error@1")]);
    target.begin_job(1, 4, 4096).unwrap();
    assert!(all(&mut target, &[io(Op::Read, 0, 0)])[0].moved(4096));
    assert_eq!(all(&mut target, &[io(Op::Read, 0, 0)])[0].result, -libc::ENODATA);
    assert_eq!(all(&mut target, &[io(Op::Write, 0, 0)])[0].result, -libc::ENODATA);
    let beyond = target.identity().capacity_bytes;
    assert_eq!(all(&mut target, &[io(Op::Read, 0, beyond)])[0].result, -libc::EREMOTEIO);
}

/// I/Os of one thread arrive at the drive one after the other, those of several threads together.
#[test]
fn the_simulated_host_adds_cpu_time_per_thread() {
    let costs = HostCosts { async_io_ns: 6_000, sync_io_ns: 6_000, ..HostCosts::default() };
    let span = |workers: u32, depth: u32| {
        let mut target = target(&[]).on_host(costs);
        target.begin_job(workers, depth, 4096).unwrap();
        let batch: Vec<Io> = (0..8).map(|slot| io(Op::Flush, slot, 0)).collect();
        all(&mut target, &batch);
        target.now()
    };
    let (one_thread, eight_threads) = (span(1, 8), span(8, 1));
    let in_turn = Nanos(costs.async_io_ns * 8);
    assert!(one_thread >= in_turn, "{one_thread}");
    assert!(eight_threads < in_turn, "{eight_threads}");
}

/// The same I/O of a synchronous worker beside deeper ones costs what it costs alone.
#[test]
fn a_worker_of_depth_1_is_synchronous_beside_deeper_ones() {
    let costs = HostCosts { async_io_ns: 1_000, sync_io_ns: 50_000, ..HostCosts::default() };
    let span = |worker: u32| {
        let mut target = target(&[]).on_host(costs);
        target.begin_job(2, 4, 4096).unwrap();
        target.set_depth(1, 1);
        all(&mut target, &[io(Op::Flush, worker * 4, 0)]);
        target.now()
    };
    assert_eq!(span(1) - span(0), Nanos(49_000));
}

#[test]
fn idle_time_cools_the_drive() {
    let mut target = target(&[]);
    target.begin_job(1, 1, 4096).unwrap();
    target.idle(Nanos::from_secs(3600));
    let cold = target.telemetry().unwrap();
    assert_eq!(cold.throttled, Some(false));
    assert!(cold.temperature_c.unwrap() < 60.0, "{cold:?}");
    assert_eq!(cold.host_bytes_written, Some(0));
}

/// The mean power of the time between two readings, in each power state.
#[test]
fn power_is_metered_between_readings_and_follows_the_power_state() {
    let mut target = target(&[("ps", "2")]);
    target.begin_job(1, 1, 4096).unwrap();
    let reading = |target: &mut SimTarget, span: Nanos| {
        target.idle(span);
        let telemetry = target.telemetry().unwrap();
        (telemetry.power_state.unwrap(), telemetry.power_mw.unwrap())
    };
    assert_eq!(reading(&mut target, Nanos::from_secs(1)), (2, 1_700));
    target.set_power_state(4).unwrap();
    // 2.1 ms to leave state 2 and enter state 4: within a milliwatt over ten seconds.
    let (state, mw) = reading(&mut target, Nanos::from_secs(10));
    assert_eq!(state, 4);
    assert!((5..=6).contains(&mw), "{mw}");
    assert_eq!(reading(&mut target, Nanos::from_secs(1)), (4, 5));
    let error = target.set_power_state(9).unwrap_err().to_string();
    assert!(error.contains("sim:samsung-951") && error.contains("0 to 4"), "{error}");
}

/// Commands aborted by a loss of power are I/O errors and the drive continues; a removed drive
/// returns only errors.
#[test]
fn power_loss_and_surprise_removal_are_io_errors() {
    let mut target = target(&[("fault", "power-loss@3"), ("fault", "vanish@4")]);
    target.begin_job(3, 1, 4096).unwrap();
    let batch: Vec<Io> = (0..3).map(|slot| io(Op::Read, slot, 0)).collect();
    let mut done = all(&mut target, &batch);
    done.sort_by_key(|completion| completion.slot);
    let results: Vec<i32> = done.iter().map(|completion| completion.result).collect();
    assert_eq!(results, [-libc::EIO, -libc::EIO, 4096]);
    assert!(target.telemetry().is_some());
    for _ in 0..2 {
        assert_eq!(all(&mut target, &[io(Op::Read, 0, 0)])[0].result, -libc::EIO);
    }
    assert!(target.telemetry().is_none(), "no telemetry of a removed drive");
}

/// Writes of each worker fill the reclaim units of its own handles: of several in turn.
#[test]
fn slots_write_by_their_reclaim_unit_handle() {
    let mut options = DriveOptions::default();
    options.set("fdp", "4").unwrap();
    let profile = Profile::builtin("samsung-pm9d3a").unwrap();
    let mut target = SimTarget::new("sim:samsung-pm9d3a", profile, options).unwrap();
    assert_eq!(target.placement_handles(), 4);
    target.begin_job(2, 1, 4096).unwrap();
    target.place_writes(0, PlacementIds::new(vec![1], None));
    target.place_writes(1, PlacementIds::new(vec![2, 3], None));
    let left = |target: &SimTarget| -> Vec<u64> {
        let units = target.drive().reclaim_units();
        units.iter().map(|unit| unit.left_bytes).collect()
    };
    let before = left(&target);
    let mut out = Vec::new();
    for (slot, offset_bytes) in [(0, 0), (1, 4096), (1, 8192), (1, 12288)] {
        target.submit(&[io(Op::Write, slot, offset_bytes)]).unwrap();
        target.reap(1, Nanos(u64::MAX - 1), &mut out).unwrap();
    }
    let written: Vec<u64> = before.iter().zip(left(&target)).map(|(was, is)| was - is).collect();
    assert_eq!(written, [0, 4096, 8192, 4096]);
}
