//! The drive: commands in, completions out.

use assay_units::{Nanos, Op};

use crate::coalescing::{Coalescer, CoalescingSetting};
use crate::command::{Command, Completion, Status};
use crate::data::DataStore;
use crate::faults::{DriveFate, FaultPlan, WriteFate};
use crate::frontend::Frontend;
use crate::ftl::FlashError;
use crate::link::Link;
use crate::map_cache::MapCache;
use crate::medium::Medium;
use crate::options::{Age, DriveOptions, InitialState};
use crate::power::PowerStates;
use crate::prefetch::Prefetcher;
use crate::profile::{MAP_UNIT_BYTES, Profile};
use crate::sata::Slots;
use crate::telemetry::Identity;
use crate::thermal::Thermal;
use crate::volatile::Journal;

mod contents;
mod controlled;
pub(crate) mod digest;
mod execute;
mod failing;
mod finished;
mod health;
mod housekeeping;
mod mapped;
mod parts;
mod powered;
mod purge;
mod slots;
mod split;
mod verify;
mod wheel;

use finished::FinishedQueue;
use parts::{Part, Parts, WHOLE, Way};
use split::Split;

/// So many waiting reads have memory asked for their map entries together: one wait then serves all.
const TOUCHED_TOGETHER: usize = 4;

/// The latest submission, 146 years after power-on: sums of times then still fit.
const LAST_NS: u64 = 1 << 62;

/// Why a drive could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DriveError {
    /// The profile's flash and its capacity do not go together.
    #[error("simulated drive {profile:?}: {reason}; check nand and identity.capacity_bytes")]
    Flash {
        /// The profile's name.
        profile: String,
        /// Why not.
        reason: FlashError,
    },
    /// The drive has no map that could lie on flash.
    #[error(
        "simulated drive {profile:?}: option map_cache needs a drive with flash; its media are written in place, so leave the option out"
    )]
    NoMap {
        /// The profile's name.
        profile: String,
    },
    /// The drive has no such power state.
    #[error(
        "simulated drive {profile:?} has no power state {state}: it has 0 to {last}; choose one of them"
    )]
    PowerState {
        /// The profile's name.
        profile: String,
        /// What was asked for.
        state: u8,
        /// The last there is.
        last: usize,
    },
}

#[derive(Clone, Copy, Debug, Default)]
struct HostCounters {
    reads: u64,
    writes: u64,
    bytes_read: u64,
    bytes_written: u64,
    media_errors: u64,
    unsafe_shutdowns: u64,
}

/// A simulated drive.
///
/// # Time and data
/// Timing never looks at bytes. When bytes are kept ([`DriveOptions::keep_data`]), the bytes of a write count from its submission
/// ([`Drive::submit_write`]) and those of a read are taken at its completion ([`Drive::read_data`], called when the completion has
/// come out of [`Drive::advance`]). So a read sees every write submitted before it completed. NVMe promises no order among
/// commands in flight at once, so this is one of the orders a real drive may choose; after a write has completed, every read gives
/// its data. A command that fails leaves the data as it was.
#[derive(Clone, Debug)]
pub struct Drive {
    profile: Profile,
    identity: Identity,
    parts: Parts,
    front: Frontend,
    link: Link,
    medium: Medium,
    /// Command slots, where the link has only so many.
    slots: Option<Slots>,
    /// Where the map is on flash.
    map_cache: Option<Box<MapCache>>,
    prefetch: Prefetcher,
    thermal: Thermal,
    power: PowerStates,
    /// Interrupt coalescing, where it is on.
    coalescer: Option<Coalescer>,
    faults: FaultPlan,
    /// How old the media was at power-on.
    age: Age,
    data: Option<DataStore>,
    /// What a loss of power takes back, where data is kept.
    journal: Option<Journal>,
    /// Is the drive still there?
    present: bool,
    finished: FinishedQueue,
    splits: Vec<Split>,
    free_splits: Vec<u32>,
    spikes: Vec<(u64, u64)>,
    host: HostCounters,
    next_seq: u64,
    /// The model's present: nothing starts before it.
    now_ns: u64,
    last_submit_ns: u64,
    /// At full speed, and throttled.
    costs: [execute::Costs; 2],
    /// No command is done sooner after its start.
    least_ns: u64,
    /// Do commands meet nothing out of the ordinary on their way in: no planned faults, no bytes kept, no power state to leave?
    plain: bool,
    /// Does the medium use the host's silence?
    housekeeps: bool,
    /// First units of reads that wait for a core and whose map entries memory was not asked for yet.
    upcoming: Vec<u32>,
}

