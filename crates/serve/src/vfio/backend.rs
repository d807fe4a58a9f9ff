//! vfio-user server: the socket, its clients, and the function as the device of
//! [`super::protocol`]. One client is served at a time. Others wait; the first of them that sends
//! something is next, so that silent ones delay no other, and those that have sent no version
//! within [`HANDSHAKE_TIMEOUT`] are disconnected.

use std::fs::File;
use std::io::{self, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use assay_io::clock::Clock;
use assay_units::{Nanos, limited_event};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::time::Timespec;
use vfio_bindings::bindings::vfio::{
    VFIO_IRQ_INFO_EVENTFD, VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_DATA_EVENTFD,
    VFIO_IRQ_SET_DATA_NONE, VFIO_PCI_BAR0_REGION_INDEX, VFIO_PCI_CONFIG_REGION_INDEX,
    VFIO_PCI_MSIX_IRQ_INDEX, VFIO_PCI_NUM_IRQS, VFIO_PCI_NUM_REGIONS, VFIO_REGION_INFO_FLAG_READ,
    VFIO_REGION_INFO_FLAG_WRITE,
};

use super::config_space::{BAR_BYTES, CONFIG_BYTES};
use super::function::PciFunction;
use super::protocol::{
    Device, HEADER_BYTES, Header, InterruptChange, MAX_DESCRIPTORS, Mapping, Part, ProtocolError,
    VfioSession,
};
use crate::crowd::Crowd;
use crate::server::HANDSHAKE_TIMEOUT;

/// Further clients are disconnected.
pub const MAX_WAITING: usize = 64;

#[derive(Debug, thiserror::Error)]
#[error("vfio-user: cannot accept virtual machines: {0}; the virtual machine has lost the drive")]
pub struct ServeFunctionError(#[from] io::Error);

/// Why a connection ended, other than by its client.
#[derive(Debug, thiserror::Error)]
enum ClientError {
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A client that has not sent its version.
struct WaitingClient {
    stream: UnixStream,
    until: Nanos,
}

/// Serves one virtual machine after the other on a listening socket ([`crate::Listener::shared`])
/// until `stopping` is set or the socket fails. An error of one virtual machine ends only its
/// connection and is passed to `log`.
pub fn serve(
    function: &Arc<PciFunction>,
    socket: OwnedFd,
    stopping: &AtomicBool,
    log: impl Fn(&str) + Clone + Send + 'static,
) -> Result<(), ServeFunctionError> {
    let listener = UnixListener::from(socket);
    let clock = Clock::monotonic();
    let mut device = FunctionDevice { function: Arc::clone(function) };
    let mut queue = Queue {
        listener,
        waiting: Vec::new(),
        clock,
        crowd: Crowd::new(log.clone()),
        log: log.clone(),
    };
    while let Some(client) = queue.next_client(stopping)? {
        limited_event!(clock.now(), INFO, "vfio-user client accepted");
        let served = queue.accept_while(|| serve_client(&mut device, client, &clock))?;
        match served {
            Ok(true) => {
                limited_event!(clock.now(), INFO, "vfio-user client disconnected");
                log("the virtual machine disconnected; another one may connect");
            }
            // A client that sent nothing, such as one that asks whether the server is there.
            Ok(false) => {
                limited_event!(clock.now(), INFO, "vfio-user client disconnected, without a word");
            }
            Err(error) => {
                let why = error.to_string();
                limited_event!(clock.now(), WARN, ?why, "vfio-user client disconnected");
                log(&format!(
                    "vfio-user: {error}; the virtual machine has lost the drive, and another one \
                     may connect"
                ));
            }
        }
        device.disconnect();
    }
    Ok(())
}

struct Queue<L> {
    listener: UnixListener,
    waiting: Vec<WaitingClient>,
    clock: Clock,
    crowd: Crowd,
    log: L,
}

impl<L: Fn(&str) + Send> Queue<L> {
    /// Waits for a client that sends something; `None` when the server stops.
    fn next_client(&mut self, stopping: &AtomicBool) -> io::Result<Option<WaitingClient>> {
        loop {
            if stopping.load(Ordering::Acquire) {
                return Ok(None);
            }
            self.close_overdue();
            let now = self.clock.now();
            let left = self.waiting.iter().map(|client| client.until - now).min();
            let left = left.map(|left| Timespec {
                tv_sec: (left.0 / 1_000_000_000) as i64,
                tv_nsec: (left.0 % 1_000_000_000) as i64,
            });
            let sockets = self.waiting.iter().map(|client| client.stream.as_fd());
            let sockets = sockets.chain([self.listener.as_fd()]);
            let mut polled: Vec<PollFd<'_>> =
                sockets.map(|socket| PollFd::from_borrowed_fd(socket, PollFlags::IN)).collect();
            wait(&mut polled, left.as_ref())?;
            let is_ready = |polled: &PollFd<'_>| !polled.revents().is_empty();
            match polled.iter().position(is_ready) {
                None => {}
                Some(at) if at < self.waiting.len() => return Ok(Some(self.waiting.remove(at))),
                Some(_) => self.accept()?,
            }
        }
    }

    fn close_overdue(&mut self) {
        let now = self.clock.now();
        let before = self.waiting.len();
        self.waiting.retain(|client| client.until > now);
        let overdue = before - self.waiting.len();
        if overdue > 0 {
            limited_event!(now, WARN, overdue, "vfio-user clients sent no version in time");
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        let (stream, _) = self.listener.accept()?;
        let now = self.clock.now();
        if self.waiting.len() >= MAX_WAITING {
            self.crowd.refused(now, MAX_WAITING, "wait for the drive");
            return Ok(());
        }
        let until = now + HANDSHAKE_TIMEOUT;
        self.waiting.push(WaitingClient { stream, until });
        Ok(())
    }

    /// Does the work, while further clients are taken into the queue or refused. The time of those
    /// that wait for the handshake begins when the work is done.
    fn accept_while<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        let (end, ended) = UnixStream::pair()?;
        let result = thread::scope(|scope| {
            let accepting = scope.spawn(|| self.accept_until(&ended));
            let result = work();
            // Its end is what the thread waits for.
            drop(end);
            match accepting.join() {
                Ok(accepted) => accepted.map(|()| result),
                Err(_) => Err(io::Error::other("the thread that accepts clients panicked")),
            }
        });
        let until = self.clock.now() + HANDSHAKE_TIMEOUT;
        for client in &mut self.waiting {
            client.until = until;
        }
        result
    }

    fn accept_until(&mut self, ended: &UnixStream) -> io::Result<()> {
        let mut has_said = false;
        loop {
            let mut polled =
                [PollFd::new(ended, PollFlags::IN), PollFd::new(&self.listener, PollFlags::IN)];
            wait(&mut polled, None)?;
            if !polled[0].revents().is_empty() {
                return Ok(());
            }
            if !polled[1].revents().is_empty() {
                self.accept()?;
                if !std::mem::replace(&mut has_said, true) {
                    (self.log)(
                        "another client waits: a virtual machine has the drive, and the next one \
                         gets it when that has disconnected",
                    );
                }
            }
        }
    }
}

fn wait(polled: &mut [PollFd<'_>], at_most: Option<&Timespec>) -> io::Result<()> {
    match poll(polled, at_most) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether the client had sent its version.
fn serve_client(
    device: &mut FunctionDevice,
    client: WaitingClient,
    clock: &Clock,
) -> Result<bool, ClientError> {
    let mut session = VfioSession::default();
    let (mut body, mut reply) = (Vec::new(), Vec::new());
    let mut connection = Connection { stream: client.stream, until: Some(client.until), clock };
    loop {
        let mut head = [0; HEADER_BYTES];
        let mut files = Vec::new();
        if !connection.receive_head(&mut head, &mut files)? {
            return Ok(session.is_negotiated());
        }
        let header = Header::decode(&head)?;
        body.resize(header.body_bytes, 0);
        connection.receive(&mut body)?;
        reply.clear();
        session.handle(device, &header, &body, files, &mut reply)?;
        if session.is_negotiated() && connection.until.take().is_some() {
            connection.stream.set_read_timeout(None)?;
        }
        connection.stream.write_all(&reply)?;
    }
}

struct Connection<'a> {
    stream: UnixStream,
    /// End of the time for the handshake; `None` after it.
    until: Option<Nanos>,
    clock: &'a Clock,
}

impl Connection<'_> {
    /// The next read ends when the time for the handshake does.
    fn limit_read(&self) -> io::Result<()> {
        let Some(until) = self.until else {
            return Ok(());
        };
        let left = until - self.clock.now();
        if left == Nanos::ZERO {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        // At least what the kernel does not take for no limit (socket(7), `SO_RCVTIMEO`).
        let left = Duration::from_nanos(left.0).max(Duration::from_millis(1));
        self.stream.set_read_timeout(Some(left))
    }

    /// A read that took too long is one of a handshake.
    fn explained(error: io::Error) -> io::Error {
        match error.kind() {
            io::ErrorKind::WouldBlock => {
                io::Error::new(io::ErrorKind::TimedOut, "a client did not send its version in time")
            }
            _ => error,
        }
    }

    /// A header and the descriptors of the message; `false` at the end of the stream.
    fn receive_head(
        &mut self,
        head: &mut [u8; HEADER_BYTES],
        files: &mut Vec<File>,
    ) -> Result<bool, ClientError> {
        let mut received = 0;
        while received < head.len() {
            self.limit_read().map_err(Connection::explained)?;
            let mut space =
                [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let mut rest = [IoSliceMut::new(&mut head[received..])];
            let flags = RecvFlags::CMSG_CLOEXEC;
            let message = match recvmsg(&self.stream, &mut rest, &mut control, flags) {
                Ok(message) => message,
                Err(Errno::INTR) => continue,
                Err(error) => return Err(Connection::explained(error.into()).into()),
            };
            for ancillary in control.drain() {
                if let RecvAncillaryMessage::ScmRights(descriptors) = ancillary {
                    files.extend(descriptors.map(File::from));
                }
            }
            if files.len() > MAX_DESCRIPTORS {
                return Err(ProtocolError::Descriptors.into());
            }
            if message.bytes == 0 && received == 0 {
                return Ok(false);
            }
            if message.bytes == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
            received += message.bytes;
        }
        Ok(true)
    }

    fn receive(&mut self, mut bytes: &mut [u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            self.limit_read().map_err(Connection::explained)?;
            match self.stream.read(bytes) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(received) => bytes = &mut bytes[received..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Connection::explained(error)),
            }
        }
        Ok(())
    }
}

struct FunctionDevice {
    function: Arc<PciFunction>,
}

impl FunctionDevice {
    /// Resets the function and drops the mappings of the virtual machine.
    fn disconnect(&mut self) {
        self.function.reset();
        let mut state = self.function.lock();
        state.paced.memory.clear();
        state.vectors.fill_with(|| None);
    }
}

impl Device for FunctionDevice {
    fn region(&self, index: u32) -> Option<Part> {
        let flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
        let size = match index {
            VFIO_PCI_BAR0_REGION_INDEX => BAR_BYTES,
            VFIO_PCI_CONFIG_REGION_INDEX => CONFIG_BYTES as u64,
            VFIO_PCI_NUM_REGIONS.. => return None,
            _ => return Some(Part::default()),
        };
        Some(Part { flags, size })
    }

    fn interrupt(&self, index: u32) -> Option<Part> {
        match index {
            VFIO_PCI_MSIX_IRQ_INDEX => {
                Some(Part { flags: VFIO_IRQ_INFO_EVENTFD, size: self.function.vectors().into() })
            }
            VFIO_PCI_NUM_IRQS.. => None,
            _ => Some(Part::default()),
        }
    }

    fn counts(&self) -> (u32, u32) {
        (VFIO_PCI_NUM_REGIONS, VFIO_PCI_NUM_IRQS)
    }

    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) {
        match region {
            VFIO_PCI_BAR0_REGION_INDEX => self.function.read(offset, data),
            VFIO_PCI_CONFIG_REGION_INDEX => self.function.lock().config.read(offset, data),
            _ => data.fill(0),
        }
    }

    fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) {
        match region {
            VFIO_PCI_BAR0_REGION_INDEX => self.function.write(offset, data),
            VFIO_PCI_CONFIG_REGION_INDEX => self.function.lock().config.write(offset, data),
            _ => {}
        }
    }

    fn dma_map(&mut self, mapping: &Mapping, file: Option<File>) -> io::Result<()> {
        // Memory without a file descriptor is not accessible: commands that refer to it fail with
        // Data Transfer Error.
        let Some(file) = file else {
            return Ok(());
        };
        let memory = &mut self.function.lock().paced.memory;
        memory.map(
            &file,
            mapping.offset_bytes,
            mapping.address,
            mapping.len_bytes,
            mapping.writable,
        )
    }

    fn dma_unmap(&mut self, range: Option<(u64, u64)>) {
        let memory = &mut self.function.lock().paced.memory;
        match range {
            None => memory.clear(),
            Some((address, len_bytes)) => memory.unmap(address, len_bytes),
        }
    }

    fn set_interrupts(&mut self, change: &InterruptChange, files: Vec<File>) {
        let flags = change.flags;
        if change.index != VFIO_PCI_MSIX_IRQ_INDEX || flags & VFIO_IRQ_SET_ACTION_TRIGGER == 0 {
            return;
        }
        let mut state = self.function.lock();
        let vectors = &mut state.vectors;
        // No data and no count disables all vectors (Linux, include/uapi/linux/vfio.h,
        // VFIO_DEVICE_SET_IRQS).
        if flags & VFIO_IRQ_SET_DATA_NONE != 0 && change.count == 0 {
            vectors.fill_with(|| None);
        } else if flags & VFIO_IRQ_SET_DATA_EVENTFD != 0 {
            let mut files = files.into_iter();
            let changed = vectors.iter_mut().skip(change.start as usize);
            for vector in changed.take(change.count as usize) {
                *vector = files.next();
            }
        }
    }

    fn reset(&mut self) {
        self.function.reset();
    }
}
