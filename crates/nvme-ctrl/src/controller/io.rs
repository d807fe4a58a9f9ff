//! I/O commands of the NVM command set.

use assay_nvme_spec::fdp::DATA_PLACEMENT;
use assay_nvme_spec::identify::oncs;
use assay_nvme_spec::nvm::{DatasetManagement, DatasetRange, Read, Write, WriteZeroes};
use assay_nvme_spec::opcode::NvmOpcode;
use assay_nvme_spec::wire::Wire;
use assay_nvme_spec::{NSID_ALL, StatusCode, SubmissionEntry};
use assay_units::{DataClass, Nanos, Op};

use super::Controller;
use super::complete::{check_range, drive_command, sized};
use crate::admin::CommandEffects;
use crate::memory::HostMemory;
use crate::slots::{CommandSlot, SlotState};
use crate::transfer::DataPointer;

pub(crate) const NAMESPACE: u32 = 1;

/// Opcode, effects, and bit of ONCS (0 for a mandatory command).
type IoCommand = (NvmOpcode, CommandEffects, u16);

const IO_COMMANDS: [IoCommand; 9] = {
    use CommandEffects::{Content, NoChange};
    use NvmOpcode as Io;
    [
        (Io::FLUSH, NoChange, 0),
        (Io::WRITE, Content, 0),
        (Io::READ, NoChange, 0),
        (Io::COMPARE, NoChange, oncs::COMPARE),
        (Io::WRITE_ZEROES, Content, oncs::WRITE_ZEROES),
        (Io::DATASET_MANAGEMENT, Content, oncs::DATASET_MANAGEMENT),
        (Io::VERIFY, NoChange, oncs::VERIFY),
        (Io::IO_MANAGEMENT_RECEIVE, NoChange, 0),
        (Io::IO_MANAGEMENT_SEND, NoChange, 0),
    ]
};

impl Controller {
    /// Compare requires stored data, I/O Management reclaim unit handles.
    pub(crate) fn io_commands(&self) -> impl Iterator<Item = IoCommand> {
        let keeps_data = self.keeps_data;
        let commands = IO_COMMANDS.into_iter();
        let has_placement = self.has_placement();
        commands.filter(move |&(opcode, ..)| match opcode {
            NvmOpcode::COMPARE => keeps_data,
            NvmOpcode::IO_MANAGEMENT_RECEIVE | NvmOpcode::IO_MANAGEMENT_SEND => has_placement,
            _ => true,
        })
    }

    #[inline]
    pub(super) fn start_io<M: HostMemory>(
        &mut self,
        sqid: u16,
        now_ns: u64,
        entry: &SubmissionEntry,
        memory: &mut M,
    ) {
        let started = match NvmOpcode(entry.opcode()) {
            NvmOpcode::READ => self.transfer::<false, M>(sqid, now_ns, entry, memory),
            NvmOpcode::WRITE => self.transfer::<true, M>(sqid, now_ns, entry, memory),
            _ => self.start_other(sqid, now_ns, entry, memory),
        };
        if let Err(status) = started {
            self.fail_io(sqid, now_ns, entry, status);
        }
    }

    #[cold]
    fn fail_io(&mut self, sqid: u16, now_ns: u64, entry: &SubmissionEntry, status: StatusCode) {
        let mut slot = CommandSlot::new(SlotState::Scheduled, sqid, entry);
        slot.status = status;
        slot.offset_bytes = Read::from(*entry).slba() << self.block_shift;
        self.schedule_slot(slot, now_ns, now_ns + self.command_ns);
    }

    #[inline]
    fn check_common(&mut self, now_ns: u64, entry: &SubmissionEntry) -> Result<(), StatusCode> {
        StatusCode::INVALID_NAMESPACE.fail_if(entry.nsid() != NAMESPACE)?;
        StatusCode::INVALID_FIELD.fail_if(entry.fused() != 0 || entry.psdt() == 3)?;
        self.check_media_access(now_ns)
    }

