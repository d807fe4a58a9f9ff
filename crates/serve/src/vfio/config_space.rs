//! PCI configuration space (PCI Local Bus Specification 3.0, chapter 6; class code and MSI-X: NVMe
//! over PCIe Transport Specification 1.0, section 3.8).

use assay_nvme_spec::register::DOORBELLS;

pub const CONFIG_BYTES: usize = 256;
/// The MSI-X table lies in BAR 0, after the last doorbell.
pub const TABLE_OFFSET: u32 = 0x2000;
/// The MSI-X pending bit array lies in BAR 0.
pub const PENDING_OFFSET: u32 = 0x3000;
pub const BAR_BYTES: u64 = 0x4000;
/// With [`DEVICE`] of the range that Red Hat reserves for experiments, 10f0h to 10ffh (QEMU,
/// docs/specs/pci-ids.rst). The IDs of QEMU's own NVMe controller would make Linux apply its quirks
/// for that device, which ignore namespace identifiers.
pub const VENDOR: u16 = 0x1af4;
/// See [`VENDOR`].
pub const DEVICE: u16 = 0x10f0;
/// QEMU's devices have it.
pub const SUBSYSTEM_VENDOR: u16 = 0x1af4;
/// QEMU's devices have it.
pub const SUBSYSTEM: u16 = 0x1100;

const COMMAND: usize = 0x04;
const MSIX: usize = 0x40;
/// Memory Space Enable, Bus Master Enable, Interrupt Disable (PCI 3.0, 6.2.2).
const COMMAND_BITS: [u8; 2] = [0x06, 0x04];
/// MSI-X Enable and Function Mask in the upper byte of Message Control (PCI 3.0, 6.8.2.3).
const MSIX_BITS: u8 = 0xc0;

const _: () = assert!(DOORBELLS < TABLE_OFFSET as u64);

#[derive(Clone, Debug)]
pub struct ConfigSpace {
    bytes: [u8; CONFIG_BYTES],
}

impl ConfigSpace {
    /// State after power-on.
    pub fn new(vectors: u16) -> ConfigSpace {
        let mut bytes = [0; CONFIG_BYTES];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0x00, &VENDOR.to_le_bytes());
        put(0x02, &DEVICE.to_le_bytes());
        // Status: capabilities list.
        put(0x06, &[0x10, 0]);
        // Revision 2; class code 010802h: mass storage, NVM, I/O controller.
        put(0x08, &[2, 0x02, 0x08, 0x01]);
        // BAR 0: memory space, 64-bit.
        put(0x10, &[0x04]);
        put(0x2c, &SUBSYSTEM_VENDOR.to_le_bytes());
        put(0x2e, &SUBSYSTEM.to_le_bytes());
        put(0x34, &[MSIX as u8]);
        put(MSIX, &[0x11, 0]);
        assert!(vectors > 0, "a function has at least the admin vector");
        put(MSIX + 2, &(vectors - 1).to_le_bytes());
        // BAR indicator 0 in the low bits of both.
        put(MSIX + 4, &TABLE_OFFSET.to_le_bytes());
        put(MSIX + 8, &PENDING_OFFSET.to_le_bytes());
        ConfigSpace { bytes }
    }

    pub fn read(&self, offset: u64, data: &mut [u8]) {
        let begin = offset.min(CONFIG_BYTES as u64) as usize;
        let bytes = self.bytes[begin..].iter().copied();
        let padded = bytes.chain(std::iter::repeat(0));
        data.iter_mut().zip(padded).for_each(|(to, byte)| *to = byte);
    }

    /// Only the writable bits change.
    pub fn write(&mut self, offset: u64, data: &[u8]) {
        let begin = offset.min(CONFIG_BYTES as u64) as usize;
        for (at, &byte) in (begin..CONFIG_BYTES).zip(data) {
            let mask = match at {
                COMMAND => COMMAND_BITS[0],
                0x05 => COMMAND_BITS[1],
                // Interrupt Line: scratch register of the guest.
                0x3c => 0xff,
                0x43 => MSIX_BITS,
                _ => continue,
            };
            self.bytes[at] = self.bytes[at] & !mask | byte & mask;
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/vfio/config_space.rs"]
mod tests;
