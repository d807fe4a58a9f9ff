//! What the way to the drive and back costs on this machine.
//!
//! A second drive of the same profile, without faults, is served to a client of our own over a socket pair, through the whole server: its
//! sleep and its waking, its spinning, reading, decoding and sending, and the client's waking. The client reads 4 KiB at random places of a
//! filled drive, one after the other: it waits as long as it will for the drive that is served, which matters, since a processor that was
//! idle for longer takes longer to wake. What it waits for longer than the model says is the floor: what every client sees on top of the model's latency, and
//! the time that a client itself takes between an answer and its next request comes on top of that.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use assay_io::clock::Clock;
use assay_ssd::{Drive, DriveError, DriveOptions, InitialState, Profile};
use assay_units::{DataClass, Nanos, Op, Rng};
use rustix::event::{PollFd, PollFlags, poll};

use crate::nbd::protocol::{
    IHAVEOPT, REQUEST_BYTES, REQUEST_MAGIC, STRUCTURED_REPLY_MAGIC, chunk, handshake, option,
};
use crate::pacer::{Pace, Pacer};
use crate::server::{ServeError, Server};

/// Reads, after as many tenths to warm up: fifty of them lie beyond the 99th percentile.
const READS: usize = 5000;
const WARM_UP: usize = READS / 10;
const BLOCK_BYTES: u32 = 4096;
/// Greeting (proto, "Newstyle negotiation") and answer to `NBD_OPT_EXPORT_NAME` without its zeroes, in bytes.
const GREETING_BYTES: usize = 18;
const ENTERED_BYTES: usize = 10;
/// Answer to `NBD_OPT_STRUCTURED_REPLY`, in bytes.
const OPTION_REPLY_BYTES: usize = 20;
/// The head of a simple reply, what a structured one's has on top of that, and the offset before its data, in bytes.
const SIMPLE_HEAD_BYTES: usize = 16;
const MORE_HEAD_BYTES: usize = 4;
const OFFSET_BYTES: usize = 8;

/// How much longer a read takes than the model says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floor {
    /// The mean's difference, in nanoseconds: what decides a closed loop's rate (J. D. C. Little, 1961).
    pub mean_ns: u64,
    /// The median's difference, in nanoseconds.
    pub p50_ns: u64,
    /// The 99th percentile's difference, in nanoseconds.
    pub p99_ns: u64,
}

impl Floor {
    /// By how much what was seen is longer than what the model says.
    pub(crate) fn between(mut seen: Vec<Nanos>, mut model: Vec<Nanos>) -> Floor {
        seen.sort_unstable();
        model.sort_unstable();
        let at = |times: &[Nanos], share: usize| {
            let place = times.len() * share / 100;
            times.get(place).copied().unwrap_or_default()
        };
        let mean = |times: &[Nanos]| {
            let total_ns: u64 = times.iter().map(|time| time.0).sum();
            Nanos(total_ns / times.len().max(1) as u64)
        };
        let beyond = |share: usize| (at(&seen, share) - at(&model, share)).0;
        Floor {
            mean_ns: (mean(&seen) - mean(&model)).0,
            p50_ns: beyond(50),
            p99_ns: beyond(99),
        }
    }
}

/// Measure it; takes the better part of a second by the wall clock. Where time runs free, the model takes none of it.
///
/// # Errors
/// When the server cannot wait for its clients; `Ok(None)` when there is no second drive, socket pair or thread for the measurement.
pub fn measure(profile: &Profile, pace: Pace) -> Result<Option<Floor>, ServeError> {
    let (Ok(drive), Ok(twin)) = (drive_of(profile), drive_of(profile)) else {
        return Ok(None);
    };
    let blocks = drive.identity().capacity_bytes / u64::from(BLOCK_BYTES);
    let mut server = Server::new(drive, pace, "floor")?;
    let Ok((ours, theirs)) = UnixStream::pair() else {
        return Ok(None);
    };
    let client = std::thread::Builder::new().spawn(move || round_trips(ours, blocks));
    let Ok(client) = client else {
        return Ok(None);
    };
    server.adopt(theirs)?;
    while server.connected() > 0 {
        server.turn()?;
    }
    let Ok(Ok(seen)) = client.join() else {
        return Ok(None);
    };
    let model = match pace {
        Pace::Real => model_times(twin, blocks),
        Pace::Free => vec![Nanos::ZERO; READS],
    };
    Ok(Some(Floor::between(seen, model)))
}

