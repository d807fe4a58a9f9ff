//! Controller registers (Base 3.1.3) and doorbells (PCIe transport 3.1.2).

use assay_nvme_spec::SubmissionEntry;
use assay_nvme_spec::feature::{AsyncEventType, event};
use assay_nvme_spec::log::LogId;
use assay_nvme_spec::register::{self, AdminQueueAttributes, Configuration, shutdown_status};
use assay_units::{Nanos, Op, limited_event};

use super::complete::drive_command;
use super::{Controller, MAX_TIME_NS, MPS_MAX, PAGE_BYTES, READY_NS, Registers};
use crate::admin::events::AsyncEvents;
use crate::queues::{CompletionQueue, SubmissionQueue};
use crate::slots::{CommandSlot, SlotState};

impl Controller {
    /// Reads 1 to 8 bytes, little-endian. Reserved registers and doorbells read as zeroes, all as
    /// ones after surprise removal, as on PCIe.
    pub fn read_register(&self, offset: u64, size: usize) -> u64 {
        let size = size.clamp(1, 8);
        if !self.drive.is_present() {
            return u64::MAX >> (64 - 8 * size);
        }
        (0..size as u64).rev().fold(0, |value, at| {
            let at = offset.wrapping_add(at);
            let byte = self.read_dword(at & !3) >> (8 * (at & 3)) & 0xff;
            value << 8 | u64::from(byte)
        })
    }

    fn read_dword(&self, offset: u64) -> u32 {
        let registers = &self.registers;
        let capabilities = self.capabilities.raw();
        match offset {
            register::CAP => capabilities as u32,
            0x04 => (capabilities >> 32) as u32,
            register::VS => self.version.raw(),
            register::INTMS | register::INTMC => registers.mask,
            register::CC => registers.cc.raw(),
            register::CSTS => registers.csts.raw(),
            register::AQA => registers.aqa,
            register::ASQ => registers.asq as u32,
            0x2c => (registers.asq >> 32) as u32,
            register::ACQ => registers.acq as u32,
            0x34 => (registers.acq >> 32) as u32,
            _ => 0,
        }
    }

    /// Writes 4 or 8 bytes. Other sizes, unaligned offsets and read-only registers, of which the
    /// specification does not define the effect, are ignored.
    #[inline]
    pub fn write_register(&mut self, now: Nanos, offset: u64, size: usize, value: u64) {
        if !offset.is_multiple_of(4) || !matches!(size, 4 | 8) || !self.drive.is_present() {
            return;
        }
        let now_ns = now.0.min(MAX_TIME_NS).max(self.now_ns);
        self.now_ns = now_ns;
        self.write_dword(now_ns, offset, value as u32);
        if size == 8 {
            self.write_dword(now_ns, offset.wrapping_add(4), (value >> 32) as u32);
        }
    }

    #[inline]
    fn write_dword(&mut self, now_ns: u64, offset: u64, value: u32) {
        if offset >= register::DOORBELLS {
            self.write_doorbell(now_ns, (offset - register::DOORBELLS) / 4, value);
            return;
        }
        let low = |old: u64, mask: u32| old & !0xffff_ffff | u64::from(value & mask);
        let high = |old: u64| old & 0xffff_ffff | u64::from(value) << 32;
        let registers = &mut self.registers;
        match offset {
            register::INTMS => registers.mask |= value,
            register::INTMC => registers.mask &= !value,
            register::CC => self.configure(now_ns, Configuration::from_raw(value)),
            register::AQA => registers.aqa = value & 0x0fff_0fff,
            register::ASQ => registers.asq = low(registers.asq, !0xfff),
            0x2c => registers.asq = high(registers.asq),
            register::ACQ => registers.acq = low(registers.acq, !0xfff),
            0x34 => registers.acq = high(registers.acq),
            _ => {}
        }
    }

