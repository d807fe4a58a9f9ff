//! `assay serve` with clients that are silent, slow, flood it or vanish, up to 1,000 of them:
//! others are served, and memory, file descriptors and threads of the server are what they were.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};

use crate::fixture::{Fixture, KIB, MIB, noise, pause, wait_until};
use crate::serving::{ServeProcess, Usage};

/// Connections at once, and in succession.
const CLIENTS: usize = 1000;
/// `assay_serve::server::MAX_CONNECTIONS`, as documented.
const MOST_CONNECTIONS: usize = 64;
/// What a server may keep after its clients have gone: the allocator's free memory.
const KEPT_KIB: u64 = 64 << 10;
/// Requests in flight and unsent replies, as documented.
const MOST_IN_FLIGHT_KIB: u64 = 256 << 10;

/// The words of the protocol (NetworkBlockDevice/nbd, `doc/proto.md`), written anew for the tests.
const EXPORT_NAME: u32 = 1;
const LIST: u32 = 3;
const READ: u16 = 0;
const WRITE: u16 = 1;

trait Socket: Read + Write {
    fn set_blocking(&self, blocking: bool);
}

impl Socket for UnixStream {
    fn set_blocking(&self, blocking: bool) {
        self.set_nonblocking(!blocking).unwrap();
    }
}

impl Socket for TcpStream {
    fn set_blocking(&self, blocking: bool) {
        self.set_nonblocking(!blocking).unwrap();
    }
}

fn connect(serving: &ServeProcess) -> Box<dyn Socket> {
    let uri = serving.uri();
    match uri.split_once("socket=") {
        Some((_, path)) => Box::new(UnixStream::connect(path).unwrap()),
        None => Box::new(TcpStream::connect(uri.trim_start_matches("nbd://")).unwrap()),
    }
}

fn option(number: u32, data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u32).to_be_bytes();
    [b"IHAVEOPT", &number.to_be_bytes()[..], &length, data].concat()
}

/// Client flags (fixed newstyle, no zeroes) and the choice of the export.
fn handshake() -> Vec<u8> {
    [&3_u32.to_be_bytes()[..], &option(EXPORT_NAME, b"")].concat()
}

fn request(kind: u16, offset: u64, length: u32) -> Vec<u8> {
    let magic = 0x2560_9513_u32.to_be_bytes();
    let (kind, cookie) = (kind.to_be_bytes(), 7_u64.to_be_bytes());
    let (offset, length) = (offset.to_be_bytes(), length.to_be_bytes());
    [&magic[..], &[0, 0], &kind, &cookie, &offset, &length].concat()
}

/// Reads so many bytes; `None` when the server has closed the connection.
fn take(socket: &mut dyn Socket, bytes: usize) -> Option<Vec<u8>> {
    let mut taken = vec![0; bytes];
    socket.read_exact(&mut taken).ok()?;
    Some(taken)
}

/// The greeting of 18 bytes.
fn is_greeted(socket: &mut dyn Socket) -> bool {
    take(socket, 18).is_some_and(|greeting| greeting.starts_with(b"NBDMAGICIHAVEOPT"))
}

/// A connection after the handshake.
fn entered(serving: &ServeProcess) -> Option<Box<dyn Socket>> {
    let mut socket = connect(serving);
    if !is_greeted(socket.as_mut()) {
        return None;
    }
    socket.write_all(&handshake()).ok()?;
    take(socket.as_mut(), 10)?;
    Some(socket)
}

/// Writes and reads back over a connection; `None` when it was closed.
fn exchange(socket: &mut dyn Socket, seed: u64) -> Option<()> {
    const BYTES: usize = 64 * KIB;
    let written = noise(seed, BYTES);
    let reply = [0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7];
    let write = [request(WRITE, 0, BYTES as u32), written.clone()].concat();
    socket.write_all(&write).ok()?;
    assert_eq!(take(socket, 16)?, reply);
    socket.write_all(&request(READ, 0, BYTES as u32)).ok()?;
    assert_eq!(take(socket, 16)?, reply);
    assert!(take(socket, BYTES)? == written, "other data than written");
    Some(())
}

/// A client that keeps to the protocol: whether it was served.
fn is_served(serving: &ServeProcess, seed: u64) -> bool {
    let served = entered(serving).and_then(|mut socket| exchange(socket.as_mut(), seed));
    served.is_some()
}

/// Sends until the server takes nothing more for a tenth of a second; how many bytes it took.
fn flood(socket: &mut dyn Socket, bytes: &[u8]) -> usize {
    socket.set_blocking(false);
    let (mut sent, mut waits) = (0, 0);
    while waits < 10 {
        match socket.write(&bytes[sent % bytes.len()..]) {
            Ok(written) => (sent, waits) = (sent + written, 0),
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                pause(10);
                waits += 1;
            }
            Err(e) => panic!("the server has closed a connection that floods: {e}"),
        }
    }
    sent
}

