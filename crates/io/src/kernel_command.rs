//! The kernel's NVMe passthrough command structure (include/uapi/linux/nvme_ioctl.h).

use assay_nvme_spec::{StatusCode, SubmissionEntry};

/// `struct nvme_passthru_cmd` of the ioctls and `struct nvme_uring_cmd` of io_uring: 72 bytes, the
/// same but for the last word, which only the ioctls fill.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct KernelCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    nsid: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    address: u64,
    metadata_len: u32,
    data_len: u32,
    cdw10: u32,
    cdw11: u32,
    cdw12: u32,
    cdw13: u32,
    cdw14: u32,
    cdw15: u32,
    pub timeout_ms: u32,
    /// Dword 0 of the completion, after an ioctl.
    pub result: u32,
}

const BYTES: usize = size_of::<KernelCommand>();
const _: () = assert!(BYTES == 72);

impl KernelCommand {
    /// The data is at an address of this process.
    pub fn new(entry: &SubmissionEntry, address: u64, data_len: u32) -> KernelCommand {
        KernelCommand {
            opcode: entry.opcode(),
            nsid: entry.nsid(),
            cdw2: entry.cdw2(),
            cdw3: entry.cdw3(),
            address,
            data_len,
            cdw10: entry.cdw10(),
            cdw11: entry.cdw11(),
            cdw12: entry.cdw12(),
            cdw13: entry.cdw13(),
            cdw14: entry.cdw14(),
            cdw15: entry.cdw15(),
            ..KernelCommand::default()
        }
    }

    /// Padded to the command area of a 128-byte io_uring submission entry.
    pub fn bytes(&self) -> [u8; 80] {
        // SAFETY: the structure is plain numbers without padding, of this size (asserted above).
        let raw: [u8; BYTES] = unsafe { std::mem::transmute(*self) };
        let mut bytes = [0; 80];
        bytes[..BYTES].copy_from_slice(&raw);
        bytes
    }
}

/// The status in a positive return value of the kernel, without the bits for More, Do Not Retry and
/// the like (Base 3.3.3.2, Status Field).
pub(crate) fn status_of(answer: i32) -> StatusCode {
    StatusCode(answer as u16 & 0x7ff)
}

#[cfg(test)]
#[path = "../tests/unit/kernel_command.rs"]
mod tests;
