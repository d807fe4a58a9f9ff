//! What is behind one drive's `dev_*` and `bar_*` ports: bridge, PCIe link, configuration space,
//! and the drive.
//!
//! # Parts
//! | module | what |
//! |---|---|
//! | `bar_port`, `dev_port` | handshakes of AXI4-Lite and AXI4 |
//! | `config_space` | root port and endpoint |
//! | [`link`] | rate, flight time, random back-pressure |
//! | `fetch`, `command` | reads of the drive: entries, PRP lists, data |
//! | `posted` | writes of the drive: data, completion entries |
//! | `endpoint`, `memory` | the controller model and its view of host memory |
//! | [`faults`], [`planned_faults`] | injected faults; those of the test bench |
//!
//! # Times
//! The drive's nanoseconds are cycles times [`crate::CYCLE_NS`]. The controller model is notified
//! of a submission queue entry when everything that it will read for it has come over the bus, and
//! is given exactly those bytes. So a write reaches the drive model with its data;
//! [`PcieDriveOptions::staging_bytes`] limits how much is read before commands end. A read's data
//! leave the drive when their transfer may begin
//! ([`assay_ssd::DriveOptions::external_link_bytes_per_second`]), its completion entry behind them.
//! In the drive model the link takes no time.
//!
//! # Limits
//! Data pointers are PRPs; of admin commands, only Identify and Get Log Page transfer data.
//! Requests of the drive are not ordered behind its posted writes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use assay_nvme_ctrl::{Controller, ControllerOptions};
use assay_ssd::{Drive, DriveError, DriveOptions, Profile};

use crate::CYCLE_NS;
use crate::signals::{DriveInputs, DriveOutputs};
use crate::world::DriveSide;

mod bar_port;
mod command;
mod config_space;
mod dev_port;
mod endpoint;
pub mod faults;
mod fetch;
pub mod link;
mod memory;
mod options;
pub mod planned_faults;
mod posted;
mod traffic;

use bar_port::BarPort;
use config_space::ConfigSpace;
use dev_port::DevPort;
pub use endpoint::DriveCounters;
use endpoint::Endpoint;
pub use faults::{CommandHook, CompletionFault, Disposition, LinkEvent, PcieFault, Wedge};
use fetch::Fetcher;
pub use link::LinkOptions;
use link::{BackPressure, Line};
pub use options::{PcieDriveCounters, PcieDriveOptions, unlimited_profile};

/// Cycles of a register access that does not leave the bridge.
const LOCAL_CYCLES: u64 = 4;

/// From the end of a reset until the link is up: 20 us. A real link may take 100 ms.
const TRAINING_CYCLES: u64 = 20_000 / CYCLE_NS;

#[derive(Clone, Debug)]
enum Upstream {
    Read { tag: u8, address: u64, len_bytes: u32 },
    Write { address: u64, data: Arc<[u8]>, offset: usize, len_bytes: usize },
    RegisterData { data: u32, is_ok: bool },
    ConfigWritten { is_ok: bool },
}

#[derive(Clone, Copy, Debug)]
enum Downstream {
    /// The last completion of a read.
    ReadEnd {
        tag: u8,
    },
    /// A read that the root port refuses.
    ReadRefused {
        tag: u8,
        len_bytes: u32,
    },
    RegisterRead {
        address: u32,
    },
    RegisterWrite {
        address: u32,
        data: u32,
    },
    ConfigRead {
        address: u32,
    },
    ConfigWrite {
        address: u32,
        data: u32,
        strobes: u8,
    },
}

