//! Completion queue entries.

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
use crate::slots::{Kind, Slot};

/// One deallocation by the drive covers at most so many bytes: its lengths have 32 bits.
const DEALLOCATE_BYTES: u64 = 1 << 31;

/// The status of a command of the drive.
#[inline]
pub(crate) fn status_of(status: assay_ssd::Status) -> StatusCode {
    let (sct, sc) = status.code();
    StatusCode::new(sct, sc)
}

impl Controller {
    /// The drive is done with a command, or with a part of one.
    #[inline]
    pub(super) fn finish<M: HostMemory>(&mut self, completion: &Completion, memory: &mut M) {
        let at_ns = completion.at.0;
        let Some(slot) = self.slots.get_ref(completion.tag) else {
            return;
        };
        let ends_here = match slot.kind {
            Kind::Read => !self.keeps_data,
            Kind::Plain | Kind::Write { through: false } => true,
            _ => false,
        };
        if ends_here && completion.status.is_ok() {
            // What most commands are.
            let mut entry = CompletionEntry::default();
            entry.set_sqid(slot.sqid).set_cid(slot.cid);
            self.vacate(completion.tag, at_ns);
            self.post(entry, at_ns, memory);
            return;
        }
        let slot = *slot;
        let mut status = status_of(completion.status);
        match slot.kind {
            Kind::Read if self.keeps_data && status.is_success() => {
                status = self.deliver(completion, &slot, memory);
            }
            Kind::Read | Kind::Plain | Kind::Write { through: false } => {}
            _ => match self.finish_other(completion, slot, status, memory) {
                Some(other) => status = other,
                None => return,
            },
        }
        self.vacate(completion.tag, at_ns);
        self.complete(&slot, status, 0, at_ns, memory);
    }

    /// [`Controller::finish`] of what is more than one step; `None` when it is not over, or nobody waits for it.
    #[inline(never)]
    fn finish_other<M: HostMemory>(
        &mut self,
        completion: &Completion,
        slot: Slot,
        status: StatusCode,
        memory: &mut M,
    ) -> Option<StatusCode> {
        let (number, at_ns) = (completion.tag, completion.at.0);
        match slot.kind {
            Kind::Write { through: true } if status.is_success() => {
                // On the medium before it is told of (FUA, or without a write cache).
                self.unstage(number);
                let slot = self.slots.get_mut(number)?;
                slot.kind = Kind::Plain;
                let flush = command(number, slot.sqid, Op::Flush, 0, 0);
                self.drive.submit(Nanos(at_ns), flush);
                None
            }
            Kind::Deallocate if status.is_success() => {
                match self.deallocate_next(number, at_ns, memory) {
                    Ok(true) => None,
                    Ok(false) => {
                        self.unstage(number);
                        Some(StatusCode::SUCCESS)
                    }
                    Err(status) => {
                        self.unstage(number);
                        Some(status)
                    }
                }
            }
            Kind::Compare if status.is_success() => Some(self.compare(completion, &slot, memory)),
            Kind::Shutdown => {
                self.vacate(number, at_ns);
                self.finish_shutdown();
                None
            }
            Kind::Orphan | Kind::Free | Kind::Done => {
                self.unstage(number);
                self.vacate(number, at_ns);
                None
            }
            _ => {
                self.unstage(number);
                Some(status)
            }
        }
    }

    /// A completion whose time has come.
    pub(super) fn finish_deferred<M: HostMemory>(
        &mut self,
        number: u32,
        at_ns: u64,
        memory: &mut M,
    ) {
        let Some(slot) = self.slots.get(number) else {
            return;
        };
        self.vacate(number, at_ns);
        if slot.kind == Kind::Done {
            self.complete(&slot, slot.status, slot.dw0, at_ns, memory);
        }
    }

    /// Bytes of a read to the host.
    fn deliver<M: HostMemory>(
        &mut self,
        completion: &Completion,
        slot: &Slot,
        memory: &mut M,
    ) -> StatusCode {
        let len = slot.len_bytes as usize;
        let mut buffer = std::mem::take(&mut self.buffer);
        if buffer.len() < len {
            buffer.resize(len, 0);
        }
        let bytes = &mut buffer[..len];
        self.drive.read_data(completion, slot.offset_bytes, bytes);
        let moved = slot.pointer.scatter(memory, bytes, self.page_bytes);
        self.buffer = buffer;
        moved.err().unwrap_or(StatusCode::SUCCESS)
    }

    /// Is what the host has what the drive has?
    fn compare<M: HostMemory>(
        &mut self,
        completion: &Completion,
        slot: &Slot,
        memory: &mut M,
    ) -> StatusCode {
        let len = slot.len_bytes as usize;
        let (mut ours, mut theirs) = (
            std::mem::take(&mut self.buffer),
            std::mem::take(&mut self.compared),
        );
        for buffer in [&mut ours, &mut theirs] {
            if buffer.len() < len {
                buffer.resize(len, 0);
            }
        }
        self.drive
            .read_data(completion, slot.offset_bytes, &mut ours[..len]);
        let status = match slot
            .pointer
            .gather(memory, &mut theirs[..len], self.page_bytes)
        {
            Err(status) => status,
            Ok(()) if ours[..len] == theirs[..len] => StatusCode::SUCCESS,
            Ok(()) => StatusCode::COMPARE_FAILURE,
        };
        (self.buffer, self.compared) = (ours, theirs);
        status
    }

