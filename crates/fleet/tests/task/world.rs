//! Hosts, drives, jobs and children of the simulated world.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use assay_fleet::claim::{ClaimState, SuiteOutcome};
use assay_fleet::shared_store::{Condition, SharedStore};
use assay_fleet::task::claimed_drive::peek;
use assay_fleet::task::folder::FolderSource;
use assay_fleet::task::machine::{Action, ChildEnd, Control, Event, Limits, Machine};
use assay_fleet::{HostName, PlanId, Serial, ship};
use assay_store::Run;
use assay_store::model::{
    BuildRecord, CellPlan, DriveRecord, HostRecord, Manifest, RunEnd, SCHEMA, SuiteRecord,
};
use assay_store::read::CellState;

use crate::task::memory::MemoryStore;

mod children;
mod claimed_drive;

use children::Child;
use claimed_drive::{Held, Order};

pub const HOSTS: usize = 2;
const SERIALS: [&str; 3] = ["S-1", "S-2", "S 3"];
const FOLDERS: [&str; 2] = ["00-quick", "01-soak"];
const CELLS: usize = 3;

/// What happens next; numbers select among what there is.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Deliver(u8),
    Measure(u8),
    Ship(u8),
    KillChild(u8),
    FailChild(u8),
    KillTask(u8),
    StartTask(u8),
    RebootHost(u8),
    MoveDrive(u8),
    SignalTask(u8),
    ToggleStore,
    LoseAnswers,
    TogglePause,
}

struct Task {
    number: u64,
    host: usize,
    machine: Machine,
    inbox: VecDeque<Event>,
    held: BTreeMap<Serial, Held>,
    /// Known from the claim on, also once it is lost.
    sources: BTreeMap<Serial, Vec<FolderSource>>,
    io_errors: BTreeMap<(Serial, usize), u32>,
    saw_cancel: bool,
    status: Option<u8>,
}

pub struct World {
    pub store: Arc<MemoryStore>,
    place: tempfile::TempDir,
    plan: PlanId,
    tasks: Vec<Task>,
    children: Vec<Child>,
    /// Host of each drive.
    drives: BTreeMap<Serial, usize>,
    concurrent: usize,
    numbers: u64,
    control: Control,
    /// Cells that were finished, per drive and folder, in any attempt.
    finished: BTreeMap<(Serial, String, String), u32>,
    /// Cells that a shipped piece or a local folder of the drive's host holds may never be measured
    /// again; this is checked in journals.
    sealed: BTreeSet<String>,
}

fn host_name(host: usize) -> HostName {
    HostName::parse(&format!("host{host}")).unwrap()
}

fn manifest(serial: &Serial, folder: &str, number: u64) -> Manifest {
    let cell = |n: usize| CellPlan {
        id: format!("d/c{n}"),
        step: format!("c{n}"),
        title: "Cell".to_owned(),
        drives: vec![0],
        ..CellPlan::default()
    };
    Manifest {
        schema: SCHEMA,
        run_id: format!("run-{number}"),
        created: "2026-11-24T00:00:00Z".to_owned(),
        tool: BuildRecord {
            name: "assay".to_owned(),
            version: "0".to_owned(),
            commit: "unknown".to_owned(),
        },
        command_line: Vec::new(),
        suite: SuiteRecord {
            name: folder.to_owned(),
            title: String::new(),
            summary: String::new(),
            source: String::new(),
            text: "x".to_owned(),
        },
        parameters: BTreeMap::new(),
        scale: 1.0,
        seed: 1,
        host: HostRecord::default(),
        drives: vec![DriveRecord {
            spec: "d".to_owned(),
            label: "d".to_owned(),
            serial: serial.as_str().to_owned(),
            ..DriveRecord::default()
        }],
        cells: (0..CELLS).map(cell).collect(),
        imported: None,
    }
}

fn at() -> String {
    "2026-11-24T00:00:00Z".to_owned()
}

