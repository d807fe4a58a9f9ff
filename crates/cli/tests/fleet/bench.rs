//! A plan on hosts of a cluster, as an operator has it: lists of drives, a plan file, a shared
//! store.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::cluster::Cluster;
use crate::fixture::{Done, text_so_far};

/// Ten cells of some seconds, with little work for the processors.
const REAL_TIME: &str = r#"
name = "real"
title = "Cells of some seconds"
summary = "Reads at a low rate."
source = "these tests"
duration = "short"
[[step]]
id = "reads"
title = "Reads"
kind = "measure"
job = { rw = "randread", runtime = "CELL_TIME", interval = "500ms", rate = "50" }
matrix = { bs = ["4k", "8k", "16k", "32k", "64k"], iodepth = [1, 2] }
"#;
/// Cells of [`REAL_TIME`].
pub const REAL_TIME_CELLS: usize = 10;

/// A plan with one drive on each of its hosts, a file in the cluster's folder.
pub struct Bench<'a> {
    pub cluster: &'a Cluster,
    /// Of plan file, store and drives.
    pub name: String,
    pub hosts: Vec<String>,
    /// The plan's id.
    pub id: String,
}

impl<'a> Bench<'a> {
    /// On these hosts, with cells of two seconds.
    pub fn new(cluster: &'a Cluster, name: &str, hosts: &[&str]) -> Bench<'a> {
        Bench::with(cluster, name, hosts, "2s", "")
    }

    /// With cells of this time, and further sections of the plan.
    pub fn with(
        cluster: &'a Cluster,
        name: &str,
        hosts: &[&str],
        cell_time: &str,
        sections: &str,
    ) -> Bench<'a> {
        let mut bench = Bench {
            cluster,
            name: name.to_owned(),
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            id: String::new(),
        };
        fs::create_dir(bench.store()).unwrap();
        let suite = REAL_TIME.replace("CELL_TIME", cell_time);
        cluster.write(format!("{name}-suite.toml"), suite);
        let mut serials = String::new();
        for host in &bench.hosts {
            let serial = bench.serial(host);
            cluster.write(&serial, vec![7; 4 << 20]);
            serials += &format!("{serial}\n");
            bench.show(host, &serial);
        }
        cluster.write(format!("{name}-serials.txt"), serials);
        let store = bench.store().display().to_string();
        cluster.write(
            format!("{name}.toml"),
            format!(
                "name = \"{name}\"\nsuites = [ {{ suite = \"{name}-suite.toml\" }} ]\n[store]\nat \
                 = \"{store}\"\n[drives]\nserials = \"{name}-serials.txt\"\n{sections}\n"
            ),
        );
        let plan = bench.fleet("plan", "--json").expect(0).json();
        bench.id = plan["plan"].as_str().unwrap().to_owned();
        bench
    }

    pub fn store(&self) -> PathBuf {
        self.cluster.path(format!("{}-store", self.name))
    }

    /// The drive that was on a host at first: a file of this name.
    pub fn serial(&self, host: &str) -> String {
        format!("{}-{host}", self.name)
    }

    /// Lets a host have the drive with a serial, and publishes its inventory.
    pub fn show(&self, host: &str, serial: &str) {
        let drive = self.cluster.path(serial).display().to_string();
        self.cluster.set_drives(host, &[drive]);
        self.publish(host);
    }

    pub fn publish(&self, host: &str) {
        let store = self.store().display().to_string();
        self.cluster.assay(&format!("fleet inventory --host {host} --store {store}")).expect(0);
    }

    /// `assay fleet COMMAND PLAN WORDS`.
    #[track_caller]
    pub fn fleet(&self, command: &str, words: &str) -> Done {
        self.cluster.assay(&format!("fleet {command} {}.toml {words}", self.name))
    }

    /// Submits; the ids of new jobs by host.
    #[track_caller]
    pub fn submit(&self) -> BTreeMap<String, String> {
        let submitted = self.fleet("submit", "--json").expect(0).json();
        let made = submitted["made"].as_array().unwrap().iter();
        made.map(|job| {
            let name = job["name"].as_str().unwrap();
            let host = name.rsplit(':').next().unwrap();
            (host.to_owned(), job["id"].as_str().unwrap().to_owned())
        })
        .collect()
    }