impl Drive {
    /// Switch a drive on at time 0.
    ///
    /// # Errors
    /// [`DriveError::Flash`] when the profile's flash and capacity do not go together; [`DriveError::PowerState`] when the options
    /// name a power state that it does not have.
    pub fn new(profile: Profile, options: DriveOptions) -> Result<Drive, DriveError> {
        let id = &profile.identity;
        let keep = 100 - u64::from(options.over_provisioning_percent.unwrap_or(0).min(90));
        let capacity_bytes = match keep {
            100 => id.capacity_bytes.value,
            // In whole MiB, as namespace sizes usually are.
            _ => (id.capacity_bytes.value / 100 * keep) & !((1 << 20) - 1),
        };
        let user_units = capacity_bytes.div_ceil(MAP_UNIT_BYTES) as u32;
        let filled = options.state == InitialState::Filled;
        let medium = Medium::new(&profile, user_units, filled, options.age, options.seed).map_err(
            |reason| DriveError::Flash {
                profile: profile.name.clone(),
                reason,
            },
        )?;
        let map_cache = mapped::cache_of(&profile, options.map_cache_bytes, user_units, filled)?;
        let sata = profile.link.sata.as_ref();
        let reported = |celsius: u16| (celsius > 0).then_some(celsius);
        let power = PowerStates::new(&profile, options.autonomous_power);
        let chosen = profile.coalescing.as_ref().map(CoalescingSetting::from);
        let coalescing = options.coalescing.or(chosen).filter(|set| set.is_on());
        let identity = Identity {
            model: format!("{} (simulated)", id.model),
            serial: format!("SIM-{}-{}", profile.name.to_uppercase(), options.seed),
            firmware: env!("CARGO_PKG_VERSION").to_owned(),
            nvme_version: id.nvme_version.clone(),
            capacity_bytes,
            logical_block_bytes: id.logical_block_bytes.value,
            namespaces: 1,
            queue_pairs: id.queue_pairs.value,
            max_queue_entries: id.max_queue_entries.value,
            max_transfer_bytes: id.max_transfer_bytes.value,
            warning_celsius: reported(id.warning_celsius.value),
            critical_celsius: reported(id.critical_celsius.value),
            power_states: power.states().to_vec(),
            coalescing,
        };
        let faults = FaultPlan::new(options.faults, options.seed);
        let costs = execute::Costs::new(&profile);
        let ahead = &profile.prefetch;
        let mut drive = Drive {
            identity,
            power,
            coalescer: coalescing.map(|set| Coalescer::new(set, id.queue_pairs.value)),
            parts: Parts::default(),
            front: Frontend::new(id.queue_pairs.value, profile.firmware.cores.value),
            link: Link::new(&profile.link, &profile.data_path),
            housekeeps: medium.housekeeps(),
            medium,
            map_cache: map_cache.map(Box::new),
            slots: sata.map(|sata| Slots::new(sata.queue_depth.value)),
            prefetch: Prefetcher::new(
                ahead.window_bytes.value,
                ahead.streams.value,
                ahead.trigger_commands.value,
            ),
            thermal: Thermal::new(
                &profile.thermal,
                &profile.power,
                id,
                options.ambient_celsius,
            ),
            data: options
                .keep_data
                .then(|| DataStore::new(options.seed, options.state, faults.has_stale()))
                .map(|data| match options.regenerate_data {
                    true => data.regenerate(),
                    false => data,
                })
                .map(|data| match faults.true_bytes() {
                    Some(bytes) if bytes < capacity_bytes => data.wrap(bytes),
                    _ => data,
                }),
            faults,
            age: options.age,
            journal: (options.keep_data && !options.power_stays).then(Journal::new),
            present: true,
            finished: FinishedQueue::new(),
            splits: Vec::new(),
            free_splits: Vec::new(),
            spikes: Vec::new(),
            host: HostCounters::default(),
            next_seq: 0,
            now_ns: 0,
            last_submit_ns: 0,
            least_ns: costs[0].least_ns().min(costs[1].least_ns())
                + profile.link.completion_ns.value,
            plain: false,
            costs,
            upcoming: Vec::with_capacity(TOUCHED_TOGETHER),
            profile,
        };
        if drive.journal.is_some() {
            drive.medium.track_safety();
        }
        drive.follow_map_pages();
        drive.set_power_state(Nanos::ZERO, options.power_state)?;
        Ok(drive)
    }

