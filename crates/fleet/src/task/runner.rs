//! Carries the machine's actions out: threads for shipping, children, timers and the control
//! document.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use tracing::level_filters::LevelFilter;

use super::child::{self, Launch, Running, SILENCE_S};
use super::claimed_drive::{Assignment, ClaimedDrive, TakeError, folder_path};
use super::control;
use super::folder::FolderSource;
use super::machine::{
    Action, ChildEnd, Control, DriveEnd, Event, JournalEnd, Limits, Machine, SuiteProgress,
};
use super::outages::{Note, Outages};
use super::processors;
use super::shipping::{Order, Pace, Shipping};
use super::view::TaskView;
use crate::claim::Holder;
use crate::inventory::InventoryDrive;
use crate::plan::Share;
use crate::shared_store::SharedStore;
use crate::{FleetError, HostName, LOG_VARIABLE, PlanId, Serial};

/// After a signal to the task, children that did not get it as well are told after this time.
const GRACE: Duration = Duration::from_secs(3);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteCall {
    /// E.g. `00-quick`.
    pub folder: String,
    /// Suite and parameters, without drive.
    pub arguments: Vec<String>,
}

pub type ReadState = dyn Fn(&InventoryDrive) -> Vec<u8> + Send + Sync;
pub type InstallState = dyn Fn(&InventoryDrive, &[u8]) + Send + Sync;

pub struct Setup {
    pub store: Arc<dyn SharedStore>,
    pub plan: PlanId,
    pub suites: Vec<SuiteCall>,
    pub drives: Vec<InventoryDrive>,
    pub destroy: bool,
    /// No cell is begun that could end later.
    pub until: Option<String>,
    pub share: Share,
    pub host: HostName,
    pub job: Option<String>,
    /// Local folder of the plan's run folders.
    pub work: PathBuf,
    pub program: PathBuf,
    pub limits: Limits,
    pub pace: Pace,
    /// Time between two looks at the control document.
    pub control_poll: Duration,
    /// Takes the inventory of this host.
    pub look: Box<dyn Fn() -> Result<Vec<InventoryDrive>, FleetError> + Send + Sync>,
    /// Reads the state to be shipped; empty without a state.
    pub drive_state: Arc<ReadState>,
    pub install_state: Arc<InstallState>,
    /// Messages for a person.
    pub note: Note,
    pub view: Arc<TaskView>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub status: u8,
    pub drives: Vec<(Serial, DriveEnd)>,
}

struct Runner {
    setup: Setup,
    holder: Holder,
    events: Sender<Event>,
    outages: Arc<Outages>,
    ending: Arc<AtomicBool>,
    drives: BTreeMap<Serial, InventoryDrive>,
    children: BTreeMap<Serial, Running>,
    orders: BTreeMap<Serial, Sender<Order>>,
    sources: BTreeMap<Serial, Vec<FolderSource>>,
    io_errors: BTreeMap<(Serial, usize), u32>,
    /// Taken by a thread, to be shipped from.
    taken: (Sender<Box<ClaimedDrive>>, Receiver<Box<ClaimedDrive>>),
}

/// `inbox` also brings [`Event::EndSignal`] and [`Event::NearLimit`]. Fails without random numbers;
/// everything else is an end of a drive.
pub fn run(
    mut setup: Setup,
    inbox: (Sender<Event>, Receiver<Event>),
) -> Result<Report, std::io::Error> {
    let (events, received) = inbox;
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
    let holder = Holder {
        host: setup.host.clone(),
        boot_id: boot_id.map(|id| id.trim().to_owned()),
        slot: None,
        job: setup.job.clone(),
        token: crate::claim::random_token()?,
    };
    let serials: Vec<Serial> = setup.drives.iter().map(|d| d.serial.clone()).collect();
    setup.limits.concurrent = match setup.share {
        Share::Alone => 1,
        Share::Together | Share::Cores => serials.len().max(1),
    };
    let has_until = setup.until.is_some();
    let mut machine = Machine::new(serials, setup.suites.len(), setup.limits, has_until);
    let by_serial = setup.drives.iter().map(|d| (d.serial.clone(), d.clone()));
    let mut runner = Runner {
        holder,
        events,
        outages: Arc::new(Outages::new(Arc::clone(&setup.note))),
        ending: Arc::new(AtomicBool::new(false)),
        drives: by_serial.collect(),
        children: BTreeMap::new(),
        orders: BTreeMap::new(),
        sources: BTreeMap::new(),
        io_errors: BTreeMap::new(),
        taken: channel(),
        setup,
    };
    let control = control::read(runner.setup.store.as_ref(), &runner.setup.plan);
    let mut actions = Vec::new();
    if let Ok(control) = control
        && control != Control::Running
    {
        actions.extend(machine.handle(Event::Control(control)));
    }
    runner.watch_control();
    actions.extend(machine.start());
    loop {
        runner.show(&machine);
        for action in actions {
            action.log();
            if let Action::Finish { status } = action {
                runner.outages.conclude();
                let drives = machine.ends();
                let drives = drives.filter_map(|(s, end)| Some((s.clone(), end?.clone())));
                let drives = drives.collect();
                return Ok(Report { status, drives });
            }
            runner.carry_out(action);
        }
        // The runner holds a sender: the channel stays open.
        let Ok(event) = received.recv() else {
            return Err(std::io::Error::other("the task's events ended"));
        };
        event.log();
        runner.observe(&event);
        actions = machine.handle(event);
    }
}

