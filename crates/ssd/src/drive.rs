//! The drive: commands in, completions out.

use assay_units::{Nanos, Op};

use crate::coalescing::Coalescer;
use crate::command::{Command, Completion, Status};
use crate::command_slots::CommandSlots;
use crate::data::DataStore;
use crate::faults::FaultPlan;
use crate::frontend::Frontend;
use crate::link::Link;
use crate::map_cache::MapCache;
use crate::map_unit::MapUnit;
use crate::medium::Medium;
use crate::options::{Age, DriveOptions};
use crate::power::PowerStates;
use crate::prefetch::Prefetcher;
use crate::profile::Profile;
use crate::read_cache::ReadCache;
use crate::telemetry::{Identity, Telemetry};
use crate::thermal::Thermal;
use crate::volatile::UndoJournal;

mod ahead;
mod build;
mod completions;
mod controller;
mod costs;
mod data_transfer;
pub(crate) mod digest;
mod error;
mod execute;
mod health;
mod idle;
mod in_flight;
mod map_access;
mod placement;
mod power_loss;
mod read;
mod submission;
mod timing_wheel;

use completions::CompletionSchedule;
pub use error::DriveError;
use in_flight::{CommandKind, InFlightTable, NOT_SPLIT, SplitCommand, SubCommand};

/// Map entries of waiting reads are loaded into the CPU cache in batches of this many.
const MAP_PREFETCH_BATCH: usize = 4;

/// Latest submission time, 146 years after power-on: sums of times still fit.
const MAX_TIME_NS: u64 = 1 << 62;

/// A simulated drive. Timing does not depend on data. With [`DriveOptions::keep_data`], written
/// bytes are visible from submission, and read bytes are taken after completion: a read sees every
/// write submitted before it completed, one of the orders NVMe permits. A failed command leaves
/// data unchanged.
#[derive(Clone, Debug)]
pub struct Drive {
    profile: Profile,
    identity: Identity,
    unit: MapUnit,
    /// Reclaim unit handles (0 without placement), and that of commands from now on.
    handles: u16,
    handle: u16,
    in_flight: InFlightTable,
    front: Frontend,
    link: Link,
    medium: Medium,
    slots: Option<CommandSlots>,
    map_cache: Option<Box<MapCache>>,
    host_memory_bytes: Option<u64>,
    prefetch: Prefetcher,
    read_cache: Option<ReadCache>,
    read_slots: Option<CommandSlots>,
    /// Time for which the core of the read under way waited for a slot.
    slot_wait_ns: u64,
    thermal: Thermal,
    power: PowerStates,
    coalescer: Option<Coalescer>,
    faults: FaultPlan,
    age: Age,
    data: Option<DataStore>,
    journal: Option<UndoJournal>,
    present: bool,
    completions: CompletionSchedule,
    splits: Vec<SplitCommand>,
    free_splits: Vec<u32>,
    spikes: Vec<(u64, u64)>,
    /// Counters of the health log; its other fields are computed on request.
    host: Telemetry,
    next_seq: u64,
    now_ns: u64,
    last_submit_ns: u64,
    costs: [costs::Costs; 2],
    /// Least time from start to completion.
    min_ns: u64,
    fast_path: bool,
    background_after_ns: u64,
    upcoming: Vec<u32>,
}

