//! Completion of commands and completion queue entries.

use assay_nvme_spec::nvm::DatasetRange;
use assay_nvme_spec::opcode::NvmOpcode;
use assay_nvme_spec::wire::Wire;
use assay_nvme_spec::{CompletionEntry, StatusCode};
use assay_ssd::{Command, Completion};
use assay_units::{DataClass, Nanos, Op};

use super::Controller;
use crate::interrupts::Interrupts;
use crate::memory::HostMemory;
use crate::queues::{CompletionQueue, SubmissionQueue};
use crate::slots::{CommandSlot, SlotState};

/// Most bytes of one deallocation by the drive, whose lengths have 32 bits.
const DEALLOCATE_BYTES: u64 = 1 << 31;

#[inline]
pub(crate) fn status_of(status: assay_ssd::Status) -> StatusCode {
    let (sct, sc) = status.code();
    StatusCode::new(sct, sc)
}

impl Controller {
    /// A completion by the drive ends a command or one step of it.
    #[inline]
    pub(super) fn finish<M: HostMemory>(&mut self, completion: &Completion, memory: &mut M) {
        let at_ns = completion.at.0;
        let slot = self.slots.get(completion.tag);
        let ends_here = match slot.state {
            SlotState::Read => !self.keeps_data,
            SlotState::NoData => true,
            _ => false,
        };
        if ends_here && completion.status.is_ok() {
            let mut entry = CompletionEntry::default();
            entry.set_sqid(slot.sqid).set_cid(slot.cid);
            self.remove_command(completion.tag, at_ns);
            self.post(entry, at_ns, memory);
            return;
        }
        let slot = *slot;
        let mut status = status_of(completion.status);
        match slot.state {
            SlotState::Read if self.keeps_data && status.is_success() => {
                status = self.transfer_data(completion, &slot, memory);
            }
            SlotState::Read | SlotState::NoData => {}
            _ => match self.finish_other(completion, slot, status, memory) {
                Some(other) => status = other,
                None => return,
            },
        }
        self.remove_command(completion.tag, at_ns);
        self.complete(&slot, status, 0, at_ns, memory);
    }

    /// `None` if the command continues or needs no completion entry.
    #[inline(never)]
    fn finish_other<M: HostMemory>(
        &mut self,
        completion: &Completion,
        slot: CommandSlot,
        status: StatusCode,
        memory: &mut M,
    ) -> Option<StatusCode> {
        let (number, at_ns) = (completion.tag, completion.at.0);
        match slot.state {
            SlotState::Deallocate if status.is_success() => {
                let continues = self.deallocate_next(number, at_ns, memory);
                if continues == Ok(true) {
                    return None;
                }
                self.end_multi_step(number);
                Some(continues.err().unwrap_or(StatusCode::SUCCESS))
            }
            SlotState::Compare if status.is_success() => {
                Some(self.transfer_data(completion, &slot, memory))
            }
            SlotState::Shutdown => {
                self.remove_command(number, at_ns);
                self.finish_shutdown();
                None
            }
            SlotState::Orphaned | SlotState::Scheduled => {
                self.end_multi_step(number);
                self.remove_command(number, at_ns);
                None
            }
            _ => {
                self.end_multi_step(number);
                Some(status)
            }
        }
    }

    pub(super) fn finish_scheduled<M: HostMemory>(
        &mut self,
        number: u32,
        at_ns: u64,
        memory: &mut M,
    ) {
        let slot = *self.slots.get(number);
        self.remove_command(number, at_ns);
        if slot.state == SlotState::Scheduled {
            self.complete(&slot, slot.status, slot.dw0, at_ns, memory);
        }
    }

    fn transfer_data<M: HostMemory>(
        &mut self,
        completion: &Completion,
        slot: &CommandSlot,
        memory: &mut M,
    ) -> StatusCode {
        let len = slot.len_bytes as usize;
        if slot.state != SlotState::Compare
            && let Some(address) = slot.pointer.contiguous(len as u64, self.page_bytes)
            && let Some(bytes) = memory.writable(address, len as u64)
        {
            self.drive.read_data(completion, slot.offset_bytes, bytes);
            return StatusCode::SUCCESS;
        }
        let stored = sized(&mut self.buffer, len);
        self.drive.read_data(completion, slot.offset_bytes, stored);
        let transferred = if slot.state == SlotState::Compare {
            let sent = sized(&mut self.compared, len);
            let transferred = slot.pointer.gather(memory, sent, self.page_bytes);
            transferred.and_then(|()| StatusCode::COMPARE_FAILURE.fail_if(stored != sent))
        } else {
            slot.pointer.scatter(memory, stored, self.page_bytes)
        };
        transferred.err().unwrap_or(StatusCode::SUCCESS)
    }

    /// Submits the next deallocation; `false` if none is left. Each range is read from host memory
    /// again and validated again when it starts, so that no ranges are stored.
    pub(super) fn deallocate_next<M: HostMemory>(
        &mut self,
        number: u32,
        now_ns: u64,
        memory: &mut M,
    ) -> Result<bool, StatusCode> {
        let (shift, blocks, page_bytes) = (self.block_shift, self.blocks, self.page_bytes);
        let slot = self.slots.get_mut(number);
        while slot.left_bytes == 0 {
            if slot.ranges_started >= slot.ranges {
                return Ok(false);
            }
            slot.ranges_started += 1;
            let mut raw = [0; 256 * DatasetRange::SIZE];
            let upto = usize::from(slot.ranges_started) * DatasetRange::SIZE;
            slot.pointer.gather(memory, &mut raw[..upto], page_bytes)?;
            let range = DatasetRange::load(&raw[upto - DatasetRange::SIZE..]);
            check_range(&range, blocks)?;
            slot.offset_bytes = range.slba() << shift;
            slot.left_bytes = u64::from(range.blocks()) << shift;
        }
        let len = slot.left_bytes.min(DEALLOCATE_BYTES);
        let (sqid, offset_bytes) = (slot.sqid, slot.offset_bytes);
        let discard = drive_command(number, sqid, Op::Discard, offset_bytes, len as u32);
        slot.offset_bytes += len;
        slot.left_bytes -= len;
        self.drive.submit(Nanos(now_ns), discard);
        Ok(true)
    }

