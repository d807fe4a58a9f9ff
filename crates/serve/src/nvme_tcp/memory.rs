//! Host memory of a controller behind a network: the rings of its queues, and one buffer for each
//! outstanding command, at addresses of their own. Completions are taken as they are written.

use std::collections::VecDeque;

use assay_nvme_ctrl::{HostMemory, Unmapped};
use assay_nvme_spec::wire::Wire;
use assay_nvme_spec::{CompletionEntry, SubmissionEntry};
use assay_units::Nanos;

/// Bits 63:60 of an address.
const SUBMISSION: u64 = 1;
const COMPLETION: u64 = 2;
const DATA: u64 = 3;
/// Queue in an address, above the offset in its ring.
const QUEUE_SHIFT: u32 = 24;
/// Buffer in an address, above the offset in it.
const BUFFER_SHIFT: u32 = 32;
/// A buffer of more bytes is freed with its command.
const KEPT_BYTES: usize = 8192;

pub fn submission_ring(qid: u16) -> u64 {
    SUBMISSION << 60 | u64::from(qid) << QUEUE_SHIFT
}

pub fn completion_ring(qid: u16) -> u64 {
    COMPLETION << 60 | u64::from(qid) << QUEUE_SHIFT
}

pub fn buffer_address(buffer: u16) -> u64 {
    DATA << 60 | u64::from(buffer) << BUFFER_SHIFT
}

/// Without the kind: what is above the shift, and below it.
fn split(address: u64, shift: u32) -> (u64, u64) {
    let place = address & (u64::MAX >> 4);
    (place >> shift, place & ((1 << shift) - 1))
}

/// An outstanding command and its data.
#[derive(Clone, Debug, Default)]
pub struct CommandBuffer {
    pub entry: SubmissionEntry,
    pub qid: u16,
    /// Share of the limit of bytes in flight; 0 for an Asynchronous Event Request.
    pub cost_bytes: u64,
    /// Wall clock at which the controller got it; `None` while data is received.
    pub since: Option<Nanos>,
    /// `bytes[..len]` are the data.
    bytes: Vec<u8>,
    pub len: usize,
    /// Received from the host, or written by the controller, bytes.
    pub filled: usize,
    /// A part of the data does not match its digest.
    pub is_damaged: bool,
    is_used: bool,
}

impl CommandBuffer {
    pub fn is_event_request(&self) -> bool {
        self.cost_bytes == 0
    }

    pub fn filled(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }

    /// Appends received data; `false` if it is out of order or too long.
    pub fn receive(&mut self, offset: usize, data: &[u8]) -> bool {
        let end = offset + data.len();
        if offset != self.filled || end > self.len {
            return false;
        }
        self.bytes[offset..end].copy_from_slice(data);
        self.filled = end;
        true
    }
}

#[derive(Clone, Debug, Default)]
pub struct FabricMemory {
    /// Submission rings by queue.
    rings: Vec<Vec<u8>>,
    buffers: Vec<CommandBuffer>,
    free: Vec<u16>,
    pub completed: VecDeque<CompletionEntry>,
}

impl FabricMemory {
    pub fn set_ring(&mut self, qid: u16, entries: u32) {
        let index = usize::from(qid);
        if self.rings.len() <= index {
            self.rings.resize(index + 1, Vec::new());
        }
        self.rings[index] = vec![0; entries as usize * SubmissionEntry::SIZE];
    }

    pub fn put_entry(&mut self, qid: u16, at: u32, entry: &SubmissionEntry) {
        let from = at as usize * SubmissionEntry::SIZE;
        let ring = &mut self.rings[usize::from(qid)];
        ring[from..from + SubmissionEntry::SIZE].copy_from_slice(entry.as_bytes());
    }

