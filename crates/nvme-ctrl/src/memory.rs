//! Host memory as accessed by a controller.

use assay_nvme_spec::StatusCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "host memory has no {len_bytes} bytes at {address:#x}: map them before passing the address to \
     the controller"
)]
pub struct Unmapped {
    pub address: u64,
    pub len_bytes: u64,
}

impl From<Unmapped> for StatusCode {
    fn from(_: Unmapped) -> StatusCode {
        StatusCode::DATA_TRANSFER_ERROR
    }
}

/// A host may rely on this order only: data, its completion entry, the interrupt.
pub trait HostMemory {
    /// An error if the range is not mapped entirely; `bytes` is then unspecified.
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unmapped>;

    /// An error if the range is not mapped entirely; some bytes may then have been written.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Unmapped>;

    fn is_mapped(&self, address: u64, len_bytes: u64) -> bool;

    /// The range, for data that is written in place; `None` for memory that others use at the same
    /// time, or a range that is not mapped as one.
    #[inline(always)]
    fn writable(&mut self, _address: u64, _len_bytes: u64) -> Option<&mut [u8]> {
        None
    }
}

/// One contiguous region, for drivers in the same process.
#[derive(Clone, Debug)]
pub struct FlatMemory {
    base: u64,
    bytes: Vec<u8>,
}

impl FlatMemory {
    pub fn new(base: u64, len_bytes: usize) -> FlatMemory {
        FlatMemory { base, bytes: vec![0; len_bytes] }
    }

    #[inline(always)]
    fn range(&self, address: u64, len_bytes: u64) -> Result<std::ops::Range<usize>, Unmapped> {
        // Below the base it wraps to a value beyond the size.
        let from = address.wrapping_sub(self.base);
        let size = self.bytes.len() as u64;
        if from <= size && len_bytes <= size - from {
            Ok(from as usize..(from + len_bytes) as usize)
        } else {
            Err(Unmapped { address, len_bytes })
        }
    }
}

impl HostMemory for FlatMemory {
    #[inline(always)]
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unmapped> {
        let range = self.range(address, bytes.len() as u64)?;
        bytes.copy_from_slice(&self.bytes[range]);
        Ok(())
    }

    #[inline(always)]
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Unmapped> {
        let range = self.range(address, bytes.len() as u64)?;
        self.bytes[range].copy_from_slice(bytes);
        Ok(())
    }

    #[inline(always)]
    fn is_mapped(&self, address: u64, len_bytes: u64) -> bool {
        self.range(address, len_bytes).is_ok()
    }

    #[inline(always)]
    fn writable(&mut self, address: u64, len_bytes: u64) -> Option<&mut [u8]> {
        let range = self.range(address, len_bytes).ok()?;
        Some(&mut self.bytes[range])
    }
}
