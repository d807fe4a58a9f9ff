//! A simulated drive as an I/O target: virtual time, one thread, all workers of a job. The clock
//! jumps to the next event in [`Target::reap`] and continues from job to job, so a drive heated by
//! one job begins the next one warm. Host overhead ([`crate::processors`]) is part of every
//! latency.

mod slot;

use std::sync::Arc;

use crate::block_cache::cached::{CachedDisk, HostCompletion};
use assay_io::buffers::Buffers;
use assay_io::placement::PlacementIds;
use assay_io::{Completion, Io, Target, TargetError, Telemetry};
use assay_ssd::profile::LinkProfile;
use assay_ssd::regenerate::Generator;
use assay_ssd::{Command, Drive, DriveOptions, Identity, Profile, Status};
use assay_units::endurance::{CounterOrigin, CounterSource, EnduranceCounters, RatedEndurance};
use assay_units::{Nanos, Op};

use crate::event_loop::{EventLoop, TieOrder, prefer_huge_tables};
use crate::host::HostCosts;
use crate::processors::HostProcessors;
use crate::shared_host::HostShare;
use slot::Slot;

/// As Linux maps NVMe status codes (`nvme_error_status`, then `blk_status_to_errno`).
#[cold]
fn errno_of(status: Status) -> i32 {
    match status {
        Status::Ok => 0,
        Status::InvalidField | Status::LbaOutOfRange => libc::EREMOTEIO,
        Status::WriteFault | Status::UnrecoveredReadError => libc::ENODATA,
        // A disk marked dead, or a command without a completion.
        Status::PowerLoss | Status::Removed => libc::EIO,
    }
}

/// Bytes moved, or the negated error number.
#[inline]
fn result_of(status: Status, command: &Command) -> i32 {
    match status.is_ok() {
        true => command.len_bytes as i32,
        false => -errno_of(status),
    }
}

fn failure(name: &str, message: String) -> TargetError {
    TargetError::Simulation { drive: name.to_owned(), message }
}

pub struct SimTarget {
    name: String,
    simulation: EventLoop,
    costs: HostCosts,
    slots: Vec<Slot>,
    /// Handles of the writes of each worker that has any.
    placement: Vec<Option<PlacementIds>>,
    buffers: Option<Buffers>,
    finished: Vec<assay_ssd::Completion>,
    /// The disk of which the drive is the cache, and the identity of both together.
    cached: Option<Box<(CachedDisk, Identity)>>,
    answered: Vec<HostCompletion>,
    /// Share of a host that other drives use too, and the time at which it began.
    host: Option<(HostShare, Nanos)>,
    /// Energy in microjoules and its instant at the last power sample.
    metered: (u64, Nanos),
}

impl SimTarget {
    /// `name` is the one that the user gave. The host is the test bench of the profile's source.
    ///
    /// # Errors
    /// When the profile cannot make a drive.
    pub fn new(
        name: &str,
        profile: Profile,
        options: DriveOptions,
    ) -> Result<SimTarget, TargetError> {
        let costs = HostCosts::of_bench(&profile.bench);
        let drive = Drive::new(profile, options).map_err(|e| failure(name, e.to_string()))?;
        prefer_huge_tables(&drive);
        Ok(SimTarget {
            name: name.to_owned(),
            simulation: EventLoop::new(drive, TieOrder::Submission),
            costs,
            slots: Vec::new(),
            placement: Vec::new(),
            buffers: None,
            finished: Vec::new(),
            cached: None,
            answered: Vec::new(),
            host: None,
            metered: (0, Nanos::ZERO),
        })
    }

    /// The drive on another host.
    #[must_use]
    pub fn on_host(self, costs: HostCosts) -> SimTarget {
        SimTarget { costs, ..self }
    }

    /// The drive as the cache of a disk, with the disk's capacity. Temperature, power and wear are
    /// those of the drive.
    ///
    /// # Errors
    /// When the drive keeps data, which a cached disk does not.
    pub fn in_front_of(mut self, cache: CachedDisk) -> Result<SimTarget, TargetError> {
        if self.keeps_data() {
            let message = "a cached disk keeps no data: nothing on it can be verified";
            return Err(failure(&self.name, message.to_owned()));
        }
        let identity =
            Identity { capacity_bytes: cache.capacity_bytes(), ..self.identity().clone() };
        self.cached = Some(Box::new((cache, identity)));
        Ok(self)
    }

