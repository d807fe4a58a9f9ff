//! A served NVMe/TCP drive, and a host of it.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;
use std::time::Duration;

use assay_nvme_spec::admin::{GetLogPage, IdentifyCommand};
use assay_nvme_spec::fabrics::ANY_CONTROLLER;
use assay_nvme_spec::identify::{Cns, IdentifyController};
use assay_nvme_spec::log::LogId;
use assay_nvme_spec::wire::Wire;
use assay_nvme_spec::{CompletionEntry, StatusCode, SubmissionEntry, nvm};
use assay_serve::nvme_tcp::initiator::{Identity, Payload, TcpQueue};
use assay_serve::{Address, Listener, NvmeTcpServer, Pace, ServeSummary};
use assay_ssd::{Drive, StateDigest};
use assay_units::Nanos;

use super::trace::DriveAccess;

pub type Queue = TcpQueue<TcpStream>;

/// A server in its own thread.
pub struct TcpServer {
    pub address: SocketAddr,
    pub nqn: String,
    stop: UnixStream,
    thread: JoinHandle<(StateDigest, ServeSummary)>,
}

impl TcpServer {
    pub fn new(drive: Drive, pace: Pace) -> TcpServer {
        TcpServer::limited(drive, pace, assay_serve::nvme_tcp::COMMAND_LIMIT)
    }

    /// With another limit of a command's time.
    pub fn limited(drive: Drive, pace: Pace, limit: Nanos) -> TcpServer {
        let address = Address::Tcp("127.0.0.1".to_owned(), 0);
        let listener = Listener::bind(&address, false).unwrap();
        let address = listener.tcp_address().unwrap();
        let (stop, stopped) = UnixStream::pair().unwrap();
        let (named, names) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut server = NvmeTcpServer::new(drive, pace, None).unwrap();
            server.limit_commands(limit);
            named.send(server.nqn().to_owned()).unwrap();
            server.listen(listener).unwrap();
            let summary = server.run(stopped.as_fd()).unwrap();
            (server.digest(), summary)
        });
        TcpServer { address, nqn: names.recv().unwrap(), stop, thread }
    }

    pub fn stream(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        // A test fails instead of hanging.
        let limit = Some(Duration::from_secs(30));
        stream.set_read_timeout(limit).unwrap();
        stream.set_write_timeout(limit).unwrap();
        stream
    }

    pub fn queue(&self, digests: u8) -> Queue {
        TcpQueue::new(self.stream(), digests).unwrap()
    }

    /// What a host says of itself; hosts differ by number.
    pub fn identity(&self, host: u8) -> Identity {
        Identity {
            nqn: self.nqn.clone(),
            host_nqn: format!("nqn.2014-08.org.nvmexpress:uuid:host-{host}"),
            host_id: [host; 16],
            keep_alive_ms: 0,
            digests: 0,
        }
    }

    /// A connected host with queues.
    pub fn host(&self, identity: Identity, queues: u16) -> Host {
        Host::new(self, identity, queues)
    }

    pub fn end(mut self) -> (StateDigest, ServeSummary) {
        self.stop.write_all(&[0]).unwrap();
        self.thread.join().unwrap()
    }
}

/// A connected host.
pub struct Host {
    pub identity: Identity,
    pub controller_id: u16,
    pub admin: Queue,
    pub queues: Vec<Queue>,
}

impl Host {
    fn new(server: &TcpServer, identity: Identity, queues: u16) -> Host {
        let mut admin = server.queue(identity.digests);
        let connected = admin.connect(&identity, 0, 32, ANY_CONTROLLER).unwrap();
        assert!(connected.status().is_success(), "{connected:?}");
        let controller_id = connected.dw0() as u16;
        admin.enable().unwrap();
        let queues = (1..=queues).map(|qid| {
            let mut queue = server.queue(identity.digests);
            let connected = queue.connect(&identity, qid, 128, controller_id).unwrap();
            assert!(connected.status().is_success(), "{connected:?}");
            queue
        });
        Host { queues: queues.collect(), controller_id, admin, identity }
    }

