//! PCI configuration space of the function (PCI Local Bus Specification 3.0, chapter 6; class code and MSI-X: NVM Express NVMe over PCIe Transport
//! Specification 1.0, section 3.8).

use assay_nvme_spec::register::DOORBELLS;

/// Length of the space, in bytes.
pub const CONFIG_BYTES: usize = 256;
/// Where the vectors' table lies in BAR 0, and where their pending bits; both after the last doorbell.
pub const TABLE_OFFSET: u32 = 0x2000;
/// See [`TABLE_OFFSET`].
pub const PENDING_OFFSET: u32 = 0x3000;
/// Length of BAR 0, in bytes.
pub const BAR_BYTES: u64 = 0x4000;
/// Vendor and device of the function: of the range that Red Hat leaves to experiments, 10f0h to 10ffh (QEMU, docs/specs/pci-ids.rst). QEMU's
/// own NVMe controller's numbers would make Linux ignore namespace identifiers, as it does for that one.
pub const VENDOR: u16 = 0x1af4;
/// See [`VENDOR`].
pub const DEVICE: u16 = 0x10f0;
/// Subsystem: that of QEMU's devices.
pub const SUBSYSTEM_VENDOR: u16 = 0x1af4;
/// See [`SUBSYSTEM_VENDOR`].
pub const SUBSYSTEM: u16 = 0x1100;

const COMMAND: usize = 0x04;
const MSIX: usize = 0x40;
/// Memory Space Enable, Bus Master Enable, Interrupt Disable (PCI 3.0, 6.2.2).
const COMMAND_BITS: [u8; 2] = [0x06, 0x04];
/// MSI-X Enable and Function Mask in the upper byte of Message Control (PCI 3.0, 6.8.2.3).
const MSIX_BITS: u8 = 0xc0;

const _: () = assert!(DOORBELLS < TABLE_OFFSET as u64);

/// The space.
#[derive(Clone, Debug)]
pub struct Config {
    bytes: [u8; CONFIG_BYTES],
}

impl Config {
    /// As after power-on, for so many interrupt vectors.
    pub fn new(vectors: u16) -> Config {
        let mut bytes = [0; CONFIG_BYTES];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0x00, &VENDOR.to_le_bytes());
        put(0x02, &DEVICE.to_le_bytes());
        // Status: a list of capabilities.
        put(0x06, &[0x10, 0]);
        // Revision; NVMe, I/O controller; mass storage: 010802h.
        put(0x08, &[2, 0x02, 0x08, 0x01]);
        // BAR 0: memory, 64 bits wide.
        put(0x10, &[0x04]);
        put(0x2c, &SUBSYSTEM_VENDOR.to_le_bytes());
        put(0x2e, &SUBSYSTEM.to_le_bytes());
        put(0x34, &[MSIX as u8]);
        put(MSIX, &[0x11, 0]);
        put(MSIX + 2, &vectors.saturating_sub(1).to_le_bytes());
        // Both tables are in BAR 0.
        put(MSIX + 4, &TABLE_OFFSET.to_le_bytes());
        put(MSIX + 8, &PENDING_OFFSET.to_le_bytes());
        Config { bytes }
    }

    /// Read; beyond the space everything is zero.
    pub fn read(&self, offset: u64, data: &mut [u8]) {
        let begin = usize::try_from(offset).unwrap_or(CONFIG_BYTES);
        let there = self.bytes.get(begin..).unwrap_or_default();
        let rest = there.iter().copied().chain(std::iter::repeat(0));
        data.iter_mut().zip(rest).for_each(|(byte, is)| *byte = is);
    }

    /// Write; only what a host may change changes.
    pub fn write(&mut self, offset: u64, data: &[u8]) {
        let begin = usize::try_from(offset).unwrap_or(CONFIG_BYTES);
        for (at, &byte) in (begin..CONFIG_BYTES).zip(data) {
            let mask = match at {
                COMMAND => COMMAND_BITS[0],
                0x05 => COMMAND_BITS[1],
                // The line's number is the host's to note.
                0x3c => 0xff,
                0x43 => MSIX_BITS,
                _ => continue,
            };
            if let Some(there) = self.bytes.get_mut(at) {
                *there = *there & !mask | byte & mask;
            }
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/vfio/config.rs"]
mod tests;