impl Drive {
    /// Power a drive on at time 0; an error if flash, map or power state do not suit the options.
    pub fn new(mut profile: Profile, options: DriveOptions) -> Result<Drive, DriveError> {
        build::adapt(&mut profile, &options)?;
        let capacity_bytes = build::capacity_bytes(&profile, &options);
        let medium = build::medium(&profile, &options, capacity_bytes)?;
        let map_cache = build::map_cache(&profile, &options, capacity_bytes)?;
        let power = PowerStates::new(&profile, options.autonomous_power);
        let identity = build::identity(&profile, &options, capacity_bytes, &power);
        let faults = FaultPlan::new(options.faults.clone(), options.seed);
        let queue_pairs = identity.queue_pairs;
        let sata = profile.link.sata.as_ref();
        let costs = costs::Costs::new(&profile);
        let mut drive = Drive {
            coalescer: (identity.coalescing).map(|set| Coalescer::new(set, queue_pairs)),
            identity,
            unit: profile.nand.map_unit(),
            handles: 0,
            handle: 0,
            power,
            in_flight: InFlightTable::default(),
            front: Frontend::new(
                queue_pairs,
                profile.firmware.cores.value,
                (profile.firmware.queue_banks.as_ref()).is_some_and(|banks| banks.value),
            ),
            link: build::link(&profile, &options),
            background_after_ns: medium.background_after_ns(),
            medium,
            map_cache: map_cache.map(Box::new),
            host_memory_bytes: build::host_memory_bytes(&profile, &options),
            read_cache: profile.data_path.read_cache.as_ref().map(ReadCache::new),
            read_slots: (profile.firmware.read_slots.as_ref())
                .map(|slots| CommandSlots::new(slots.value)),
            slot_wait_ns: 0,
            slots: sata.map(|sata| CommandSlots::new(sata.queue_depth.value.into())),
            prefetch: build::prefetcher(&profile),
            thermal: build::thermal(&profile, &options),
            data: build::data(&options, &faults, capacity_bytes),
            faults,
            age: options.age,
            journal: (options.keep_data && !options.no_power_loss).then(UndoJournal::new),
            present: true,
            completions: CompletionSchedule::new(),
            splits: Vec::new(),
            free_splits: Vec::new(),
            spikes: Vec::new(),
            host: Telemetry::default(),
            next_seq: 0,
            now_ns: 0,
            last_submit_ns: 0,
            min_ns: costs[0].min_ns().min(costs[1].min_ns()) + profile.link.completion_ns.value,
            fast_path: false,
            costs,
            upcoming: Vec::with_capacity(MAP_PREFETCH_BATCH),
            profile,
        };
        if drive.journal.is_some() {
            drive.medium.track_durability();
        }
        if let (Some(cache), Medium::Flash(ftl)) = (&drive.map_cache, &mut drive.medium) {
            ftl.track_map_pages(cache.shift);
        }
        if let Some(handles) = options.placement_handles {
            drive.enable_placement(handles)?;
        }
        drive.set_power_state(Nanos::ZERO, options.power_state)?;
        Ok(drive)
    }

    /// Update after every change of power state or presence.
    fn update_fast_path(&mut self) {
        self.fast_path = self.present
            && self.slots.is_none()
            && self.faults.is_empty()
            && self.data.is_none()
            && self.journal.is_none()
            && !self.power.may_delay();
    }

    /// The drive's profile.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The drive's identity.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Queue a command, not before the last call's time; with data: [`Drive::submit_write`].
    #[inline]
    pub fn submit(&mut self, now: Nanos, command: Command) {
        let (ok, _) = self.enqueue(now, command);
        self.update_journal(&command, ok);
    }

    /// Next internal event: call [`Drive::advance`] then or later. Need not complete a command.
    #[inline]
    pub fn next_event(&self) -> Option<Nanos> {
        let done_ns = self.completions.next_ns;
        // Nothing that waits completes sooner; the saturating addition keeps `u64::MAX` (none).
        let mut next = done_ns.min(self.front.next_ns.saturating_add(self.min_ns));
        if let Some(coalescer) = &self.coalescer {
            next = next.min(coalescer.next_ns);
        }
        (next != u64::MAX).then_some(Nanos(next))
    }

    /// Append the completions up to and including `until`, by time, then by submission.
    #[inline]
    pub fn advance(&mut self, until: Nanos, out: &mut Vec<Completion>) {
        if self.front.next_ns.saturating_add(self.min_ns) <= until.0 {
            self.start_waiting(until.0);
        }
        if self.coalescer.is_some() {
            return self.advance_coalesced(until.0, out);
        }
        while let Some((at_ns, number)) = self.completions.pop(until.0) {
            out.push(self.in_flight.take(number).completion(at_ns));
        }
    }