impl World {
    pub fn new(concurrent: usize) -> World {
        let serials = SERIALS.iter().enumerate();
        World {
            store: Arc::new(MemoryStore::default()),
            place: tempfile::TempDir::new_in("/dev/shm").unwrap(),
            plan: PlanId::parse("plan-0123456789ab").unwrap(),
            tasks: Vec::new(),
            children: Vec::new(),
            drives: serials.map(|(n, s)| (Serial::parse(s).unwrap(), n % HOSTS)).collect(),
            concurrent,
            numbers: 0,
            control: Control::Running,
            finished: BTreeMap::new(),
            sealed: BTreeSet::new(),
        }
    }

    pub fn step(&mut self, step: Step) {
        let pick = |n: u8, len: usize| (len > 0).then(|| usize::from(n) % len.max(1));
        match step {
            Step::Deliver(n) => {
                let busy: Vec<usize> =
                    (0..self.tasks.len()).filter(|&t| !self.tasks[t].inbox.is_empty()).collect();
                if let Some(n) = pick(n, busy.len()) {
                    self.deliver(busy[n]);
                }
            }
            Step::Measure(n) => {
                if let Some(n) = pick(n, self.children.len()) {
                    self.measure(n);
                }
            }
            Step::Ship(n) => {
                if let Some(n) = pick(n, self.tasks.len()) {
                    self.ship(n);
                }
            }
            Step::KillChild(n) => {
                if let Some(n) = pick(n, self.children.len()) {
                    self.end_child(n, ChildEnd::Signal(9));
                }
            }
            Step::FailChild(n) => {
                if let Some(n) = pick(n, self.children.len()) {
                    self.end_child(n, ChildEnd::Exit(4));
                }
            }
            Step::KillTask(n) => {
                if let Some(n) = pick(n, self.tasks.len()) {
                    // Its children go on.
                    self.tasks.remove(n);
                }
            }
            Step::StartTask(n) => {
                if self.tasks.len() < 4 {
                    self.start_task(usize::from(n) % HOSTS);
                }
            }
            Step::RebootHost(n) => {
                let host = usize::from(n) % HOSTS;
                self.tasks.retain(|task| task.host != host);
                self.children.retain(|child| child.host != host);
            }
            Step::MoveDrive(n) => {
                let serial = Serial::parse(SERIALS[usize::from(n) % SERIALS.len()]).unwrap();
                let to = 1 - self.drives[&serial];
                self.drives.insert(serial.clone(), to);
                let lost = |child: &Child| child.serial == serial && child.host != to;
                while let Some(n) = self.children.iter().position(lost) {
                    self.lose_drive(n);
                }
            }
            Step::SignalTask(n) => {
                if let Some(n) = pick(n, self.tasks.len()) {
                    let event = match n % 2 {
                        0 => Event::EndSignal,
                        _ => Event::NearLimit,
                    };
                    self.tasks[n].inbox.push_back(event);
                }
            }
            Step::ToggleStore => {
                self.store.away.fetch_xor(true, Ordering::SeqCst);
            }
            Step::LoseAnswers => self.store.lose_answer.store(true, Ordering::SeqCst),
            Step::TogglePause => {
                let control = match self.control {
                    Control::Running => Control::Paused,
                    _ => Control::Running,
                };
                self.set_control(control);
            }
        }
    }

    fn set_control(&mut self, control: Control) {
        self.control = control;
        for task in &mut self.tasks {
            task.inbox.push_back(Event::Control(control));
        }
    }

