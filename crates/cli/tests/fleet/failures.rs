//! The table of failures of docs/fleet.md, each row with a real Slurm; and random schedules of
//! kills.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use assay_units::Rng;
use rustix::process::Signal;

use crate::bench::{Bench, REAL_TIME_CELLS};
use crate::cluster::Cluster;
use crate::fixture::{pause, text_so_far};

/// The task of a host, its `assay run`, the step daemon that started it.
const TASK: &str = "fleet task";
const RUN: &str = "assay run";
const STEP: &str = "slurmstepd";

/// What the journals on the hosts had when something was killed: none of it may be lost.
#[derive(Default)]
struct Durable(BTreeMap<String, BTreeSet<String>>);

impl Durable {
    fn note(&mut self, bench: &Bench, host: &str) {
        let serial = bench.serial(host);
        let lines = bench.finished(host, &serial);
        self.0.entry(serial).or_default().extend(lines);
    }

    #[track_caller]
    fn check(&self, collected: &BTreeMap<String, BTreeSet<String>>) {
        for (serial, lines) in &self.0 {
            let lost: Vec<_> = lines.difference(&collected[serial]).collect();
            assert!(lost.is_empty(), "{serial} has lost {lost:#?}");
        }
        for (serial, lines) in collected {
            assert_eq!(lines.len(), REAL_TIME_CELLS, "{serial}: {lines:#?}");
        }
    }
}

#[test]
fn every_row_of_the_table() {
    let Some(cluster) = Cluster::start(9) else {
        return;
    };
    let [run, task, step, daemon, host, twice, gone, lost, shelf] =
        ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8"];
    let measured = [run, task, step, daemon, host, twice, gone, lost];
    let bench = Bench::new(&cluster, "rows", &measured);
    let jobs = bench.submit();
    assert_eq!(jobs.len(), 8);
    for host in measured {
        bench.wait_for_cells(host, 2);
    }
    let mut durable = Durable::default();
    for host in measured {
        durable.note(&bench, host);
    }
    let kill = |host: &str, words: &str| {
        let found = bench.processes(host, words);
        assert!(!found.is_empty(), "{host} has {words}");
        cluster.kill(&found, Signal::KILL);
    };
    kill(run, RUN);
    kill(task, TASK);
    kill(step, STEP);
    cluster.kill_node_daemon(daemon);
    cluster.kill_host(host);
    cluster.kill_host(twice);
    cluster.kill_host(gone);
    // A drive whose I/Os fail and that no inventory finds.
    let (drive, out) = (cluster.path(bench.serial(lost)), cluster.path("lost"));
    fs::rename(&drive, &out).unwrap();
    let file = fs::OpenOptions::new().write(true).open(&out).unwrap();
    file.set_len(0).unwrap();
    // The shared store is away, and the controller dies, while the others measure.
    let away = cluster.path("rows-away");
    fs::rename(bench.store(), &away).unwrap();
    cluster.kill_controller();
    let cells = bench.finished(run, &bench.serial(run)).len();
    bench.wait_for_cells(run, cells + 2);
    fs::rename(&away, bench.store()).unwrap();
    cluster.start_controller();
    for host in [host, twice, gone] {
        cluster.wait_for_loss_of(host);
    }
    cluster.start_host(host);
    cluster.start_host(twice);
    cluster.start_node_daemon(daemon);
    let journal = bench.folder(lost, &bench.serial(lost)).join("journal.log");
    cluster.wait("the drive is missed", || text_so_far(&journal).contains("\"drive-lost\""));
    fs::write(&drive, vec![7; 4 << 20]).unwrap();
    // One drive is in another host from now on.
    let moved = bench.serial(gone);
    let store = bench.store().display().to_string();
    cluster.assay(&format!("fleet inventory --host {gone} --remove --store {store}")).expect(0);
    bench.show(shelf, &moved);
    // The second loss of power of a host, once it measures again.
    let before = bench.finished(twice, &bench.serial(twice)).len();
    bench.submit();
    bench.wait_for_cells(twice, before + 1);
    durable.note(&bench, twice);
    cluster.kill_host(twice);
    cluster.wait_for_loss_of(twice);
    cluster.start_host(twice);
    bench.submit_until_done();
    let collected = bench.collected();
    assert_eq!(collected.len(), 8);
    // What the lost host had not shipped is lost with it.
    let shipped = durable.0.remove(&moved).unwrap();
    durable.check(&collected);
    assert!(!shipped.is_empty() && collected[&moved].len() == REAL_TIME_CELLS);
    assert_eq!(bench.status(&moved)["host"], shelf);
    // The task itself resumes its killed child; an attempt that was never interrupted is the only
    // one.
    assert_eq!(bench.status(&bench.serial(run))["attempts"], 1);
    // A later attempt resumes a lost drive that is back.
    assert_eq!(bench.status(&bench.serial(lost))["attempts"], 2);
    let begun = text_so_far(&journal).matches("\"cell_start\"").count();
    assert_eq!(begun, REAL_TIME_CELLS + 1, "the cell under way was begun again");
    // An orphan of a killed step daemon is not disturbed; one whose node daemon returns while it
    // measures is killed by Slurm, with its cell.
    for (orphan, cut_off) in [(step, 0), (daemon, 1)] {
        let journal = bench.folder(orphan, &bench.serial(orphan));
        let journal = text_so_far(&journal.join("journal.log"));
        let begun = journal.matches("\"cell_start\"").count();
        assert!(
            (REAL_TIME_CELLS..=REAL_TIME_CELLS + cut_off).contains(&begun),
            "{orphan}: {begun} cells were begun: {journal}"
        );
    }
}

