//! vfio-user device callbacks: regions, DMA mappings, interrupts.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use vfio_bindings::bindings::vfio::{
    VFIO_IRQ_INFO_EVENTFD, VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_DATA_EVENTFD,
    VFIO_IRQ_SET_DATA_NONE, VFIO_PCI_BAR0_REGION_INDEX, VFIO_PCI_CONFIG_REGION_INDEX,
    VFIO_PCI_MSIX_IRQ_INDEX, VFIO_PCI_NUM_IRQS, VFIO_PCI_NUM_REGIONS, VFIO_REGION_INFO_FLAG_READ,
    VFIO_REGION_INFO_FLAG_WRITE, vfio_region_info,
};
use vfio_user::{DmaMapFlags, DmaUnmapFlags, IrqInfo, Server, ServerBackend, ServerRegion};

use super::config_space::{BAR_BYTES, CONFIG_BYTES};
use super::function::PciFunction;

/// Serving the function failed: protocol violation, or a socket error.
#[derive(Debug, thiserror::Error)]
#[error("vfio-user: {0}; the virtual machine has lost the drive")]
pub struct ServeFunctionError(#[from] vfio_user::Error);

struct Backend {
    function: Arc<PciFunction>,
}

fn regions() -> Vec<ServerRegion> {
    let access = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
    let region = |index: u32| {
        let (size, flags) = match index {
            VFIO_PCI_BAR0_REGION_INDEX => (BAR_BYTES, access),
            VFIO_PCI_CONFIG_REGION_INDEX => (CONFIG_BYTES as u64, access),
            _ => (0, 0),
        };
        ServerRegion {
            region_info: vfio_region_info {
                argsz: size_of::<vfio_region_info>() as u32,
                flags,
                index,
                cap_offset: 0,
                size,
                offset: 0,
            },
            sparse_areas: Vec::new(),
            mmap_fd: None,
        }
    };
    (0..VFIO_PCI_NUM_REGIONS).map(region).collect()
}

fn interrupts(vectors: u16) -> Vec<IrqInfo> {
    let irq_info = |index: u32| {
        let (flags, count) = match index {
            VFIO_PCI_MSIX_IRQ_INDEX => (VFIO_IRQ_INFO_EVENTFD, vectors.into()),
            _ => (0, 0),
        };
        IrqInfo {
            index,
            flags,
            count,
        }
    };
    (0..VFIO_PCI_NUM_IRQS).map(irq_info).collect()
}

/// Serves one virtual machine after the other on a listening socket ([`crate::Listener::shared`]) until `stopping` is set or the
/// socket fails.
///
/// # Errors
/// When the socket fails. An error of one virtual machine ends only its connection and is passed to `log`.
pub fn serve(
    function: &Arc<PciFunction>,
    socket: OwnedFd,
    stopping: &AtomicBool,
    log: impl Fn(&str),
) -> Result<(), ServeFunctionError> {
    let server = Server::from_owned_fd(socket, true, interrupts(function.vectors()), regions());
    let mut backend = Backend {
        function: Arc::clone(function),
    };
    while !stopping.load(Ordering::Acquire) {
        // The crate panics on some malformed messages; this ends the connection that sent one.
        match catch_unwind(AssertUnwindSafe(|| server.run(&mut backend))) {
            Ok(Ok(())) => log("the virtual machine disconnected; another one may connect"),
            Ok(Err(error @ vfio_user::Error::SocketAccept(_))) => return Err(error.into()),
            Ok(Err(error)) => log(&ServeFunctionError::from(error).to_string()),
            Err(_) => {
                log("a malformed message ended the connection; another virtual machine may connect")
            }
        }
        backend.disconnect();
    }
    Ok(())
}

impl Backend {
    /// Resets the function and drops the mappings of a virtual machine that disconnected.
    fn disconnect(&mut self) {
        self.function.reset();
        let mut state = self.function.lock();
        state.memory.clear();
        state.vectors.fill_with(|| None);
    }
}

impl ServerBackend for Backend {
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) -> io::Result<()> {
        match region {
            VFIO_PCI_BAR0_REGION_INDEX => self.function.read(offset, data),
            VFIO_PCI_CONFIG_REGION_INDEX => self.function.lock().config.read(offset, data),
            _ => data.fill(0),
        }
        Ok(())
    }

    fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) -> io::Result<()> {
        match region {
            VFIO_PCI_BAR0_REGION_INDEX => self.function.write(offset, data),
            VFIO_PCI_CONFIG_REGION_INDEX => self.function.lock().config.write(offset, data),
            _ => {}
        }
        Ok(())
    }

    fn dma_map(
        &mut self,
        flags: DmaMapFlags,
        offset: u64,
        address: u64,
        size: u64,
        fd: Option<File>,
    ) -> io::Result<()> {
        // Memory without a file descriptor is not accessible: commands that refer to it fail with Data Transfer Error.
        let Some(file) = fd else {
            return Ok(());
        };
        let writable = flags.contains(DmaMapFlags::WRITE);
        let memory = &mut self.function.lock().memory;
        memory.map(&file, offset, address, size, writable)
    }

    fn dma_unmap(&mut self, flags: DmaUnmapFlags, address: u64, size: u64) -> io::Result<()> {
        let memory = &mut self.function.lock().memory;
        if flags.contains(DmaUnmapFlags::UNMAP_ALL) {
            memory.clear();
        } else {
            memory.unmap(address, size);
        }
        Ok(())
    }

    fn reset(&mut self) -> io::Result<()> {
        self.function.reset();
        Ok(())
    }

    fn set_irqs(
        &mut self,
        index: u32,
        flags: u32,
        start: u32,
        count: u32,
        fds: Vec<File>,
    ) -> io::Result<()> {
        if index != VFIO_PCI_MSIX_IRQ_INDEX || flags & VFIO_IRQ_SET_ACTION_TRIGGER == 0 {
            return Ok(());
        }
        let mut state = self.function.lock();
        let vectors = &mut state.vectors;
        // No data and no count disables all vectors (Linux, include/uapi/linux/vfio.h, VFIO_DEVICE_SET_IRQS).
        if flags & VFIO_IRQ_SET_DATA_NONE != 0 && count == 0 {
            vectors.fill_with(|| None);
        } else if flags & VFIO_IRQ_SET_DATA_EVENTFD != 0 {
            let mut fds = fds.into_iter();
            for vector in vectors.iter_mut().skip(start as usize).take(count as usize) {
                *vector = fds.next();
            }
        }
        Ok(())
    }
}
