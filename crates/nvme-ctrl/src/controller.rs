//! The controller: registers, queues and outstanding commands around the drive.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use assay_nvme_spec::register::{
    Capabilities, Configuration, ControllerStatus, Version, shutdown_status,
};
use assay_ssd::{Completion, Drive};
use assay_units::Nanos;

use crate::admin::Background;
use crate::admin::errors::ErrorLog;
use crate::admin::events::AsyncEvents;
use crate::admin::fdp::events::FdpEvents;
use crate::admin::feature::Features;
use crate::interrupts::{Interrupts, MAX_VECTORS, VectorSet};
use crate::memory::HostMemory;
use crate::queues::{CompletionQueue, SubmissionQueue};
use crate::slots::{CommandSlot, CommandSlots};

mod complete;
mod fabrics;
mod fetch;
mod io;
mod registers;

pub use fabrics::Association;
pub(crate) use fabrics::KEEP_ALIVE_100MS;
pub(crate) use io::NAMESPACE;

/// Most outstanding commands; bounds the memory that a guest can use.
pub const MAX_IN_FLIGHT: usize = 65_536;
/// From CC.EN to CSTS.RDY. Assumed; the limit is [`READY_TIMEOUT_500MS`].
pub const READY_NS: u64 = 1_000_000;
/// CAP.TO: covers the recovery from a loss of power.
pub const READY_TIMEOUT_500MS: u8 = 20;
/// CAP.MPSMAX: memory pages of up to 64 KiB.
pub const MPS_MAX: u8 = 4;
/// Minimum memory page size, the unit of MDTS.
pub const PAGE_BYTES: u64 = 4096;

/// LBA formats of every drive, as powers of two of bytes.
const LBA_SIZES: [u8; 2] = [9, 12];
/// Latest time of the caller, 146 years after power-on, so that sums of times do not overflow.
const MAX_TIME_NS: u64 = 1 << 62;

/// Properties outside of the drive that Identify reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControllerOptions {
    /// PCI vendors.
    pub vendor_id: u16,
    pub subsystem_vendor_id: u16,
    /// Mixed into the namespace's identifiers: a host that keeps state of a namespace does not take
    /// another drive for the same one. 0 for identifiers of the serial number alone.
    pub identity_nonce: u64,
    /// The controller is behind a network instead of PCIe.
    pub fabrics: Option<FabricsOptions>,
}

/// A controller of NVMe over Fabrics: data pointers are SGLs, and queues are created by
/// [`Controller::attach_queue`] instead of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FabricsOptions {
    /// Name of the subsystem; `None` for one made of the serial number.
    pub nqn: Option<String>,
    /// Most entries of a queue, and commands outstanding in one.
    pub max_entries: u16,
    /// Most I/O queues.
    pub max_queues: u16,
    pub in_capsule_bytes: u32,
}

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

