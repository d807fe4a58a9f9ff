//! What the way to the function and back costs on this machine, as far as it lies in this process.
//!
//! A second drive of the same profile, without faults, is served over a socket of its own to a small host ([`assay_nvme_ctrl::driver`]), which reads 4 KiB at random places, one after the
//! other: it writes the doorbell over the socket, as QEMU does for a guest, and waits for the interrupt's eventfd. What it waits for longer than the
//! model says is the floor. The model's times are those of the same reads by the same host on a controller that it shares a thread with.
//!
//! What is not in it: QEMU's way from the guest's write to the socket, the interrupt's way into the guest, the guest's driver. They come on top, and
//! nothing outside the guest can see them.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use assay_io::clock::Clock;
use assay_nvme_ctrl::driver::{Driver, InProcessTransport, MEMORY_BYTES, Transport};
use assay_nvme_ctrl::{Controller, ControllerOptions};
use assay_nvme_spec::nvm;
use assay_ssd::{Drive, DriveOptions, Profile};
use assay_units::{Nanos, Rng};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::MemfdFlags;
use rustix::time::Timespec;
use vfio_bindings::bindings::vfio::{
    VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_DATA_EVENTFD, VFIO_PCI_BAR0_REGION_INDEX,
    VFIO_PCI_MSIX_IRQ_INDEX,
};
use vfio_user::Client;

use super::function::Function;
use crate::floor::Floor;
use crate::listen::{Address, Listener};
use crate::pacer::Pace;

/// Reads, after as many tenths to warm up.
const READS: usize = 1000;
const WARM_UP: usize = READS / 10;
const BLOCK_BYTES: usize = 4096;
/// Where the host's memory begins for the function.
const BASE: u64 = 0x8000_0000;
/// An interrupt that has not come after this long never will.
const PATIENCE: Timespec = Timespec {
    tv_sec: 5,
    tv_nsec: 0,
};
/// A look at a register is worth another after this long; readiness takes a millisecond ([`assay_nvme_ctrl::READY_NS`]).
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 500_000,
};
/// So many looks: as long as [`PATIENCE`].
const MOST_LOOKS: u32 = 10_000;

/// Measure it; takes some tenths of a second. Where time runs free, the model takes none of it. `None` when there is no second drive, socket or
/// thread for the measurement.
pub fn measure(profile: &Profile, pace: Pace) -> Option<Floor> {
    let options = DriveOptions {
        power_stays: true,
        ..DriveOptions::default()
    };
    let model = match pace {
        Pace::Real => model_times(profile, &options)?,
        Pace::Free => vec![Nanos::ZERO; READS],
    };
    let seen = seen_times(profile, &options, pace)?;
    Some(Floor::between(seen, model))
}

/// How long reads take, by a clock of the transport; `None` when one fails.
fn reads<B: Transport>(
    transport: B,
    blocks: u64,
    now: impl Fn(&mut B) -> Nanos,
) -> Option<Vec<Nanos>> {
    let mut host = Driver::new(transport).ok()?;
    host.create_io_queue().ok()?;
    let mut rng = Rng::new(1);
    let mut times = Vec::with_capacity(READS);
    let mut data = [0; BLOCK_BYTES];
    let sectors = (BLOCK_BYTES / 512) as u32;
    for trip in 0..WARM_UP + READS {
        host.acknowledge().ok()?;
        let place = rng.below(blocks.max(1)) * u64::from(sectors);
        let sent = now(host.transport());
        let done = host.io(nvm::Read::of(1, place, sectors).entry(), &mut data);
        let taken = now(host.transport()) - sent;
        if !done.ok()?.status().is_success() {
            return None;
        }
        if trip >= WARM_UP {
            times.push(taken);
        }
    }
    Some(times)
}

/// In the model alone.
fn model_times(profile: &Profile, options: &DriveOptions) -> Option<Vec<Nanos>> {
    let drive = Drive::new(profile.clone(), options.clone()).ok()?;
    let blocks = drive.identity().capacity_bytes / BLOCK_BYTES as u64;
    let controller = Controller::new(drive, ControllerOptions::default());
    reads(InProcessTransport::new(controller), blocks, |transport| {
        transport.now()
    })
}