    /// A buffer of `len` bytes for a command.
    pub fn add(&mut self, qid: u16, entry: SubmissionEntry, len: usize, cost_bytes: u64) -> u16 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.buffers.push(CommandBuffer::default());
            (self.buffers.len() - 1) as u16
        });
        let buffer = &mut self.buffers[usize::from(number)];
        let mut bytes = std::mem::take(&mut buffer.bytes);
        if bytes.len() < len {
            bytes.resize(len, 0);
        }
        *buffer = CommandBuffer {
            entry,
            qid,
            cost_bytes,
            bytes,
            len,
            is_used: true,
            ..CommandBuffer::default()
        };
        number
    }

    pub fn get(&self, number: u16) -> Option<&CommandBuffer> {
        let buffer = self.buffers.get(usize::from(number));
        buffer.filter(|buffer| buffer.is_used)
    }

    pub fn get_mut(&mut self, number: u16) -> Option<&mut CommandBuffer> {
        let buffer = self.buffers.get_mut(usize::from(number));
        buffer.filter(|buffer| buffer.is_used)
    }

    pub fn release(&mut self, number: u16) {
        if let Some(buffer) = self.get_mut(number) {
            buffer.is_used = false;
            if buffer.bytes.len() > KEPT_BYTES {
                buffer.bytes = Vec::new();
            }
            self.free.push(number);
        }
    }

    /// Outstanding commands with their numbers.
    pub fn used(&self) -> impl Iterator<Item = (u16, &CommandBuffer)> {
        let buffers = (0..).zip(&self.buffers);
        buffers.filter(|(_, buffer)| buffer.is_used)
    }

    /// The range within a buffer or ring.
    fn range(bytes: &[u8], offset: u64, len: u64) -> Option<std::ops::Range<usize>> {
        let end = offset.checked_add(len)?;
        (end <= bytes.len() as u64).then_some(offset as usize..end as usize)
    }

    /// Buffer and offset of an address.
    fn buffer_of(address: u64) -> Option<(u16, u64)> {
        let (number, offset) = split(address, BUFFER_SHIFT);
        let number = u16::try_from(number).ok();
        number.zip((address >> 60 == DATA).then_some(offset))
    }

    fn find(&self, address: u64, len: u64) -> Option<(&[u8], std::ops::Range<usize>)> {
        let (bytes, offset) = if let Some((number, offset)) = FabricMemory::buffer_of(address) {
            let buffer = self.get(number)?;
            (&buffer.bytes[..buffer.len], offset)
        } else if address >> 60 == SUBMISSION {
            let (queue, offset) = split(address, QUEUE_SHIFT);
            (&self.rings.get(queue as usize)?[..], offset)
        } else {
            return None;
        };
        let range = FabricMemory::range(bytes, offset, len)?;
        Some((bytes, range))
    }
}

impl HostMemory for FabricMemory {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unmapped> {
        let len_bytes = bytes.len() as u64;
        let found = self.find(address, len_bytes);
        let (from, range) = found.ok_or(Unmapped { address, len_bytes })?;
        bytes.copy_from_slice(&from[range]);
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Unmapped> {
        let len_bytes = bytes.len() as u64;
        if address >> 60 == COMPLETION {
            self.completed.push_back(CompletionEntry::load(bytes));
            return Ok(());
        }
        let to = self.writable(address, len_bytes);
        to.ok_or(Unmapped { address, len_bytes })?.copy_from_slice(bytes);
        Ok(())
    }

    fn is_mapped(&self, address: u64, len_bytes: u64) -> bool {
        self.find(address, len_bytes).is_some()
    }

    fn writable(&mut self, address: u64, len_bytes: u64) -> Option<&mut [u8]> {
        let (number, offset) = FabricMemory::buffer_of(address)?;
        let buffer = self.get_mut(number)?;
        let range = FabricMemory::range(&buffer.bytes[..buffer.len], offset, len_bytes)?;
        buffer.filled = buffer.filled.max(range.end);
        Some(&mut buffer.bytes[range])
    }
}