/// NVMe controller with one namespace. The caller owns time and memory. Effects of register
/// accesses happen in [`Controller::advance`]. Times never go back: an earlier one counts as the
/// last.
#[derive(Clone, Debug)]
pub struct Controller {
    pub(crate) drive: Drive,
    pub(crate) options: ControllerOptions,
    pub(crate) association: Association,
    capabilities: Capabilities,
    pub(crate) version: Version,
    registers: Registers,
    pub(crate) queue_pairs: u16,
    pub(crate) sqs: Vec<Option<SubmissionQueue>>,
    pub(crate) cqs: Vec<Option<CompletionQueue>>,
    pub(crate) slots: CommandSlots,
    /// Commands in the drive whose completion leads to another submission.
    multi_step_commands: u32,
    /// Time in nanoseconds, order, slot.
    scheduled: BinaryHeap<Reverse<(u64, u64, u32)>>,
    next_order: u64,
    /// Submission queues with entries not fetched.
    queues_with_entries: Vec<u16>,
    /// Completion entries that wait for room in their queue.
    backlog_entries: usize,
    /// Time of work after a register write, `u64::MAX` for none.
    wake_ns: u64,
    /// Time at which CSTS.RDY is set, `u64::MAX` if it is not being enabled.
    ready_ns: u64,
    pub(crate) interrupts: Interrupts,
    /// Buffers, kept to avoid allocation.
    completions: Vec<Completion>,
    buffer: Vec<u8>,
    compared: Vec<u8>,
    pub(crate) now_ns: u64,
    /// Powers of two of bytes: [`LBA_SIZES`] and the block size of the profile.
    pub(crate) lba_sizes: Vec<u8>,
    pub(crate) block_shift: u32,
    pub(crate) blocks: u64,
    pub(crate) page_bytes: u64,
    pub(crate) max_transfer_bytes: u64,
    pub(crate) keeps_data: bool,
    /// Latency of a command without media access.
    pub(crate) command_ns: u64,
    pub(crate) features: Features,
    pub(crate) default_features: Features,
    pub(crate) errors: ErrorLog,
    pub(crate) events: AsyncEvents,
    pub(crate) background: Background,
    pub(crate) fdp_events: FdpEvents,
    busy_since_ns: Option<u64>,
    pub(crate) busy_ns: u64,
}

impl Controller {
    /// Takes over the drive's interrupt coalescing.
    pub fn new(mut drive: Drive, options: ControllerOptions) -> Controller {
        let coalescing = drive.take_coalescing();
        // Until the host lends memory (Set Features).
        drive.lend_host_memory(Nanos::ZERO, None);
        let (profile, id) = (drive.profile(), drive.identity());
        let (link, firmware) = (&profile.link, &profile.firmware);
        let fabrics = options.fabrics.as_ref();
        let command_ns =
            link.fetch_ns.value + firmware.other_command_ns.value + link.completion_ns.value;
        let most_pairs = fabrics.map_or(MAX_VECTORS - 1, |fabrics| fabrics.max_queues);
        let queue_pairs = id.queue_pairs.clamp(1, most_pairs);
        let pages = (id.max_transfer_bytes / PAGE_BYTES).max(1);
        // MDTS is a power of two of pages; 0 would mean no limit.
        let max_transfer_bytes = PAGE_BYTES << pages.ilog2().max(1);
        let capabilities = capabilities(id.max_queue_entries, fabrics);
        let native_size = id.logical_block_bytes.trailing_zeros() as u8;
        let mut lba_sizes = Vec::from(LBA_SIZES);
        if let Err(index) = lba_sizes.binary_search(&native_size) {
            lba_sizes.insert(index, native_size);
        }
        let version = Version::parse(&id.nvme_version).or_else(|| Version::parse("1.4"));
        let power_state = drive.telemetry(Nanos::ZERO).power_state;
        let features = Features::new(&drive, coalescing, power_state);
        let pairs = usize::from(queue_pairs);
        let mut controller = Controller {
            options,
            association: Association::default(),
            capabilities,
            version: version.unwrap_or_default(),
            registers: Registers::default(),
            queue_pairs,
            sqs: vec![None; pairs + 1],
            cqs: vec![None; pairs + 1],
            slots: CommandSlots::default(),
            multi_step_commands: 0,
            scheduled: BinaryHeap::new(),
            next_order: 0,
            queues_with_entries: Vec::with_capacity(pairs + 1),
            backlog_entries: 0,
            wake_ns: u64::MAX,
            ready_ns: u64::MAX,
            interrupts: Interrupts::new(queue_pairs + 1, features.coalescing),
            completions: Vec::with_capacity(64),
            buffer: Vec::new(),
            compared: Vec::new(),
            now_ns: 0,
            lba_sizes,
            block_shift: 9,
            blocks: 0,
            page_bytes: PAGE_BYTES,
            max_transfer_bytes,
            keeps_data: drive.keeps_data(),
            command_ns,
            default_features: features.clone(),
            features,
            errors: ErrorLog::default(),
            events: AsyncEvents::default(),
            background: Background::default(),
            fdp_events: FdpEvents::default(),
            busy_since_ns: None,
            busy_ns: 0,
            drive,
        };
        controller.update_block_size();
        controller
    }

    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// For telemetry and digest; commands must be submitted through the controller.
    pub fn drive_mut(&mut self) -> &mut Drive {
        &mut self.drive
    }

