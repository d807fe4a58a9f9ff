//! Guest memory shared by QEMU: file mappings at guest physical addresses.

use std::fs::File;
use std::io;

use assay_io::shared_memory::SharedMemory;
use assay_nvme_ctrl::{HostMemory, Unmapped};

/// A virtual machine has about ten mappings.
const MAX_REGIONS: usize = 1024;

#[derive(Debug)]
struct MappedRegion {
    address: u64,
    memory: SharedMemory,
}

impl MappedRegion {
    fn end(&self) -> u64 {
        // `GuestMemory::map` rejects regions that end beyond the address space.
        self.address + self.memory.len_bytes()
    }
}

/// Sorted by address, without overlap.
#[derive(Debug, Default)]
pub struct GuestMemory {
    regions: Vec<MappedRegion>,
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

impl GuestMemory {
    /// Fails when the region overlaps another, wraps around, exceeds the number of regions, or
    /// cannot be mapped.
    pub fn map(
        &mut self,
        file: &File,
        offset_bytes: u64,
        address: u64,
        len_bytes: u64,
        writable: bool,
    ) -> io::Result<()> {
        let end = address
            .checked_add(len_bytes)
            .ok_or_else(|| invalid("the region ends beyond the address space"))?;
        if self.regions.len() == MAX_REGIONS {
            return Err(invalid("too many memory regions"));
        }
        let index = self.regions.partition_point(|r| r.address < address);
        let (before, after) = self.regions.split_at(index);
        let before_ends = before.last().map_or(0, MappedRegion::end);
        let next_begins = after.first().map_or(u64::MAX, |next| next.address);
        if end > next_begins || before_ends > address {
            return Err(invalid("the region overlaps a mapped one"));
        }
        let memory = SharedMemory::map(file, offset_bytes, len_bytes, writable)?;
        self.regions.insert(index, MappedRegion { address, memory });
        Ok(())
    }

    /// Unmaps the regions that lie within the range.
    pub fn unmap(&mut self, address: u64, len_bytes: u64) {
        // Saturating: a range up to the last address is valid.
        let end = address.saturating_add(len_bytes);
        self.regions.retain(|region| region.address < address || region.end() > end);
    }

    pub fn clear(&mut self) {
        self.regions.clear();
    }

    /// The region of the address, and the offset in it.
    #[inline]
    fn find(&self, address: u64) -> Option<(usize, u64)> {
        let after = self.regions.partition_point(|r| r.address <= address);
        let index = after.checked_sub(1)?;
        let region = &self.regions[index];
        (address < region.end()).then(|| (index, address - region.address))
    }

    /// `each` gets region index, offset in the region, part of the range.
    fn walk(
        &self,
        address: u64,
        len: usize,
        mut each: impl FnMut(usize, u64, std::ops::Range<usize>) -> bool,
    ) -> Result<(), Unmapped> {
        let unmapped = Unmapped { address, len_bytes: len as u64 };
        let mut done = 0;
        while done < len {
            let at = address.checked_add(done as u64).ok_or(unmapped)?;
            let (index, offset) = self.find(at).ok_or(unmapped)?;
            let left = self.regions[index].memory.len_bytes() - offset;
            let part = left.min((len - done) as u64) as usize;
            if !each(index, offset, done..done + part) {
                return Err(unmapped);
            }
            done += part;
        }
        Ok(())
    }
}

impl HostMemory for GuestMemory {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unmapped> {
        self.walk(address, bytes.len(), |index, offset, range| {
            self.regions[index].memory.read(offset, &mut bytes[range])
        })
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Unmapped> {
        // Fast path: one region.
        if let Some((index, offset)) = self.find(address)
            && self.regions[index].memory.write(offset, bytes)
        {
            return Ok(());
        }
        let mut parts = Vec::new();
        self.walk(address, bytes.len(), |index, offset, range| {
            parts.push((index, offset, range));
            true
        })?;
        let mut parts = parts.into_iter();
        let written = parts
            .all(|(index, offset, range)| self.regions[index].memory.write(offset, &bytes[range]));
        let len_bytes = bytes.len() as u64;
        written.then_some(()).ok_or(Unmapped { address, len_bytes })
    }

    fn is_mapped(&self, address: u64, len_bytes: u64) -> bool {
        usize::try_from(len_bytes).is_ok_and(|len| self.walk(address, len, |_, _, _| true).is_ok())
    }
}

#[cfg(test)]
#[path = "../../tests/unit/vfio/guest_memory.rs"]
mod tests;
