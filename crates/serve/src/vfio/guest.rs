//! The guest's memory, as QEMU shares it: pieces of files at guest addresses.

use std::fs::File;
use std::io;

use assay_io::shared_memory::SharedMemory;
use assay_nvme_ctrl::{HostMemory, Unmapped};

/// Pieces at once; a virtual machine has a handful.
const MOST_PIECES: usize = 1024;

#[derive(Debug)]
struct Piece {
    address: u64,
    memory: SharedMemory,
}

impl Piece {
    fn end(&self) -> u64 {
        self.address.saturating_add(self.memory.len_bytes())
    }
}

/// All that is mapped, by address; pieces do not overlap.
#[derive(Debug, Default)]
pub struct GuestMemory {
    pieces: Vec<Piece>,
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

impl GuestMemory {
    /// Map a piece.
    ///
    /// # Errors
    /// When it overlaps another, there are too many, or it cannot be mapped.
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
            .ok_or_else(|| invalid("memory beyond the last address"))?;
        if self.pieces.len() == MOST_PIECES {
            return Err(invalid("too many pieces of memory"));
        }
        let place = self.pieces.partition_point(|piece| piece.address < address);
        let next_begins = self.pieces.get(place).map_or(u64::MAX, |next| next.address);
        let before_ends = place
            .checked_sub(1)
            .and_then(|before| self.pieces.get(before))
            .map_or(0, Piece::end);
        if end > next_begins || before_ends > address {
            return Err(invalid("memory that overlaps what is mapped"));
        }
        let memory = SharedMemory::map(file, offset_bytes, len_bytes, writable)?;
        self.pieces.insert(place, Piece { address, memory });
        Ok(())
    }

    /// Forget what lies within a range.
    pub fn unmap(&mut self, address: u64, len_bytes: u64) {
        let end = address.saturating_add(len_bytes);
        self.pieces
            .retain(|piece| piece.address < address || piece.end() > end);
    }

    /// Forget everything.
    pub fn clear(&mut self) {
        self.pieces.clear();
    }

    /// The piece that an address lies in, and where in it.
    #[inline]
    fn find(&self, address: u64) -> Option<(usize, u64)> {
        let after = self
            .pieces
            .partition_point(|piece| piece.address <= address);
        let index = after.checked_sub(1)?;
        let piece = self.pieces.get(index)?;
        (address < piece.end()).then(|| (index, address - piece.address))
    }

    /// Go through a range piece by piece: index, place in it, and which part of the range.
    fn walk(
        &self,
        address: u64,
        len: usize,
        mut each: impl FnMut(usize, u64, std::ops::Range<usize>) -> bool,
    ) -> Result<(), Unmapped> {
        let unmapped = Unmapped {
            address,
            len_bytes: len as u64,
        };
        let mut done = 0;
        while done < len {
            let at = address.checked_add(done as u64).ok_or(unmapped)?;
            let (index, place) = self.find(at).ok_or(unmapped)?;
            let left = self.pieces[index].memory.len_bytes() - place;
            let part = usize::try_from(left).unwrap_or(usize::MAX).min(len - done);
            if !each(index, place, done..done + part) {
                return Err(unmapped);
            }
            done += part;
        }
        Ok(())
    }
}

impl HostMemory for GuestMemory {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unmapped> {
        self.walk(address, bytes.len(), |index, place, range| {
            self.pieces[index].memory.read(place, &mut bytes[range])
        })
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Unmapped> {
        // Nearly always in one piece, which needs no list.
        if let Some((index, place)) = self.find(address)
            && self.pieces[index].memory.write(place, bytes)
        {
            return Ok(());
        }
        let mut parts = Vec::new();
        self.walk(address, bytes.len(), |index, place, range| {
            parts.push((index, place, range));
            true
        })?;
        for (index, place, range) in parts {
            if !self.pieces[index].memory.write(place, &bytes[range]) {
                return Err(Unmapped {
                    address,
                    len_bytes: bytes.len() as u64,
                });
            }
        }
        Ok(())
    }

    fn is_mapped(&self, address: u64, len_bytes: u64) -> bool {
        usize::try_from(len_bytes).is_ok_and(|len| self.walk(address, len, |_, _, _| true).is_ok())
    }
}

#[cfg(test)]
#[path = "../../tests/unit/vfio/guest.rs"]
mod tests;