/// A server under test, and what it takes without clients.
struct Watched<'a> {
    serving: &'a ServeProcess,
    start: Usage,
    label: &'a str,
}

impl Watched<'_> {
    /// After its clients have gone: the server serves another and has become no larger. `peak`:
    /// with them.
    #[track_caller]
    fn is_as_before(&self, clients: &str, peak: Usage) {
        wait_until(&format!("a client is served after {clients}"), || is_served(self.serving, 1));
        wait_until(&format!("descriptors are closed after {clients}"), || {
            Usage::new(self.serving).descriptors == self.start.descriptors
        });
        let after = Usage::new(self.serving);
        let mib = |usage: Usage| usage.resident_kib >> 10;
        println!(
            "{}, {clients}: resident {} MiB before, {} with them, {} after; descriptors {} with \
             them",
            self.label,
            mib(self.start),
            mib(peak),
            mib(after),
            peak.descriptors
        );
        assert_eq!(after.threads, self.start.threads, "{clients}");
        assert!(
            after.resident_kib <= self.start.resident_kib + KEPT_KIB,
            "{clients}: {after:?}, {:?} before",
            self.start
        );
        let most = self.start.descriptors + MOST_CONNECTIONS;
        assert!(peak.descriptors <= most, "{clients}: {peak:?}");
    }

    #[track_caller]
    fn has_grown_by_at_most(&self, clients: &str, peak: Usage, kib: u64) {
        assert!(
            peak.resident_kib <= self.start.resident_kib + kib,
            "{clients}: {peak:?}, {:?} before",
            self.start
        );
    }
}

/// Lets this process open as many sockets as a test has clients.
fn allow_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, ..limit };
    setrlimit(Resource::Nofile, raised).unwrap();
}

/// All cases on a server at this address.
fn nbd_server_withstands_its_clients(address: &str) {
    allow_descriptors();
    let fixture = Fixture::in_memory();
    let drive = "sim:intel-optane-memory-32gb,state=fresh";
    let arguments = format!("{drive} --nbd {address} --pace free");
    let serving = &ServeProcess::start(&fixture, &arguments);
    let start = Usage::after(serving, || assert!(is_served(serving, 0)));
    let watched = Watched { serving, start, label: address };

    for seed in 0..CLIENTS as u64 {
        // The server may not have seen yet that the one before has gone, but 64 before it.
        assert!(is_served(serving, seed), "client {seed}");
    }
    watched.is_as_before("1,000 in succession", Usage::new(serving));

    // Silent: of all at once so many are served, and others closed; the ones that are served lose
    // their connection in the end.
    let mut silent: Vec<_> = (0..CLIENTS).map(|_| connect(serving)).collect();
    let greeted = silent.iter_mut().map(|client| is_greeted(client.as_mut()));
    assert_eq!(greeted.filter(|greeted| *greeted).count(), MOST_CONNECTIONS);
    let peak = Usage::new(serving);
    assert!(!is_served(serving, 0), "one connection too many was served");
    watched.has_grown_by_at_most("1,000 at once, silent", peak, 32 << 10);
    // They still have their ends of the connections.
    watched.is_as_before("1,000 at once, silent", peak);
    drop(silent);

    // As many that have finished the handshake keep their connections, each exchanges data, and the
    // others wait for nothing.
    let mut clients: Vec<_> = (0..CLIENTS).filter_map(|_| entered(serving)).collect();
    assert_eq!(clients.len(), MOST_CONNECTIONS);
    for (seed, client) in clients.iter_mut().enumerate() {
        exchange(client.as_mut(), seed as u64).unwrap();
    }
    let peak = Usage::new(serving);
    drop(clients);
    watched.is_as_before("64 that exchange data", peak);

    // Slow: byte by byte, both ways.
    let conversation = [handshake(), request(READ, 0, 4096)].concat();
    let mut slow: Vec<_> = (0..8).map(|_| connect(serving)).collect();
    for byte in &conversation {
        for client in &mut slow {
            client.write_all(&[*byte]).unwrap();
        }
        assert!(is_served(serving, 2));
    }
    for client in &mut slow {
        // Greeting, size and flags, head of the reply, data.
        for _ in 0..18 + 10 + 16 + 4096 {
            assert!(take(client.as_mut(), 1).is_some());
        }
    }
    let peak = Usage::new(serving);
    drop(slow);
    watched.is_as_before("8 that send byte by byte", peak);

    // Flooding: requests for 1 MiB each, and no reply is read.
    let mut flooding: Vec<_> = (0..8).map(|_| entered(serving).unwrap()).collect();
    let requests = request(READ, 0, MIB as u32).repeat(1000);
    let mut sent: usize = 0;
    for client in &mut flooding {
        sent += flood(client.as_mut(), &requests);
    }
    assert!(sent / requests.len() >= 1, "{sent} bytes were taken");
    let peak = Usage::new(serving);
    assert!(is_served(serving, 3));
    let most = MOST_IN_FLIGHT_KIB + (64 << 10);
    watched.has_grown_by_at_most("8 that flood", peak, most);
    drop(flooding);
    watched.is_as_before("8 that flood it with requests", peak);

    // Of options, in the handshake.
    let mut flooding: Vec<_> = (0..2).map(|_| connect(serving)).collect();
    for client in &mut flooding {
        client.write_all(&3_u32.to_be_bytes()).unwrap();
        client.set_blocking(false);
        // Until the server has closed the connection, or takes nothing more.
        let options = option(LIST, b"").repeat(10_000);
        for _ in 0..100 {
            let _ = client.write(&options);
        }
    }
    let peak = Usage::new(serving);
    watched.has_grown_by_at_most("2 that flood it with options", peak, most);
    assert!(is_served(serving, 4));
    drop(flooding);
    watched.is_as_before("2 that flood it with options", peak);

    // Payloads of 32 MiB that do not come.
    let mut stuck: Vec<_> = (0..MOST_CONNECTIONS - 1).map(|_| entered(serving).unwrap()).collect();
    for client in &mut stuck {
        let write = request(WRITE, 0, 32 << 20);
        client.write_all(&[&write[..], &[1; 1000]].concat()).unwrap();
    }
    assert!(is_served(serving, 5));
    let peak = Usage::new(serving);
    watched.has_grown_by_at_most("63 without their payload", peak, 32 << 10);
    drop(stuck);
    watched.is_as_before("63 that announce 32 MiB and send nothing", peak);

    // Vanishing after every byte of a conversation, also with the replies unread.
    let write = [request(WRITE, 0, 4096), vec![9; 4096]].concat();
    let conversation = [conversation, write].concat();
    let mut vanished = 0;
    for length in (0..conversation.len()).take(200) {
        let mut client = connect(serving);
        client.write_all(&conversation[..length]).unwrap();
        vanished += 1;
    }
    assert!(is_served(serving, 6));
    watched
        .is_as_before(&format!("{vanished} that vanish, each one byte later"), Usage::new(serving));
}