/// What a schedule kills.
#[derive(Clone, Copy, Debug)]
enum Victim {
    Run,
    Task,
    Step,
    Daemon,
    Host,
}

const VICTIMS: [Victim; 5] =
    [Victim::Run, Victim::Task, Victim::Step, Victim::Daemon, Victim::Host];

#[test]
fn ten_random_schedules_of_kills_lose_nothing_durable() {
    let Some(cluster) = Cluster::start(10) else {
        return;
    };
    let hosts: Vec<String> = (0..10).map(|host| format!("d{host}")).collect();
    let names: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let bench = Bench::new(&cluster, "kills", &names);
    bench.submit();
    let mut durable = Durable::default();
    // Per host: after which number of finished cells which part is killed.
    let mut schedules: Vec<Vec<(usize, Victim)>> = (0..10)
        .map(|seed| {
            let mut rng = Rng::new(400 + seed);
            let mut kills: Vec<(usize, Victim)> = (0..2)
                .map(|_| {
                    let victim = VICTIMS[rng.below(5) as usize];
                    (rng.below(REAL_TIME_CELLS as u64 - 1) as usize, victim)
                })
                .collect();
            kills.sort_by_key(|(cells, _)| std::cmp::Reverse(*cells));
            kills
        })
        .collect();
    println!("{schedules:?}");
    let mut tick = 0;
    let mut dark: Vec<(usize, String, Victim)> = Vec::new();
    cluster.wait("all drives are done", || {
        tick += 1;
        for (host, schedule) in hosts.iter().zip(&mut schedules) {
            if dark.iter().any(|(_, of, _)| of == host) {
                continue;
            }
            let cells = bench.finished(host, &bench.serial(host)).len();
            let is_due = |(after, _): &&(usize, Victim)| cells >= *after;
            // Only what measures is disturbed.
            let runs = bench.processes(host, RUN);
            if schedule.last().filter(is_due).is_none() || runs.is_empty() {
                continue;
            }
            let (_, victim) = schedule.pop().unwrap();
            pause(50 * tick % 700);
            durable.note(&bench, host);
            let words = match victim {
                Victim::Run => RUN,
                Victim::Task => TASK,
                Victim::Step => STEP,
                Victim::Daemon => {
                    cluster.kill_node_daemon(host);
                    dark.push((tick as usize, host.clone(), victim));
                    continue;
                }
                Victim::Host => {
                    cluster.kill_host(host);
                    dark.push((tick as usize, host.clone(), victim));
                    continue;
                }
            };
            cluster.kill(&bench.processes(host, words), Signal::KILL);
        }
        // A host or its daemon is back after some seconds, sometimes before Slurm has noticed.
        dark.retain(|(since, host, victim)| {
            if (tick as usize) < since + 15 {
                return true;
            }
            match victim {
                Victim::Host => cluster.start_host(host),
                _ => cluster.start_node_daemon(host),
            }
            false
        });
        if tick % 5 != 0 {
            return false;
        }
        if !bench.has_jobs() {
            bench.submit();
        }
        bench.count("done") == 10 && schedules.iter().all(Vec::is_empty)
    });
    durable.check(&bench.collected());
}