    /// Submit the next piece of a Dataset Management command; `false` when there is none left.
    ///
    /// Ranges are read from host memory again as their turn comes, so that a command keeps none of them: a host that changes them
    /// meanwhile gets what it then says, within the drive.
    pub(super) fn deallocate_next<M: HostMemory>(
        &mut self,
        number: u32,
        now_ns: u64,
        memory: &mut M,
    ) -> Result<bool, StatusCode> {
        let (shift, blocks, page_bytes) = (self.block_shift, self.blocks, self.page_bytes);
        let Some(slot) = self.slots.get_mut(number) else {
            return Ok(false);
        };
        while slot.left_bytes == 0 {
            if slot.range >= slot.ranges {
                return Ok(false);
            }
            slot.range += 1;
            let mut raw = [0; 256 * DatasetRange::SIZE];
            let upto = usize::from(slot.range) * DatasetRange::SIZE;
            slot.pointer.gather(memory, &mut raw[..upto], page_bytes)?;
            let range = DatasetRange::load(&raw[upto - DatasetRange::SIZE..]);
            let end = range.slba().checked_add(u64::from(range.blocks()));
            end.filter(|&end| end <= blocks)
                .ok_or(StatusCode::LBA_OUT_OF_RANGE)?;
            slot.offset_bytes = range.slba() << shift;
            slot.left_bytes = u64::from(range.blocks()) << shift;
        }
        let len = slot.left_bytes.min(DEALLOCATE_BYTES);
        let piece = command(
            number,
            slot.sqid,
            Op::Discard,
            slot.offset_bytes,
            len as u32,
        );
        slot.offset_bytes += len;
        slot.left_bytes -= len;
        self.drive.submit(Nanos(now_ns), piece);
        Ok(true)
    }

    /// Write the completion entry of a command; its slot is free already.
    #[inline]
    pub(crate) fn complete<M: HostMemory>(
        &mut self,
        slot: &Slot,
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
    fn mark_failed(&mut self, entry: &mut CompletionEntry, slot: &Slot, status: StatusCode) {
        entry.set_status(status).set_do_not_retry(is_final(status));
        if status == StatusCode::ABORT_REQUESTED {
            return;
        }
        entry.set_more(true);
        let has_lba = slot.sqid > 0 && slot.opcode != NvmOpcode::FLUSH.0;
        let lba = if has_lba {
            slot.offset_bytes >> self.block_shift
        } else {
            0
        };
        self.log_error(entry, slot.opcode, slot.nsid, lba);
    }

    /// Put an entry into the completion queue of its submission queue, or aside where there is no room.
    #[inline]
    pub(crate) fn post<M: HostMemory>(
        &mut self,
        entry: CompletionEntry,
        at_ns: u64,
        memory: &mut M,
    ) {
        let Some(Some(sq)) = self.sqs.get_mut(usize::from(entry.sqid())) else {
            return;
        };
        let cqid = sq.cqid;
        let Some(Some(cq)) = self.cqs.get_mut(usize::from(cqid)) else {
            return;
        };
        if cq.is_full() || !cq.parked.is_empty() {
            cq.parked.push_back((at_ns, entry));
            self.parked += 1;
            return;
        }
        if !write_entry(sq, cq, &mut self.interrupts, entry, at_ns, memory) {
            self.fail();
        }
    }

    /// Write entries for which there was no room, where there is now.
    #[inline]
    pub(super) fn unpark<M: HostMemory>(&mut self, memory: &mut M) {
        let mut there = true;
        for cq in self.cqs.iter_mut().flatten() {
            while !cq.is_full()
                && let Some((at_ns, entry)) = cq.parked.pop_front()
            {
                self.parked -= 1;
                let at_ns = at_ns.max(self.now_ns);
                if let Some(Some(sq)) = self.sqs.get_mut(usize::from(entry.sqid())) {
                    there &= write_entry(sq, cq, &mut self.interrupts, entry, at_ns, memory);
                }
            }
        }
        if !there {
            self.fail();
        }
    }
}

/// Write an entry where there is room for it; `false` when host memory is not there.
#[inline]
fn write_entry<M: HostMemory>(
    sq: &mut SubmissionQueue,
    cq: &mut CompletionQueue,
    interrupts: &mut Interrupts,
    mut entry: CompletionEntry,
    at_ns: u64,
    memory: &mut M,
) -> bool {
    if sq.has_entries() {
        // It may have waited for this place.
        sq.rung_ns = sq.rung_ns.max(at_ns);
    }
    sq.outstanding = sq.outstanding.saturating_sub(1);
    let (address, phase) = cq.advance();
    entry.set_sq_head(sq.head as u16).set_phase(phase);
    if memory.write(address, entry.as_bytes()).is_err() {
        return false;
    }
    if cq.interrupts {
        interrupts.note(cq.vector, at_ns, sq.cqid == 0);
    }
    true
}

/// Would the same command fail again (Do Not Retry)? A drive reports a media error after it has tried all that it can.
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

/// A command of the drive for a submission queue.
#[inline]
pub(super) fn command(tag: u32, sqid: u16, op: Op, offset_bytes: u64, len_bytes: u32) -> Command {
    Command {
        tag,
        queue: sqid.wrapping_sub(1),
        op,
        offset_bytes,
        len_bytes,
        data: DataClass::Incompressible,
    }
}