#[test]
fn nbd_clients_on_a_unix_socket_hold_neither_memory_nor_connections() {
    nbd_server_withstands_its_clients("unix:s");
}

#[test]
fn nbd_clients_on_tcp_hold_neither_memory_nor_connections() {
    nbd_server_withstands_its_clients("tcp:127.0.0.1:0");
}

/// What `--log` writes of a client that sends nothing but requests that do not exist.
#[test]
fn a_thousand_bad_requests_are_some_lines_of_events() {
    let fixture = Fixture::in_memory();
    let serving = ServeProcess::start(&fixture, "sim:samsung-951 --nbd unix:drive.sock --log info");
    let mut socket = entered(&serving).unwrap();
    for _ in 0..1000 {
        socket.write_all(&request(99, 0, 0)).unwrap();
        take(socket.as_mut(), 16).unwrap();
    }
    drop(socket);
    assert!(is_served(&serving, 1));
    let stderr = serving.ended(Signal::TERM).stderr;
    let lines = |text: &str| stderr.lines().filter(|line| line.contains(text)).count();
    let refused = lines("WARN assay_serve::nbd::session: NBD client refused connection=1 why=");
    // Ten a second, and the client may take several.
    assert!((10..=50).contains(&refused), "{stderr}");
    assert!(lines("events like the last one are left out") > 0, "{stderr}");
    assert_eq!(lines("connection accepted connection=2"), 1, "{stderr}");
    assert_eq!(lines("connection closed connection=2"), 1, "{stderr}");
}

#[test]
fn the_operator_reads_that_clients_are_refused() {
    let fixture = Fixture::in_memory();
    let serving = ServeProcess::start(&fixture, "sim:samsung-951 --nbd unix:drive.sock");
    let mut clients: Vec<_> = (0..MOST_CONNECTIONS + 3).map(|_| connect(&serving)).collect();
    let greeted = clients.iter_mut().map(|client| is_greeted(client.as_mut()));
    assert_eq!(greeted.filter(|greeted| *greeted).count(), MOST_CONNECTIONS);
    let stderr = serving.ended(Signal::TERM).stderr;
    let text = "64 clients are connected, which is the most; another one was refused";
    assert_eq!(stderr.matches(text).count(), 1, "{stderr}");
}
