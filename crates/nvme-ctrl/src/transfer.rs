//! Data transfer by PRPs and SGLs (Base 4.1). Lists are walked in host memory and never stored.

use assay_nvme_spec::data_pointer::{PRP_ENTRY_BYTES, SglDescriptor, SglType};
use assay_nvme_spec::wire::Wire;
use assay_nvme_spec::{StatusCode, SubmissionEntry};

use crate::memory::HostMemory;

/// Enough for 4 MiB in segments of 512 bytes, and a bound for lists that form a loop.
pub const MAX_SGL_DESCRIPTORS: u32 = 8192;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DataPointer {
    first: u64,
    second: u64,
    is_sgl: bool,
}

/// A contiguous range of host memory, or of discarded data (Bit Bucket).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) address: u64,
    pub(crate) len: usize,
    pub(crate) is_bit_bucket: bool,
}

impl DataPointer {
    #[inline(always)]
    pub(crate) fn new(entry: &SubmissionEntry) -> DataPointer {
        DataPointer { first: entry.prp1(), second: entry.prp2(), is_sgl: entry.psdt() != 0 }
    }

    /// Address of the data if it lies in one page.
    #[inline(always)]
    pub(crate) fn single(&self, len: u64, page_bytes: u64) -> Option<u64> {
        let offset = self.first & (page_bytes - 1);
        let single = !self.is_sgl && offset + len <= page_bytes && self.first & 3 == 0;
        single.then_some(self.first)
    }

    /// Address of the data if it is certain to be one range.
    #[inline(always)]
    pub(crate) fn contiguous(&self, len: u64, page_bytes: u64) -> Option<u64> {
        if !self.is_sgl {
            return self.single(len, page_bytes);
        }
        let descriptor = self.descriptor();
        let whole = descriptor.sgl_type() == SglType::DATA_BLOCK
            && descriptor.sub_type() == 0
            && u64::from(descriptor.length()) == len;
        whole.then(|| descriptor.address())
    }

    /// In the command.
    #[inline(always)]
    fn descriptor(&self) -> SglDescriptor {
        let mut raw = [0; 16];
        self.first.store(&mut raw);
        self.second.store(&mut raw[8..]);
        SglDescriptor::from_bytes(raw)
    }

    pub(crate) fn segments(&self, len: u64, page_bytes: u64, to_host: bool) -> Segments {
        let next = if self.is_sgl {
            NextSegment::Sgl(SglPosition {
                inline: Some(self.descriptor()),
                address: 0,
                count: 0,
                is_last: false,
            })
        } else {
            NextSegment::First
        };
        Segments {
            pointer: *self,
            left: len,
            page_bytes,
            to_host,
            descriptors_left: MAX_SGL_DESCRIPTORS,
            next,
        }
    }

    /// Validates the lists and that all of the data is mapped.
    pub(crate) fn check<M: HostMemory>(
        &self,
        memory: &M,
        len: u64,
        page_bytes: u64,
        to_host: bool,
    ) -> Result<(), StatusCode> {
        let mut segments = self.segments(len, page_bytes, to_host);
        while let Some(segment) = segments.next(memory)? {
            if !segment.is_bit_bucket && !memory.is_mapped(segment.address, segment.len as u64) {
                return Err(StatusCode::DATA_TRANSFER_ERROR);
            }
        }
        Ok(())
    }

    pub(crate) fn gather<M: HostMemory + ?Sized>(
        &self,
        memory: &M,
        mut bytes: &mut [u8],
        page_bytes: u64,
    ) -> Result<(), StatusCode> {
        let mut segments = self.segments(bytes.len() as u64, page_bytes, false);
        while let Some(segment) = segments.next(memory)? {
            let (part, rest) = bytes.split_at_mut(segment.len);
            memory.read(segment.address, part)?;
            bytes = rest;
        }
        Ok(())
    }

