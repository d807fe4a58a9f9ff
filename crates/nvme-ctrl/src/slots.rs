//! Commands that were fetched and are not completed.

use assay_nvme_spec::StatusCode;

use crate::transfer::DataPointer;

/// What becomes of a command when the drive, or its time, comes back to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing: nobody uses the slot.
    Free,
    /// Its completion is known and waits for its time.
    Done,
    /// Data goes to the host.
    Read,
    /// It is complete, but for a flush if it must be on the medium.
    Write { through: bool },
    /// It is complete.
    Plain,
    /// What the host has is held against what the drive has.
    Compare,
    /// The next range is deallocated.
    Deallocate,
    /// Processing of a shutdown.
    Shutdown,
    /// Nobody waits for it: its queue is gone.
    Orphan,
}

/// A command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) kind: Kind,
    pub(crate) status: StatusCode,
    pub(crate) sqid: u16,
    pub(crate) cid: u16,
    pub(crate) opcode: u8,
    pub(crate) nsid: u32,
    /// Will its completion by the drive make the controller submit something again?
    pub(crate) staged: bool,
    /// Dword 0 of the completion.
    pub(crate) dw0: u32,
    pub(crate) pointer: DataPointer,
    pub(crate) offset_bytes: u64,
    pub(crate) len_bytes: u32,
    /// Of Dataset Management: ranges, how many of them were begun, and how many bytes of the last of those are left.
    pub(crate) ranges: u16,
    pub(crate) range: u16,
    pub(crate) left_bytes: u64,
}

impl Slot {
    pub(crate) fn new(kind: Kind, sqid: u16, cid: u16, opcode: u8) -> Slot {
        Slot {
            kind,
            status: StatusCode::SUCCESS,
            sqid,
            cid,
            opcode,
            nsid: 0,
            staged: false,
            dw0: 0,
            pointer: DataPointer::default(),
            offset_bytes: 0,
            len_bytes: 0,
            ranges: 0,
            range: 0,
            left_bytes: 0,
        }
    }
}

/// All slots, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Slots {
    #[inline]
    pub(crate) fn add(&mut self, slot: Slot) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.slots[number as usize] = slot;
                number
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() - 1) as u32
            }
        }
    }

    /// `None` for a number that nobody uses.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<Slot> {
        let slot = self.slots.get(number as usize)?;
        (slot.kind != Kind::Free).then_some(*slot)
    }

    /// As [`Slots::get`], where it is.
    #[inline]
    pub(crate) fn get_ref(&self, number: u32) -> Option<&Slot> {
        let slot = self.slots.get(number as usize)?;
        (slot.kind != Kind::Free).then_some(slot)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Slot> {
        let slot = self.slots.get_mut(number as usize)?;
        (slot.kind != Kind::Free).then_some(slot)
    }

    #[inline]
    pub(crate) fn free(&mut self, number: u32) {
        if let Some(slot) = self.get_mut(number) {
            slot.kind = Kind::Free;
            self.free.push(number);
        }
    }

    /// How many are in use.
    #[inline]
    pub(crate) fn used(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Nobody waits any more for those that `is_gone`.
    pub(crate) fn orphan(&mut self, is_gone: impl Fn(&Slot) -> bool) {
        for slot in &mut self.slots {
            if !matches!(slot.kind, Kind::Free | Kind::Shutdown) && is_gone(slot) {
                slot.kind = Kind::Orphan;
            }
        }
    }
}
