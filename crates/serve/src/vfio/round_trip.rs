//! Round-trip overhead of the PCIe function within this process. A second drive of the same
//! profile, without faults, is served over a socket of its own to an NVMe driver
//! ([`assay_nvme_ctrl::driver`]) that reads random 4 KiB blocks at queue depth 1: it writes
//! doorbells over the socket, as QEMU does for a guest, and waits for the eventfd of the interrupt.
//! The overhead is the measured latency less that of the same reads on a controller in the driver's
//! thread. QEMU's path from the guest's write to the socket, interrupt injection and the guest's
//! driver are not observable outside the guest, hence not included.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_io::clock::Clock;
use assay_nvme_ctrl::driver::{Driver, InProcessTransport, MEMORY_BYTES, Transport};
use assay_nvme_ctrl::{Controller, ControllerOptions};
use assay_nvme_spec::nvm;
use assay_ssd::{Drive, DriveOptions, Profile};
use assay_units::Nanos;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::MemfdFlags;
use rustix::time::Timespec;
use vfio_bindings::bindings::vfio::{
    VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_DATA_EVENTFD, VFIO_PCI_BAR0_REGION_INDEX,
    VFIO_PCI_MSIX_IRQ_INDEX,
};
use vfio_user::Client;

use super::function::PciFunction;
use crate::listen::{Address, Listener};
use crate::pacer::Pace;
use crate::round_trip::{RoundTripOverhead, latencies};

const READS: usize = 1000;
pub(crate) const BLOCK_BYTES: usize = 4096;
/// Guest physical address of the shared memory.
const BASE: u64 = 0x8000_0000;
const INTERRUPT_TIMEOUT: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };
/// Register polling; the controller is ready after 1 ms ([`assay_nvme_ctrl::READY_NS`]).
const POLL_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000 };
/// [`INTERRUPT_TIMEOUT`] in all.
const MAX_POLLS: u32 = 10_000;

/// Takes some tenths of a second. At [`Pace::Free`] the model's latency counts as 0. `None` without
/// a second drive, socket or thread.
pub fn measure(profile: &Profile, pace: Pace) -> Option<RoundTripOverhead> {
    let options = DriveOptions { no_power_loss: true, ..DriveOptions::default() };
    let model = match pace {
        Pace::Real => model_latencies(profile, &options, READS)?,
        Pace::Free => vec![Nanos::ZERO; READS],
    };
    let measured = measured_latencies(profile, &options, pace)?;
    Some(RoundTripOverhead::between(measured, model))
}

/// Uses a clock of the transport; `None` when a read fails.
fn read_latencies<B: Transport>(
    transport: B,
    reads: usize,
    blocks: u64,
    now: impl Fn(&mut B) -> Nanos,
) -> Option<Vec<Nanos>> {
    let mut driver = Driver::new(transport).ok()?;
    driver.create_io_queue().ok()?;
    let mut data = [0; BLOCK_BYTES];
    let sectors = (BLOCK_BYTES / 512) as u32;
    let times = latencies(reads, blocks, |block| {
        driver.acknowledge().map_err(drop)?;
        let read = nvm::Read::for_blocks(1, block * u64::from(sectors), sectors);
        let sent = now(&mut driver.transport);
        let done = driver.io(read.entry(), &mut data);
        let taken = now(&mut driver.transport) - sent;
        let is_success = done.map_err(drop)?.status().is_success();
        is_success.then_some(taken).ok_or(())
    });
    times.ok()
}

/// Of a controller in the driver's thread.
pub(crate) fn model_latencies(
    profile: &Profile,
    options: &DriveOptions,
    reads: usize,
) -> Option<Vec<Nanos>> {
    let drive = Drive::new(profile.clone(), options.clone()).ok()?;
    let blocks = drive.identity().capacity_bytes / BLOCK_BYTES as u64;
    let controller = Controller::new(drive, ControllerOptions::default());
    let transport = InProcessTransport::new(controller);
    read_latencies(transport, reads, blocks, |transport| transport.now())
}