    /// The entry of `status` of a drive.
    #[track_caller]
    pub fn status(&self, serial: &str) -> Value {
        let status = self.fleet("status", "--json").expect(0).json();
        let drives = status["drives"].as_array().unwrap();
        let found = drives.iter().find(|drive| drive["serial"] == serial);
        found.unwrap_or_else(|| panic!("{serial} in {status:#}")).clone()
    }

    /// Drives in a state.
    #[track_caller]
    pub fn count(&self, state: &str) -> u64 {
        let status = self.fleet("status", "--json").expect(0).json();
        status["counts"][state].as_u64().unwrap()
    }

    /// The run folder of a drive on a host.
    pub fn folder(&self, host: &str, serial: &str) -> PathBuf {
        let drive = self.cluster.work_of(host).join(&self.id).join(serial);
        drive.join(format!("00-{}-suite", self.name))
    }

    /// Lines of finished cells in the journal of a drive's run folder on a host.
    pub fn finished(&self, host: &str, serial: &str) -> BTreeSet<String> {
        finished(&text_so_far(&self.folder(host, serial).join("journal.log")))
    }

    /// Waits until a host has finished this many cells of its own drive.
    #[track_caller]
    pub fn wait_for_cells(&self, host: &str, cells: usize) {
        self.cluster.wait(&format!("{host} has finished {cells} cells"), || {
            self.finished(host, &self.serial(host)).len() >= cells
        });
    }

    /// Processes of a host whose command line has these words.
    pub fn processes(&self, host: &str, words: &str) -> Vec<u32> {
        self.cluster.processes(|p| p.host.as_deref() == Some(host) && p.command.contains(words))
    }

    /// Whether the queue has jobs of the plan that have not ended.
    pub fn has_jobs(&self) -> bool {
        let jobs = self.cluster.run(
            "squeue",
            &["--noheader", "--states=PENDING,RUNNING,COMPLETING,SUSPENDED", "--format=%j"],
        );
        jobs.stdout.lines().any(|name| name.starts_with(&format!("assay:{}:", self.id)))
    }

    /// Collects; lines of finished cells by serial. Every folder is whole and every cell was
    /// finished once.
    #[track_caller]
    pub fn collected(&self) -> BTreeMap<String, BTreeSet<String>> {
        let to = format!("{}-collected", self.name);
        let done = self.fleet("collect", &format!("-o {to} --json")).expect(0).json();
        assert_eq!(done["failed"], serde_json::json!([]), "{done:#}");
        let folders = done["folders"].as_array().unwrap().iter();
        folders
            .map(|folder| {
                let folder = self.cluster.path(folder.as_str().unwrap());
                self.cluster.ok(
                    "sh",
                    &[
                        "-c",
                        &format!(
                            "cd {} && sha256sum -c --strict --quiet SHA256SUMS",
                            folder.display()
                        ),
                    ],
                );
                let text = text_so_far(&folder.join("journal.log"));
                let lines = finished(&text);
                let cells = lines.iter().map(|line| cell(line));
                let cells: BTreeSet<String> = cells.collect();
                assert_eq!(
                    text.matches("\"cell_finish\"").count(),
                    cells.len(),
                    "a cell was finished twice: {text}"
                );
                let serial = folder.parent().unwrap().file_name().unwrap();
                (serial.to_str().unwrap().to_owned(), lines)
            })
            .collect()
    }

    /// Submits again until every drive is done, as an operator (or a timer) does.
    #[track_caller]
    pub fn submit_until_done(&self) {
        let drives = self.hosts.len() as u64;
        self.cluster.wait("all drives are done", || {
            if self.count("done") == drives {
                return true;
            }
            if !self.has_jobs() {
                self.submit();
            }
            false
        });
    }
}

fn finished(journal: &str) -> BTreeSet<String> {
    let whole = journal.rfind('\n').map_or("", |end| &journal[..end]);
    let lines = whole.lines();
    let finished = lines.filter(|line| line.contains("\"event\":\"cell_finish\""));
    finished.map(str::to_owned).collect()
}

fn cell(line: &str) -> String {
    let entry: Value = serde_json::from_str(&line[9..]).unwrap();
    entry["cell"].as_str().unwrap().to_owned()
}
