//! Data between host memory and the controller: physical region pages and scatter-gather lists (Base 4.1), taken apart one segment
//! at a time, without keeping any list.

use assay_nvme_spec::data_pointer::{PRP_ENTRY_BYTES, SglDescriptor, SglType};
use assay_nvme_spec::wire::Wire;
use assay_nvme_spec::{StatusCode, SubmissionEntry};

use crate::memory::HostMemory;

/// So many SGL descriptors are read for one command before it is refused: enough for 4 MiB in pieces of 512 bytes, and no way to keep a
/// controller busy with lists that go nowhere.
pub const MAX_SGL_DESCRIPTORS: u32 = 8192;

/// A command's data pointer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DataPointer {
    first: u64,
    second: u64,
    is_sgl: bool,
}

/// A piece of host memory, or of data that nobody wants (`bucket`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) address: u64,
    pub(crate) len: usize,
    pub(crate) bucket: bool,
}

impl DataPointer {
    /// That of a queue entry; PSDT says of which kind.
    #[inline(always)]
    pub(crate) fn of(entry: &SubmissionEntry) -> DataPointer {
        DataPointer {
            first: entry.prp1(),
            second: entry.prp2(),
            is_sgl: entry.psdt() != 0,
        }
    }

    /// Where the data is, if it lies in one page.
    #[inline(always)]
    pub(crate) fn single(&self, len: u64, page_bytes: u64) -> Option<u64> {
        let offset = self.first & (page_bytes - 1);
        let single = !self.is_sgl && offset + len <= page_bytes && self.first & 3 == 0;
        single.then_some(self.first)
    }

    /// Its segments, for `len` bytes that go to the host or come from it.
    pub(crate) fn segments(&self, len: u64, page_bytes: u64, to_host: bool) -> Segments {
        let at = if self.is_sgl {
            let mut raw = [0; 16];
            self.first.store(&mut raw);
            self.second.store(&mut raw[8..]);
            At::Sgl(List::Inline(SglDescriptor::from_bytes(raw)))
        } else {
            At::First
        };
        Segments {
            pointer: *self,
            left: len,
            page_bytes,
            to_host,
            budget: MAX_SGL_DESCRIPTORS,
            at,
        }
    }

    /// Is all of it mapped, and are its lists right?
    pub(crate) fn check<M: HostMemory>(
        &self,
        memory: &M,
        len: u64,
        page_bytes: u64,
        to_host: bool,
    ) -> Result<(), StatusCode> {
        let mut segments = self.segments(len, page_bytes, to_host);
        while let Some(segment) = segments.next(memory)? {
            if !segment.bucket && !memory.is_mapped(segment.address, segment.len as u64) {
                return Err(StatusCode::DATA_TRANSFER_ERROR);
            }
        }
        Ok(())
    }

    /// Fetch data from host memory.
    pub(crate) fn gather<M: HostMemory>(
        &self,
        memory: &M,
        bytes: &mut [u8],
        page_bytes: u64,
    ) -> Result<(), StatusCode> {
        let mut segments = self.segments(bytes.len() as u64, page_bytes, false);
        let mut rest = bytes;
        while let Some(segment) = segments.next(memory)? {
            let (now, later) = rest.split_at_mut(segment.len);
            memory
                .read(segment.address, now)
                .map_err(|_| StatusCode::DATA_TRANSFER_ERROR)?;
            rest = later;
        }
        Ok(())
    }

    /// Put data into host memory.
    pub(crate) fn scatter<M: HostMemory>(
        &self,
        memory: &mut M,
        bytes: &[u8],
        page_bytes: u64,
    ) -> Result<(), StatusCode> {
        let mut segments = self.segments(bytes.len() as u64, page_bytes, true);
        let mut rest = bytes;
        while let Some(segment) = segments.next(memory)? {
            let (now, later) = rest.split_at(segment.len);
            if !segment.bucket {
                memory
                    .write(segment.address, now)
                    .map_err(|_| StatusCode::DATA_TRANSFER_ERROR)?;
            }
            rest = later;
        }
        Ok(())
    }
}

/// The segments of a data pointer, in order.
#[derive(Debug)]
pub(crate) struct Segments {
    pointer: DataPointer,
    left: u64,
    page_bytes: u64,
    to_host: bool,
    budget: u32,
    at: At,
}

/// Where the next segment is said.
#[derive(Debug)]
enum At {
    /// PRP Entry 1.
    First,
    /// PRP Entry 2.
    Second,
    /// An entry of a PRP list.
    List(u64),
    /// An SGL.
    Sgl(List),
}

/// Where an SGL goes on.
#[derive(Clone, Copy, Debug)]
enum List {
    /// With the descriptor in the command.
    Inline(SglDescriptor),
    /// With so many descriptors of a segment.
    Segment {
        address: u64,
        count: u32,
        is_last: bool,
    },
}