pub struct PcieDrive {
    options: PcieDriveOptions,
    random: BackPressure,
    config: ConfigSpace,
    bar: BarPort,
    dev: DevPort,
    endpoint: Endpoint,
    up: Line,
    down: Line,
    /// Packets on the link with their arrivals, in order.
    upstream: VecDeque<(u64, Upstream)>,
    downstream: VecDeque<(u64, Downstream)>,
    /// Register data that wait for the link.
    replies: VecDeque<Upstream>,
    /// Bytes of posted writes on the link or in the bridge, and those becoming free: cycle, bytes.
    posted_bytes: u32,
    posted_returns: VecDeque<(u64, u32)>,
    is_up: bool,
    /// Not taken down by a fault.
    is_plugged: bool,
    /// PERST# or a hot reset; from its end on, the link trains until a cycle.
    is_in_reset: bool,
    trained: Option<u64>,
    is_silent: bool,
    events: BTreeMap<(u64, usize), LinkEvent>,
    counters: PcieDriveCounters,
    inputs: DriveInputs,
    /// Without a valid of the core nothing happens before this cycle.
    wake_cycle: u64,
}

impl std::fmt::Debug for PcieDrive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PcieDrive")
            .field("options", &self.options)
            .field("counters", &self.counters())
            .finish_non_exhaustive()
    }
}

impl PcieDrive {
    /// The controller is in its state after power-on; its drive is one of [`PcieDrive::drive`].
    pub fn new(controller: Controller, options: PcieDriveOptions) -> PcieDrive {
        let link = &options.link;
        link.check();
        assert!(options.back_pressure_percent < 100, "back-pressure in every cycle");
        assert_eq!(options.bus_base & dev_port::ADDRESS_MASK, 0, "BusBase");
        let times = &controller.drive().profile().link;
        assert_eq!(
            (times.fetch_ns.value, times.completion_ns.value),
            (0, 0),
            "the drive simulates the link, too"
        );
        let fetcher = Fetcher::new(link.tags, options.staging_bytes, options.max_commands);
        let (fetch, completion) = (link.fetch_delay_cycles, link.completion_delay_cycles);
        let beat_bytes = options.data_width as usize / 8;
        let write_id = (options.seed % 16) as u8;
        PcieDrive {
            random: BackPressure { seed: options.seed, percent: options.back_pressure_percent },
            config: ConfigSpace::new(link),
            bar: BarPort::default(),
            dev: DevPort::new(beat_bytes, link.tags, link.outstanding_writes, write_id),
            endpoint: Endpoint::new(controller, fetcher, fetch, completion, options.namespace),
            up: Line::new(link),
            down: Line::new(link),
            upstream: VecDeque::new(),
            downstream: VecDeque::new(),
            replies: VecDeque::new(),
            posted_bytes: 0,
            posted_returns: VecDeque::new(),
            is_up: true,
            is_plugged: true,
            is_in_reset: false,
            trained: None,
            is_silent: false,
            events: BTreeMap::new(),
            counters: PcieDriveCounters::default(),
            inputs: DriveInputs::ZERO,
            wake_cycle: 0,
            options,
        }
    }

    /// A drive that leaves its link to a `PcieDrive` with these options.
    pub fn drive(
        profile: Profile,
        options: DriveOptions,
        link: &LinkOptions,
    ) -> Result<Drive, DriveError> {
        let payload = link.root_max_payload_bytes.min(link.endpoint_max_payload_bytes);
        let rate = link.payload_bytes_per_second(payload);
        let options = DriveOptions { external_link_bytes_per_second: Some(rate), ..options };
        Drive::new(profile, options)
    }

    /// Staging memory: the profile's write buffer, or `options.staging_bytes` if larger.
    pub fn from_profile(
        profile: Profile,
        drive_options: DriveOptions,
        mut options: PcieDriveOptions,
    ) -> Result<PcieDrive, DriveError> {
        options.staging_bytes = options.staging_bytes.max(profile.buffer.bytes.value);
        let drive = PcieDrive::drive(profile, drive_options, &options.link)?;
        let controller = Controller::new(drive, ControllerOptions::default());
        Ok(PcieDrive::new(controller, options))
    }

    pub fn options(&self) -> &PcieDriveOptions {
        &self.options
    }

