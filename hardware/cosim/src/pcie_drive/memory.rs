//! Host memory as the controller model sees it: bytes that were read over the bus, until used.

use std::cell::Cell;
use std::collections::BTreeMap;

use assay_nvme_ctrl::{HostMemory, Unmapped};
use assay_nvme_spec::SubmissionEntry;
use assay_nvme_spec::nvm::Read;
use assay_ssd::Identity;

#[derive(Clone, Debug, Default)]
pub(super) struct FetchedBytes {
    pub(super) entry_address: u64,
    pub(super) entry: SubmissionEntry,
    /// Address, bytes.
    pub(super) lists: Vec<(u64, Vec<u8>)>,
    /// Data from the host: pages in order, and the bytes of all of them.
    pub(super) pages: Vec<(u64, u32)>,
    pub(super) data: Vec<u8>,
}

impl FetchedBytes {
    /// A changed entry may have fewer blocks: PRP2 may then be a page instead of a list.
    pub(super) fn shorten(&mut self, original: &SubmissionEntry, identity: &Identity) {
        let blocks = |entry: &SubmissionEntry| u64::from(Read::from(*entry).blocks());
        let (before, now) = (blocks(original), blocks(&self.entry));
        assert!(now <= before, "{before} blocks made {now}");
        if now == before {
            return;
        }
        let len_bytes = now * identity.logical_block_bytes;
        let mut end_bytes = 0;
        let needed = self.pages.iter().take_while(|(_, len)| {
            let begins_before = end_bytes < len_bytes;
            end_bytes += u64::from(*len);
            begins_before
        });
        if needed.count() == 2 {
            let second = self.pages[1].0;
            self.entry.set_prp2(second);
        }
    }
}

/// A command that was announced to the controller, which may not have fetched it yet.
#[derive(Clone, Debug)]
struct Announced {
    key: u32,
    bytes: FetchedBytes,
    is_fetched: Cell<bool>,
    /// Where the last read of data ended: page, and offset of the next page in the data.
    next_page: Cell<(usize, usize)>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct BusMemory {
    announced: Vec<Announced>,
    /// Bytes that the controller reads again when a command ends, and how many commands need them.
    held: BTreeMap<u64, (Vec<u8>, u32)>,
    /// In order.
    pub(super) writes: Vec<(u64, Vec<u8>)>,
}

impl BusMemory {
    pub(super) fn announce(&mut self, key: u32, bytes: FetchedBytes) {
        self.announced.push(Announced {
            key,
            bytes,
            is_fetched: Cell::new(false),
            next_page: Cell::new((0, 0)),
        });
    }

    /// Takes the bytes of a command that the controller has fetched.
    pub(super) fn take_fetched(&mut self) -> Option<(u32, FetchedBytes)> {
        let at = self.announced.iter().position(|one| one.is_fetched.get())?;
        let one = self.announced.swap_remove(at);
        Some((one.key, one.bytes))
    }

    /// Keeps bytes until [`BusMemory::release`].
    pub(super) fn hold(&mut self, address: u64, bytes: Vec<u8>) {
        let held = self.held.entry(address).or_default();
        *held = (bytes, held.1 + 1);
    }

    pub(super) fn release(&mut self, address: u64) {
        if let Some(held) = self.held.get_mut(&address) {
            held.1 -= 1;
            if held.1 == 0 {
                self.held.remove(&address);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        *self = BusMemory::default();
    }
}

/// The part of `bytes` at `from` that holds `[address, address + len)`.
fn part(from: u64, bytes: &[u8], address: u64, len: usize) -> Option<&[u8]> {
    let offset = usize::try_from(address.checked_sub(from)?).ok()?;
    bytes.get(offset..offset.checked_add(len)?)
}

impl Announced {
    fn find(&self, address: u64, len: usize) -> Option<&[u8]> {
        let bytes = &self.bytes;
        if let Some(found) = part(bytes.entry_address, bytes.entry.as_bytes(), address, len) {
            self.is_fetched.set(true);
            return Some(found);
        }
        let mut lists = bytes.lists.iter();
        if let Some(found) = lists.find_map(|(at, list)| part(*at, list, address, len)) {
            return Some(found);
        }
        self.find_data(address, len)
    }

    /// Pages are read in order; otherwise all are searched.
    fn find_data(&self, address: u64, len: usize) -> Option<&[u8]> {
        let (pages, data) = (&self.bytes.pages, &self.bytes.data);
        let (mut index, mut offset) = self.next_page.get();
        for _ in 0..pages.len() {
            if index >= pages.len() {
                (index, offset) = (0, 0);
            }
            let (at, page_len) = pages[index];
            let page = data.get(offset..offset + page_len as usize)?;
            (index, offset) = (index + 1, offset + page_len as usize);
            if let Some(found) = part(at, page, address, len) {
                self.next_page.set((index, offset));
                return Some(found);
            }
        }
        None
    }
}

impl HostMemory for BusMemory {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unmapped> {
        let len = bytes.len();
        let mut announced = self.announced.iter();
        let found = announced.find_map(|one| one.find(address, len));
        let found = found.or_else(|| {
            let (at, (held, _)) = self.held.range(..=address).next_back()?;
            part(*at, held, address, len)
        });
        let found = found.ok_or(Unmapped { address, len_bytes: len as u64 })?;
        bytes.copy_from_slice(found);
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Unmapped> {
        self.writes.push((address, bytes.to_vec()));
        Ok(())
    }

    /// A drive cannot know; what is not mapped shows when it is accessed.
    fn is_mapped(&self, _address: u64, _len_bytes: u64) -> bool {
        true
    }
}

#[cfg(test)]
#[path = "../../tests/unit/pcie_drive/memory.rs"]
mod tests;