    /// Is the way in a plain one from now on? To be asked after every change of the power state and of the drive's presence.
    fn review(&mut self) {
        self.plain = self.present
            && self.slots.is_none()
            && self.faults.is_empty()
            && self.data.is_none()
            && self.journal.is_none()
            && !self.power.may_delay();
    }

    /// The profile this drive was made from.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// What the drive says it is.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Queue a command at `now` (an earlier time than that of the last call counts as that time). It will complete exactly once.
    ///
    /// For a write whose bytes matter use [`Drive::submit_write`].
    #[inline]
    pub fn submit(&mut self, now: Nanos, command: Command) {
        self.enqueue(now, command);
        self.note_other(&command);
    }

    /// When something next happens inside the drive: call [`Drive::advance`] with it, or with anything later. `None` when the drive
    /// has nothing to do. What happens then need not be a completion.
    #[inline]
    pub fn next_event(&self) -> Option<Nanos> {
        let done_ns = self.finished.next_ns();
        // What starts next is not done sooner.
        let mut next = done_ns.min(self.front.next_ns().saturating_add(self.least_ns));
        if let Some(coalescer) = &self.coalescer {
            next = next.min(coalescer.next_ns());
        }
        (next != u64::MAX).then_some(Nanos(next))
    }

    /// Live up to `until` and append the completions up to and including it, in order of time, ties in order of submission.
    #[inline]
    pub fn advance(&mut self, until: Nanos, out: &mut Vec<Completion>) {
        // What starts too late to be done by then can start when somebody looks, or when the next command comes.
        if self.front.next_ns().saturating_add(self.least_ns) <= until.0 {
            self.start_waiting(until.0);
        }
        if self.coalescer.is_some() {
            self.advance_coalesced(until.0, out);
            return;
        }
        while let Some((at_ns, number)) = self.finished.pop(until.0) {
            let part = self.parts.take(number);
            out.push(Completion {
                tag: part.tag,
                at: Nanos(at_ns),
                status: part.status,
                ordinal: part.ordinal,
            });
        }
    }

    /// Check a command, count it, queue it. Returns whether it will work and what becomes of its bytes.
    #[inline]
    fn enqueue(&mut self, now: Nanos, command: Command) -> (bool, WriteFate) {
        let now_ns = now.0.min(LAST_NS).max(self.last_submit_ns);
        if self.housekeeps {
            self.start_waiting(now_ns);
            self.keep_house(now_ns);
        }
        self.last_submit_ns = now_ns;
        let seq = self.next_seq;
        self.next_seq += 1;
        let status = self.check(&command);
        let way = Way::of(command.op);
        if self.plain
            && way != Way::Other
            && status.is_ok()
            && u64::from(command.len_bytes) <= self.identity.max_transfer_bytes
        {
            let arrival_ns = now_ns + self.link.fetch_ns;
            // What starts before its arrival does so without regard to it.
            if self.front.next_ns() < arrival_ns {
                self.start_waiting(arrival_ns - 1);
            }
            let part = Part::of(&command, seq, self.faults.count(way == Way::Read));
            self.arrive(arrival_ns, part);
            return (true, WriteFate::Stored);
        }
        self.start_waiting(now_ns);
        self.enqueue_other(now_ns, command, seq, status, false)
    }

