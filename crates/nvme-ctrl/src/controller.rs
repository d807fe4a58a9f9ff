//! The controller: registers and queues around the drive.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use assay_nvme_spec::CompletionEntry;
use assay_nvme_spec::register::{
    Capabilities, Configuration, ControllerStatus, Version, shutdown_status,
};
use assay_ssd::{Completion, Drive};
use assay_units::Nanos;

use crate::admin::Background;
use crate::admin::errors::ErrorLog;
use crate::admin::events::Events;
use crate::admin::feature::Features;
use crate::interrupts::{Interrupts, MAX_VECTORS, VectorSet};
use crate::memory::HostMemory;
use crate::queues::{CompletionQueue, SubmissionQueue};
use crate::slots::{Slot, Slots};

mod complete;
mod fetch;
mod io;
mod registers;

pub(crate) use io::NAMESPACE;

/// Commands fetched and not completed, at most: a controller's memory is not the guest's to fill.
pub const MAX_IN_FLIGHT: usize = 65_536;
/// From enabling a controller until it is ready, in nanoseconds. Assumed; CAP.TO allows [`READY_TIMEOUT_500MS`].
pub const READY_NS: u64 = 1_000_000;
/// CAP.TO in units of 500 ms: as long as a drive may take that recovers from a loss of power.
pub const READY_TIMEOUT_500MS: u8 = 20;
/// CAP.MPSMAX: memory pages of up to 64 KiB.
pub const MPS_MAX: u8 = 4;
/// The smallest memory page in bytes, the unit of MDTS.
pub const PAGE_BYTES: u64 = 4096;

/// Times given count up to here, 146 years after power-on: sums of times then still fit.
const LATEST_NS: u64 = 1 << 62;

/// What a controller is told beside its drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ControllerOptions {
    /// PCI Vendor ID, as whoever shows the PCI function has it.
    pub vendor_id: u16,
    /// PCI Subsystem Vendor ID.
    pub subsystem_vendor_id: u16,
}

/// The registers that hold what a host wrote.
#[derive(Clone, Copy, Debug, Default)]
struct Registers {
    cc: Configuration,
    csts: ControllerStatus,
    aqa: u32,
    asq: u64,
    acq: u64,
    /// Vectors masked by INTMS.
    mask: u32,
}

/// An NVMe controller with one namespace: the drive.
///
/// The caller owns time and memory. Registers can be read and written at any instant; what they set off happens in
/// [`Controller::advance`]. Times given must not run backwards; an earlier one counts as the last.
#[derive(Clone, Debug)]
pub struct Controller {
    pub(crate) drive: Drive,
    pub(crate) options: ControllerOptions,
    capabilities: Capabilities,
    version: Version,
    registers: Registers,
    pub(crate) queue_pairs: u16,
    pub(crate) sqs: Vec<Option<SubmissionQueue>>,
    pub(crate) cqs: Vec<Option<CompletionQueue>>,
    pub(crate) slots: Slots,
    /// Commands in the drive whose completion will make the controller submit again.
    staged: u32,
    /// Completions that wait for their time: nanoseconds, order, slot.
    deferred: BinaryHeap<Reverse<(u64, u64, u32)>>,
    next_order: u64,
    /// Submission queues with entries that were not fetched.
    rung: Vec<u16>,
    /// Completions that wait for room in their queue.
    parked: usize,
    /// When the controller next has something to do by itself, beside what the parts below say; `u64::MAX` for never.
    wake_ns: u64,
    /// When it will be ready, `u64::MAX` when it is not being enabled.
    ready_ns: u64,
    pub(crate) interrupts: Interrupts,
    /// Completions of the drive, kept to avoid allocation.
    completions: Vec<Completion>,
    /// Data on its way, kept to avoid allocation; not longer than the largest transfer.
    buffer: Vec<u8>,
    /// The other side of a comparison.
    compared: Vec<u8>,
    pub(crate) now_ns: u64,
    pub(crate) block_shift: u32,
    pub(crate) blocks: u64,
    pub(crate) page_bytes: u64,
    pub(crate) max_transfer_bytes: u64,
    pub(crate) keeps_data: bool,
    /// From the doorbell to the completion of a command that asks nothing of the medium, in nanoseconds.
    pub(crate) command_ns: u64,
    pub(crate) features: Features,
    /// Features as the drive was switched on.
    pub(crate) shipped: Features,
    pub(crate) errors: ErrorLog,
    pub(crate) events: Events,
    pub(crate) background: Background,
    /// Power state to which a reset returns.
    pub(crate) first_power_state: u8,
    busy_since_ns: u64,
    pub(crate) busy_ns: u64,
}

