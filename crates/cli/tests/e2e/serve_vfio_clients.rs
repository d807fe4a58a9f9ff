//! `assay serve --vfio-user` with clients that are silent, slow, flood it, vanish or announce more
//! than a message can hold: the next one is served, and memory, file descriptors and threads of the
//! server are what they were.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::process::Signal;

use crate::fixture::{Fixture, MIB, pause, wait_until};
use crate::serving::{ServeProcess, Usage};

/// Connections at once.
const CLIENTS: usize = 1000;
/// What the server may grow by: two messages of 1 MiB, and the allocator's share.
const KEPT_KIB: u64 = 16 << 10;
/// Commands and regions (QEMU, docs/interop/vfio-user.rst), written anew for the tests.
const VERSION: u16 = 1;
const GET_INFO: u16 = 4;
const REGION_READ: u16 = 9;
const REGION_WRITE: u16 = 10;
const CONFIGURATION: u32 = 7;

/// A command with its header; `announced` is the length that the header gives.
fn command_of(number: u16, body: &[u8], announced: u32) -> Vec<u8> {
    let numbers = [announced, 0, 0].map(u32::to_le_bytes).concat();
    [&7_u16.to_le_bytes()[..], &number.to_le_bytes(), &numbers, body].concat()
}

fn command(number: u16, body: &[u8]) -> Vec<u8> {
    command_of(number, body, 16 + body.len() as u32)
}

fn version() -> Vec<u8> {
    command(VERSION, &[&[0, 0, 1, 0], &b"{\"capabilities\":{}}\0"[..]].concat())
}

fn access(number: u16, count: u32) -> Vec<u8> {
    let body = [&[0; 8][..], &CONFIGURATION.to_le_bytes(), &count.to_le_bytes()].concat();
    command(number, &body)
}

/// A reply: its error, and what follows the header. `None` when the connection has ended.
fn reply(client: &mut UnixStream) -> Option<(u32, Vec<u8>)> {
    let mut head = [0; 16];
    client.read_exact(&mut head).ok()?;
    let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap());
    let mut body = vec![0; word(4) as usize - 16];
    client.read_exact(&mut body).ok()?;
    Some((word(12), body))
}

/// A client that keeps to the protocol reads the identity of the function.
#[track_caller]
fn is_served(path: &Path) {
    // While clients that have left are still in the queue, the server refuses further ones.
    let mut client = UnixStream::connect(path).unwrap();
    wait_until("a client is let in", || {
        let is_in = client.write_all(&version()).is_ok() && reply(&mut client).is_some();
        if !is_in {
            client = UnixStream::connect(path).unwrap();
        }
        is_in
    });
    for (sent, length) in
        [(command(GET_INFO, &[0; 16]), Some(16)), (access(REGION_READ, 4), Some(20))]
    {
        client.write_all(&sent).unwrap();
        let (error, body) = reply(&mut client).expect("a reply");
        assert_eq!(error, 0);
        assert!(length.is_none_or(|length| body.len() == length), "{body:?}");
        if body.len() == 20 {
            // Vendor and device.
            assert_eq!(body[16..], [0xf4, 0x1a, 0xf0, 0x10]);
        }
    }
}