    /// A command that works, whole and awake, arrives at the controller.
    #[inline]
    fn arrive(&mut self, arrival_ns: u64, part: Part) {
        let number = self.parts.add(part);
        if self.front.take_at_once(part.queue, arrival_ns) {
            // An idle core: nothing submitted later can overtake this command, so start it now.
            self.start(arrival_ns, number);
            return;
        }
        self.front.push(part.queue, arrival_ns, number);
        if part.way == Way::Read {
            self.expect_read(part.offset_bytes);
        }
        if self.front.next_ns() <= arrival_ns {
            self.start_waiting(arrival_ns);
        }
    }

    /// [`Drive::enqueue`] where there is more to think of.
    #[inline(never)]
    fn enqueue_other(
        &mut self,
        now_ns: u64,
        command: Command,
        seq: u64,
        mut status: Status,
        verifies: bool,
    ) -> (bool, WriteFate) {
        let (mut ordinal, mut spiked, mut dropped, mut fate) = (0, false, false, WriteFate::Stored);
        if !self.present {
            status = Status::Removed;
        }
        if status.is_ok() {
            let planned;
            (ordinal, planned) = self.faults.next(command.op);
            fate = planned.write;
            status = planned.status;
            dropped = planned.dropped;
            match planned.drive {
                DriveFate::None => {}
                DriveFate::PowerLoss => self.power_loss(Nanos(now_ns)),
                DriveFate::Removed => self.surprise_removal(Nanos(now_ns)),
            }
            let len = u64::from(command.len_bytes);
            // A write that fails leaves the media as it was; a read that fails anyway may meet worse.
            if (status.is_ok() || command.op == Op::Read)
                && self.faults.has_bad_media()
                && self
                    .faults
                    .meets_bad_media(command.op, command.offset_bytes, len)
            {
                status = Status::UnrecoveredReadError;
            }
            if planned.spike_ns > 0 {
                spiked = true;
                self.spikes.push((seq, planned.spike_ns));
            }
        }
        if status.is_ok()
            && self.present
            && let Some(data) = &mut self.data
            && matches!(command.op, Op::Discard | Op::WriteZeroes)
        {
            data.discard(command.offset_bytes, u64::from(command.len_bytes));
        }
        let part = Part {
            status,
            spiked,
            dropped,
            verifies,
            way: if status.is_ok() && !spiked && !verifies && self.slots.is_none() {
                Way::of(command.op)
            } else {
                Way::Other
            },
            ..Part::of(&command, seq, ordinal)
        };
        if !self.present {
            self.refuse_absent(now_ns, &part);
            return (false, fate);
        }
        let ready_ns = if self.power.may_delay() {
            self.wake(now_ns)
        } else {
            now_ns
        };
        let arrival_ns = ready_ns + self.link.fetch_ns;
        let limit = self.identity.max_transfer_bytes as u32;
        let moves_data = matches!(command.op, Op::Read | Op::Write);
        if command.len_bytes > limit && moves_data && status.is_ok() {
            self.enqueue_split(arrival_ns, part, limit);
            self.start_waiting(arrival_ns);
        } else {
            self.arrive(arrival_ns, part);
        }
        (status.is_ok(), fate)
    }

    /// A read of this place waits for a core.
    #[inline]
    fn expect_read(&mut self, offset_bytes: u64) {
        if !self.medium.has_table() {
            return;
        }
        self.upcoming.push((offset_bytes / MAP_UNIT_BYTES) as u32);
        if self.upcoming.len() == TOUCHED_TOGETHER {
            self.medium.touch(&self.upcoming);
            self.upcoming.clear();
        }
    }