    /// Even doorbells are submission queue tails, odd ones completion queue heads.
    #[inline]
    fn write_doorbell(&mut self, now_ns: u64, doorbell: u64, value: u32) {
        if !self.registers.csts.ready() {
            return;
        }
        let index = (doorbell / 2) as usize;
        let value = value & 0xffff;
        if doorbell.is_multiple_of(2) {
            let Some(Some(queue)) = self.sqs.get_mut(index) else {
                return self.raise_doorbell_error(now_ns, event::INVALID_DOORBELL_REGISTER);
            };
            if value >= queue.entries {
                return self.raise_doorbell_error(now_ns, event::INVALID_DOORBELL_VALUE);
            }
            queue.tail = value;
            if !queue.has_entries() {
                return;
            }
            queue.fetch_ns = now_ns;
            if !queue.listed {
                queue.listed = true;
                self.queues_with_entries.push(index as u16);
            }
            self.wake_ns = self.wake_ns.min(now_ns);
        } else {
            let Some(Some(queue)) = self.cqs.get_mut(index) else {
                return self.raise_doorbell_error(now_ns, event::INVALID_DOORBELL_REGISTER);
            };
            if !queue.release(value) {
                return self.raise_doorbell_error(now_ns, event::INVALID_DOORBELL_VALUE);
            }
            if !queue.backlog.is_empty() {
                self.wake_ns = self.wake_ns.min(now_ns);
            }
        }
    }

    #[cold]
    fn raise_doorbell_error(&mut self, now_ns: u64, information: u8) {
        limited_event!(Nanos(now_ns), WARN, information, "the host wrote an invalid doorbell");
        self.events.raise(AsyncEventType::ERROR, information, LogId::ERROR);
        self.wake_ns = self.wake_ns.min(now_ns);
    }

    fn configure(&mut self, now_ns: u64, cc: Configuration) {
        let old = std::mem::replace(&mut self.registers.cc, cc);
        if cc.enable() && !old.enable() {
            self.enable(now_ns);
        } else if !cc.enable() && old.enable() {
            self.reset(now_ns);
            self.registers.cc = cc;
        }
        if cc.shutdown() != 0 && old.shutdown() == 0 {
            self.shut_down(now_ns);
        }
    }

    fn enable(&mut self, now_ns: u64) {
        let Registers { cc, aqa, .. } = self.registers;
        let attributes = AdminQueueAttributes::from_raw(aqa);
        let is_valid = cc.mps() <= MPS_MAX
            && cc.ams() == 0
            && cc.css() == 0
            && attributes.sq_size() > 0
            && attributes.cq_size() > 0;
        if is_valid {
            self.ready_ns = now_ns + READY_NS;
        } else {
            self.registers.csts.set_fatal(true);
        }
    }

    pub(super) fn become_ready(&mut self) {
        self.ready_ns = u64::MAX;
        let Registers { cc, aqa, asq, acq, .. } = self.registers;
        let attributes = AdminQueueAttributes::from_raw(aqa);
        self.page_bytes = PAGE_BYTES << cc.mps();
        let size = |less_one: u16| u32::from(less_one) + 1;
        let (sq_entries, cq_entries) = (size(attributes.sq_size()), size(attributes.cq_size()));
        self.sqs[0] = Some(SubmissionQueue::new(asq, sq_entries, 0));
        self.cqs[0] = Some(CompletionQueue::new(acq, cq_entries, 0, true));
        self.registers.csts.set_ready(true);
    }

    /// Controller Level Reset (Base 3.7.2): the admin queue registers keep their values.
    fn reset(&mut self, now_ns: u64) {
        let Registers { aqa, asq, acq, .. } = self.registers;
        self.registers = Registers { aqa, asq, acq, ..Registers::default() };
        self.ready_ns = u64::MAX;
        self.wake_ns = u64::MAX;
        self.sqs.fill(None);
        self.cqs.fill(None);
        self.backlog_entries = 0;
        self.queues_with_entries.clear();
        self.slots.orphan(|_| true);
        self.reset_features(now_ns);
        self.interrupts.reset(self.features.coalescing);
        self.events = AsyncEvents::default();
        self.reset_background(now_ns);
    }

    /// Shutdown Notification: flushes the volatile write cache (Base 3.6.1).
    fn shut_down(&mut self, now_ns: u64) {
        self.registers.csts.set_shutdown(shutdown_status::OCCURRING);
        let slot = CommandSlot::new(SlotState::Shutdown, 0, &SubmissionEntry::default());
        let number = self.add_command(slot, now_ns);
        let flush = drive_command(number, 1, Op::Flush, 0, 0);
        self.drive.submit(Nanos(now_ns), flush);
    }

    pub(super) fn finish_shutdown(&mut self) {
        let csts = &mut self.registers.csts;
        if csts.shutdown() == shutdown_status::OCCURRING {
            csts.set_shutdown(shutdown_status::COMPLETE);
        }
    }
}
