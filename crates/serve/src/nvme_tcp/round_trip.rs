//! Round-trip overhead of the NVMe/TCP server within this process: a second drive of the same
//! profile, without faults, is served on a port of the loopback interface to
//! [`super::initiator::TcpQueue`], which reads random 4 KiB blocks at queue depth 1. The overhead
//! is the measured latency less that of the same reads on a controller in the driver's thread.
//! What the initiator of a kernel needs beyond that of this process is not included.

use std::io;
use std::net::{TcpListener, TcpStream};

use assay_io::clock::Clock;
use assay_nvme_spec::nvm;
use assay_ssd::{Drive, DriveOptions, Profile};
use assay_units::Nanos;

use super::NvmeTcpServer;
use super::initiator::{Identity, Payload, TcpQueue};
use crate::pacer::Pace;
use crate::round_trip::{RoundTripOverhead, latencies};
use crate::server::ServeError;
use crate::vfio::round_trip::{BLOCK_BYTES, model_latencies};

const READS: usize = 2000;
const QUEUE_ENTRIES: u16 = 32;

/// Takes some tenths of a second. At [`Pace::Free`] the model's latency counts as 0. Fails when the
/// server's event loop fails; `Ok(None)` without a second drive, socket or thread.
pub fn measure(profile: &Profile, pace: Pace) -> Result<Option<RoundTripOverhead>, ServeError> {
    let options = DriveOptions { no_power_loss: true, ..DriveOptions::default() };
    let model = match pace {
        Pace::Real => model_latencies(profile, &options, READS),
        Pace::Free => Some(vec![Nanos::ZERO; READS]),
    };
    let Ok(drive) = Drive::new(profile.clone(), options) else {
        return Ok(None);
    };
    let blocks = drive.identity().capacity_bytes / BLOCK_BYTES as u64;
    let mut server = NvmeTcpServer::new(drive, pace, None)?;
    let identity = Identity {
        nqn: server.nqn().to_owned(),
        host_nqn: String::from("nqn.2014-08.org.nvmexpress:uuid:round-trip"),
        host_id: [1; 16],
        keep_alive_ms: 0,
        digests: 0,
    };
    let Ok([admin, io_queue]) = sockets(&mut server) else {
        return Ok(None);
    };
    let reads = move || read_latencies(&identity, admin, io_queue, blocks);
    let Ok(client) = std::thread::Builder::new().spawn(reads) else {
        return Ok(None);
    };
    while server.connected() > 0 {
        server.poll_once()?;
    }
    let measured = client.join().ok().and_then(Result::ok);
    Ok(measured.zip(model).map(|(measured, model)| RoundTripOverhead::between(measured, model)))
}

/// The client's ends of two connections.
fn sockets(server: &mut NvmeTcpServer) -> io::Result<[TcpStream; 2]> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut connect = || {
        let client = TcpStream::connect(listener.local_addr()?)?;
        let (served, _) = listener.accept()?;
        client.set_nodelay(true)?;
        served.set_nodelay(true)?;
        server.adopt(served).map_err(io::Error::other)?;
        Ok::<_, io::Error>(client)
    };
    Ok([connect()?, connect()?])
}

fn read_latencies(
    identity: &Identity,
    admin: TcpStream,
    io_queue: TcpStream,
    blocks: u64,
) -> io::Result<Vec<Nanos>> {
    let (_admin, controller_id) = TcpQueue::admin(admin, identity, QUEUE_ENTRIES)?;
    let mut queue = TcpQueue::io(io_queue, identity, 1, QUEUE_ENTRIES, controller_id)?;
    let clock = Clock::monotonic();
    let sectors = (BLOCK_BYTES / 512) as u32;
    latencies(READS, blocks, |block| {
        let read = nvm::Read::for_blocks(1, block * u64::from(sectors), sectors);
        let sent = clock.now();
        let (done, data) = queue.run(read.entry(), Payload::FromController(BLOCK_BYTES))?;
        let taken = clock.now() - sent;
        let is_whole = done.status().is_success() && data.len() % BLOCK_BYTES == 0;
        is_whole.then_some(taken).ok_or_else(|| io::ErrorKind::InvalidData.into())
    })
}