/// Through the socket.
fn seen_times(profile: &Profile, options: &DriveOptions, pace: Pace) -> Option<Vec<Nanos>> {
    let function = Function::new(profile.clone(), options.clone(), pace, |_| {}).ok()?;
    let blocks = function.with_drive(|drive| drive.identity().capacity_bytes) / BLOCK_BYTES as u64;
    let function = Arc::new(function);
    let folder = Folder::new().ok()?;
    let path = folder.path.join("s");
    let listener = Listener::bind(&Address::Unix(path.clone()), false).ok()?;
    let socket = listener.shared().ok()?;
    let stopping = AtomicBool::new(false);
    let clock = Clock::monotonic();
    std::thread::scope(|scope| {
        let (completing, serving) = (Arc::clone(&function), Arc::clone(&function));
        let stopping = &stopping;
        let thread = || std::thread::Builder::new();
        let serves = move || super::serve(&serving, socket, stopping, |_| {});
        // Without threads there is no figure, and the drive is served all the same.
        let times = thread()
            .spawn_scoped(scope, serves)
            .and_then(|_| thread().spawn_scoped(scope, move || completing.complete()))
            .ok()
            .and_then(|_| Plug::new(&path).ok())
            .and_then(|plug| reads(plug, blocks, |_| clock.now()));
        function.stop();
        stopping.store(true, Ordering::Release);
        // The thread that serves looks whether it is to end after each connection: there may have been none.
        let _ = UnixStream::connect(&path);
        times
    })
}

/// A folder for the socket, which nobody else may enter. Dropped, it is gone.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn new() -> io::Result<Folder> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("assay-floor-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Folder { path })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // An empty folder left behind in the temporary one harms nobody.
        let _ = std::fs::remove_dir(&self.path);
    }
}

/// A host's end of the socket: registers as messages, memory that is shared, interrupts as eventfds.
struct Plug {
    client: Client,
    memory: File,
    vectors: [File; 2],
    looks: u32,
}

/// Why the function cannot be reached.
#[derive(Debug, thiserror::Error)]
enum PlugError {
    #[error(transparent)]
    Protocol(#[from] vfio_user::Error),
    #[error(transparent)]
    System(#[from] io::Error),
}

impl From<rustix::io::Errno> for PlugError {
    fn from(error: rustix::io::Errno) -> PlugError {
        PlugError::System(error.into())
    }
}

impl Plug {
    fn new(path: &Path) -> Result<Plug, PlugError> {
        let memory = File::from(rustix::fs::memfd_create("floor", MemfdFlags::CLOEXEC)?);
        memory.set_len(MEMORY_BYTES as u64)?;
        let vector = || eventfd(0, EventfdFlags::CLOEXEC).map(File::from);
        let vectors = [vector()?, vector()?];
        let mut client = Client::new(path)?;
        client.dma_map(0, BASE, MEMORY_BYTES as u64, memory.as_raw_fd())?;
        let fds = vectors.each_ref().map(|v| v.as_fd().as_raw_fd());
        let flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
        client.set_irqs(VFIO_PCI_MSIX_IRQ_INDEX, flags, 0, fds.len() as u32, &fds)?;
        Ok(Plug {
            client,
            memory,
            vectors,
            looks: 0,
        })
    }
}

impl Transport for Plug {
    type Error = PlugError;

    fn base(&self) -> u64 {
        BASE
    }

    fn read_register(&mut self, offset: u64, size: usize) -> Result<u64, PlugError> {
        let mut bytes = [0; 8];
        let size = size.min(bytes.len());
        let region = VFIO_PCI_BAR0_REGION_INDEX;
        self.client
            .region_read(region, offset, &mut bytes[..size])?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn write_register(&mut self, offset: u64, size: usize, value: u64) -> Result<(), PlugError> {
        let bytes = value.to_le_bytes();
        let region = VFIO_PCI_BAR0_REGION_INDEX;
        let bytes = &bytes[..size.min(bytes.len())];
        Ok(self.client.region_write(region, offset, bytes)?)
    }

    fn read_memory(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), PlugError> {
        Ok(self.memory.read_exact_at(bytes, address - BASE)?)
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), PlugError> {
        Ok(self.memory.write_all_at(bytes, address - BASE)?)
    }

    fn wait(&mut self, vector: Option<u16>) -> Result<bool, PlugError> {
        let event = vector.and_then(|vector| self.vectors.get(usize::from(vector)));
        let Some(mut event) = event else {
            self.looks += 1;
            poll(&mut [], Some(&LOOK))?;
            return Ok(self.looks < MOST_LOOKS);
        };
        let raised = poll(&mut [PollFd::new(event, PollFlags::IN)], Some(&PATIENCE))?;
        if raised > 0 {
            // Down again: so many interrupts have come.
            event.read_exact(&mut [0; 8])?;
        }
        Ok(raised > 0)
    }
}
