//! What the `vfio_user` crate calls: regions, memory, interrupts.

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

use super::config::{BAR_BYTES, CONFIG_BYTES};
use super::function::Function;

/// Why the function cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeFunctionError {
    /// The virtual machine's side broke the protocol, or the socket failed.
    #[error("vfio-user: {0}; the virtual machine has lost the drive")]
    Protocol(#[from] vfio_user::Error),
}

struct Backend {
    function: Arc<Function>,
}

fn regions() -> Vec<ServerRegion> {
    let region = |index: u32| {
        let size = match index {
            VFIO_PCI_BAR0_REGION_INDEX => BAR_BYTES,
            VFIO_PCI_CONFIG_REGION_INDEX => CONFIG_BYTES as u64,
            _ => 0,
        };
        let flags = match size {
            0 => 0,
            _ => VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE,
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
    let kind = |index: u32| match index {
        VFIO_PCI_MSIX_IRQ_INDEX => IrqInfo {
            index,
            flags: VFIO_IRQ_INFO_EVENTFD,
            count: u32::from(vectors),
        },
        _ => IrqInfo {
            index,
            flags: 0,
            count: 0,
        },
    };
    (0..VFIO_PCI_NUM_IRQS).map(kind).collect()
}

/// Serve one virtual machine after the other on a listening socket ([`crate::Listener::shared`]), until the socket fails; `stopping` says that this is wanted.
///
/// # Errors
/// When the socket cannot be used. What one virtual machine does wrong ends its connection alone, and is told to `tell`.
pub fn serve(
    function: &Arc<Function>,
    socket: OwnedFd,
    stopping: &AtomicBool,
    tell: impl Fn(&str),
) -> Result<(), ServeFunctionError> {
    let server = Server::from_owned_fd(socket, true, interrupts(function.vectors()), regions());
    let mut backend = Backend {
        function: Arc::clone(function),
    };
    while !stopping.load(Ordering::Acquire) {
        // The crate panics on some malformed messages: whoever sent one has lost its drive, and the next may connect.
        match catch_unwind(AssertUnwindSafe(|| server.run(&mut backend))) {
            Ok(Ok(())) => tell("the virtual machine has gone; the next may connect"),
            Ok(Err(error @ vfio_user::Error::SocketAccept(_))) => return Err(error.into()),
            Ok(Err(error)) => tell(&ServeFunctionError::from(error).to_string()),
            Err(_) => tell("a malformed message ended the connection; the next may connect"),
        }
        backend.leave();
    }
    Ok(())
}

impl Backend {
    /// The virtual machine has gone, with its memory.
    fn leave(&mut self) {
        self.function.reset();
        let mut state = self.function.lock();
        state.memory.clear();
        state.vectors.iter_mut().for_each(|vector| *vector = None);
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
        // What is not shared cannot be reached, and a command that points there is told so.
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
        // No data and no count: all are switched off (Linux, include/uapi/linux/vfio.h, VFIO_DEVICE_SET_IRQS).
        if flags & VFIO_IRQ_SET_DATA_NONE != 0 && count == 0 {
            vectors.iter_mut().for_each(|vector| *vector = None);
        } else if flags & VFIO_IRQ_SET_DATA_EVENTFD != 0 {
            let mut fds = fds.into_iter();
            for vector in vectors.iter_mut().skip(start as usize).take(count as usize) {
                *vector = fds.next();
            }
        }
        Ok(())
    }
}