    pub(crate) fn scatter<M: HostMemory + ?Sized>(
        &self,
        memory: &mut M,
        mut bytes: &[u8],
        page_bytes: u64,
    ) -> Result<(), StatusCode> {
        let mut segments = self.segments(bytes.len() as u64, page_bytes, true);
        while let Some(segment) = segments.next(memory)? {
            let (part, rest) = bytes.split_at(segment.len);
            if !segment.is_bit_bucket {
                memory.write(segment.address, part)?;
            }
            bytes = rest;
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct Segments {
    pointer: DataPointer,
    left: u64,
    page_bytes: u64,
    to_host: bool,
    descriptors_left: u32,
    next: NextSegment,
}

#[derive(Debug)]
enum NextSegment {
    First,
    Second,
    List(u64),
    Sgl(SglPosition),
}

#[derive(Clone, Copy, Debug)]
struct SglPosition {
    /// Descriptor in the command, until it is processed.
    inline: Option<SglDescriptor>,
    /// Remaining descriptors of a segment.
    address: u64,
    count: u32,
    is_last: bool,
}

impl Segments {
    /// `None` when there is no data left.
    pub(crate) fn next<M: HostMemory + ?Sized>(
        &mut self,
        memory: &M,
    ) -> Result<Option<Segment>, StatusCode> {
        if self.left == 0 {
            return Ok(None);
        }
        let segment = match self.next {
            NextSegment::First => {
                let address = self.pointer.first;
                StatusCode::INVALID_PRP_OFFSET.fail_if(address & 3 != 0)?;
                let room = self.page_bytes - (address & (self.page_bytes - 1));
                let segment = self.take(address, room);
                self.next = if self.left <= self.page_bytes {
                    NextSegment::Second
                } else {
                    NextSegment::List(self.pointer.second)
                };
                segment
            }
            NextSegment::Second => self.page(self.pointer.second)?,
            NextSegment::List(at) => self.next_of_list(memory, at)?,
            NextSegment::Sgl(list) => self.next_of_sgl(memory, list)?,
        };
        Ok(Some(segment))
    }

    fn take(&mut self, address: u64, room: u64) -> Segment {
        let len = self.left.min(room);
        self.left -= len;
        Segment { address, len: len as usize, is_bit_bucket: false }
    }

    /// The page must be aligned.
    fn page(&mut self, address: u64) -> Result<Segment, StatusCode> {
        StatusCode::INVALID_PRP_OFFSET.fail_if(address & (self.page_bytes - 1) != 0)?;
        Ok(self.take(address, self.page_bytes))
    }

    /// The last entry of a list page points to the next list page if more than one page is left.
    fn next_of_list<M: HostMemory + ?Sized>(
        &mut self,
        memory: &M,
        mut at: u64,
    ) -> Result<Segment, StatusCode> {
        StatusCode::INVALID_PRP_OFFSET.fail_if(at & (PRP_ENTRY_BYTES - 1) != 0)?;
        let is_last = at & (self.page_bytes - 1) == self.page_bytes - PRP_ENTRY_BYTES;
        let mut entry = u64::from_le_bytes(read_array(memory, at)?);
        if is_last && self.left > self.page_bytes {
            at = entry;
            StatusCode::INVALID_PRP_OFFSET.fail_if(at & (self.page_bytes - 1) != 0)?;
            entry = u64::from_le_bytes(read_array(memory, at)?);
        }
        self.next = NextSegment::List(at.wrapping_add(PRP_ENTRY_BYTES));
        self.page(entry)
    }

    fn next_of_sgl<M: HostMemory + ?Sized>(
        &mut self,
        memory: &M,
        mut list: SglPosition,
    ) -> Result<Segment, StatusCode> {
        const DESCRIPTOR_BYTES: u32 = SglDescriptor::SIZE as u32;
        loop {
            let left = self.descriptors_left.checked_sub(1);
            self.descriptors_left = left.ok_or(StatusCode::INVALID_SGL_COUNT)?;
            let descriptor = match list.inline.take() {
                Some(descriptor) => descriptor,
                None if list.count == 0 => return Err(StatusCode::INVALID_SGL_DATA_LENGTH),
                None => {
                    let raw = read_array(memory, list.address)?;
                    list.address = list.address.wrapping_add(u64::from(DESCRIPTOR_BYTES));
                    list.count -= 1;
                    SglDescriptor::from_bytes(raw)
                }
            };
            StatusCode::INVALID_SGL_TYPE.fail_if(descriptor.sub_type() != 0)?;
            let (address, len) = (descriptor.address(), descriptor.length());
            match descriptor.sgl_type() {
                SglType::DATA_BLOCK | SglType::BIT_BUCKET if len == 0 => {}
                // Ignored in transfers to the controller (Base 4.1.2.1).
                SglType::BIT_BUCKET if !self.to_host => {}
                kind @ (SglType::DATA_BLOCK | SglType::BIT_BUCKET) => {
                    self.next = NextSegment::Sgl(list);
                    return Ok(Segment {
                        is_bit_bucket: kind == SglType::BIT_BUCKET,
                        ..self.take(address, u64::from(len))
                    });
                }
                kind @ (SglType::SEGMENT | SglType::LAST_SEGMENT) => {
                    let is_valid = len > 0 && len.is_multiple_of(DESCRIPTOR_BYTES);
                    // Only as the last descriptor of a segment other than the last one.
                    if list.count > 0 || list.is_last || !is_valid {
                        return Err(StatusCode::INVALID_SGL_SEGMENT);
                    }
                    list = SglPosition {
                        inline: None,
                        address,
                        count: len / DESCRIPTOR_BYTES,
                        is_last: kind == SglType::LAST_SEGMENT,
                    };
                }
                _ => return Err(StatusCode::INVALID_SGL_TYPE),
            }
        }
    }
}

fn read_array<const N: usize, M: HostMemory + ?Sized>(
    memory: &M,
    address: u64,
) -> Result<[u8; N], StatusCode> {
    let mut raw = [0; N];
    memory.read(address, &mut raw)?;
    Ok(raw)
}

#[cfg(test)]
#[path = "../tests/unit/transfer.rs"]
mod tests;