    /// Offset and length of the range of logical blocks.
    #[inline]
    fn byte_range(&self, entry: &SubmissionEntry) -> Result<(u64, u32), StatusCode> {
        let slba = u64::from(entry.cdw11()) << 32 | u64::from(entry.cdw10());
        let blocks = u64::from(entry.cdw12() & 0xffff) + 1;
        let end = slba.checked_add(blocks).filter(|&end| end <= self.blocks);
        end.ok_or(StatusCode::LBA_OUT_OF_RANGE)?;
        Ok((slba << self.block_shift, (blocks << self.block_shift) as u32))
    }

    /// NVM 3.2.4, 3.2.6.
    #[inline]
    fn transfer<const WRITE: bool, M: HostMemory>(
        &mut self,
        sqid: u16,
        now_ns: u64,
        entry: &SubmissionEntry,
        memory: &mut M,
    ) -> Result<(), StatusCode> {
        self.check_common(now_ns, entry)?;
        let (offset_bytes, len_bytes) = self.byte_range(entry)?;
        let len = u64::from(len_bytes);
        StatusCode::INVALID_FIELD.fail_if(len > self.max_transfer_bytes)?;
        let pointer = DataPointer::new(entry);
        match pointer.single(len, self.page_bytes) {
            Some(address) if memory.is_mapped(address, len) => {}
            _ => pointer.check(memory, len, self.page_bytes, !WRITE)?,
        }
        // Without a write cache every write is durable when it completes (Base 2.0c, 5.27.1.4).
        let fua = WRITE && (entry.cdw12() >> 30 & 1 != 0 || !self.features.write_cache.enabled());
        if WRITE && self.has_placement() {
            self.place(now_ns, entry)?;
        }
        let (state, op) = match WRITE {
            true => (SlotState::NoData, Op::Write),
            false => (SlotState::Read, Op::Read),
        };
        let mut slot = CommandSlot::new(state, sqid, entry);
        slot.pointer = pointer;
        slot.offset_bytes = offset_bytes;
        slot.len_bytes = len_bytes;
        if WRITE && self.keeps_data {
            return self.submit_write_data(now_ns, slot, fua, memory);
        }
        let number = self.add_command(slot, now_ns);
        let mut command = drive_command(number, sqid, op, offset_bytes, len_bytes);
        command.fua = fua;
        self.drive.submit(Nanos(now_ns), command);
        Ok(())
    }

    /// Selects the reclaim unit handle of a write; the first without a known placement identifier.
    fn place(&mut self, now_ns: u64, entry: &SubmissionEntry) -> Result<(), StatusCode> {
        let write = Write::from(*entry);
        let handle = match write.directive() {
            0 => 0,
            DATA_PLACEMENT => self.handle_of(now_ns, write.directive_specific()),
            _ => return Err(StatusCode::INVALID_FIELD),
        };
        self.drive.select_placement(handle);
        Ok(())
    }

    fn submit_write_data<M: HostMemory>(
        &mut self,
        now_ns: u64,
        slot: CommandSlot,
        fua: bool,
        memory: &mut M,
    ) -> Result<(), StatusCode> {
        let len = slot.len_bytes as usize;
        let (offset_bytes, len_bytes) = (slot.offset_bytes, slot.len_bytes);
        let bytes = sized(&mut self.buffer, len);
        slot.pointer.gather(memory, bytes, self.page_bytes)?;
        let number = self.add_command(slot, now_ns);
        let mut write = drive_command(number, slot.sqid, Op::Write, offset_bytes, len_bytes);
        write.fua = fua;
        let bytes = &self.buffer[..len];
        if bytes.iter().all(|&byte| byte == 0) {
            write.data = DataClass::Zero;
        }
        self.drive.submit_write(Nanos(now_ns), write, bytes);
        Ok(())
    }