    #[inline(never)]
    fn advance_coalesced(&mut self, until_ns: u64, out: &mut Vec<Completion>) {
        let Some(coalescer) = &mut self.coalescer else {
            return;
        };
        while let Some((at_ns, number)) = self.completions.pop(until_ns) {
            let sub = self.in_flight.take(number);
            coalescer.expire(at_ns, out);
            coalescer.add(sub.queue, sub.completion(at_ns), out);
        }
        // `until_ns` may be `u64::MAX`, for everything.
        coalescer.expire(until_ns.saturating_add(1), out);
    }

    /// Start commands and background work up to `now`, at most [`MAX_TIME_NS`]; returns that time.
    fn catch_up(&mut self, now: Nanos) -> u64 {
        let now_ns = now.0.min(MAX_TIME_NS).max(self.last_submit_ns);
        self.start_waiting(now_ns);
        self.run_background(now_ns);
        now_ns
    }

    #[inline(never)]
    fn start_waiting(&mut self, until_ns: u64) {
        while let Some((start_ns, number)) = self.front.take(until_ns) {
            self.start(start_ns, number);
        }
    }

    #[inline]
    fn start(&mut self, start_ns: u64, number: u32) {
        match self.in_flight.get(number).kind {
            CommandKind::Read => self.start_fast::<false>(start_ns, number),
            CommandKind::Write => self.start_fast::<true>(start_ns, number),
            CommandKind::Other => self.start_general(start_ns, number),
        }
    }

    /// [`Drive::start`] on the fast path, monomorphic: calls are a fifth of a read's cost.
    #[inline(never)]
    fn start_fast<const WRITE: bool>(&mut self, start_ns: u64, number: u32) {
        self.now_ns = start_ns;
        let (busy_until_ns, done_ns, status) = self.execute_fast::<WRITE>(start_ns, number);
        self.front.occupy(busy_until_ns);
        let at_ns = done_ns + self.link.completion_ns;
        if WRITE {
            if !status.is_ok() {
                let sub = *self.in_flight.get(number);
                return self.finish(number, &sub, at_ns, status);
            }
            self.host.host_writes += 1;
        } else {
            self.host.host_reads += 1;
        }
        self.power.busy_until(at_ns);
        let seq = self.in_flight.get(number).seq;
        self.completions.push(at_ns, seq, number);
    }

    #[inline(never)]
    fn start_general(&mut self, start_ns: u64, number: u32) {
        // SATA has one queue, so commands take their slots in order.
        let start_ns = match &mut self.slots {
            Some(slots) => slots.admit(start_ns),
            None => start_ns,
        };
        self.now_ns = start_ns;
        let sub = *self.in_flight.get(number);
        let (busy_until_ns, done_ns, status) = self.execute(start_ns, number, &sub);
        self.front.occupy(busy_until_ns);
        let end_ns = done_ns + self.link.completion_ns;
        if let Some(slots) = &mut self.slots {
            slots.hold(end_ns);
        }
        self.finish(number, &sub, end_ns, status);
    }

    #[inline(never)]
    fn finish(&mut self, number: u32, sub: &SubCommand, at_ns: u64, status: Status) {
        let (mut at_ns, mut status) = (at_ns, status);
        if sub.split != NOT_SPLIT {
            let split = &mut self.splits[sub.split as usize];
            split.left -= 1;
            split.at_ns = split.at_ns.max(at_ns);
            if !status.is_ok() {
                split.status = status;
            }
            if split.left > 0 {
                self.in_flight.take(number);
                return;
            }
            at_ns = split.at_ns;
            status = split.status;
            self.free_splits.push(sub.split);
        }
        if sub.spiked
            && let Some(index) = self.spikes.iter().position(|&(seq, _)| seq == sub.seq)
        {
            at_ns += self.spikes.swap_remove(index).1;
        }
        self.host.media_errors +=
            u64::from(matches!(status, Status::UnrecoveredReadError | Status::WriteFault));
        if status.is_ok() {
            self.host.host_reads += u64::from(sub.op == Op::Read && !sub.verifies);
            self.host.host_writes += u64::from(sub.op == Op::Write);
        }
        self.power.busy_until(at_ns);
        self.in_flight.set_status(number, status);
        self.completions.push(at_ns, sub.seq, number);
    }
}