    fn check(&self, command: &Command) -> Status {
        if command.op == Op::Flush {
            return Status::Ok;
        }
        let block = self.identity.logical_block_bytes;
        let len = u64::from(command.len_bytes);
        if len == 0 || (len | command.offset_bytes) & (block - 1) != 0 {
            return Status::InvalidField;
        }
        match command.offset_bytes.checked_add(len) {
            Some(end) if end <= self.identity.capacity_bytes => Status::Ok,
            _ => Status::LbaOutOfRange,
        }
    }

    /// Start every waiting command that gets a core by then.
    #[inline(never)]
    fn start_waiting(&mut self, until_ns: u64) {
        while let Some((start_ns, number)) = self.front.take(until_ns) {
            self.start(start_ns, number);
        }
    }

    #[inline]
    fn start(&mut self, start_ns: u64, number: u32) {
        match self.parts.get(number).way {
            Way::Read => self.start_plain::<false>(start_ns, number),
            Way::Write => self.start_plain::<true>(start_ns, number),
            Way::Other => self.start_other(start_ns, number),
        }
    }

    /// [`Drive::start`] of what most commands are. For reads and for writes it is one function each, down to the flash or to the write
    /// buffer and the open group: calls are a fifth of what a read costs.
    #[inline(never)]
    fn start_plain<const WRITE: bool>(&mut self, start_ns: u64, number: u32) {
        self.now_ns = start_ns;
        let (busy_until_ns, done_ns, status) = self.execute_plain::<WRITE>(start_ns, number);
        self.front.occupy(busy_until_ns);
        let at_ns = done_ns + self.link.completion_ns;
        if WRITE {
            if !status.is_ok() {
                let part = *self.parts.get(number);
                return self.finish(number, &part, at_ns, status);
            }
            self.host.writes += 1;
        } else {
            self.host.reads += 1;
        }
        self.power.busy_until(at_ns);
        let seq = self.parts.get(number).seq;
        self.finished.push(at_ns.min(u64::MAX - 1), seq, number);
    }

    #[inline(never)]
    fn start_other(&mut self, start_ns: u64, number: u32) {
        if self.slots.is_some() {
            return self.start_in_slot(start_ns, number);
        }
        self.now_ns = start_ns;
        let part = *self.parts.get(number);
        let (busy_until_ns, done_ns, status) = self.execute(start_ns, number, &part);
        self.front.occupy(busy_until_ns);
        self.finish(number, &part, done_ns + self.link.completion_ns, status);
    }

    /// A command, or a part of one, ended; it may have failed or be held up.
    #[inline(never)]
    fn finish(&mut self, number: u32, part: &Part, at_ns: u64, status: Status) {
        let (mut at_ns, mut status) = (at_ns, status);
        if part.split != WHOLE {
            let split = &mut self.splits[part.split as usize];
            split.left -= 1;
            split.at_ns = split.at_ns.max(at_ns);
            if !status.is_ok() {
                split.status = status;
            }
            if split.left > 0 {
                self.parts.take(number);
                return;
            }
            at_ns = split.at_ns;
            status = split.status;
            self.free_splits.push(part.split);
        }
        if part.spiked
            && let Some(index) = self.spikes.iter().position(|&(seq, _)| seq == part.seq)
        {
            at_ns = at_ns.saturating_add(self.spikes.swap_remove(index).1);
        }
        self.host.media_errors += u64::from(matches!(
            status,
            Status::UnrecoveredReadError | Status::WriteFault
        ));
        if status.is_ok() {
            self.host.reads += u64::from(part.op == Op::Read && !part.verifies);
            self.host.writes += u64::from(part.op == Op::Write);
        }
        self.power.busy_until(at_ns);
        self.parts.set_status(number, status);
        self.finished
            .push(at_ns.min(u64::MAX - 1), part.seq, number);
    }
}