    /// For the drive's telemetry and content.
    pub fn controller(&self) -> &Controller {
        &self.endpoint.controller
    }

    /// For telemetry; commands must come from the core.
    pub fn drive_mut(&mut self) -> &mut Drive {
        self.endpoint.controller.drive_mut()
    }

    /// Changes I/O commands and their completions from now on.
    pub fn set_hook(&mut self, hook: Option<Box<dyn CommandHook>>) {
        self.endpoint.hook = hook;
    }

    pub fn add_fault(&mut self, fault: PcieFault) {
        match fault {
            PcieFault::Completion { ordinal, fault } => {
                self.endpoint.completion_faults.insert(ordinal, fault);
            }
            PcieFault::At { cycle, event } => {
                let order = self.events.len();
                self.events.insert((cycle, order), event);
                self.wake_cycle = self.wake_cycle.min(cycle);
            }
        }
    }

    pub fn counters(&self) -> PcieDriveCounters {
        PcieDriveCounters { drive: self.endpoint.counters, ..self.counters }
    }

    /// Protocol violations of the core on `dev_*`, in order.
    pub fn violations(&self) -> &[String] {
        self.dev.violations()
    }

    pub fn is_link_up(&self) -> bool {
        self.is_up
    }

    /// Next cycle with work while the core's outputs do not change, if any.
    pub fn next_event_cycle(&self) -> Option<u64> {
        (self.wake_cycle != u64::MAX).then_some(self.wake_cycle)
    }

    /// One clock cycle, before the edge. Cycles before [`PcieDrive::next_event_cycle`] may be left
    /// out while no valid of the core is set.
    pub fn step(&mut self, cycle: u64, outputs: &DriveOutputs, inputs: &mut DriveInputs) {
        let is_driven = outputs.dev_r_valid | outputs.dev_b_valid != 0
            || BarPort::is_addressed(outputs)
            || self.is_held(outputs) != self.is_in_reset;
        if cycle >= self.wake_cycle || is_driven {
            let mut own = self.inputs;
            self.work(cycle, is_driven, outputs, &mut own);
            self.inputs = own;
        }
        *inputs = self.inputs;
    }

    fn work(
        &mut self,
        cycle: u64,
        is_driven: bool,
        outputs: &DriveOutputs,
        inputs: &mut DriveInputs,
    ) {
        self.apply_events(cycle);
        self.apply_reset(cycle, outputs);
        self.deliver(cycle);
        if self.is_up {
            self.endpoint.run(cycle);
            self.endpoint.submit(cycle);
            self.transmit(cycle);
        }
        // The bridge holds few completions, so the core waits.
        let takes_data =
            self.down.has_room(cycle, u64::from(self.options.link.read_completion_bytes) * 2);
        let events = self.dev.step(cycle, &self.random, takes_data, outputs, inputs);
        if let Some(read) = events.read {
            self.complete_read(cycle, read);
        }
        if events.written_bytes > 0 {
            self.counters.written_bytes += u64::from(events.written_bytes);
            let at = cycle + u64::from(self.options.link.flight_cycles);
            self.posted_returns.push_back((at, events.written_bytes));
        }
        let requests = self.bar.step(cycle, &self.random, outputs, inputs);
        for request in requests.into_iter().flatten() {
            self.access(cycle, request);
        }
        inputs.link_up = u8::from(self.is_up);
        inputs.link_speed = if self.is_up { self.options.link.generation } else { 0 };
        inputs.link_width = if self.is_up { self.options.link.lanes } else { 0 };
        // A valid that was taken in this cycle is withdrawn in the next one.
        let is_driving = inputs.dev_ar_valid | inputs.dev_aw_valid | inputs.dev_w_valid != 0
            || inputs.bar_b_valid | inputs.bar_r_valid != 0;
        self.wake_cycle = match is_driven || is_driving {
            true => cycle + 1,
            false => self.find_wake(cycle),
        };
    }

