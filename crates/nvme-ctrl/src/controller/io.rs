//! I/O commands of the NVM command set.

use assay_nvme_spec::nvm::{DatasetManagement, DatasetRange, Read, WriteZeroes};
use assay_nvme_spec::opcode::NvmOpcode;
use assay_nvme_spec::wire::Wire;
use assay_nvme_spec::{NSID_ALL, StatusCode, SubmissionEntry};
use assay_units::{DataClass, Nanos, Op};

use super::Controller;
use super::complete::command;
use crate::memory::HostMemory;
use crate::slots::{Kind, Slot};
use crate::transfer::DataPointer;

/// The namespace there is.
pub(crate) const NAMESPACE: u32 = 1;

impl Controller {
    /// Begin an I/O command, or refuse it.
    #[inline]
    pub(super) fn begin_io<M: HostMemory>(
        &mut self,
        sqid: u16,
        now_ns: u64,
        entry: &SubmissionEntry,
        memory: &mut M,
    ) {
        let begun = match NvmOpcode(entry.opcode()) {
            NvmOpcode::READ => self.transfer::<false, M>(sqid, now_ns, entry, memory),
            NvmOpcode::WRITE => self.transfer::<true, M>(sqid, now_ns, entry, memory),
            _ => self.begin_other(sqid, now_ns, entry, memory),
        };
        if let Err(status) = begun {
            self.refuse_io(sqid, now_ns, entry, status);
        }
    }

    #[cold]
    fn refuse_io(&mut self, sqid: u16, now_ns: u64, entry: &SubmissionEntry, status: StatusCode) {
        let mut slot = Slot::new(Kind::Done, sqid, entry.cid(), entry.opcode());
        slot.status = status;
        slot.nsid = entry.nsid();
        slot.offset_bytes = Read::from(*entry).slba() << self.block_shift;
        let number = self.occupy(slot, now_ns);
        self.defer(now_ns + self.command_ns, number);
    }

    /// What all commands must have.
    #[inline]
    fn check_common(&mut self, now_ns: u64, entry: &SubmissionEntry) -> Result<(), StatusCode> {
        if entry.nsid() != NAMESPACE {
            return Err(StatusCode::INVALID_NAMESPACE);
        }
        if entry.fused() != 0 || entry.psdt() == 3 {
            return Err(StatusCode::INVALID_FIELD);
        }
        self.check_background(now_ns)
    }

    /// The place of a command with a range of blocks, in bytes.
    #[inline]
    fn place(&self, entry: &SubmissionEntry) -> Result<(u64, u32), StatusCode> {
        let slba = u64::from(entry.cdw11()) << 32 | u64::from(entry.cdw10());
        let blocks = u64::from(entry.cdw12() & 0xffff) + 1;
        match slba.checked_add(blocks) {
            Some(end) if end <= self.blocks => Ok((
                slba << self.block_shift,
                (blocks << self.block_shift) as u32,
            )),
            _ => Err(StatusCode::LBA_OUT_OF_RANGE),
        }
    }

    /// Read and Write (NVM 3.2.4, 3.2.6).
    #[inline]
    fn transfer<const WRITE: bool, M: HostMemory>(
        &mut self,
        sqid: u16,
        now_ns: u64,
        entry: &SubmissionEntry,
        memory: &mut M,
    ) -> Result<(), StatusCode> {
        self.check_common(now_ns, entry)?;
        let (offset_bytes, len_bytes) = self.place(entry)?;
        let len = u64::from(len_bytes);
        if len > self.max_transfer_bytes {
            return Err(StatusCode::INVALID_FIELD);
        }
        let pointer = DataPointer::of(entry);
        match pointer.single(len, self.page_bytes) {
            Some(address) if memory.is_mapped(address, len) => {}
            _ => pointer.check(memory, len, self.page_bytes, !WRITE)?,
        }
        let through = WRITE && (entry.cdw12() >> 30 & 1 != 0 || !self.features.write_cache);
        let kind = if WRITE {
            Kind::Write { through }
        } else {
            Kind::Read
        };
        let mut slot = Slot::new(kind, sqid, entry.cid(), entry.opcode());
        slot.nsid = NAMESPACE;
        slot.pointer = pointer;
        slot.offset_bytes = offset_bytes;
        slot.len_bytes = len_bytes;
        slot.staged = through;
        let op = if WRITE { Op::Write } else { Op::Read };
        if WRITE && self.keeps_data {
            return self.write_bytes(now_ns, slot, memory);
        }
        let number = self.occupy(slot, now_ns);
        self.drive.submit(
            Nanos(now_ns),
            command(number, sqid, op, offset_bytes, len_bytes),
        );
        Ok(())
    }