impl Segments {
    /// The next segment; `None` when there is no data left.
    pub(crate) fn next<M: HostMemory>(
        &mut self,
        memory: &M,
    ) -> Result<Option<Segment>, StatusCode> {
        if self.left == 0 {
            return Ok(None);
        }
        match self.at {
            At::First => {
                let address = self.pointer.first;
                if address & 3 != 0 {
                    return Err(StatusCode::INVALID_PRP_OFFSET);
                }
                let room = self.page_bytes - (address & (self.page_bytes - 1));
                let segment = self.take(address, room);
                self.at = if self.left <= self.page_bytes {
                    At::Second
                } else {
                    At::List(self.pointer.second)
                };
                Ok(Some(segment))
            }
            At::Second => self.page(self.pointer.second).map(Some),
            At::List(at) => self.listed(memory, at).map(Some),
            At::Sgl(list) => self.described(memory, list),
        }
    }

    fn take(&mut self, address: u64, room: u64) -> Segment {
        let len = self.left.min(room);
        self.left -= len;
        Segment {
            address,
            len: len as usize,
            bucket: false,
        }
    }

    /// A page that must begin at its beginning.
    fn page(&mut self, address: u64) -> Result<Segment, StatusCode> {
        if address & (self.page_bytes - 1) != 0 {
            return Err(StatusCode::INVALID_PRP_OFFSET);
        }
        Ok(self.take(address, self.page_bytes))
    }

    /// The page that the list entry at `at` names. The last entry of a list's page names the next page of the list instead, if
    /// data for more than a page is left.
    fn listed<M: HostMemory>(&mut self, memory: &M, at: u64) -> Result<Segment, StatusCode> {
        let mut at = at;
        if at & (PRP_ENTRY_BYTES - 1) != 0 {
            return Err(StatusCode::INVALID_PRP_OFFSET);
        }
        let is_last = at & (self.page_bytes - 1) == self.page_bytes - PRP_ENTRY_BYTES;
        let mut entry = read_entry(memory, at)?;
        if is_last && self.left > self.page_bytes {
            at = entry;
            if at & (self.page_bytes - 1) != 0 {
                return Err(StatusCode::INVALID_PRP_OFFSET);
            }
            entry = read_entry(memory, at)?;
        }
        self.at = At::List(at.wrapping_add(PRP_ENTRY_BYTES));
        self.page(entry)
    }

    fn described<M: HostMemory>(
        &mut self,
        memory: &M,
        list: List,
    ) -> Result<Option<Segment>, StatusCode> {
        let mut list = list;
        while self.left > 0 {
            self.budget = self
                .budget
                .checked_sub(1)
                .ok_or(StatusCode::INVALID_SGL_COUNT)?;
            let (descriptor, rest) = match list {
                List::Inline(descriptor) => (descriptor, None),
                List::Segment { count: 0, .. } => return Err(StatusCode::INVALID_SGL_DATA_LENGTH),
                List::Segment {
                    address,
                    count,
                    is_last,
                } => {
                    let mut raw = [0; SglDescriptor::SIZE];
                    memory
                        .read(address, &mut raw)
                        .map_err(|_| StatusCode::DATA_TRANSFER_ERROR)?;
                    let address = address.wrapping_add(SglDescriptor::SIZE as u64);
                    (
                        SglDescriptor::from_bytes(raw),
                        Some((address, count - 1, is_last)),
                    )
                }
            };
            let (after, left, is_last) = rest.unwrap_or((0, 0, false));
            list = List::Segment {
                address: after,
                count: left,
                is_last,
            };
            if descriptor.sub_type() != 0 {
                return Err(StatusCode::INVALID_SGL_TYPE);
            }
            match descriptor.sgl_type() {
                SglType::DATA_BLOCK if descriptor.length() == 0 => {}
                SglType::DATA_BLOCK => {
                    self.at = At::Sgl(list);
                    return Ok(Some(
                        self.take(descriptor.address(), u64::from(descriptor.length())),
                    ));
                }
                // Nothing is taken from a bucket (Base 4.1.2.1).
                SglType::BIT_BUCKET if !self.to_host || descriptor.length() == 0 => {}
                SglType::BIT_BUCKET => {
                    self.at = At::Sgl(list);
                    let mut segment = self.take(0, u64::from(descriptor.length()));
                    segment.bucket = true;
                    return Ok(Some(segment));
                }
                kind @ (SglType::SEGMENT | SglType::LAST_SEGMENT) => {
                    // It must be the last descriptor of a segment that is not the last.
                    let len = descriptor.length();
                    if left > 0
                        || is_last
                        || len == 0
                        || !len.is_multiple_of(SglDescriptor::SIZE as u32)
                    {
                        return Err(StatusCode::INVALID_SGL_SEGMENT);
                    }
                    list = List::Segment {
                        address: descriptor.address(),
                        count: len / SglDescriptor::SIZE as u32,
                        is_last: kind == SglType::LAST_SEGMENT,
                    };
                }
                _ => return Err(StatusCode::INVALID_SGL_TYPE),
            }
        }
        Ok(None)
    }
}

fn read_entry<M: HostMemory>(memory: &M, at: u64) -> Result<u64, StatusCode> {
    let mut raw = [0; PRP_ENTRY_BYTES as usize];
    memory
        .read(at, &mut raw)
        .map_err(|_| StatusCode::DATA_TRANSFER_ERROR)?;
    Ok(u64::from_le_bytes(raw))
}

#[cfg(test)]
#[path = "../tests/unit/transfer.rs"]
mod tests;
