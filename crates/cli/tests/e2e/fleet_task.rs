//! `assay fleet task` and `collect` on simulated drives: undisturbed, killed at seeded points,
//! stopped, cancelled, on another host.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command};

use assay_units::Rng;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::fixture::{Done, Fixture, pause, send, text_so_far, wait_until};

/// Ten short cells, a few of them writing.
const STEPS: &str = r#"
name = "mine"
title = "Many short cells"
summary = "Cells to be cut off in."
source = "these tests"
duration = "short"
[[step]]
id = "reads"
title = "Reads"
kind = "measure"
job = { rw = "randread", runtime = "20s", interval = "1s" }
matrix = { bs = ["4k", "8k", "16k", "32k", "64k"], numjobs = [1, 2] }
"#;

const SPECS: [&str; 2] = ["sim:samsung-951,lot=1", "sim:samsung-951,lot=2"];

struct Fleet {
    fixture: Fixture,
    plan: String,
}

impl Fleet {
    fn new(run: &str) -> Fleet {
        let fixture = Fixture::in_memory();
        for folder in ["store", "drives"] {
            fs::create_dir(fixture.path(folder)).unwrap();
        }
        fixture.write("mine.toml", STEPS);
        fixture.write("drives/a", SPECS.join("\n"));
        let store = fixture.path("store").display().to_string();
        let plan = format!(
            "name = \"p\"\nsuites = [ {{ suite = \"mine.toml\" }} ]\n[drives]\nmodel = \
             \"SAMSUNG\"\n[run]\n{run}\n[store]\nat = \"{store}\"\n"
        );
        fixture.write("plan.toml", &plan);
        let mut fleet = Fleet { fixture, plan: String::new() };
        let shown = fleet.run("plan plan.toml --here --host a --json").expect(0);
        let shown = shown.json();
        let id = shown.get("id").or(shown.get("plan")).and_then(Value::as_str);
        fleet.plan = id.unwrap_or_else(|| panic!("{shown:#}")).to_owned();
        // As submit writes it.
        let stored = format!("store/plans/{}", fleet.plan);
        fs::create_dir_all(fleet.fixture.path(&stored)).unwrap();
        fleet.fixture.write(&format!("{stored}/plan.toml"), &plan);
        fleet.fixture.write(&format!("{stored}/mine.toml"), STEPS);
        fleet
    }

    fn command(&self, words: &str) -> Command {
        let mut command = self.fixture.command(&format!("fleet {words}"));
        command.env("ASSAY_FLEET_DRIVES", self.fixture.path("drives"));
        command
    }

    fn run(&self, words: &str) -> Done {
        Done::new(words, self.command(words).spawn().unwrap())
    }

    fn task_words(&self, host: &str) -> String {
        let store = self.fixture.path("store");
        format!(
            "task --store {} --plan {} --host {host} --work work-{host} --poll 20",
            store.display(),
            self.plan
        )
    }

    fn task(&self, host: &str) -> Done {
        self.run(&self.task_words(host))
    }

    /// Journals of a host.
    fn journals(&self, host: &str) -> Vec<PathBuf> {
        let drives = fs::read_dir(self.fixture.path(&format!("work-{host}/{}", self.plan)));
        let drives = drives.into_iter().flatten().flatten();
        let journals = drives.map(|drive| drive.path().join("00-mine/journal.log"));
        journals.filter(|journal| journal.exists()).collect()
    }

    fn journal_bytes(&self, host: &str) -> u64 {
        let journals = self.journals(host);
        journals.iter().map(|j| fs::metadata(j).map_or(0, |m| m.len())).sum()
    }

    /// Collects; the result of each cell of each drive. Each cell was finished once.
    fn collected(&self) -> BTreeMap<String, Value> {
        let done = self.run("collect plan.toml -o collected --json").expect(0).json();
        assert_eq!(done["complete"], 2, "{done:#}");
        let mut results = BTreeMap::new();
        for folder in done["folders"].as_array().unwrap() {
            let folder = folder.as_str().unwrap();
            let check = format!("cd {folder} && sha256sum -c --strict --quiet SHA256SUMS");
            self.fixture.tool("sh", &["-c", &check]);
            for line in self.fixture.text(&format!("{folder}/journal.log")).lines() {
                let entry: Value = serde_json::from_str(&line[9..]).unwrap();
                if entry["event"] == "cell_finish" {
                    let name = format!("{folder} {}", entry["cell"].as_str().unwrap());
                    let twice = results.insert(name, entry["results"].clone());
                    assert!(twice.is_none(), "finished twice: {twice:?}");
                }
            }
        }
        results
    }
}