    fn apply_events(&mut self, cycle: u64) {
        while let Some(first) = self.events.first_entry()
            && first.key().0 <= cycle
        {
            match first.remove() {
                LinkEvent::Down => self.unplug(cycle),
                LinkEvent::Up => {
                    self.is_plugged = true;
                    self.is_up = !self.is_in_reset;
                }
                LinkEvent::PowerLoss => {
                    self.unplug(cycle);
                    self.endpoint.lose_power(cycle);
                }
                LinkEvent::SurpriseRemoval => self.endpoint.remove(cycle),
                LinkEvent::SilentRegisters => self.is_silent = true,
                LinkEvent::Wedge(wedge) => self.endpoint.wedge = Some(wedge),
                LinkEvent::Read { address, len_bytes } => {
                    self.endpoint.fetcher.extra.push_back((address, len_bytes));
                }
                LinkEvent::Write { address, bytes } => self.endpoint.posted.data(address, bytes),
            }
        }
    }

    /// The core resets the drive, by one of the ways that the platform has.
    fn is_held(&self, outputs: &DriveOutputs) -> bool {
        outputs.perst != 0 && self.options.has_perst
            || self.config.is_in_hot_reset() && self.options.has_hot_reset
    }

    fn apply_reset(&mut self, cycle: u64, outputs: &DriveOutputs) {
        let is_held = self.is_held(outputs);
        if is_held && !self.is_in_reset {
            self.counters.resets += 1;
            self.go_down(cycle);
            self.is_silent = false;
            self.trained = None;
        } else if !is_held && self.is_in_reset {
            self.trained = Some(cycle + TRAINING_CYCLES);
        }
        self.is_in_reset = is_held;
        if self.trained.is_some_and(|at| at <= cycle) {
            self.trained = None;
            self.is_up |= self.is_plugged && self.endpoint.is_present();
        }
    }

    fn unplug(&mut self, cycle: u64) {
        self.is_plugged = false;
        self.go_down(cycle);
    }

    fn go_down(&mut self, cycle: u64) {
        self.is_up = false;
        self.upstream.clear();
        self.downstream.clear();
        self.replies.clear();
        self.up.reset();
        self.down.reset();
        // The bridge carries out the writes that it has.
        let in_bridge = self.dev.buffered_bytes();
        let returning: u32 = self.posted_returns.iter().map(|&(_, bytes)| bytes).sum();
        self.posted_bytes = in_bridge + returning;
        self.dev.orphan_reads();
        self.config.reset_endpoint();
        self.endpoint.disconnect(cycle);
        self.end_access_absent(cycle);
    }

    /// Without a change of the core's outputs.
    fn find_wake(&self, cycle: u64) -> u64 {
        let next = cycle + 1;
        if self.dev.is_busy() {
            return next;
        }
        let mut wake = self.events.first_key_value().map_or(u64::MAX, |(at, _)| at.0);
        let queued = [
            self.upstream.front().map(|packet| packet.0),
            self.downstream.front().map(|packet| packet.0),
            self.posted_returns.front().map(|credit| credit.0),
            self.bar.next_event_cycle(),
            self.trained,
        ];
        for at in queued.into_iter().flatten() {
            wake = wake.min(at);
        }
        if self.is_up {
            wake = wake.min(self.endpoint.event_cycle());
            if let Some(at) = self.next_transmission() {
                wake = wake.min(at.max(self.up.free_cycle()));
            }
        }
        wake.max(next)
    }
}

impl DriveSide for PcieDrive {
    fn step(&mut self, cycle: u64, outputs: &DriveOutputs, inputs: &mut DriveInputs) {
        PcieDrive::step(self, cycle, outputs, inputs);
    }

    fn next_event_cycle(&self) -> Option<u64> {
        PcieDrive::next_event_cycle(self)
    }
}