    /// A write whose bytes matter.
    fn write_bytes<M: HostMemory>(
        &mut self,
        now_ns: u64,
        slot: Slot,
        memory: &mut M,
    ) -> Result<(), StatusCode> {
        let len = slot.len_bytes as usize;
        let mut buffer = std::mem::take(&mut self.buffer);
        if buffer.len() < len {
            buffer.resize(len, 0);
        }
        let bytes = &mut buffer[..len];
        let gathered = slot.pointer.gather(memory, bytes, self.page_bytes);
        if gathered.is_ok() {
            let number = self.occupy(slot, now_ns);
            let mut write = command(
                number,
                slot.sqid,
                Op::Write,
                slot.offset_bytes,
                slot.len_bytes,
            );
            if bytes.iter().all(|&byte| byte == 0) {
                write.data = DataClass::Zero;
            }
            self.drive.submit_write(Nanos(now_ns), write, bytes);
        }
        self.buffer = buffer;
        gathered
    }

    /// Everything but Read and Write.
    #[inline(never)]
    fn begin_other<M: HostMemory>(
        &mut self,
        sqid: u16,
        now_ns: u64,
        entry: &SubmissionEntry,
        memory: &mut M,
    ) -> Result<(), StatusCode> {
        let opcode = NvmOpcode(entry.opcode());
        let known = match opcode {
            NvmOpcode::FLUSH
            | NvmOpcode::WRITE_ZEROES
            | NvmOpcode::DATASET_MANAGEMENT
            | NvmOpcode::VERIFY => true,
            NvmOpcode::COMPARE => self.keeps_data,
            _ => false,
        };
        if !known {
            return Err(StatusCode::INVALID_OPCODE);
        }
        if opcode == NvmOpcode::FLUSH && entry.nsid() == NSID_ALL && entry.fused() == 0 {
            self.check_background(now_ns)?;
        } else {
            self.check_common(now_ns, entry)?;
        }
        let mut slot = Slot::new(Kind::Plain, sqid, entry.cid(), entry.opcode());
        slot.nsid = entry.nsid();
        let op = match opcode {
            NvmOpcode::FLUSH => Op::Flush,
            NvmOpcode::WRITE_ZEROES => {
                (slot.offset_bytes, slot.len_bytes) = self.place(entry)?;
                if WriteZeroes::from(*entry).fua() || !self.features.write_cache {
                    slot.kind = Kind::Write { through: true };
                    slot.staged = true;
                }
                Op::WriteZeroes
            }
            NvmOpcode::DATASET_MANAGEMENT => {
                return self.manage_dataset(slot, now_ns, entry, memory);
            }
            // Verify reads without a transfer (NVM 3.2.5), Compare with one that ends here (NVM 3.2.1) and is taken to go the same way.
            _ => {
                (slot.offset_bytes, slot.len_bytes) = self.place(entry)?;
                let len = u64::from(slot.len_bytes);
                if len > self.max_transfer_bytes {
                    return Err(StatusCode::INVALID_FIELD);
                }
                if opcode == NvmOpcode::COMPARE {
                    slot.kind = Kind::Compare;
                    slot.pointer = DataPointer::of(entry);
                    slot.pointer.check(memory, len, self.page_bytes, false)?;
                }
                Op::Read
            }
        };
        let number = self.occupy(slot, now_ns);
        let begun = command(number, sqid, op, slot.offset_bytes, slot.len_bytes);
        if opcode == NvmOpcode::VERIFY {
            self.drive.submit_verify(Nanos(now_ns), begun);
        } else {
            self.drive.submit(Nanos(now_ns), begun);
        }
        Ok(())
    }

    /// Dataset Management (NVM 3.2.3): Deallocate acts, the hints of integral datasets do not.
    fn manage_dataset<M: HostMemory>(
        &mut self,
        mut slot: Slot,
        now_ns: u64,
        entry: &SubmissionEntry,
        memory: &mut M,
    ) -> Result<(), StatusCode> {
        let wanted = DatasetManagement::from(*entry);
        let ranges = usize::from(wanted.ranges()) + 1;
        let mut raw = [0; 256 * DatasetRange::SIZE];
        let raw = &mut raw[..ranges * DatasetRange::SIZE];
        slot.pointer = DataPointer::of(entry);
        slot.pointer.gather(memory, raw, self.page_bytes)?;
        for range in raw.chunks_exact(DatasetRange::SIZE).map(DatasetRange::load) {
            let end = range.slba().checked_add(u64::from(range.blocks()));
            if end.is_none_or(|end| end > self.blocks) {
                return Err(StatusCode::LBA_OUT_OF_RANGE);
            }
        }
        slot.ranges = ranges as u16;
        slot.kind = Kind::Deallocate;
        slot.staged = true;
        let number = self.occupy(slot, now_ns);
        if wanted.deallocate() {
            match self.deallocate_next(number, now_ns, memory) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(status) => {
                    self.unstage(number);
                    self.vacate(number, now_ns);
                    return Err(status);
                }
            }
        }
        // Nothing to deallocate.
        self.unstage(number);
        if let Some(slot) = self.slots.get_mut(number) {
            slot.kind = Kind::Done;
        }
        self.defer(now_ns + self.command_ns, number);
        Ok(())
    }
}