    fn start_task(&mut self, host: usize) {
        self.numbers += 1;
        let here = self.drives.iter().filter(|(_, at)| **at == host);
        let serials: Vec<Serial> = here.map(|(serial, _)| serial.clone()).collect();
        let limits = Limits {
            concurrent: self.concurrent,
            io_error_attempts: 1000,
            claim_tries: 3,
            polls: 3,
            ..Limits::default()
        };
        // The task publishes what the host has.
        let drives: Vec<String> = serials.iter().map(|s| format!(
            r#"{{"serial":"{s}","model":"m","firmware":"f","capacity_bytes":1,"spec":"d","transport":"t","simulated":true,"slot":null,"link":null,"numa_node":null,"lot":null}}"#
        )).collect();
        let inventory = format!(
            r#"{{"format":1,"host":"{}","boot_id":null,"taken":"{}","drives":[{}],"unusable":[]}}"#,
            host_name(host),
            at(),
            drives.join(",")
        );
        let key = format!("inventory/{}.json", host_name(host));
        if self.store.put(&key, inventory.as_bytes(), Condition::Any).is_err() {
            // As the real task: without a store there is no plan to read.
            return;
        }
        let mut task = Task {
            number: self.numbers,
            host,
            machine: Machine::new(serials, FOLDERS.len(), limits, false),
            inbox: VecDeque::new(),
            held: BTreeMap::new(),
            sources: BTreeMap::new(),
            io_errors: BTreeMap::new(),
            saw_cancel: self.control == Control::Cancelled,
            status: None,
        };
        let mut actions = match self.control {
            Control::Running => Vec::new(),
            control => task.machine.handle(Event::Control(control)),
        };
        actions.extend(task.machine.start());
        self.tasks.push(task);
        self.carry_out(self.tasks.len() - 1, actions);
    }

    fn deliver(&mut self, index: usize) {
        let task = &mut self.tasks[index];
        if let Some(event) = task.inbox.pop_front() {
            task.saw_cancel |= event == Event::Control(Control::Cancelled);
            if let Event::Claimed { serial, suites } = &event {
                for (n, suite) in suites.iter().enumerate() {
                    let key = (serial.clone(), n);
                    task.io_errors.insert(key, suite.io_error_attempts);
                }
            }
            let actions = task.machine.handle(event);
            self.carry_out(index, actions);
        }
    }