fn drive_of(profile: &Profile) -> Result<Drive, DriveError> {
    let options = DriveOptions {
        state: InitialState::Filled,
        keep_data: true,
        regenerate_data: true,
        power_stays: true,
        ..DriveOptions::default()
    };
    Drive::new(profile.clone(), options)
}

fn place(rng: &mut Rng, blocks: u64) -> u64 {
    rng.below(blocks.max(1)) * u64::from(BLOCK_BYTES)
}

/// How long the same reads take in the model alone.
fn model_times(drive: Drive, blocks: u64) -> Vec<Nanos> {
    let mut pacer = Pacer::new(drive, Pace::Free);
    let mut rng = Rng::new(1);
    let (mut times, mut done) = (Vec::with_capacity(READS), Vec::new());
    for trip in 0..WARM_UP + READS {
        let sent = pacer.now();
        let command = assay_ssd::Command {
            tag: 0,
            queue: 0,
            op: Op::Read,
            offset_bytes: place(&mut rng, blocks),
            len_bytes: BLOCK_BYTES,
            data: DataClass::Incompressible,
        };
        pacer.submit(command, &[]);
        done.clear();
        pacer.take(&mut done);
        if trip >= WARM_UP {
            times.extend(done.iter().map(|completion| completion.at - sent));
        }
    }
    times
}

fn round_trips(mut stream: UnixStream, blocks: u64) -> io::Result<Vec<Nanos>> {
    let mut greeting = [0; GREETING_BYTES];
    stream.read_exact(&mut greeting)?;
    let flags = handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES;
    let mut hello = u32::from(flags).to_be_bytes().to_vec();
    for option in [option::STRUCTURED_REPLY, option::EXPORT_NAME] {
        hello.extend_from_slice(&IHAVEOPT.to_be_bytes());
        hello.extend_from_slice(&option.to_be_bytes());
        hello.extend_from_slice(&0_u32.to_be_bytes());
    }
    stream.write_all(&hello)?;
    stream.read_exact(&mut [0; OPTION_REPLY_BYTES + ENTERED_BYTES])?;
    // A read is request type 0.
    let mut request = [0; REQUEST_BYTES];
    request[..4].copy_from_slice(&REQUEST_MAGIC.to_be_bytes());
    request[24..].copy_from_slice(&BLOCK_BYTES.to_be_bytes());
    let mut rng = Rng::new(1);
    let clock = Clock::monotonic();
    let (mut head, mut more) = ([0; SIMPLE_HEAD_BYTES], [0; MORE_HEAD_BYTES]);
    let (mut offset, mut block) = ([0; OFFSET_BYTES], [0; BLOCK_BYTES as usize]);
    let mut times = Vec::with_capacity(READS);
    for trip in 0..WARM_UP + READS {
        request[16..24].copy_from_slice(&place(&mut rng, blocks).to_be_bytes());
        let sent = clock.now();
        stream.write_all(&request)?;
        // As libnbd has it, and with it fio, qemu and nbdcopy: wait, read as much as the shorter head has, then what it announces, piece by
        // piece.
        poll(&mut [PollFd::new(&stream, PollFlags::IN)], None)?;
        stream.read_exact(&mut head)?;
        stream.read_exact(&mut more)?;
        if !is_whole_block(&head, &more) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        stream.read_exact(&mut offset)?;
        stream.read_exact(&mut block)?;
        if trip >= WARM_UP {
            times.push(clock.now() - sent);
        }
    }
    Ok(times)
}

/// Is this the head of the one chunk that answers a read of a block with data?
fn is_whole_block(head: &[u8; SIMPLE_HEAD_BYTES], more: &[u8; MORE_HEAD_BYTES]) -> bool {
    let length_bytes = OFFSET_BYTES as u32 + BLOCK_BYTES;
    head[..4] == STRUCTURED_REPLY_MAGIC.to_be_bytes()
        && head[4..6] == chunk::DONE.to_be_bytes()
        && head[6..8] == chunk::OFFSET_DATA.to_be_bytes()
        && *more == length_bytes.to_be_bytes()
}

#[cfg(test)]
#[path = "../tests/unit/floor.rs"]
mod tests;
