//! A command between its submission queue entry and the controller: what is read over the bus for
//! it.

use assay_nvme_spec::SubmissionEntry;
use assay_nvme_spec::admin::GetLogPage;
use assay_nvme_spec::data_pointer::PRP_ENTRY_BYTES;
use assay_nvme_spec::nvm::{DatasetManagement, DatasetRange, Read};
use assay_nvme_spec::opcode::{AdminOpcode, NvmOpcode};
use assay_ssd::Identity;

use super::memory::FetchedBytes;

/// CC.MPS is 0.
const PAGE_BYTES: u64 = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    None,
    FromHost,
    ToHost,
}

/// A contiguous piece that is to be read over the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) address: u64,
    pub(super) len_bytes: u32,
    /// Offset in the list under way, or in the data.
    pub(super) offset: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    List,
    Data,
    Ready,
}

#[derive(Clone, Debug)]
pub(super) struct FetchedCommand {
    pub(super) queue: u16,
    /// Place of the entry in its queue.
    pub(super) index: u32,
    pub(super) transfer: Transfer,
    pub(super) len_bytes: u64,
    pub(super) bytes: FetchedBytes,
    pub(super) stage: Stage,
    /// Pages described by lists that were not read.
    pages_left: u64,
    /// The list under way: address and bytes; requested and received.
    list: (u64, Vec<u8>),
    requested: usize,
    received: usize,
    /// Page whose data are requested next, and the offset in it.
    next_page: (usize, u32),
}

impl FetchedCommand {
    pub(super) fn new(
        queue: u16,
        index: u32,
        entry_address: u64,
        entry: SubmissionEntry,
        identity: &Identity,
    ) -> FetchedCommand {
        let (transfer, len_bytes) = transfer_of(queue, &entry, identity);
        let mut command = FetchedCommand {
            queue,
            index,
            transfer,
            len_bytes,
            bytes: FetchedBytes { entry_address, entry, ..FetchedBytes::default() },
            stage: Stage::Ready,
            pages_left: 0,
            list: (0, Vec::new()),
            requested: 0,
            received: 0,
            next_page: (0, 0),
        };
        if len_bytes > 0 {
            command.start_pointer();
        }
        command
    }

    pub(super) fn entry(&self) -> &SubmissionEntry {
        &self.bytes.entry
    }

    /// First page, and second page or list (Base 4.1.1). Wrong pointers are left to the controller.
    fn start_pointer(&mut self) {
        let (first, second) = (self.entry().prp1(), self.entry().prp2());
        if first % 4 != 0 {
            return self.give_up();
        }
        let first_len = self.len_bytes.min(PAGE_BYTES - first % PAGE_BYTES);
        self.bytes.pages.push((first, first_len as u32));
        let rest = self.len_bytes - first_len;
        if rest == 0 || rest <= PAGE_BYTES {
            if rest > 0 {
                self.bytes.pages.push((second, rest as u32));
            }
            return self.start_data();
        }
        self.pages_left = rest.div_ceil(PAGE_BYTES);
        self.start_list(second);
    }

    fn start_list(&mut self, address: u64) {
        if !address.is_multiple_of(PRP_ENTRY_BYTES) {
            return self.give_up();
        }
        let room = (PAGE_BYTES - address % PAGE_BYTES) / PRP_ENTRY_BYTES;
        let entries = self.pages_left.min(room);
        self.list = (address, vec![0; (entries * PRP_ENTRY_BYTES) as usize]);
        (self.requested, self.received) = (0, 0);
        self.stage = Stage::List;
    }

    /// The pointer is invalid, which the controller will report.
    fn give_up(&mut self) {
        self.bytes.pages.clear();
        self.stage = Stage::Ready;
    }

