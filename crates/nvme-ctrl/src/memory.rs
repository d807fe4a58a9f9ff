//! The host's memory, as a controller reaches it.

/// Nothing is mapped where a controller wanted to read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "host memory has no {len_bytes} bytes at {address:#x}: map them before the controller is told of them"
)]
pub struct Unmapped {
    /// Where.
    pub address: u64,
    /// How many bytes.
    pub len_bytes: u64,
}

/// Memory of a host. Accesses are those of a device: whole, at any address, in no order that the host could rely on but that of
/// data before its completion entry and of a completion entry before its interrupt.
pub trait HostMemory {
    /// Read all of `bytes`.
    ///
    /// # Errors
    /// [`Unmapped`] when not all of them are there; what `bytes` then holds is of no matter.
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unmapped>;

    /// Write all of `bytes`.
    ///
    /// # Errors
    /// [`Unmapped`] when not all of them are there; some may have been written.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Unmapped>;

    /// Is all of it there?
    fn is_mapped(&self, address: u64, len_bytes: u64) -> bool;
}

/// Memory in one piece from some address on: for hosts in the same process.
#[derive(Clone, Debug)]
pub struct FlatMemory {
    base: u64,
    bytes: Vec<u8>,
}

impl FlatMemory {
    /// So many zero bytes from `base` on.
    pub fn new(base: u64, len_bytes: usize) -> FlatMemory {
        FlatMemory {
            base,
            bytes: vec![0; len_bytes],
        }
    }

    #[inline(always)]
    fn place(&self, address: u64, len: usize) -> Result<std::ops::Range<usize>, Unmapped> {
        let from = address.wrapping_sub(self.base);
        let size = self.bytes.len() as u64;
        if from <= size && len as u64 <= size - from {
            Ok(from as usize..from as usize + len)
        } else {
            Err(Unmapped {
                address,
                len_bytes: len as u64,
            })
        }
    }
}

impl HostMemory for FlatMemory {
    #[inline(always)]
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unmapped> {
        let place = self.place(address, bytes.len())?;
        bytes.copy_from_slice(&self.bytes[place]);
        Ok(())
    }

    #[inline(always)]
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Unmapped> {
        let place = self.place(address, bytes.len())?;
        self.bytes[place].copy_from_slice(bytes);
        Ok(())
    }

    #[inline(always)]
    fn is_mapped(&self, address: u64, len_bytes: u64) -> bool {
        let from = address.wrapping_sub(self.base);
        let size = self.bytes.len() as u64;
        from <= size && len_bytes <= size - from
    }
}
