//! Closed loops of 4 KiB I/O on a server over TCP, with hosts that work alike: one thread for each
//! connection, which sends what it has when nothing received is left, and blocks in `read`.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use anyhow::{Context, Result, ensure};
use assay_io::clock::Clock;
use assay_nvme_spec::nvm;
use assay_serve::nbd::protocol::{
    IHAVEOPT, REQUEST_MAGIC, SIMPLE_REPLY_MAGIC, command, handshake, option,
};
use assay_serve::nvme_tcp::IN_CAPSULE_BYTES;
use assay_serve::nvme_tcp::initiator::{HostEvent, Identity, Payload, TcpQueue};
use assay_units::{Nanos, Rng};

use crate::tools::Sample;

pub const BLOCK_BYTES: usize = 4096;
const LOGICAL_BLOCK_BYTES: usize = 512;
/// Entries of the queues; Linux asks for as many.
const QUEUE_ENTRIES: u16 = 128;
const RECEIVE_BYTES: usize = 64 << 10;
/// Longest write.
const FILL_BYTES: usize = 128 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Read,
    /// Of this many bytes, with incompressible data.
    Write(usize),
}

impl Op {
    pub fn bytes(self) -> usize {
        match self {
            Op::Read => BLOCK_BYTES,
            Op::Write(bytes) => bytes,
        }
    }
}

/// One connection.
pub trait Host: Send {
    /// Appends a request, and returns its identifier.
    fn append(&mut self, op: Op, offset_bytes: u64) -> u16;

    /// Identifier of a request that is complete.
    fn next(&mut self) -> Result<u16>;
}

/// NBD with simple replies (proto, "Simple reply message").
pub struct NbdHost {
    stream: TcpStream,
    out: Vec<u8>,
    received: Vec<u8>,
    /// `received[start..]` are not processed.
    start: usize,
    next_cookie: u16,
    /// By cookie.
    ops: Vec<Op>,
    data: Vec<u8>,
}

const NBD_REPLY_BYTES: usize = 16;

impl NbdHost {
    pub fn connect(address: SocketAddr) -> Result<NbdHost> {
        let mut stream = connected(address)?;
        // Greeting: two magic numbers and flags.
        stream.read_exact(&mut [0; 18])?;
        let flags = handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES;
        let mut hello = u32::from(flags).to_be_bytes().to_vec();
        hello.extend_from_slice(&IHAVEOPT.to_be_bytes());
        hello.extend_from_slice(&option::EXPORT_NAME.to_be_bytes());
        hello.extend_from_slice(&0_u32.to_be_bytes());
        stream.write_all(&hello)?;
        // Size and flags of the export.
        stream.read_exact(&mut [0; 10])?;
        Ok(NbdHost {
            stream,
            out: Vec::new(),
            received: Vec::new(),
            start: 0,
            next_cookie: 0,
            ops: vec![Op::Read; 1 << 16],
            data: incompressible(),
        })
    }

    fn reply(&mut self) -> Result<Option<u16>> {
        let Some(reply) = self.received.get(self.start..self.start + NBD_REPLY_BYTES) else {
            return Ok(None);
        };
        ensure!(
            reply[..4] == SIMPLE_REPLY_MAGIC.to_be_bytes() && reply[4..8] == [0; 4],
            "the NBD server failed a request"
        );
        let cookie = u16::from_be_bytes([reply[14], reply[15]]);
        let data_bytes = match self.ops[usize::from(cookie)] {
            Op::Read => BLOCK_BYTES,
            Op::Write(_) => 0,
        };
        let end = self.start + NBD_REPLY_BYTES + data_bytes;
        if self.received.len() < end {
            return Ok(None);
        }
        // As the initiator does, which returns the data.
        std::hint::black_box(self.received[end - data_bytes..end].to_vec());
        self.start = end;
        Ok(Some(cookie))
    }
}

impl Host for NbdHost {
    fn append(&mut self, op: Op, offset_bytes: u64) -> u16 {
        let cookie = self.next_cookie;
        self.next_cookie = cookie.wrapping_add(1);
        self.ops[usize::from(cookie)] = op;
        self.out.extend_from_slice(&REQUEST_MAGIC.to_be_bytes());
        let kind = match op {
            Op::Read => command::READ,
            Op::Write(_) => command::WRITE,
        };
        // Behind command flags, which are 0.
        self.out.extend_from_slice(&u32::from(kind).to_be_bytes());
        self.out.extend_from_slice(&u64::from(cookie).to_be_bytes());
        self.out.extend_from_slice(&offset_bytes.to_be_bytes());
        let bytes = op.bytes();
        self.out.extend_from_slice(&(bytes as u32).to_be_bytes());
        if op != Op::Read {
            self.out.extend_from_slice(&self.data[..bytes]);
        }
        cookie
    }

    fn next(&mut self) -> Result<u16> {
        loop {
            if let Some(cookie) = self.reply()? {
                return Ok(cookie);
            }
            self.stream.write_all(&self.out)?;
            self.out.clear();
            self.received.drain(..std::mem::take(&mut self.start));
            let kept = self.received.len();
            self.received.resize(kept + RECEIVE_BYTES, 0);
            let bytes = self.stream.read(&mut self.received[kept..])?;
            ensure!(bytes > 0, "the NBD server closed the connection");
            self.received.truncate(kept + bytes);
        }
    }
}

/// An I/O queue over NVMe/TCP.
pub struct NvmeTcpHost {
    queue: TcpQueue<TcpStream>,
    data: Vec<u8>,
}