/// Processes that a task has started.
fn children_of(task: &Child) -> Vec<Pid> {
    let id = task.id();
    let tasks = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let text: String = lists.collect();
    let ids = text.split_whitespace().filter_map(|id| id.parse().ok());
    ids.filter_map(Pid::from_raw).collect()
}

#[test]
fn a_task_killed_at_seeded_points_gives_the_results_of_an_undisturbed_one() {
    let undisturbed = Fleet::new("share = \"together\"");
    undisturbed.task("a").expect(0);
    let expected = undisturbed.collected();
    assert_eq!(expected.len(), 20);
    let whole = undisturbed.journal_bytes("a");
    // Again: nothing is left to do, and nothing changes.
    undisturbed.task("a").expect(0);
    let again = undisturbed.run("collect plan.toml -o collected --json").expect(0);
    assert_eq!(again.json()["fetched"], 0);

    let fleet = Fleet::new("share = \"together\"");
    let mut rng = Rng::new(5);
    let mut kills = 0;
    loop {
        let target = fleet.journal_bytes("a") + 1 + rng.below(whole / 5);
        let mut task = fleet.command(&fleet.task_words("a")).spawn().unwrap();
        let mut over = None;
        while over.is_none() && fleet.journal_bytes("a") < target {
            over = task.try_wait().unwrap();
            pause(1);
        }
        if over.is_some() {
            Done::new("task", task).expect(0);
            break;
        }
        kills += 1;
        match rng.below(3) {
            // One assay: the same task goes on.
            0 => {
                if let Some(child) = children_of(&task).first() {
                    let _ = kill_process(*child, Signal::KILL);
                }
                // Not killed a second time before the next target.
                wait_until("it goes on or ends", || {
                    fleet.journal_bytes("a") > target || children_of(&task).is_empty()
                });
                send(&task, Signal::KILL);
            }
            // The task alone: its orphans go on, and the next task waits for them.
            1 => send(&task, Signal::KILL),
            // The host.
            _ => {
                for process in children_of(&task) {
                    let _ = kill_process(process, Signal::KILL);
                }
                send(&task, Signal::KILL);
            }
        }
        task.wait().unwrap();
        assert!(kills < 50, "it does not get to its end");
    }
    assert!(kills > 0);
    let results = fleet.collected();
    let names = |results: &BTreeMap<String, Value>| -> BTreeSet<String> {
        results.keys().cloned().collect()
    };
    assert_eq!(names(&results), names(&expected), "killed {kills} times");
    let first = expected.keys().next().unwrap();
    assert_eq!(results[first], expected[first], "a kill changes no finished cell");
}

#[test]
fn a_stopped_task_is_continued_on_another_host_from_what_it_shipped() {
    let fleet = Fleet::new("share = \"alone\"");
    let task = fleet.command(&fleet.task_words("a")).spawn().unwrap();
    let finished = |host: &str| -> usize {
        let journals = fleet.journals(host);
        let texts = journals.iter().map(|journal| text_so_far(journal));
        texts.map(|text| text.matches("\"cell_finish\"").count()).sum()
    };
    wait_until("cells are finished", || finished("a") > 2);
    send(&task, Signal::TERM);
    Done::new("task", task).expect(130);
    let before = finished("a");
    assert!(before < 20, "it was not interrupted");
    // The drives are moved, and host a, which is gone, no longer shows them.
    fs::rename(fleet.fixture.path("drives/a"), fleet.fixture.path("drives/b")).unwrap();
    let refused = fleet.task("b").expect(3);
    assert!(refused.stdout.contains("inventories of two hosts"), "{refused}");
    fs::write(fleet.fixture.path("drives/a"), "").unwrap();
    fleet.task("a").expect(0);
    fleet.task("b").expect(0);
    assert_eq!(fleet.collected().len(), 20);
    let collected = fleet.fixture.tool("sh", &["-c", "cat collected/*/*/journal.log"]);
    for journal in fleet.journals("a") {
        let text = text_so_far(&journal);
        let mut kept = text.lines().filter(|line| line.contains("\"cell_finish\""));
        assert!(kept.all(|line| collected.contains(line)), "measured again");
    }
}