    pub fn drive(&self) -> &Drive {
        self.simulation.drive()
    }

    pub fn identity(&self) -> &Identity {
        match &self.cached {
            Some(cached) => &cached.1,
            None => self.drive().identity(),
        }
    }

    /// Exact counters of bytes written, from the model.
    pub fn endurance(&self) -> EnduranceCounters {
        let origin = CounterOrigin { source: CounterSource::Simulated, unit_bytes: 1 };
        let rated = |media_bytes| RatedEndurance { source: CounterSource::Simulated, media_bytes };
        EnduranceCounters {
            media: Some(origin),
            host: origin,
            rated: self.drive().rated_media_bytes().map(rated),
        }
    }

    /// The counters of the block cache, where it is one.
    pub fn block_cache(&self) -> Option<Telemetry> {
        let (cache, _) = self.cached.as_deref()?;
        Some(Telemetry {
            cache_reads: Some(cache.counters().reads),
            cache_read_hits: Some(cache.counters().read_hits),
            cache_dirty_bytes: Some(cache.dirty_bytes()),
            ..Telemetry::default()
        })
    }

    /// Let the commands of the cache's own complete, which no job waits for.
    fn finish_cache_commands(&mut self) {
        while let Some((cache, _)) = self.cached.as_deref()
            && !cache.is_idle()
        {
            let next = self.simulation.next_event().min(cache.next_event());
            assert!(next < Nanos::MAX, "a command of the cache never completes");
            self.advance_cached(next, &mut Vec::new());
        }
    }

    /// Whether written bytes are kept, so that they can be verified.
    pub fn keeps_data(&self) -> bool {
        self.drive().keeps_data()
    }

    /// Set the generator of pages that the drive then need not keep (`sim:NAME,data=checksum`).
    pub fn set_generator(&mut self, generator: Arc<dyn Generator>) {
        self.simulation.drive_mut().set_generator(generator);
    }

    /// Prepare for a job of workers with `depth` slots each, which are synchronous with one; at
    /// most `slot_bytes` per I/O. Nothing may be in flight.
    ///
    /// # Errors
    /// When buffers are needed (the drive keeps data) and cannot be had.
    pub fn begin_job(
        &mut self,
        workers: u32,
        depth: u32,
        slot_bytes: u32,
    ) -> Result<(), TargetError> {
        let slots = u64::from(workers) * u64::from(depth);
        let slots = u32::try_from(slots).map_err(|_| TargetError::TooDeep { slots })?;
        let now = self.simulation.now();
        let processors = match self.host {
            Some(_) => HostProcessors::unscheduled(&self.costs, workers, depth, now),
            None => HostProcessors::new(&self.costs, workers, depth, now),
        };
        self.simulation.set_processors(processors);
        self.placement.clear();
        self.slots = (0..slots).map(|slot| Slot::unused(slot, depth)).collect();
        let buffers = self.keeps_data().then(|| Buffers::new(slots, slot_bytes));
        self.buffers = buffers.transpose()?;
        Ok(())
    }

    /// The I/Os that a worker really keeps in flight, until the next job.
    pub fn set_depth(&mut self, worker: u32, depth: u32) {
        let processors = self.simulation.processors_mut();
        processors.set_depth(worker, depth, &self.costs);
    }

    /// Reclaim unit handles of a worker's writes, until the next job.
    pub fn place_writes(&mut self, worker: u32, handles: PlacementIds) {
        let worker = worker as usize;
        if self.placement.len() <= worker {
            self.placement.resize(worker + 1, None);
        }
        self.placement[worker] = Some(handles);
    }

    /// Reclaim unit handles that writes can have; 0 of a drive that is the cache of a disk.
    pub fn placement_handles(&self) -> u16 {
        match self.cached {
            None => self.drive().placement_handles(),
            Some(_) => 0,
        }
    }

    /// Takes effect with the next job.
    pub fn share_host(&mut self, share: HostShare) {
        self.host = Some((share, self.simulation.now()));
    }

    /// Return to a host of its own. Returns the percentage of the host's processors that the
    /// drive's I/Os took; `None` where no time has passed.
    pub fn leave_host(&mut self) -> Option<f64> {
        let (share, began) = self.host.take()?;
        let elapsed = (self.simulation.now() - began).as_secs_f64();
        let all = elapsed * f64::from(share.processors());
        (all > 0.0).then(|| 100.0 * share.busy().as_secs_f64() / all)
    }