    /// One per I/O queue pair, and vector 0 for the admin queues.
    pub fn vectors(&self) -> u16 {
        self.interrupts.count()
    }

    /// Most data of one command.
    pub fn max_transfer_bytes(&self) -> u64 {
        self.max_transfer_bytes
    }

    pub fn is_busy(&self) -> bool {
        self.slots.used() > 0
    }

    /// Interrupt pin, for hosts without MSI-X: a completion queue with interrupts has entries that
    /// were not consumed, on a vector that INTMS does not mask.
    pub fn is_pin_asserted(&self) -> bool {
        let queues = self.cqs.iter().flatten();
        let mut waiting = queues.filter(|queue| queue.interrupts && queue.has_entries());
        waiting.any(|queue| queue.vector >= 32 || self.registers.mask >> queue.vector & 1 == 0)
    }

    /// Time of the next event, for [`Controller::advance`], unless a register is written before.
    #[inline]
    pub fn next_event(&self) -> Option<Nanos> {
        if !self.drive.is_present() {
            return None;
        }
        let mut next = self.wake_ns.min(self.ready_ns).min(self.interrupts.next_ns);
        if let Some(event) = self.drive.next_event() {
            next = next.min(event.0);
        }
        if let Some(Reverse((at_ns, ..))) = self.scheduled.peek() {
            next = next.min(*at_ns);
        }
        next = next.min(self.next_background_ns());
        (next != u64::MAX).then_some(Nanos(next))
    }

    /// Fetches commands, transfers data and writes completion entries; returns the vectors raised.
    #[inline]
    pub fn advance<M: HostMemory>(&mut self, until: Nanos, memory: &mut M) -> VectorSet {
        let until_ns = until.0.min(MAX_TIME_NS).max(self.now_ns);
        if !self.drive.is_present() {
            self.now_ns = until_ns;
            return VectorSet::default();
        }
        if self.ready_ns <= until_ns {
            self.become_ready();
        }
        self.wake_ns = u64::MAX;
        if self.backlog_entries > 0 {
            self.post_backlog(memory);
        }
        loop {
            self.fetch(until_ns, memory);
            // Commands with several steps submit the next one when the last completes.
            let step_ns = match self.drive.next_event() {
                Some(event) if self.multi_step_commands > 0 => event.0.min(until_ns),
                _ => until_ns,
            };
            self.complete_until(step_ns, memory);
            if step_ns == until_ns && !self.has_work(until_ns) {
                break;
            }
        }
        self.run_background(until_ns, memory);
        self.interrupts.expire(until_ns);
        self.now_ns = until_ns;
        self.interrupts.take()
    }

    #[inline]
    fn has_work(&self, until_ns: u64) -> bool {
        let due = |at: Option<u64>| at.is_some_and(|at_ns| at_ns <= until_ns);
        due(self.drive.next_event().map(|event| event.0))
            || due(self.scheduled.peek().map(|Reverse((at_ns, ..))| *at_ns))
            || self.can_fetch(until_ns)
    }

    #[inline]
    fn complete_until<M: HostMemory>(&mut self, until_ns: u64, memory: &mut M) {
        let mut completions = std::mem::take(&mut self.completions);
        self.drive.advance(Nanos(until_ns), &mut completions);
        if !self.drive.is_present() {
            // After surprise removal nothing completes.
            completions.clear();
        }
        for completion in completions.drain(..) {
            self.finish(&completion, memory);
        }
        self.completions = completions;
        while let Some(&Reverse((at_ns, _, number))) = self.scheduled.peek()
            && at_ns <= until_ns
        {
            self.scheduled.pop();
            self.finish_scheduled(number, at_ns, memory);
        }
    }