#[test]
fn vfio_user_clients_hold_neither_memory_nor_the_function() {
    let fixture = Fixture::in_memory();
    let arguments = "sim:intel-optane-memory-32gb,state=fresh --vfio-user s --pace free";
    let server = ServeProcess::start(&fixture, arguments);
    let serving = &server;
    let path = &fixture.path("s");
    let start = Usage::after(serving, || is_served(path));
    let is_as_before = |clients: &str, peak: Usage| {
        is_served(path);
        wait_until(&format!("descriptors are closed after {clients}"), || {
            Usage::new(serving).descriptors == start.descriptors
        });
        let after = Usage::new(serving);
        println!("{clients}: {start:?} before, {peak:?} with them, {after:?} after");
        assert_eq!(after.threads, start.threads, "{clients}");
        for usage in [peak, after] {
            assert!(usage.peak_kib <= start.peak_kib + KEPT_KIB, "{clients}: {usage:?}");
        }
    };

    for _ in 0..CLIENTS {
        is_served(path);
    }
    is_as_before("1,000 in succession", Usage::new(serving));

    // Silent clients delay no other, and are disconnected in the end.
    let mut silent: Vec<_> = (0..8).map(|_| UnixStream::connect(path).unwrap()).collect();
    is_served(path);
    for client in &mut silent {
        assert_eq!(client.read(&mut [0]).unwrap(), 0);
    }
    let connect = |_| UnixStream::connect(path).unwrap();
    let connected: Vec<_> = (0..CLIENTS).map(connect).collect();
    // 64 wait, and the others were disconnected: none is left without an answer in the kernel.
    let is_open = |mut client: &UnixStream| {
        client.set_nonblocking(true).unwrap();
        client.read(&mut [0]).is_err_and(|e| e.kind() == ErrorKind::WouldBlock)
    };
    wait_until("all but 64 are disconnected", || {
        connected.iter().filter(|client| is_open(client)).count() == 64
    });
    let peak = Usage::new(serving);
    drop(connected);
    is_as_before("1,000 at once, silent", peak);

    // Slow: byte by byte, both ways.
    let mut slow = UnixStream::connect(path).unwrap();
    for byte in [version(), access(REGION_READ, 64)].concat() {
        slow.write_all(&[byte]).unwrap();
    }
    assert!(reply(&mut slow).is_some());
    let mut body = [0; 16 + 16 + 64];
    body.iter_mut().for_each(|byte| slow.read_exact(std::slice::from_mut(byte)).unwrap());
    assert_eq!(body[32..36], [0xf4, 0x1a, 0xf0, 0x10]);
    drop(slow);
    is_as_before("one that sends byte by byte", Usage::new(serving));

    // Flooding: reads of 1 MiB, and no reply is read.
    let mut flooding = UnixStream::connect(path).unwrap();
    flooding.write_all(&version()).unwrap();
    flooding.set_nonblocking(true).unwrap();
    let (read, mut sent, mut waits) = (access(REGION_READ, MIB as u32), 0, 0);
    while waits < 10 {
        match flooding.write(&read[sent % read.len()..]) {
            Ok(written) => (sent, waits) = (sent + written, 0),
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                pause(10);
                waits += 1;
            }
            Err(e) => panic!("{e}"),
        }
    }
    assert!(sent > 10 * read.len(), "{sent}");
    let peak = Usage::new(serving);
    drop(flooding);
    is_as_before("one that floods it", peak);

    // Larger than a message: an error, or the end of the connection; and payload that does not
    // come.
    for (message, errno) in [
        (access(REGION_READ, u32::MAX), Some(22)),
        (access(REGION_READ, MIB as u32 + 1), Some(22)),
        (access(REGION_WRITE, u32::MAX), Some(22)),
        (command_of(REGION_WRITE, &[0; 16], u32::MAX), None),
        (command_of(VERSION, &[0; 16], 3), None),
        (command_of(GET_INFO, &[], 16), None),
        (command(99, &[]), Some(95)),
    ] {
        let mut client = UnixStream::connect(path).unwrap();
        client.write_all(&version()).unwrap();
        assert!(reply(&mut client).is_some());
        client.write_all(&message).unwrap();
        assert_eq!(reply(&mut client).map(|(error, _)| error), errno, "{message:?}");
    }
    is_as_before("messages of impossible lengths", Usage::new(serving));
    let mut stuck = UnixStream::connect(path).unwrap();
    stuck.write_all(&version()).unwrap();
    stuck.write_all(&command_of(REGION_WRITE, &[0; 17], 1 << 20)).unwrap();
    assert!(reply(&mut stuck).is_some());
    let peak = Usage::new(serving);
    drop(stuck);
    is_as_before("one that announces 1 MiB and sends nothing", peak);

    // Vanishing after every byte.
    let conversation = [version(), access(REGION_READ, 64)].concat();
    for length in 0..conversation.len() {
        let mut client = UnixStream::connect(path).unwrap();
        client.write_all(&conversation[..length]).unwrap();
    }
    let clients = format!("{} that vanish, each one byte later", conversation.len());
    is_as_before(&clients, Usage::new(serving));

    // A second virtual machine waits, and is told of on stderr; it is served after the first.
    let mut first = connect(0);
    first.write_all(&version()).unwrap();
    assert!(reply(&mut first).is_some());
    let mut second = connect(0);
    second.write_all(&version()).unwrap();
    let more: Vec<_> = (0..80).map(connect).collect();
    wait_until("those beyond 64 are disconnected", || {
        more.iter().filter(|client| is_open(client)).count() == 63
    });
    drop((first, more));
    assert!(reply(&mut second).is_some());
    drop(second);
    let done = server.ended(Signal::TERM);
    for words in [
        "64 clients wait for the drive, which is the most; another one was refused",
        "another client waits: a virtual machine has the drive",
    ] {
        assert!(done.stderr.contains(words), "{words}: {done}");
    }
}