impl Controller {
    /// A controller around a drive just switched on. It takes interrupt coalescing over from the drive.
    pub fn new(mut drive: Drive, options: ControllerOptions) -> Controller {
        let coalescing = drive.take_coalescing();
        let identity = drive.identity();
        let (profile, id) = (drive.profile(), identity);
        let command_ns = profile.link.fetch_ns.value
            + profile.firmware.other_command_ns.value
            + profile.link.completion_ns.value;
        let queue_pairs = id.queue_pairs.clamp(1, MAX_VECTORS - 1);
        let pages = (id.max_transfer_bytes / PAGE_BYTES).max(1);
        // MDTS is a power of two of pages, and 0 would mean no limit.
        let max_transfer_bytes = PAGE_BYTES << pages.ilog2().max(1);
        let mut capabilities = Capabilities::default();
        capabilities
            .set_mqes((id.max_queue_entries.clamp(2, 65_536) - 1) as u16)
            .set_contiguous_queues(true)
            .set_timeout(READY_TIMEOUT_500MS)
            .set_css(1)
            .set_mps_max(MPS_MAX);
        let version = Version::parse(&id.nvme_version)
            .or_else(|| Version::parse("1.4"))
            .unwrap_or_default();
        let first_power_state = drive.telemetry(Nanos::ZERO).power_state;
        let features = Features::new(&drive, coalescing, first_power_state);
        let pairs = usize::from(queue_pairs);
        let mut controller = Controller {
            options,
            capabilities,
            version,
            registers: Registers::default(),
            queue_pairs,
            sqs: vec![None; pairs + 1],
            cqs: vec![None; pairs + 1],
            slots: Slots::default(),
            staged: 0,
            deferred: BinaryHeap::new(),
            next_order: 0,
            rung: Vec::with_capacity(pairs + 1),
            parked: 0,
            wake_ns: u64::MAX,
            ready_ns: u64::MAX,
            interrupts: Interrupts::new(queue_pairs + 1, features.coalescing),
            completions: Vec::with_capacity(64),
            buffer: Vec::new(),
            compared: Vec::new(),
            now_ns: 0,
            block_shift: 9,
            blocks: 0,
            page_bytes: PAGE_BYTES,
            max_transfer_bytes,
            keeps_data: drive.keeps_data(),
            command_ns,
            shipped: features.clone(),
            features,
            errors: ErrorLog::default(),
            events: Events::default(),
            background: Background::default(),
            first_power_state,
            busy_since_ns: u64::MAX,
            busy_ns: 0,
            drive,
        };
        controller.follow_blocks();
        controller
    }

    /// The drive.
    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// The drive, for its telemetry and its digest. What is submitted to it behind the controller's back confuses both.
    pub fn drive_mut(&mut self) -> &mut Drive {
        &mut self.drive
    }

    /// The drive, out of its controller.
    pub fn into_drive(self) -> Drive {
        self.drive
    }

    /// How many interrupt vectors it uses: one per queue pair, and vector 0 for the admin queues.
    pub fn vectors(&self) -> u16 {
        self.interrupts.count()
    }

    /// Bytes of registers from offset 0 on, doorbells included: what BAR 0 must at least span.
    pub fn register_bytes(&self) -> u64 {
        assay_nvme_spec::register::sq_doorbell(self.queue_pairs + 1, 0)
    }