    #[inline(never)]
    fn start_other<M: HostMemory>(
        &mut self,
        sqid: u16,
        now_ns: u64,
        entry: &SubmissionEntry,
        memory: &mut M,
    ) -> Result<(), StatusCode> {
        let opcode = NvmOpcode(entry.opcode());
        let is_supported = self.io_commands().any(|(supported, ..)| supported == opcode);
        StatusCode::INVALID_OPCODE.fail_if(!is_supported)?;
        if opcode == NvmOpcode::FLUSH && entry.nsid() == NSID_ALL && entry.fused() == 0 {
            self.check_media_access(now_ns)?;
        } else {
            self.check_common(now_ns, entry)?;
        }
        let mut slot = CommandSlot::new(SlotState::NoData, sqid, entry);
        let mut fua = false;
        let op = match opcode {
            NvmOpcode::FLUSH => Op::Flush,
            NvmOpcode::WRITE_ZEROES => {
                (slot.offset_bytes, slot.len_bytes) = self.byte_range(entry)?;
                fua = WriteZeroes::from(*entry).fua() || !self.features.write_cache.enabled();
                Op::WriteZeroes
            }
            NvmOpcode::IO_MANAGEMENT_RECEIVE => {
                let reply = self.handle_status((*entry).into())?;
                DataPointer::new(entry).scatter(memory, &reply, self.page_bytes)?;
                slot.state = SlotState::Scheduled;
                self.schedule_slot(slot, now_ns, now_ns + self.command_ns);
                return Ok(());
            }
            NvmOpcode::IO_MANAGEMENT_SEND => {
                let mut list = vec![0; 2 * self.updated_handles((*entry).into())?];
                DataPointer::new(entry).gather(memory, &mut list, self.page_bytes)?;
                self.update_handles(now_ns, &list)?;
                slot.state = SlotState::Scheduled;
                self.schedule_slot(slot, now_ns, now_ns + self.command_ns);
                return Ok(());
            }
            NvmOpcode::DATASET_MANAGEMENT => {
                return self.manage_dataset(slot, now_ns, entry, memory);
            }
            // Verify reads without a transfer (NVM 3.2.5). A comparison (NVM 3.2.1) is assumed to
            // take as long as the transfer of a read.
            _ => {
                (slot.offset_bytes, slot.len_bytes) = self.byte_range(entry)?;
                let len = u64::from(slot.len_bytes);
                StatusCode::INVALID_FIELD.fail_if(len > self.max_transfer_bytes)?;
                if opcode == NvmOpcode::COMPARE {
                    slot.state = SlotState::Compare;
                    slot.pointer = DataPointer::new(entry);
                    slot.pointer.check(memory, len, self.page_bytes, false)?;
                }
                Op::Read
            }
        };
        let number = self.add_command(slot, now_ns);
        let mut command = drive_command(number, sqid, op, slot.offset_bytes, slot.len_bytes);
        command.fua = fua;
        if opcode == NvmOpcode::VERIFY {
            self.drive.submit_verify(Nanos(now_ns), command);
        } else {
            self.drive.submit(Nanos(now_ns), command);
        }
        Ok(())
    }

    /// Dataset Management (NVM 3.2.3): only Deallocate has an effect.
    fn manage_dataset<M: HostMemory>(
        &mut self,
        mut slot: CommandSlot,
        now_ns: u64,
        entry: &SubmissionEntry,
        memory: &mut M,
    ) -> Result<(), StatusCode> {
        let dataset = DatasetManagement::from(*entry);
        let ranges = usize::from(dataset.ranges()) + 1;
        let mut raw = [0; 256 * DatasetRange::SIZE];
        let raw = &mut raw[..ranges * DatasetRange::SIZE];
        slot.pointer = DataPointer::new(entry);
        slot.pointer.gather(memory, raw, self.page_bytes)?;
        for range in raw.chunks_exact(DatasetRange::SIZE).map(DatasetRange::load) {
            check_range(&range, self.blocks)?;
        }
        slot.ranges = ranges as u16;
        slot.state = SlotState::Deallocate;
        slot.multi_step = true;
        let number = self.add_command(slot, now_ns);
        if dataset.deallocate() {
            let continues = self.deallocate_next(number, now_ns, memory);
            if continues == Ok(true) {
                return Ok(());
            }
            self.end_multi_step(number);
            if let Err(status) = continues {
                self.remove_command(number, now_ns);
                return Err(status);
            }
        }
        self.end_multi_step(number);
        self.slots.get_mut(number).state = SlotState::Scheduled;
        self.schedule(now_ns + self.command_ns, number);
        Ok(())
    }
}