fn measured_latencies(profile: &Profile, options: &DriveOptions, pace: Pace) -> Option<Vec<Nanos>> {
    let function = PciFunction::new(profile.clone(), options.clone(), pace, |_| {}).ok()?;
    let blocks = function.with_drive(|drive| drive.identity().capacity_bytes) / BLOCK_BYTES as u64;
    let function = Arc::new(function);
    let folder = tempfile::Builder::new().prefix("assay-round-trip-").tempdir().ok()?;
    let path = folder.path().join("s");
    let listener = Listener::bind(&Address::Unix(path.clone()), false).ok()?;
    let socket = listener.shared().ok()?;
    let stopping = AtomicBool::new(false);
    let clock = Clock::monotonic();
    std::thread::scope(|scope| {
        let (completing, serving) = (Arc::clone(&function), Arc::clone(&function));
        let stopping = &stopping;
        let thread = || std::thread::Builder::new();
        let serves = move || super::serve(&serving, socket, stopping, |_| {});
        let times = thread()
            .spawn_scoped(scope, serves)
            .and_then(|_| thread().spawn_scoped(scope, move || completing.complete()))
            .ok()
            .and_then(|_| VfioUserTransport::new(&path).ok())
            .and_then(|transport| read_latencies(transport, READS, blocks, |_| clock.now()));
        function.stop();
        stopping.store(true, Ordering::Release);
        // The serving thread checks `stopping` after each connection, of which there may have been
        // none.
        let _ = UnixStream::connect(&path);
        times
    })
}

/// vfio-user client: registers by messages, shared memory, interrupts by eventfds.
struct VfioUserTransport {
    client: Client,
    memory: File,
    vectors: [File; 2],
    polls: u32,
}

impl VfioUserTransport {
    fn new(path: &Path) -> io::Result<VfioUserTransport> {
        let memory = File::from(rustix::fs::memfd_create("round-trip", MemfdFlags::CLOEXEC)?);
        memory.set_len(MEMORY_BYTES as u64)?;
        let vector = || eventfd(0, EventfdFlags::CLOEXEC).map(File::from);
        let vectors = [vector()?, vector()?];
        let mut client = Client::new(path).map_err(io::Error::other)?;
        let fds = vectors.each_ref().map(|v| v.as_fd().as_raw_fd());
        let flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
        client
            .dma_map(0, BASE, MEMORY_BYTES as u64, memory.as_raw_fd())
            .and_then(|()| {
                client.set_irqs(VFIO_PCI_MSIX_IRQ_INDEX, flags, 0, fds.len() as u32, &fds)
            })
            .map_err(io::Error::other)?;
        Ok(VfioUserTransport { client, memory, vectors, polls: 0 })
    }
}

impl Transport for VfioUserTransport {
    type Error = io::Error;

    fn base(&self) -> u64 {
        BASE
    }

    fn read_register(&mut self, offset: u64, size: usize) -> io::Result<u64> {
        let mut bytes = [0; 8];
        let size = size.min(bytes.len());
        let bytes_read = &mut bytes[..size];
        let read = self.client.region_read(VFIO_PCI_BAR0_REGION_INDEX, offset, bytes_read);
        read.map_err(io::Error::other)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn write_register(&mut self, offset: u64, size: usize, value: u64) -> io::Result<()> {
        let bytes = value.to_le_bytes();
        let bytes = &bytes[..size.min(bytes.len())];
        let written = self.client.region_write(VFIO_PCI_BAR0_REGION_INDEX, offset, bytes);
        written.map_err(io::Error::other)
    }

    fn read_memory(&mut self, address: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.memory.read_exact_at(bytes, address - BASE)
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> io::Result<()> {
        self.memory.write_all_at(bytes, address - BASE)
    }

    fn wait(&mut self, vector: Option<u16>) -> io::Result<bool> {
        let event = vector.and_then(|vector| self.vectors.get(usize::from(vector)));
        let Some(mut event) = event else {
            self.polls += 1;
            poll(&mut [], Some(&POLL_INTERVAL))?;
            return Ok(self.polls < MAX_POLLS);
        };
        let mut polled = [PollFd::new(event, PollFlags::IN)];
        let raised = poll(&mut polled, Some(&INTERRUPT_TIMEOUT))?;
        if raised > 0 {
            // Resets the counter of the eventfd.
            event.read_exact(&mut [0; 8])?;
        }
        Ok(raised > 0)
    }
}