    /// Are commands outstanding? Requests for asynchronous events are not counted: they wait for as long as nothing happens.
    pub fn is_busy(&self) -> bool {
        self.slots.used() > 0
    }

    /// Would the function's interrupt pin be asserted: does a completion queue with interrupts have entries that were not taken, on a
    /// vector that INTMS does not mask? For hosts without MSI-X; the vectors of [`Controller::advance`] are for those with.
    pub fn is_pin_asserted(&self) -> bool {
        let queues = self.cqs.iter().flatten();
        let mut waiting = queues.filter(|queue| queue.interrupts && queue.has_entries());
        waiting.any(|queue| queue.vector >= 32 || self.registers.mask >> queue.vector & 1 == 0)
    }

    /// When something next happens: call [`Controller::advance`] with it, or with anything later. `None` when there is nothing to do
    /// until a register is written.
    #[inline]
    pub fn next_event(&self) -> Option<Nanos> {
        if !self.drive.is_present() {
            return None;
        }
        let mut next = self
            .wake_ns
            .min(self.ready_ns)
            .min(self.interrupts.next_ns());
        if let Some(event) = self.drive.next_event() {
            next = next.min(event.0);
        }
        if let Some(Reverse((at_ns, ..))) = self.deferred.peek() {
            next = next.min(*at_ns);
        }
        next = next.min(self.next_background_ns());
        (next != u64::MAX).then_some(Nanos(next))
    }

    /// Live up to `until`: fetch commands, move data, write completion entries. Returns the interrupt vectors raised, each once.
    #[inline]
    pub fn advance<M: HostMemory>(&mut self, until: Nanos, memory: &mut M) -> VectorSet {
        let until_ns = until.0.min(LATEST_NS).max(self.now_ns);
        if !self.drive.is_present() {
            self.now_ns = until_ns;
            return VectorSet::default();
        }
        if self.ready_ns <= until_ns {
            self.become_ready();
        }
        self.wake_ns = u64::MAX;
        if self.parked > 0 {
            self.unpark(memory);
        }
        loop {
            self.fetch(until_ns, memory);
            // What comes back only to be submitted again must do so at its time, whatever the caller's steps are.
            let step_ns = match self.drive.next_event() {
                Some(event) if self.staged > 0 => event.0.min(until_ns),
                _ => until_ns,
            };
            self.live(step_ns, memory);
            if step_ns == until_ns && !self.has_more(until_ns) {
                break;
            }
        }
        self.work_in_background(until_ns, memory);
        self.interrupts.expire(until_ns);
        self.now_ns = until_ns;
        self.interrupts.take()
    }

    /// Is there anything left to do by then?
    #[inline]
    fn has_more(&self, until_ns: u64) -> bool {
        let due = |at: Option<u64>| at.is_some_and(|at_ns| at_ns <= until_ns);
        due(self.drive.next_event().map(|event| event.0))
            || due(self.deferred.peek().map(|Reverse((at_ns, ..))| *at_ns))
            || self.can_fetch(until_ns)
    }

    /// Collect what the drive, and time, have finished.
    #[inline]
    fn live<M: HostMemory>(&mut self, until_ns: u64, memory: &mut M) {
        let mut completions = std::mem::take(&mut self.completions);
        self.drive.advance(Nanos(until_ns), &mut completions);
        if !self.drive.is_present() {
            // Nothing answers any more: the commands are lost with the drive.
            completions.clear();
        }
        for completion in completions.drain(..) {
            self.finish(&completion, memory);
        }
        self.completions = completions;
        while let Some(&Reverse((at_ns, _, number))) = self.deferred.peek()
            && at_ns <= until_ns
        {
            self.deferred.pop();
            self.finish_deferred(number, at_ns, memory);
        }
    }

    /// Enabled and not shutting down?
    #[inline]
    pub(crate) fn is_working(&self) -> bool {
        let csts = &self.registers.csts;
        csts.ready() && !csts.fatal() && csts.shutdown() == shutdown_status::NORMAL
    }

