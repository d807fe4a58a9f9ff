//! Simulated queues whose parts are known: one server, a bounded number of I/Os in flight.

use assay_stats::Histogram;
use assay_stats::summary::LatencySummary;
use assay_store::model::OfferedLoad;
use assay_units::{Nanos, Rng};

use super::*;
use crate::fixtures;

/// Mean service time, nanoseconds.
const SERVICE_NS: f64 = 16_000.0;
/// I/Os of a cell: the mean wait at 95 % load needs many.
const IOS: usize = 400_000;

/// Means of the three parts as they happened, nanoseconds, and the two latencies that an open loop
/// records.
struct Truth {
    service_ns: f64,
    queueing_ns: f64,
    lateness_ns: f64,
    latency: LatencySummary,
    from_submission: LatencySummary,
}

/// A queue of one server: Poisson arrivals at this share of its rate, constant or exponential
/// service times, at most `slots` I/Os submitted and not completed.
fn queue(load: f64, exponential: bool, slots: usize, seed: u64) -> Truth {
    let mut rng = Rng::stream(seed, "queue");
    let (mut intended, mut free_at) = (0.0_f64, 0.0_f64);
    let mut completions = vec![0.0_f64; IOS];
    let (mut latency, mut from_submission) = (Histogram::new(), Histogram::new());
    let mut sums = [0.0; 3];
    for i in 0..IOS {
        intended += rng.exponential(SERVICE_NS / load);
        // A slot is free when the I/O that many before has completed.
        let submitted =
            i.checked_sub(slots).map_or(intended, |before| intended.max(completions[before]));
        let service = if exponential { rng.exponential(SERVICE_NS) } else { SERVICE_NS };
        let begun = free_at.max(submitted);
        free_at = begun + service;
        completions[i] = free_at;
        latency.record(Nanos((free_at - intended).round() as u64));
        from_submission.record(Nanos((free_at - submitted).round() as u64));
        for (sum, part) in sums.iter_mut().zip([service, begun - submitted, submitted - intended]) {
            *sum += part / IOS as f64;
        }
    }
    let [service_ns, queueing_ns, lateness_ns] = sums;
    Truth {
        service_ns,
        queueing_ns,
        lateness_ns,
        latency: LatencySummary::new(&latency),
        from_submission: LatencySummary::new(&from_submission),
    }
}

/// A load curve of such queues as a run, and what happened in each cell.
fn curve(loads: &[f64], exponential: bool, slots: usize) -> (Run, Vec<Truth>) {
    let mut run = fixtures::run(vec![fixtures::drive("sim:a")]);
    let mut truths = Vec::new();
    for (seed, percent) in loads.iter().enumerate() {
        let truth = queue(percent / 100.0, exponential, slots, seed as u64);
        let mut plan = fixtures::plan("load", fixtures::reads(4096, 1, slots as u32));
        plan.id = format!("load/{percent}");
        plan.load = Some(OfferedLoad { of: "saturated".to_owned(), percent: *percent });
        let mut cell = fixtures::cell(plan, 1e4, 1e5, 3, 0.0, 1);
        let read = &mut cell.drives[0].result.as_mut().unwrap().read;
        read.latency_ns = truth.latency;
        read.service_ns = Some(truth.from_submission);
        run.cells.push(cell);
        truths.push(truth);
    }
    (run, truths)
}

fn parts(run: &Run, cell: usize) -> LatencyParts {
    of_cell(run, &run.cells[cell], 0).unwrap()
}

fn assert_near(found: f64, truth: f64, share: f64, what: &str) {
    assert!((found - truth).abs() <= share * SERVICE_NS, "{what}: {found} ns, in truth {truth} ns");
}

/// One server with slots enough: nearly all of the latency is queueing, and the difference of the
/// two latencies is nothing.
#[test]
fn queueing_in_the_drive_is_not_the_difference_of_the_two_latencies() {
    for exponential in [false, true] {
        let (run, truths) = curve(&[5.0, 50.0, 80.0, 95.0], exponential, IOS);
        for (at, truth) in truths.iter().enumerate() {
            let found = parts(&run, at);
            let service = found.service.unwrap();
            assert_eq!(service.basis, ServiceBasis::LowestLoad(5.0));
            // The stated bound of the estimate's error: 5.3 %.
            assert_near(service.mean_ns, truth.service_ns, 0.06, "service");
            assert_near(found.queueing_ns.unwrap(), truth.queueing_ns, 0.06, "queueing");
            assert_eq!(found.lateness_ns, 0.0);
        }
        // The theory of the truth itself: M/D/1 and M/M/1 at 50 %.
        let expected = SERVICE_NS * if exponential { 1.0 } else { 0.5 };
        assert_near(truths[1].queueing_ns, expected, 0.03, "theory");
        assert!(parts(&run, 3).queueing_ns.unwrap() > 8.0 * SERVICE_NS, "at 95 %");
    }
}

/// One slot: all waiting is lateness, because the drive never has two I/Os. With four, it is both.
#[test]
fn waiting_for_a_slot_is_lateness() {
    for (slots, exponential) in [(1, false), (1, true), (4, false), (4, true)] {
        let (run, truths) = curve(&[5.0, 80.0, 95.0], exponential, slots);
        for (at, truth) in truths.iter().enumerate() {
            let found = parts(&run, at);
            assert_near(found.lateness_ns, truth.lateness_ns, 0.001, "lateness");
            assert_near(found.queueing_ns.unwrap(), truth.queueing_ns, 0.06, "queueing");
            let sum =
                found.service.unwrap().mean_ns + found.queueing_ns.unwrap() + found.lateness_ns;
            assert_near(sum, found.latency_ns, 1e-6, "the sum of the parts");
            if slots == 1 {
                assert_near(truth.queueing_ns, 0.0, 1e-9, "queueing with one slot");
            }
        }
        let late = parts(&run, 2).lateness_ns;
        assert!(late > SERVICE_NS, "{slots} slots: {late}");
    }
}

#[test]
fn one_io_in_flight_is_the_better_estimate_and_high_loads_are_none() {
    let (mut run, _) = curve(&[20.0, 80.0], false, IOS);
    let unknown = parts(&run, 1);
    assert_eq!((unknown.service, unknown.queueing_ns), (None, None));
    assert!(unknown.latency_ns > SERVICE_NS && unknown.lateness_ns == 0.0);
    // Another step with one I/O in flight; then another block size, and four threads.
    for (step, bs, threads, latency_ns, known) in [
        ("other", 8192, 1, 90e3, false),
        ("other", 4096, 4, 64e3, false),
        ("other", 4096, 1, SERVICE_NS, true),
    ] {
        let plan = fixtures::plan(step, fixtures::reads(bs, threads, 1));
        run.cells.push(fixtures::cell(plan, 1e4, latency_ns, 3, 0.0, 1));
        let found = parts(&run, 1).service;
        assert_eq!(found.is_some(), known);
        assert!(found.is_none_or(|s| (s.mean_ns, s.basis) == (SERVICE_NS, ServiceBasis::Depth1)));
    }
    // The step's own lowest load before another step: the state of the drive is the same.
    let (mut near, _) = curve(&[5.0, 80.0], false, IOS);
    near.cells.push(run.cells.pop().unwrap());
    assert_eq!(parts(&near, 1).service.unwrap().basis, ServiceBasis::LowestLoad(5.0));
    near.cells[2].plan.step = "load".to_owned();
    assert_eq!(parts(&near, 1).service.unwrap().basis, ServiceBasis::Depth1);
    // A closed loop has no parts.
    assert_eq!(of_cell(&near, &near.cells[2], 0), None);
}