    pub fn idle(&mut self, span: Nanos) {
        let until = self.simulation.now() + span;
        // The cache writes dirty blocks to its disk meanwhile.
        while self.cached.is_some() && self.advance_cached(until, &mut Vec::new()) {}
        self.simulation.idle_until(until);
    }

    /// Format the drive, see [`Drive::purge`]. Virtual time advances to its end.
    ///
    /// # Errors
    /// When the drive has been removed.
    pub fn purge(&mut self) -> Result<(), TargetError> {
        self.finish_cache_commands();
        if let Some(cached) = &mut self.cached {
            cached.0.clear();
        }
        let now = self.simulation.now();
        let Some(end) = self.simulation.drive_mut().purge(now) else {
            let message = "it is gone from the bus and cannot be purged; start a new run";
            return Err(failure(&self.name, message.to_owned()));
        };
        self.simulation.idle_until(end);
        Ok(())
    }

    /// Cut power and restore it at once, see [`Drive::power_loss`]. Nothing may be in flight.
    pub fn lose_power(&mut self) {
        self.finish_cache_commands();
        let now = self.simulation.now();
        self.simulation.drive_mut().power_loss(now);
        self.simulation.idle_until(now);
    }

    pub fn link(&self) -> &LinkProfile {
        &self.drive().profile().link
    }

    pub fn power_state(&mut self) -> u8 {
        self.drive_telemetry().power_state
    }

    /// As a host does with Set Features.
    ///
    /// # Errors
    /// When the drive has no state of that number.
    pub fn set_power_state(&mut self, state: u8) -> Result<(), TargetError> {
        let now = self.simulation.now();
        let set = self.simulation.drive_mut().set_power_state(now, state);
        set.map_err(|e| failure(&self.name, e.to_string()))
    }

    fn drive_telemetry(&mut self) -> assay_ssd::Telemetry {
        let now = self.simulation.now();
        self.simulation.drive_mut().telemetry(now)
    }

    /// Mean power since the last sample, or of the last thermal step when none has passed.
    fn mean_power_mw(&mut self, telemetry: &assay_ssd::Telemetry) -> u64 {
        let sample = (telemetry.energy_uj, telemetry.energy_until);
        let (energy_uj, at) = std::mem::replace(&mut self.metered, sample);
        let span = sample.1 - at;
        let used_uj = sample.0.checked_sub(energy_uj);
        let used_uj = used_uj.expect("a drive's energy counter never decreases");
        match (u128::from(used_uj) * 1_000_000).checked_div(u128::from(span.0)) {
            Some(mw) => u64::try_from(mw).expect("a drive takes less than 2^64 mW"),
            None => u64::from(telemetry.power_mw),
        }
    }

    /// [`SimTarget::advance_to_completion`] of a loop that runs ahead, whose drive keeps no data.
    #[inline]
    fn advance_ahead(&mut self, until: Nanos, out: &mut Vec<Completion>) -> bool {
        let slots = &self.slots;
        let start = |drive: &mut Drive, at, slot: u32| slots[slot as usize].start(drive, at, None);
        self.simulation.advance_ahead(until, start, |finished| {
            let command = &slots[finished.tag as usize].command;
            out.push(Completion {
                slot: finished.tag,
                result: result_of(finished.status, command),
            });
        })
    }

    /// [`SimTarget::advance_to_completion`] of a drive that is the cache of a disk.
    fn advance_cached(&mut self, until: Nanos, out: &mut Vec<Completion>) -> bool {
        let Some(cached) = &mut self.cached else {
            return false;
        };
        let slots = &self.slots;
        let (finished, answered) = (&mut self.finished, &mut self.answered);
        let command = |slot: u32| slots[slot as usize].command;
        let simulation = &mut self.simulation;
        let any = simulation.advance_cached(until, &mut cached.0, command, finished, answered);
        for (_, slot, status) in answered.drain(..) {
            out.push(Completion { slot, result: result_of(status, &slots[slot as usize].command) });
        }
        any
    }

