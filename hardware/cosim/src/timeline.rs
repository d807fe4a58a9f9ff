//! When something happened on the ports of a core: for latencies in clock cycles.

use crate::signals::{Inputs, Outputs};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortEvent {
    /// The core took the address of a write to one of its registers.
    RegisterWrite {
        /// Address of the register.
        address: u32,
    },
    /// Memory took the last beat of a write burst.
    MemoryWritten,
    /// The core took the response of a memory write.
    MemoryAcknowledged,
    /// First cycle in which the core shows a write to a register of a drive.
    DriveRegisterWrite {
        drive: usize,
        /// Address on `bar_*`.
        address: u32,
    },
    /// The core took the address of a read by a drive.
    DriveRead {
        drive: usize,
        id: u8,
        /// Bus address.
        address: u64,
    },
    /// A drive took the last beat of a read.
    DriveReadEnded {
        /// Number of the drive.
        drive: usize,
        id: u8,
    },
}

#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Cycle and event, in the order of cycles.
    pub events: Vec<(u64, PortEvent)>,
    shown: [bool; crate::signals::MAX_DRIVES],
}

impl Timeline {
    pub fn observe(&mut self, cycle: u64, i: &Inputs, o: &Outputs) {
        let mut add = |event| self.events.push((cycle, event));
        if i.s_reg_aw_valid & o.s_reg_aw_ready != 0 {
            let address = i.s_reg_aw_addr;
            add(PortEvent::RegisterWrite { address });
        }
        if o.mem_w_valid & i.mem_w_ready & o.mem_w_last != 0 {
            add(PortEvent::MemoryWritten);
        }
        if i.mem_b_valid & o.mem_b_ready != 0 {
            add(PortEvent::MemoryAcknowledged);
        }
        for (drive, (i, o)) in i.drives.iter().zip(&o.drives).enumerate() {
            let shown = o.bar_aw_valid != 0;
            if shown && !self.shown[drive] {
                let address = o.bar_aw_addr;
                add(PortEvent::DriveRegisterWrite { drive, address });
            }
            self.shown[drive] = shown && i.bar_aw_ready == 0;
            if i.dev_ar_valid & o.dev_ar_ready != 0 {
                let (id, address) = (i.dev_ar_id, i.dev_ar_addr);
                add(PortEvent::DriveRead { drive, id, address });
            }
            if o.dev_r_valid & i.dev_r_ready & o.dev_r_last != 0 {
                let id = o.dev_r_id;
                add(PortEvent::DriveReadEnded { drive, id });
            }
        }
    }

    /// First cycle from `from` on with an event for which `is` holds.
    pub fn first(&self, from: u64, is: impl Fn(&PortEvent) -> bool) -> Option<u64> {
        let mut events = self.events.iter();
        let found = events.find(|(cycle, event)| *cycle >= from && is(event));
        found.map(|(cycle, _)| *cycle)
    }
}
