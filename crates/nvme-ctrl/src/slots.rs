//! Slots of outstanding commands.

use assay_nvme_spec::{StatusCode, SubmissionEntry};

use crate::transfer::DataPointer;

/// What happens on the next completion by the drive, or at the scheduled time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SlotState {
    #[default]
    Free,
    /// The status is known; completion is scheduled.
    Scheduled,
    /// Data is transferred to the host, then completion.
    Read,
    NoData,
    /// Data of host and drive are compared, then completion.
    Compare,
    Deallocate,
    Shutdown,
    /// The submission queue was deleted: nothing is posted.
    Orphaned,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CommandSlot {
    pub(crate) state: SlotState,
    pub(crate) status: StatusCode,
    pub(crate) sqid: u16,
    pub(crate) cid: u16,
    pub(crate) opcode: u8,
    pub(crate) nsid: u32,
    /// A completion by the drive leads to another submission.
    pub(crate) multi_step: bool,
    pub(crate) dw0: u32,
    pub(crate) pointer: DataPointer,
    pub(crate) offset_bytes: u64,
    pub(crate) len_bytes: u32,
    /// Dataset Management: number of ranges, ranges started, bytes left of the current one.
    pub(crate) ranges: u16,
    pub(crate) ranges_started: u16,
    pub(crate) left_bytes: u64,
}

impl CommandSlot {
    pub(crate) fn new(state: SlotState, sqid: u16, entry: &SubmissionEntry) -> CommandSlot {
        CommandSlot {
            state,
            sqid,
            cid: entry.cid(),
            opcode: entry.opcode(),
            nsid: entry.nsid(),
            ..CommandSlot::default()
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct CommandSlots {
    slots: Vec<CommandSlot>,
    free: Vec<u32>,
}

impl CommandSlots {
    #[inline]
    pub(crate) fn add(&mut self, slot: CommandSlot) -> u32 {
        if let Some(number) = self.free.pop() {
            self.slots[number as usize] = slot;
            return number;
        }
        self.slots.push(slot);
        (self.slots.len() - 1) as u32
    }

    #[inline]
    pub(crate) fn get(&self, number: u32) -> &CommandSlot {
        let slot = &self.slots[number as usize];
        assert!(slot.state != SlotState::Free, "slot {number} is not in use");
        slot
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> &mut CommandSlot {
        let slot = &mut self.slots[number as usize];
        assert!(slot.state != SlotState::Free, "slot {number} is not in use");
        slot
    }

    #[inline]
    pub(crate) fn free(&mut self, number: u32) {
        self.get_mut(number).state = SlotState::Free;
        self.free.push(number);
    }

    #[inline]
    pub(crate) fn used(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Orphans a command in progress, and returns it as it was.
    pub(crate) fn abandon(&mut self, sqid: u16, cid: u16) -> Option<CommandSlot> {
        let is_active = |state| {
            use SlotState::{Free, Orphaned, Shutdown};
            !matches!(state, Free | Orphaned | Shutdown)
        };
        let mut slots = self.slots.iter_mut();
        let slot =
            slots.find(|slot| is_active(slot.state) && (slot.sqid, slot.cid) == (sqid, cid))?;
        let before = *slot;
        slot.state = SlotState::Orphaned;
        Some(before)
    }

    pub(crate) fn orphan(&mut self, matches: impl Fn(&CommandSlot) -> bool) {
        for slot in &mut self.slots {
            if !matches!(slot.state, SlotState::Free | SlotState::Shutdown) && matches(slot) {
                slot.state = SlotState::Orphaned;
            }
        }
    }
}
