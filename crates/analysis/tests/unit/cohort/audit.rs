//! Audits of hosts whose truth is known.

use assay_units::Rng;

use super::super::progress::RunState;
use super::*;

/// Five runs on each of eight hosts, with 2 % between runs; host 3 reads its clock 40 % slower.
fn runs() -> Vec<RunProgress> {
    let mut rng = Rng::stream(20, "audits");
    let mut one = |host: usize, run: usize| {
        let slower = if host == 3 { 1.4 } else { 1.0 };
        let mut noise = || (0.02 * rng.normal()).exp();
        RunProgress {
            serial: format!("S{host}-{run}"),
            host: format!("h{host}"),
            slot: String::new(),
            suite: "quick".to_owned(),
            run_id: format!("r{host}-{run}"),
            began: String::new(),
            state: RunState::Done,
            drive_lost: false,
            failed: Vec::new(),
            verdict: None,
            audit: Some(HostAudit {
                null_iops_per_thread: 4e7 * noise(),
                clock_ns: 8.0 * slower * noise(),
                ..HostAudit::default()
            }),
        }
    };
    let hosts = (0..8).flat_map(|host| (0..5).map(move |run| (host, run)));
    hosts.map(|(host, run)| one(host, run)).collect()
}

#[test]
fn a_host_with_a_slow_clock_is_named_with_the_figure() {
    let found = compare(&runs(), 0.01);
    let [null, clock] = &found[..] else { panic!("{found:?}") };
    assert_eq!((null.figure, null.hosts, null.runs), (AuditFigure::NullIops, 8, 40));
    assert_eq!(null.off, []);
    assert_eq!(clock.off.len(), 1, "{clock:?}");
    let (host, deviation) = &clock.off[0];
    assert_eq!(host, "h3");
    assert!((deviation - 0.4).abs() < 0.04, "{deviation}");
    // Less than what matters.
    assert_eq!(compare(&runs(), 0.6)[1].off, []);
}

#[test]
fn one_run_per_host_or_unknown_hosts_are_not_compared() {
    let mut once = runs();
    once.retain(|run| run.run_id.ends_with("-0"));
    assert_eq!(compare(&once, 0.01), []);
    let mut unknown = runs();
    unknown.iter_mut().for_each(|run| run.host.clear());
    assert_eq!(compare(&unknown, 0.01), []);
    // The drives of one run share its audit.
    let mut shared = runs();
    shared.iter_mut().for_each(|run| run.run_id = run.host.clone());
    assert_eq!(compare(&shared, 0.01), []);
}