#[test]
fn a_cancelled_plan_ends_at_once_and_stays_cancelled_and_a_pause_ends_with_the_cell() {
    for (state, at_once) in [("cancelled", true), ("paused", false)] {
        let fleet = Fleet::new("share = \"alone\"");
        let task = fleet.command(&fleet.task_words("a")).spawn().unwrap();
        wait_until("a cell is finished", || {
            let journals = fleet.journals("a");
            journals.iter().any(|j| text_so_far(j).contains("\"cell_finish\""))
        });
        let control = format!("store/plans/{}/control.json", fleet.plan);
        fleet.fixture.write(&control, format!("{{\"state\":\"{state}\"}}"));
        Done::new("task", task).expect(130);
        let journals: Vec<String> = fleet.journals("a").iter().map(|j| text_so_far(j)).collect();
        let count = |event: &str| -> usize {
            journals.iter().map(|text| text.matches(event).count()).sum()
        };
        let (begun, ended) = (count("\"cell_start\""), count("\"cell_finish\""));
        assert!(ended < 20, "it was not stopped");
        assert!(at_once || begun == ended, "{state}: a cell was cut off");
        fleet.task("a").expect(130);
        let now: Vec<String> = fleet.journals("a").iter().map(|j| text_so_far(j)).collect();
        assert_eq!(now, journals, "{state}: it was begun again");
        if !at_once {
            fleet.fixture.write(&format!("{control}~2"), "{\"state\":\"running\"}");
            fleet.task("a").expect(0);
            assert_eq!(fleet.collected().len(), 20);
        }
    }
}

#[test]
fn a_damaged_or_missing_piece_is_named() {
    let fleet = Fleet::new("share = \"alone\"");
    fleet.task("a").expect(0);
    let pieces = fleet.fixture.tool("sh", &["-c", "ls -d store/runs/*/*/*/journal/* | head -1"]);
    let piece = pieces.trim();
    let content = fleet.fixture.read(piece);
    let mut damaged = content.clone();
    damaged[20] ^= 1;
    let key = piece.strip_prefix("store/").unwrap();
    fleet.fixture.write(piece, &damaged);
    let done = fleet.run("collect plan.toml -o collected").expect(4);
    assert!(done.stderr.contains(key) && done.stderr.contains("damaged"), "{done}");
    fs::remove_file(fleet.fixture.path(piece)).unwrap();
    let done = fleet.run("collect plan.toml -o collected").expect(4);
    assert!(done.stderr.contains("missing"), "{done}");
    fleet.fixture.write(piece, &content);
    assert_eq!(fleet.collected().len(), 20);
}

#[test]
fn a_task_names_what_no_host_put_into_the_store_and_hears_signals_while_it_waits() {
    let fleet = Fleet::new("share = \"alone\"");
    let plan = fleet.fixture.path(&format!("store/plans/{}/plan.toml", fleet.plan));
    let text = fs::read(&plan).unwrap();
    fs::remove_file(&plan).unwrap();
    fs::create_dir(&plan).unwrap();
    let done = fleet.task("a").expect(4);
    assert!(done.stderr.contains("remove it"), "{done}");
    fs::remove_dir(&plan).unwrap();
    fs::write(&plan, text).unwrap();
    // A link leads the claims elsewhere.
    fs::create_dir(fleet.fixture.path("outside")).unwrap();
    let claims = fleet.fixture.path("store/claims");
    std::os::unix::fs::symlink(fleet.fixture.path("outside"), &claims).unwrap();
    let done = fleet.task("a").expect(3);
    assert!(done.stdout.contains("remove it"), "{done}");
    let outside = fs::read_dir(fleet.fixture.path("outside")).unwrap();
    assert_eq!(outside.count(), 0);
    fs::remove_file(&claims).unwrap();
    // In place of the claim of one drive: it alone is refused.
    let claim = format!("store/claims/{}/SIM-SAMSUNG-951-L1-0.json", fleet.plan);
    fs::create_dir_all(fleet.fixture.path(&claim)).unwrap();
    let done = fleet.task("a").expect(3);
    assert!(done.stdout.contains("remove it"), "{done}");
    fs::remove_dir(fleet.fixture.path(&claim)).unwrap();
    // The store's folder cannot be read for a while: a temporary error.
    let away = fleet.fixture.path(&format!("store/plans/{}", fleet.plan));
    fs::rename(&away, fleet.fixture.path("away")).unwrap();
    std::os::unix::fs::symlink(&away, &away).unwrap();
    let words = fleet.task_words("a").replace("--poll 20", "--poll 60000");
    let waiting = fleet.command(&words).spawn().unwrap();
    pause(500);
    send(&waiting, Signal::TERM);
    Done::new("task", waiting).expect(130);
}