    /// Process events until one completes I/Os, but none after `until`; returns whether one has.
    #[inline]
    fn advance_to_completion(&mut self, until: Nanos, out: &mut Vec<Completion>) -> bool {
        if self.cached.is_some() {
            return self.advance_cached(until, out);
        }
        if self.simulation.runs_ahead() {
            return self.advance_ahead(until, out);
        }
        let (slots, buffers) = (&self.slots, &mut self.buffers);
        let start = |drive: &mut Drive, at, slot: u32| {
            slots[slot as usize].start(drive, at, buffers.as_mut());
        };
        let simulation = &mut self.simulation;
        let has_completed = simulation.advance_to_completion(until, start, &mut self.finished);
        // By reference: a copy would load at once what was just stored in parts, and wait for it.
        for finished in &self.finished {
            let command = &self.slots[finished.tag as usize].command;
            if finished.status.is_ok()
                && command.op == Op::Read
                && let Some(buffers) = &mut self.buffers
            {
                let buffer = &mut buffers.slot(finished.tag)[..command.len_bytes as usize];
                let drive = self.simulation.drive();
                drive.read_data(finished, command.offset_bytes, buffer);
            }
            out.push(Completion {
                slot: finished.tag,
                result: result_of(finished.status, command),
            });
        }
        self.finished.clear();
        has_completed
    }
}

impl Target for SimTarget {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.simulation.now()
    }

    #[inline]
    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError> {
        let now = self.simulation.now();
        for io in batch {
            let slot = &mut self.slots[io.slot as usize];
            slot.set(io);
            if io.op == Op::Write
                && let Some(Some(placement)) = self.placement.get_mut(slot.thread as usize)
            {
                slot.handle = placement.next_id();
            }
            let (thread, bytes) = (slot.thread, slot.command.len_bytes);
            match &mut self.host {
                None => self.simulation.submit(thread, io.slot, bytes, now),
                Some((share, _)) => {
                    let admit = |work| share.admit(now, u64::from(bytes), work);
                    (self.simulation).submit_admitted(thread, io.slot, bytes, now, admit);
                }
            }
        }
        Ok(())
    }

    fn reap(
        &mut self,
        min: usize,
        until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        let before = out.len();
        let now = self.simulation.now();
        // All that is due has happened, except I/Os that reach the drive when they are submitted.
        let until = if min == 0 { now } else { until.max(now) };
        while self.advance_to_completion(until, out) {
            if out.len() - before >= min {
                return Ok(());
            }
        }
        if until == Nanos::MAX {
            let message = "the model has I/Os in flight and nothing that would ever complete \
                           them: a defect of the model, please report it with the command line";
            return Err(failure(&self.name, message.to_owned()));
        }
        self.simulation.wait_until(until);
        Ok(())
    }

    fn buffer(&mut self, slot: u32) -> Option<&mut [u8]> {
        self.buffers.as_mut().map(|buffers| buffers.slot(slot))
    }

    fn telemetry(&mut self) -> Option<Telemetry> {
        if !self.drive().is_present() {
            return None;
        }
        let telemetry = self.drive_telemetry();
        // Media written in place have no blocks that are erased.
        let wears = self.drive().rated_media_bytes().is_some();
        Some(Telemetry {
            temperature_c: Some(f64::from(telemetry.composite_celsius)),
            sensors_c: telemetry.sensors.iter().map(|&c| f64::from(c)).collect(),
            throttled: Some(telemetry.throttled),
            warning_time_s: Some(telemetry.warning_time_s),
            critical_time_s: Some(telemetry.critical_time_s),
            media_errors: Some(telemetry.media_errors),
            percentage_used: Some(telemetry.used_percent.min(255) as u8),
            available_spare_pct: Some(telemetry.spare_percent),
            power_mw: Some(self.mean_power_mw(&telemetry)),
            power_state: Some(telemetry.power_state),
            host_bytes_read: Some(telemetry.host_bytes_read),
            host_bytes_written: Some(telemetry.host_bytes_written),
            nand_bytes_written: Some(telemetry.nand_bytes_written),
            erases_least: wears.then_some(telemetry.least_cycles),
            erases_most: wears.then_some(telemetry.most_cycles),
            erases_mean: wears.then_some(telemetry.mean_cycles),
            bad_blocks: wears.then_some(telemetry.bad_blocks),
            ..self.block_cache().unwrap_or_default()
        })
    }
}