    /// The controller cannot go on: host memory is not where it was said to be (Base 9.5, Controller Fatal Status).
    #[cold]
    pub(crate) fn fail(&mut self) {
        self.registers.csts.set_fatal(true);
        self.rung.clear();
    }

    /// Sizes in blocks after the block size changed.
    pub(crate) fn follow_blocks(&mut self) {
        let id = self.drive.identity();
        self.block_shift = id.logical_block_bytes.trailing_zeros();
        self.blocks = id.capacity_bytes >> self.block_shift;
    }

    /// A command's completion is known and comes at `at_ns`.
    pub(crate) fn defer(&mut self, at_ns: u64, number: u32) {
        self.next_order += 1;
        self.deferred
            .push(Reverse((at_ns, self.next_order, number)));
    }

    /// A command in a slot begins.
    #[inline]
    fn occupy(&mut self, slot: Slot, now_ns: u64) -> u32 {
        if self.slots.used() == 0 {
            self.busy_since_ns = now_ns;
        }
        self.staged += u32::from(slot.staged);
        self.slots.add(slot)
    }

    /// A slot's command is over.
    #[inline]
    fn vacate(&mut self, number: u32, now_ns: u64) {
        self.slots.free(number);
        if self.slots.used() == 0 {
            self.busy_ns += now_ns.saturating_sub(self.busy_since_ns);
            self.busy_since_ns = u64::MAX;
        }
    }

    /// For how long commands were outstanding until `now_ns`, in nanoseconds.
    pub(crate) fn busy_ns_until(&self, now_ns: u64) -> u64 {
        self.busy_ns + now_ns.saturating_sub(self.busy_since_ns)
    }

    /// A slot's command will not make the controller submit again.
    fn unstage(&mut self, number: u32) {
        if let Some(slot) = self.slots.get_mut(number)
            && slot.staged
        {
            slot.staged = false;
            self.staged -= 1;
        }
    }

    /// Version, as the register has it.
    pub(crate) fn version_raw(&self) -> u32 {
        self.version.raw()
    }

    /// Largest queue that can be created, in entries.
    pub(crate) fn max_queue_entries(&self) -> u32 {
        u32::from(self.capabilities.mqes()) + 1
    }

    /// Does CC say that entries have the sizes that there are (64 and 16 bytes)?
    pub(crate) fn has_entry_sizes(&self) -> bool {
        let cc = &self.registers.cc;
        (cc.io_sq_entry_size(), cc.io_cq_entry_size()) == (6, 4)
    }

    /// Remove a submission queue with what it has outstanding, if it is there.
    pub(crate) fn remove_sq(&mut self, qid: u16) -> bool {
        let Some(place) = self.sqs.get_mut(usize::from(qid)) else {
            return false;
        };
        let Some(queue) = place.take() else {
            return false;
        };
        self.rung.retain(|&other| other != qid);
        self.slots.orphan(|slot| slot.sqid == qid);
        if let Some(Some(cq)) = self.cqs.get_mut(usize::from(queue.cqid)) {
            cq.parked.retain(|(_, entry)| entry.sqid() != qid);
        }
        self.count_parked();
        true
    }

    /// After queues were removed.
    pub(crate) fn count_parked(&mut self) {
        self.parked = self.cqs.iter().flatten().map(|cq| cq.parked.len()).sum();
    }

    /// An entry for the error log, where `status` is one.
    #[cold]
    pub(crate) fn log_error(&mut self, entry: &CompletionEntry, opcode: u8, nsid: u32, lba: u64) {
        self.errors.add(entry, opcode, nsid, lba);
    }

    /// A command whose end is known comes to it at `at_ns`.
    pub(crate) fn defer_slot(&mut self, slot: Slot, now_ns: u64, at_ns: u64) {
        let number = self.occupy(slot, now_ns);
        self.defer(at_ns, number);
    }
}