impl Runner {
    fn show(&self, machine: &Machine) {
        let suites = self.setup.suites.len();
        for (serial, state, suites_done) in machine.states() {
            self.setup.view.update(serial, |drive| {
                drive.state = state;
                (drive.suites_done, drive.suites) = (suites_done, suites);
            });
        }
    }

    fn observe(&mut self, event: &Event) {
        match event {
            Event::EndSignal => self.ending.store(true, Ordering::SeqCst),
            Event::ChildEnded { serial, .. } => {
                self.children.remove(serial);
            }
            Event::Claimed { serial, suites } => {
                for (index, SuiteProgress { io_error_attempts, .. }) in suites.iter().enumerate() {
                    let key = (serial.clone(), index);
                    self.io_errors.insert(key, *io_error_attempts);
                }
                while let Ok(claimed_drive) = self.taken.1.try_recv() {
                    self.begin_shipping(*claimed_drive);
                }
            }
            _ => {}
        }
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::Claim { serial } => self.claim(serial),
            Action::Prepare { serial, suite } => self.prepare(serial, suite),
            Action::Start { serial, suite, resume } => self.start(serial, suite, resume),
            Action::StopAfterCell { serial } => {
                if let Some(child) = self.children.get(&serial) {
                    child.stop_after_cell();
                }
            }
            Action::Terminate { serial } => {
                if let Some(child) = self.children.get(&serial) {
                    match self.ending.load(Ordering::SeqCst) {
                        true => child.terminate_after(GRACE),
                        false => child.terminate(),
                    }
                }
            }
            Action::CountIoError { serial, suite } => {
                let count = self.io_errors.entry((serial.clone(), suite)).or_default();
                *count += 1;
                let order = Order::CountIoError(suite, *count);
                self.order(&serial, order);
            }
            Action::Seal { serial, suite, outcome } => {
                self.order(&serial, Order::Seal(suite, outcome))
            }
            Action::Release { serial, state, reason } => {
                self.order(&serial, Order::Release(state, reason))
            }
            Action::SetTimer { serial, timer, after } => {
                let events = self.events.clone();
                std::thread::spawn(move || {
                    pause(after);
                    let _ = events.send(Event::TimerFired { serial, timer });
                });
            }
            Action::LookFor { serial } => self.look_for(serial),
            Action::Finish { .. } => {}
        }
    }

    /// A thread that has ended has nothing left to release.
    fn order(&self, serial: &Serial, order: Order) {
        let is_release = matches!(order, Order::Release(..));
        let sent = self.orders.get(serial).map(|orders| orders.send(order));
        if is_release && !matches!(sent, Some(Ok(()))) {
            let serial = serial.clone();
            let _ = self.events.send(Event::Released { serial });
        }
    }

    fn claim(&mut self, serial: Serial) {
        let setup = &self.setup;
        let slot = self.drives.get(&serial).and_then(|drive| drive.slot.clone());
        let assignment = Assignment {
            store: Arc::clone(&setup.store),
            plan: setup.plan.clone(),
            serial: serial.clone(),
            folders: setup.suites.iter().map(|s| s.folder.clone()).collect(),
            local: setup.work.join(setup.plan.as_str()).join(serial.key()),
            holder: Holder { slot, ..self.holder.clone() },
        };
        let (events, taken) = (self.events.clone(), self.taken.0.clone());
        let outages = Arc::clone(&self.outages);
        std::thread::spawn(move || {
            let event = match ClaimedDrive::take(assignment) {
                Ok(claimed_drive) => {
                    outages.over();
                    let suites = claimed_drive.progress();
                    let _ = taken.send(Box::new(claimed_drive));
                    Event::Claimed { serial, suites }
                }
                Err(TakeError::Finished(serial, state)) => Event::AlreadyFinished { serial, state },
                Err(error) => {
                    let why = error.to_string();
                    if error.is_temporary() {
                        outages.failed(&serial, &error, 0);
                    }
                    match error.is_temporary() {
                        true => Event::ClaimFailed { serial, why },
                        false => Event::Refused { serial, why },
                    }
                }
            };
            let _ = events.send(event);
        });
    }

    fn begin_shipping(&mut self, claimed_drive: ClaimedDrive) {
        let serial = claimed_drive.claim().serial.clone();
        let attempt = claimed_drive.claim().attempt;
        self.setup.view.update(&serial, |drive| drive.attempt = attempt);
        let Some(drive) = self.drives.get(&serial).cloned() else {
            return;
        };
        let (orders, received) = channel();
        let sources = (0..self.setup.suites.len()).map(|suite| claimed_drive.source(suite));
        self.sources.insert(serial.clone(), sources.collect());
        let drive_state = Arc::clone(&self.setup.drive_state);
        let shipping = Shipping {
            claimed_drive,
            serial: serial.clone(),
            orders: received,
            events: self.events.clone(),
            ending: Arc::clone(&self.ending),
            pace: self.setup.pace,
            view: Arc::clone(&self.setup.view),
            drive_state: Box::new(move || drive_state(&drive)),
            outages: Arc::clone(&self.outages),
        };
        self.orders.insert(serial, orders);
        std::thread::spawn(move || shipping.run());
    }

    fn prepare(&mut self, serial: Serial, suite: usize) {
        let source = self.sources.get(&serial).and_then(|all| all.get(suite));
        let (Some(source), Some(drive)) = (source.cloned(), self.drives.get(&serial).cloned())
        else {
            let why = "no claim is held".to_owned();
            let is_temporary = false;
            let _ = self.events.send(Event::PrepareFailed { serial, why, is_temporary });
            return;
        };
        let (events, install) = (self.events.clone(), Arc::clone(&self.setup.install_state));
        std::thread::spawn(move || {
            let was_here = source.path.exists();
            let prepared = source.prepare();
            // The drive's state comes with a folder from another host.
            if !was_here && source.was_begun && prepared.is_ok() {
                let key = crate::ship::drive_state_key(&serial);
                if let Ok(Some((state, _))) = source.store.get(&key) {
                    install(&drive, &state);
                }
            }
            let _ = events.send(match prepared {
                Ok(folder) => Event::Prepared { serial, folder },
                Err(error) => Event::PrepareFailed {
                    serial,
                    why: error.to_string(),
                    is_temporary: error.is_temporary(),
                },
            });
        });
    }

    fn start(&mut self, serial: Serial, suite: usize, resume: bool) {
        self.order(&serial, Order::Activate(suite));
        let setup = &self.setup;
        let Some(drive) = self.drives.get(&serial) else {
            return;
        };
        let local = setup.work.join(setup.plan.as_str()).join(serial.key());
        let call = &setup.suites[suite];
        let folder = folder_path(&local, &call.folder);
        setup.view.update(&serial, |drive| drive.folder = Some(folder.clone()));
        let mut command = Command::new(&setup.program);
        command.env(LOG_VARIABLE, LevelFilter::current().to_string());
        command.arg("run");
        match resume {
            // The drive's device may have another name since.
            true => command.arg("--resume").arg(&folder).arg("--drive").arg(&drive.spec),
            false => command
                .args(&call.arguments[..1])
                .arg(&drive.spec)
                .args(&call.arguments[1..])
                .arg("--out")
                .arg(&folder),
        };
        if setup.destroy {
            // This drive's serial only.
            command.arg("--destroy").arg(serial.as_str());
        }
        if let Some(until) = &setup.until {
            command.arg("--until").arg(until);
        }
        let cpus = match setup.share {
            Share::Cores => processors::processors_of_drive(drive, self.drives.values()),
            Share::Alone | Share::Together => None,
        };
        let launch = Launch {
            serial: serial.clone(),
            command,
            folder,
            is_new: !resume,
            cpus,
            silence_s: SILENCE_S,
        };
        let started = std::fs::create_dir_all(&local)
            .and_then(|()| child::launch(launch, self.events.clone()));
        match started {
            Ok(running) => {
                self.children.insert(serial, running);
            }
            Err(error) => {
                let program = setup.program.display();
                let _ = self.events.send(Event::ChildEnded {
                    serial,
                    end: ChildEnd::NotStarted,
                    journal: JournalEnd::Open,
                    why: format!("cannot start {program}: {error}"),
                });
            }
        }
    }

    fn look_for(&mut self, serial: Serial) {
        let seen = (self.setup.look)().unwrap_or_default();
        let found = seen.into_iter().find(|drive| drive.serial == serial);
        let is_there = found.is_some();
        if let Some(drive) = found {
            self.drives.insert(serial.clone(), drive);
        }
        let _ = self.events.send(Event::Looked { serial, is_there });
    }

    /// While the store is away, nothing changes.
    fn watch_control(&self) {
        let (store, plan) = (Arc::clone(&self.setup.store), self.setup.plan.clone());
        let (events, poll) = (self.events.clone(), self.setup.control_poll);
        std::thread::spawn(move || {
            let mut last = Control::Running;
            loop {
                if let Ok(now) = control::read(store.as_ref(), &plan)
                    && now != last
                {
                    last = now;
                    if events.send(Event::Control(now)).is_err() {
                        return;
                    }
                }
                pause(poll);
            }
        });
    }
}

/// Waking up early does no harm to any caller.
fn pause(time: Duration) {
    let (never, wait) = channel::<()>();
    let _ = wait.recv_timeout(time);
    drop(never);
}