    fn carry_out(&mut self, index: usize, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Claim { serial } => {
                    let event = self.claim(index, &serial);
                    self.tasks[index].inbox.push_back(event);
                }
                Action::Prepare { serial, suite } => {
                    let event = self.prepare(index, &serial, suite);
                    self.tasks[index].inbox.push_back(event);
                }
                Action::Start { serial, suite, resume } => {
                    assert!(!self.tasks[index].saw_cancel, "started after a cancel");
                    self.order(index, &serial, Order::Activate(suite));
                    self.start_child(index, &serial, suite, resume);
                }
                Action::StopAfterCell { serial } => {
                    self.own_child(index, &serial, |child| child.stop_after_cell = true);
                }
                Action::Terminate { serial } => {
                    self.own_child(index, &serial, |child| child.terminated = true);
                }
                Action::CountIoError { serial, suite } => {
                    let count = self.tasks[index].io_errors.entry((serial.clone(), suite));
                    let count = count.or_default();
                    *count += 1;
                    let order = Order::Count(suite, *count);
                    self.order(index, &serial, order);
                }
                Action::Seal { serial, suite, outcome } => {
                    self.order(index, &serial, Order::Seal(suite, outcome))
                }
                Action::Release { serial, state, reason } => {
                    self.order(index, &serial, Order::Release(state, reason))
                }
                Action::SetTimer { serial, timer, .. } => {
                    let event = Event::TimerFired { serial, timer };
                    self.tasks[index].inbox.push_back(event);
                }
                Action::LookFor { serial } => {
                    let is_there = self.drives[&serial] == self.tasks[index].host;
                    let event = Event::Looked { serial, is_there };
                    self.tasks[index].inbox.push_back(event);
                }
                Action::Finish { status } => self.tasks[index].status = Some(status),
            }
        }
        self.work_on_orders(index);
    }

    fn own_child(&mut self, index: usize, serial: &Serial, act: impl Fn(&mut Child)) {
        let number = self.tasks[index].number;
        let own = |child: &&mut Child| child.task == number && child.serial == *serial;
        if let Some(child) = self.children.iter_mut().find(own) {
            act(child);
        }
    }

    fn local(&self, host: usize, serial: &Serial) -> PathBuf {
        self.place.path().join(format!("host{host}")).join(serial.key())
    }

    /// The store answers and faults end; what runs, runs to its end.
    pub fn heal(&mut self) {
        self.store.away.store(false, Ordering::SeqCst);
        self.store.lose_answer.store(false, Ordering::SeqCst);
        if self.control == Control::Paused {
            self.set_control(Control::Running);
        }
        for _ in 0..2000 {
            if self.tasks.is_empty() && self.children.is_empty() {
                return;
            }
            for index in 0..self.tasks.len() {
                self.ship(index);
                // Not to the last: timers fire at once here.
                for _ in 0..20 {
                    self.deliver(index);
                }
            }
            self.tasks.retain(|task| task.status.is_none());
            if !self.children.is_empty() {
                self.measure(0);
            }
        }
        let left: Vec<_> = self.tasks.iter().map(|task| &task.machine).collect();
        panic!("the tasks do not end: {left:#?}");
    }

    /// One job after the other on each host, as `submit` would make them; twice, because drives may
    /// be looked for on another host.
    pub fn run_to_the_end(&mut self) {
        for _ in 0..2 {
            for host in 0..HOSTS {
                self.run_task_to_its_end(host);
            }
        }
    }

    pub fn run_task_to_its_end(&mut self, host: usize) -> u8 {
        // Inventories first, as `assay fleet inventory` on all hosts: a moved drive is where it is.
        for other in 0..HOSTS {
            let control = std::mem::replace(&mut self.control, Control::Cancelled);
            self.start_task(other);
            self.control = control;
            self.tasks.clear();
        }
        self.start_task(host);
        for _ in 0..2000 {
            let Some(index) = self.tasks.len().checked_sub(1) else {
                panic!("no task");
            };
            for _ in 0..20 {
                self.deliver(index);
            }
            self.ship(index);
            if let Some(status) = self.tasks[index].status {
                self.tasks.clear();
                return status;
            }
            if !self.children.is_empty() {
                self.measure(0);
            }
        }
        panic!("the task does not end: {:#?}", self.tasks[0].machine);
    }

    pub fn cancel(&mut self) {
        self.set_control(Control::Cancelled);
    }

    pub fn measured_cells(&self) -> u32 {
        self.finished.values().sum()
    }

    /// Every drive is done, and what is in the store is complete, sealed and whole.
    pub fn check_complete(&self) {
        for serial in self.drives.keys() {
            let claim = peek(self.store.as_ref(), &self.plan, serial).unwrap().unwrap();
            assert_eq!(claim.state, ClaimState::Done, "{claim:#?}");
            for (index, folder) in FOLDERS.iter().enumerate() {
                let suite = &claim.suites[index];
                assert_eq!(suite.outcome, Some(SuiteOutcome::Passed));
                let prefix = ship::prefix(&self.plan, serial, folder);
                let chain = ship::chain(self.store.as_ref(), &prefix, &suite.bases).unwrap();
                let to = self.place.path().join("fetched").join(serial.key()).join(folder);
                let _ = std::fs::remove_dir_all(&to);
                assert!(ship::fetch(self.store.as_ref(), &prefix, &chain, &to).unwrap());
                check_run(&to);
            }
        }
    }
}

/// Complete, sealed, each cell finished once.
fn check_run(folder: &Path) {
    assert!(folder.join("SHA256SUMS").exists());
    let run = Run::open(folder).unwrap();
    assert_eq!(run.outcome, Some(RunEnd::Complete));
    assert!(run.damaged_lines.is_empty(), "{:?}", run.damaged_lines);
    let journal = std::fs::read_to_string(folder.join("journal.log")).unwrap();
    for cell in &run.cells {
        assert_eq!(cell.state, CellState::Finished);
        let finish = format!("\"event\":\"cell_finish\",\"cell\":\"{}\"", cell.plan.id);
        assert_eq!(journal.matches(&finish).count(), 1, "{journal}");
    }
}