    #[inline]
    pub(crate) fn is_operational(&self) -> bool {
        let csts = &self.registers.csts;
        csts.ready() && !csts.fatal() && csts.shutdown() == shutdown_status::NORMAL
    }

    /// Controller Fatal Status: a queue is not in mapped memory (Base 9.5).
    #[cold]
    pub(crate) fn set_fatal(&mut self) {
        self.registers.csts.set_fatal(true);
        self.queues_with_entries.clear();
    }

    pub(crate) fn update_block_size(&mut self) {
        let id = self.drive.identity();
        self.block_shift = id.logical_block_bytes.trailing_zeros();
        self.blocks = id.capacity_bytes >> self.block_shift;
    }

    pub(crate) fn schedule(&mut self, at_ns: u64, number: u32) {
        self.next_order += 1;
        self.scheduled.push(Reverse((at_ns, self.next_order, number)));
    }

    #[inline]
    fn add_command(&mut self, slot: CommandSlot, now_ns: u64) -> u32 {
        self.busy_since_ns.get_or_insert(now_ns);
        self.multi_step_commands += u32::from(slot.multi_step);
        self.slots.add(slot)
    }

    #[inline]
    fn remove_command(&mut self, number: u32, now_ns: u64) {
        self.slots.free(number);
        if self.slots.used() == 0 {
            self.busy_ns = self.busy_ns_until(now_ns);
            self.busy_since_ns = None;
        }
    }

    pub(crate) fn busy_ns_until(&self, now_ns: u64) -> u64 {
        // Scheduled completions follow the drive's, so the last one of a call may be earlier.
        let busy_since = self.busy_since_ns;
        self.busy_ns + busy_since.map_or(0, |since_ns| now_ns.saturating_sub(since_ns))
    }

    fn end_multi_step(&mut self, number: u32) {
        if std::mem::take(&mut self.slots.get_mut(number).multi_step) {
            self.multi_step_commands -= 1;
        }
    }

    pub(crate) fn max_queue_entries(&self) -> u32 {
        u32::from(self.capabilities.mqes()) + 1
    }

    /// Whether CC selects the supported entry sizes (64 and 16 bytes).
    pub(crate) fn has_entry_sizes(&self) -> bool {
        let cc = &self.registers.cc;
        (cc.io_sq_entry_size(), cc.io_cq_entry_size()) == (6, 4)
    }

    /// Deletes a submission queue and orphans its commands; `false` if it does not exist.
    pub(crate) fn remove_sq(&mut self, qid: u16) -> bool {
        let Some(queue) = self.sqs[usize::from(qid)].take() else {
            return false;
        };
        self.queues_with_entries.retain(|&other| other != qid);
        self.slots.orphan(|slot| slot.sqid == qid);
        if let Some(Some(cq)) = self.cqs.get_mut(usize::from(queue.cqid)) {
            cq.backlog.retain(|(_, entry)| entry.sqid() != qid);
        }
        self.count_backlog();
        true
    }

    pub(crate) fn count_backlog(&mut self) {
        self.backlog_entries = self.cqs.iter().flatten().map(|cq| cq.backlog.len()).sum();
    }

    pub(crate) fn schedule_slot(&mut self, slot: CommandSlot, now_ns: u64, at_ns: u64) {
        let number = self.add_command(slot, now_ns);
        self.schedule(at_ns, number);
    }
}

fn capabilities(most_entries: u32, fabrics: Option<&FabricsOptions>) -> Capabilities {
    let limit = fabrics.map_or(65_536, |fabrics| fabrics.max_entries.into());
    let mut capabilities = Capabilities::default();
    capabilities
        .set_mqes((most_entries.clamp(2, limit) - 1) as u16)
        .set_contiguous_queues(true)
        .set_timeout(READY_TIMEOUT_500MS)
        .set_css(1)
        .set_mps_max(MPS_MAX);
    capabilities
}