    fn end_list(&mut self) {
        let (address, list) = std::mem::take(&mut self.list);
        let entries = list.chunks_exact(PRP_ENTRY_BYTES as usize);
        let entries: Vec<u64> = entries
            .map(|raw| raw.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
            .collect();
        self.bytes.lists.push((address, list));
        // The last entry of a list page points to the next one if more than one page is left.
        let continues = self.pages_left > entries.len() as u64;
        let pages = &entries[..entries.len() - usize::from(continues)];
        for &page in pages {
            let before: u64 = self.bytes.pages.iter().map(|&(_, len)| u64::from(len)).sum();
            let len = PAGE_BYTES.min(self.len_bytes - before);
            self.bytes.pages.push((page, len as u32));
        }
        self.pages_left -= pages.len() as u64;
        match entries.last() {
            Some(&next) if continues => self.start_list(next),
            _ => self.start_data(),
        }
    }

    fn start_data(&mut self) {
        let mut pages = self.bytes.pages.iter().skip(1);
        if pages.any(|&(page, _)| page % PAGE_BYTES != 0) {
            return self.give_up();
        }
        if self.transfer != Transfer::FromHost {
            self.stage = Stage::Ready;
            return;
        }
        self.bytes.data = vec![0; self.len_bytes as usize];
        (self.requested, self.received) = (0, 0);
        self.stage = Stage::Data;
    }

    /// The next piece, at most `limit_bytes` long and within that alignment.
    pub(super) fn next_piece(&mut self, limit_bytes: u32) -> Option<Piece> {
        let piece = match self.stage {
            Stage::Ready => None,
            Stage::List => {
                let (address, bytes) = (self.list.0 + self.requested as u64, self.list.1.len());
                let left = (bytes - self.requested) as u64;
                self.piece(address, left, limit_bytes)
            }
            Stage::Data => {
                let (index, offset) = self.next_page;
                let &(page, len) = self.bytes.pages.get(index)?;
                let piece =
                    self.piece(page + u64::from(offset), u64::from(len - offset), limit_bytes)?;
                let offset = offset + piece.len_bytes;
                self.next_page = match offset == len {
                    true => (index + 1, 0),
                    false => (index, offset),
                };
                Some(piece)
            }
        }?;
        self.requested += piece.len_bytes as usize;
        Some(piece)
    }

    fn piece(&self, address: u64, left: u64, limit_bytes: u32) -> Option<Piece> {
        let limit = u64::from(limit_bytes);
        let len = left.min(limit - address % limit);
        (len > 0).then_some(Piece { address, len_bytes: len as u32, offset: self.requested })
    }

    pub(super) fn has_piece(&self) -> bool {
        match self.stage {
            Stage::Ready => false,
            Stage::List => self.requested < self.list.1.len(),
            Stage::Data => self.requested < self.bytes.data.len(),
        }
    }

    pub(super) fn has_begun(&self) -> bool {
        self.stage != Stage::Ready && self.requested > 0
    }

    pub(super) fn has_begun_data(&self) -> bool {
        !self.bytes.data.is_empty() && (self.stage == Stage::Ready || self.has_begun())
    }

    pub(super) fn receive(&mut self, piece: &Piece, bytes: &[u8]) {
        let target = match self.stage {
            Stage::List => &mut self.list.1,
            Stage::Data => &mut self.bytes.data,
            Stage::Ready => unreachable!("bytes for a command that waits for none"),
        };
        target[piece.offset..piece.offset + bytes.len()].copy_from_slice(bytes);
        self.received += bytes.len();
        if self.received < target.len() {
            return;
        }
        match self.stage {
            Stage::List => self.end_list(),
            _ => self.stage = Stage::Ready,
        }
    }
}

/// Direction and length of data by PRPs; 0 for commands that the controller will refuse.
fn transfer_of(queue: u16, entry: &SubmissionEntry, identity: &Identity) -> (Transfer, u64) {
    if entry.psdt() != 0 {
        return (Transfer::None, 0);
    }
    if queue == 0 {
        return match AdminOpcode(entry.opcode()) {
            AdminOpcode::IDENTIFY => (Transfer::ToHost, PAGE_BYTES),
            AdminOpcode::GET_LOG_PAGE => {
                let command = GetLogPage::from(*entry);
                let high = u64::from(command.dwords_high()) << 16;
                let dwords = (high | u64::from(command.dwords_low())) + 1;
                (Transfer::ToHost, (dwords * 4).min(1 << 20))
            }
            _ => (Transfer::None, 0),
        };
    }
    let block = identity.logical_block_bytes;
    let range_bytes = || {
        let command = Read::from(*entry);
        let (len, first) = (u64::from(command.blocks()) * block, command.slba());
        let end = first.checked_add(u64::from(command.blocks()))?;
        let pages = (identity.max_transfer_bytes / PAGE_BYTES).max(2);
        let fits = end <= identity.capacity_bytes / block && len <= PAGE_BYTES << pages.ilog2();
        fits.then_some(len)
    };
    match NvmOpcode(entry.opcode()) {
        NvmOpcode::READ => (Transfer::ToHost, range_bytes().unwrap_or(0)),
        NvmOpcode::WRITE | NvmOpcode::COMPARE => (Transfer::FromHost, range_bytes().unwrap_or(0)),
        NvmOpcode::DATASET_MANAGEMENT => {
            let ranges = u64::from(DatasetManagement::from(*entry).ranges()) + 1;
            (Transfer::FromHost, ranges * DatasetRange::SIZE as u64)
        }
        _ => (Transfer::None, 0),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/pcie_drive/command.rs"]
mod tests;