impl Host for NvmeTcpHost {
    fn append(&mut self, op: Op, offset_bytes: u64) -> u16 {
        let lba = offset_bytes / LOGICAL_BLOCK_BYTES as u64;
        let blocks = (op.bytes() / LOGICAL_BLOCK_BYTES) as u32;
        let initiator = &mut self.queue.initiator;
        match op {
            Op::Read => {
                let entry = nvm::Read::for_blocks(1, lba, blocks).entry();
                initiator.submit(entry, Payload::FromController(BLOCK_BYTES))
            }
            Op::Write(bytes) => {
                let entry = nvm::Write::for_blocks(1, lba, blocks).entry();
                let data = self.data[..bytes].to_vec();
                let in_capsule = bytes <= IN_CAPSULE_BYTES;
                initiator.submit(
                    entry,
                    match in_capsule {
                        true => Payload::InCapsule(data),
                        false => Payload::Requested(data),
                    },
                )
            }
        }
    }

    fn next(&mut self) -> Result<u16> {
        match self.queue.event()? {
            HostEvent::Completed(entry, data) => {
                ensure!(entry.status().is_success(), "the NVMe/TCP server failed a command");
                std::hint::black_box(data);
                Ok(entry.cid())
            }
            event => anyhow::bail!("the NVMe/TCP server sent {event:?}"),
        }
    }
}

/// The admin queue, which keeps the association, and I/O queues.
pub struct Association {
    _admin: TcpQueue<TcpStream>,
    pub queues: Vec<NvmeTcpHost>,
}

impl Association {
    pub fn connect(address: SocketAddr, nqn: &str, queues: u16) -> Result<Association> {
        let identity = Identity {
            nqn: nqn.to_owned(),
            host_nqn: String::from("nqn.2014-08.org.nvmexpress:uuid:assay-bench"),
            host_id: [7; 16],
            keep_alive_ms: 0,
            digests: 0,
        };
        let (admin, controller_id) =
            TcpQueue::admin(connected(address)?, &identity, QUEUE_ENTRIES)?;
        let queue = |qid| {
            let stream = connected(address)?;
            Ok(NvmeTcpHost {
                queue: TcpQueue::io(stream, &identity, qid, QUEUE_ENTRIES, controller_id)?,
                data: incompressible(),
            })
        };
        Ok(Association { _admin: admin, queues: (1..=queues).map(queue).collect::<Result<_>>()? })
    }
}

fn connected(address: SocketAddr) -> Result<TcpStream> {
    let stream = TcpStream::connect(address).with_context(|| format!("cannot reach {address}"))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn incompressible() -> Vec<u8> {
    let mut data = vec![0; FILL_BYTES];
    Rng::new(5).fill(&mut data);
    data
}

/// What a loop does.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    pub op: Op,
    pub depth: u32,
    pub area_bytes: u64,
    /// Not measured, at the beginning.
    pub ramp: Nanos,
    pub span: Nanos,
}

/// Random I/O on all hosts at once, each with the depth of the work.
pub fn run(hosts: &mut [impl Host], work: Work) -> Result<Sample> {
    let times: Vec<u64> = match hosts {
        // In this thread, whose processors are those that the caller chose.
        [host] => latencies(host, work, 1)?,
        hosts => std::thread::scope(|scope| {
            let seeded = (1..).zip(hosts);
            let threads: Vec<_> = seeded
                .map(|(seed, host)| scope.spawn(move || latencies(host, work, seed)))
                .collect();
            let joined = threads.into_iter().map(|thread| {
                let joined = thread.join();
                joined.map_err(|_| anyhow::anyhow!("a thread of the host panicked"))?
            });
            joined.collect::<Result<Vec<_>>>().map(|all| all.concat())
        })?,
    };
    Ok(Sample::of_latencies(times, work.span))
}

/// Nanoseconds of each I/O that ends in the span.
fn latencies(host: &mut impl Host, work: Work, seed: u64) -> Result<Vec<u64>> {
    let clock = Clock::monotonic();
    let mut rng = Rng::new(seed);
    let bytes = work.op.bytes() as u64;
    let mut offset_bytes = || rng.below(work.area_bytes / bytes) * bytes;
    let mut sent = vec![Nanos::ZERO; 1 << 16];
    let mut times = Vec::new();
    let from = clock.now() + work.ramp;
    let until = from + work.span;
    for _ in 0..work.depth {
        let tag = host.append(work.op, offset_bytes());
        sent[usize::from(tag)] = clock.now();
    }
    let mut in_flight = work.depth;
    while in_flight > 0 {
        let done = host.next()?;
        let now = clock.now();
        if (from..until).contains(&now) {
            times.push((now - sent[usize::from(done)]).0);
        }
        if now < until {
            let tag = host.append(work.op, offset_bytes());
            sent[usize::from(tag)] = now;
        } else {
            in_flight -= 1;
        }
    }
    Ok(times)
}

/// Sequential writes of the whole area.
pub fn fill(host: &mut impl Host, area_bytes: u64, depth: u32) -> Result<()> {
    let op = Op::Write(FILL_BYTES);
    let mut offsets = (0..area_bytes / op.bytes() as u64).map(|at| at * op.bytes() as u64);
    let mut in_flight = 0;
    loop {
        while in_flight < depth
            && let Some(offset_bytes) = offsets.next()
        {
            host.append(op, offset_bytes);
            in_flight += 1;
        }
        if in_flight == 0 {
            return Ok(());
        }
        host.next()?;
        in_flight -= 1;
    }
}