    /// Data of Identify.
    pub fn identify(&mut self, cns: Cns, nsid: u32) -> Vec<u8> {
        let mut command = IdentifyCommand::new();
        command.set_cns(cns.0).set_nsid(nsid);
        let payload = Payload::FromController(4096);
        let (done, data) = self.admin.run(command.entry(), payload).unwrap();
        assert!(done.status().is_success(), "{done:?}");
        data
    }

    pub fn identify_controller(&mut self) -> IdentifyController {
        IdentifyController::load(&self.identify(Cns::CONTROLLER, 0))
    }

    pub fn log(&mut self, lid: LogId, len: u32) -> Vec<u8> {
        let command = GetLogPage::for_log(lid, 0, len);
        let payload = Payload::FromController(len as usize);
        let (done, data) = self.admin.run(command.entry(), payload).unwrap();
        assert!(done.status().is_success(), "{done:?}");
        data
    }

    pub fn io(
        &mut self,
        queue: usize,
        entry: SubmissionEntry,
        payload: Payload,
    ) -> (StatusCode, Vec<u8>) {
        let (done, data) = self.queues[queue].run(entry, payload).unwrap();
        (done.status(), data)
    }
}

pub fn read(offset: u64, len: u32) -> SubmissionEntry {
    nvm::Read::for_blocks(1, offset / 512, len / 512).entry()
}

pub fn write(offset: u64, len: usize) -> SubmissionEntry {
    nvm::Write::for_blocks(1, offset / 512, len as u32 / 512).entry()
}

/// The completion of a command that succeeds.
fn done(completed: (StatusCode, Vec<u8>)) -> Vec<u8> {
    assert!(completed.0.is_success(), "{}", completed.0);
    completed.1
}

/// All commands alternate over the queues; small writes have their data in the capsule.
pub struct TcpAccess {
    host: Host,
    next: usize,
}

impl TcpAccess {
    pub fn new(host: Host) -> TcpAccess {
        TcpAccess { host, next: 0 }
    }

    fn one(&mut self, entry: SubmissionEntry, payload: Payload) -> Vec<u8> {
        self.next = (self.next + 1) % self.host.queues.len();
        done(self.host.io(self.next, entry, payload))
    }
}

pub fn outgoing(bytes: &[u8]) -> Payload {
    if bytes.len() <= 8192 {
        Payload::InCapsule(bytes.to_vec())
    } else {
        Payload::Requested(bytes.to_vec())
    }
}

impl DriveAccess for TcpAccess {
    fn read(&mut self, offset: u64, len: u32) -> Vec<u8> {
        self.one(read(offset, len), Payload::FromController(len as usize))
    }

    fn write(&mut self, offset: u64, bytes: &[u8], durable: bool) {
        self.one(write(offset, bytes.len()), outgoing(bytes));
        if durable {
            self.flush();
        }
    }

    /// With as much data as Linux sends.
    fn trim(&mut self, offset: u64, len: u32) {
        let mut range = nvm::DatasetRange::default();
        range.set_slba(offset / 512).set_blocks(len / 512);
        let mut dataset = nvm::DatasetManagement::new();
        dataset.set_nsid(1).set_deallocate(true);
        let mut data = range.as_bytes().to_vec();
        data.resize(4096, 0xff);
        self.one(dataset.entry(), Payload::InCapsule(data));
    }

    fn zero(&mut self, offset: u64, len: u32) {
        let zeroes = nvm::WriteZeroes::for_blocks(1, offset / 512, len / 512);
        self.one(zeroes.entry(), Payload::None);
    }

    fn flush(&mut self) {
        let mut flush = nvm::Flush::new();
        flush.set_nsid(1);
        self.one(flush.entry(), Payload::None);
    }
}

/// Whether the server closed the connection.
pub fn is_closed(queue: &mut Queue) -> bool {
    loop {
        match queue.event() {
            Ok(_) => {}
            Err(error) => return error.kind() != std::io::ErrorKind::WouldBlock,
        }
    }
}

pub fn status(entry: &CompletionEntry) -> u16 {
    entry.status().0
}