    /// The slot of the command is free already.
    #[inline]
    pub(crate) fn complete<M: HostMemory + ?Sized>(
        &mut self,
        slot: &CommandSlot,
        status: StatusCode,
        dw0: u32,
        at_ns: u64,
        memory: &mut M,
    ) {
        let mut entry = CompletionEntry::default();
        entry.set_sqid(slot.sqid).set_cid(slot.cid);
        if dw0 != 0 {
            entry.set_dw0(dw0);
        }
        if !status.is_success() {
            self.mark_failed(&mut entry, slot, status);
        }
        self.post(entry, at_ns, memory);
    }

    #[cold]
    fn mark_failed(&mut self, entry: &mut CompletionEntry, slot: &CommandSlot, status: StatusCode) {
        entry.set_status(status).set_do_not_retry(is_final(status));
        if status == StatusCode::ABORT_REQUESTED {
            return;
        }
        entry.set_more(true);
        let lba = match slot.sqid > 0 && slot.opcode != NvmOpcode::FLUSH.0 {
            true => slot.offset_bytes >> self.block_shift,
            false => 0,
        };
        self.errors.add(entry, slot.opcode, slot.nsid, lba);
    }

    /// Writes an entry to the completion queue of its submission queue, or adds it to the backlog.
    #[inline]
    pub(crate) fn post<M: HostMemory + ?Sized>(
        &mut self,
        entry: CompletionEntry,
        at_ns: u64,
        memory: &mut M,
    ) {
        // The submission queue may be gone after an Abort or an event of the same call.
        let Some(sq) = &mut self.sqs[usize::from(entry.sqid())] else {
            return;
        };
        let cq = self.cqs[usize::from(sq.cqid)]
            .as_mut()
            .expect("a completion queue outlives its submission queues");
        if cq.is_full() || !cq.backlog.is_empty() {
            cq.backlog.push_back((at_ns, entry));
            self.backlog_entries += 1;
            return;
        }
        if !write_entry(sq, cq, &mut self.interrupts, entry, at_ns, memory) {
            self.set_fatal();
        }
    }

    /// Writes entries of the backlog for which there is room now.
    #[inline]
    pub(super) fn post_backlog<M: HostMemory>(&mut self, memory: &mut M) {
        let mut is_mapped = true;
        for cq in self.cqs.iter_mut().flatten() {
            while !cq.is_full()
                && let Some((at_ns, entry)) = cq.backlog.pop_front()
            {
                self.backlog_entries -= 1;
                let at_ns = at_ns.max(self.now_ns);
                if let Some(sq) = &mut self.sqs[usize::from(entry.sqid())] {
                    is_mapped &= write_entry(sq, cq, &mut self.interrupts, entry, at_ns, memory);
                }
            }
        }
        if !is_mapped {
            self.set_fatal();
        }
    }
}

/// The queue is not full; `false` if it is not in mapped memory.
#[inline]
fn write_entry<M: HostMemory + ?Sized>(
    sq: &mut SubmissionQueue,
    cq: &mut CompletionQueue,
    interrupts: &mut Interrupts,
    mut entry: CompletionEntry,
    at_ns: u64,
    memory: &mut M,
) -> bool {
    if sq.has_entries() {
        // The limit of outstanding commands may have delayed the next fetch until now.
        sq.fetch_ns = sq.fetch_ns.max(at_ns);
    }
    assert!(sq.outstanding > 0, "a completion without an outstanding command");
    sq.outstanding -= 1;
    let (address, phase) = cq.advance();
    entry.set_sq_head(sq.head as u16).set_phase(phase);
    if memory.write(address, entry.as_bytes()).is_err() {
        return false;
    }
    if cq.interrupts {
        interrupts.on_completion(cq.vector, at_ns, sq.cqid == 0);
    }
    true
}

pub(super) fn check_range(range: &DatasetRange, blocks: u64) -> Result<(), StatusCode> {
    let end = range.slba().checked_add(u64::from(range.blocks()));
    let end = end.filter(|&end| end <= blocks);
    end.map(|_| ()).ok_or(StatusCode::LBA_OUT_OF_RANGE)
}

/// Do Not Retry: set for media errors, because drives report them after their own retries.
fn is_final(status: StatusCode) -> bool {
    !matches!(
        status,
        StatusCode::DATA_TRANSFER_ERROR
            | StatusCode::POWER_LOSS
            | StatusCode::INTERNAL_ERROR
            | StatusCode::ABORT_REQUESTED
            | StatusCode::SANITIZE_IN_PROGRESS
            | StatusCode::FORMAT_IN_PROGRESS
    )
}

#[inline]
pub(super) fn sized(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    &mut buffer[..len]
}

#[inline]
pub(super) fn drive_command(
    tag: u32,
    sqid: u16,
    op: Op,
    offset_bytes: u64,
    len_bytes: u32,
) -> Command {
    Command {
        tag,
        queue: sqid - 1,
        op,
        offset_bytes,
        len_bytes,
        data: DataClass::Incompressible,
        fua: false,
    }
}
