//! Round-trip overhead of the NBD server: latency of a client less the model's latency. A second
//! drive of the same profile, without faults, is served over a socket pair to a client that reads
//! random 4 KiB blocks of a filled drive at queue depth 1. The measurement covers the whole server
//! (sleep, wake-up, polling, receive, decode, send) and the client's wake-up, not the time between
//! a reply and the next request. The idle times are those of the served drive, because a processor
//! that was idle for longer takes longer to wake.

use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use assay_io::clock::Clock;
use assay_ssd::{Drive, DriveError, DriveOptions, InitialState, Profile};
use assay_units::{DataClass, Nanos, Op, Rng};
use rustix::event::{PollFd, PollFlags, poll};

use crate::nbd::NbdServer;
use crate::nbd::protocol::{
    IHAVEOPT, REQUEST_BYTES, REQUEST_MAGIC, STRUCTURED_REPLY_MAGIC, chunk, handshake, option,
};
use crate::pacer::{Pace, Pacer};
use crate::server::ServeError;

/// 50 of them lie above the 99th percentile.
const READS: usize = 5000;
const BLOCK_BYTES: u32 = 4096;
/// Greeting (proto, "Newstyle negotiation"), and reply to `NBD_OPT_EXPORT_NAME` without zeroes.
const GREETING_BYTES: usize = 18;
const EXPORT_NAME_REPLY_BYTES: usize = 10;
/// Reply to `NBD_OPT_STRUCTURED_REPLY`.
const OPTION_REPLY_BYTES: usize = 20;
/// Header of a simple reply, remainder of a structured reply's header, offset before its data.
const SIMPLE_HEADER_BYTES: usize = 16;
const HEADER_REMAINDER_BYTES: usize = 4;
const OFFSET_BYTES: usize = 8;

/// Latency of a read beyond the model's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTripOverhead {
    /// Difference of the means; it determines the rate of a closed loop (Little's law).
    pub mean_ns: u64,
    /// Difference of the medians.
    pub p50_ns: u64,
    /// Difference of the 99th percentiles.
    pub p99_ns: u64,
}

impl RoundTripOverhead {
    /// A difference below 0 counts as 0.
    pub(crate) fn between(mut measured: Vec<Nanos>, mut model: Vec<Nanos>) -> RoundTripOverhead {
        measured.sort_unstable();
        model.sort_unstable();
        let at = |times: &[Nanos], share: usize| {
            let value = times.get(times.len() * share / 100);
            value.copied().unwrap_or_default()
        };
        let mean = |times: &[Nanos]| {
            let total_ns: u64 = times.iter().map(|time| time.0).sum();
            Nanos(total_ns / times.len().max(1) as u64)
        };
        let beyond = |share: usize| (at(&measured, share) - at(&model, share)).0;
        RoundTripOverhead {
            mean_ns: (mean(&measured) - mean(&model)).0,
            p50_ns: beyond(50),
            p99_ns: beyond(99),
        }
    }
}

/// Takes most of a second. At [`Pace::Free`] the model's latency counts as 0. Fails when the
/// server's event loop fails; `Ok(None)` without a second drive, socket pair or thread.
pub fn measure(profile: &Profile, pace: Pace) -> Result<Option<RoundTripOverhead>, ServeError> {
    let (Ok(served), Ok(reference)) = (filled_drive(profile), filled_drive(profile)) else {
        return Ok(None);
    };
    let blocks = served.identity().capacity_bytes / u64::from(BLOCK_BYTES);
    let mut server = NbdServer::new(served, pace, "round-trip")?;
    let Ok((client_end, server_end)) = UnixStream::pair() else {
        return Ok(None);
    };
    let client = std::thread::Builder::new().spawn(move || read_latencies(client_end, blocks));
    let Ok(client) = client else {
        return Ok(None);
    };
    server.adopt(server_end)?;
    while server.connected() > 0 {
        server.poll_once()?;
    }
    let Ok(Ok(measured)) = client.join() else {
        return Ok(None);
    };
    let model = match pace {
        Pace::Real => model_latencies(reference, blocks),
        Pace::Free => vec![Nanos::ZERO; READS],
    };
    Ok(Some(RoundTripOverhead::between(measured, model)))
}

fn filled_drive(profile: &Profile) -> Result<Drive, DriveError> {
    let options = DriveOptions {
        state: InitialState::Filled,
        keep_data: true,
        regenerate_data: true,
        no_power_loss: true,
        ..DriveOptions::default()
    };
    Drive::new(profile.clone(), options)
}

/// Random blocks, after a tenth as many reads for warm-up.
pub(crate) fn latencies<E>(
    reads: usize,
    blocks: u64,
    mut read: impl FnMut(u64) -> Result<Nanos, E>,
) -> Result<Vec<Nanos>, E> {
    let mut rng = Rng::new(1);
    let mut read = move || read(rng.below(blocks.max(1)));
    for _ in 0..reads / 10 {
        read()?;
    }
    (0..reads).map(|_| read()).collect()
}

/// The same reads in the model alone.
fn model_latencies(drive: Drive, blocks: u64) -> Vec<Nanos> {
    let mut pacer = Pacer::new(drive, Pace::Free);
    let mut done = Vec::new();
    let times = latencies(READS, blocks, |block| {
        let sent = pacer.now();
        let command = assay_ssd::Command {
            tag: 0,
            queue: 0,
            op: Op::Read,
            offset_bytes: block * u64::from(BLOCK_BYTES),
            len_bytes: BLOCK_BYTES,
            data: DataClass::Incompressible,
            fua: false,
        };
        pacer.submit(sent, command, &[]);
        done.clear();
        pacer.take(&mut done);
        Ok::<_, Infallible>(done.last().map_or(Nanos::ZERO, |completion| completion.at - sent))
    });
    times.unwrap_or_else(|never| match never {})
}

fn read_latencies(mut stream: UnixStream, blocks: u64) -> io::Result<Vec<Nanos>> {
    let mut greeting = [0; GREETING_BYTES];
    stream.read_exact(&mut greeting)?;
    let flags = handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES;
    let mut client_hello = u32::from(flags).to_be_bytes().to_vec();
    for option in [option::STRUCTURED_REPLY, option::EXPORT_NAME] {
        client_hello.extend_from_slice(&IHAVEOPT.to_be_bytes());
        client_hello.extend_from_slice(&option.to_be_bytes());
        client_hello.extend_from_slice(&0_u32.to_be_bytes());
    }
    stream.write_all(&client_hello)?;
    stream.read_exact(&mut [0; OPTION_REPLY_BYTES + EXPORT_NAME_REPLY_BYTES])?;
    // Request type 0: `NBD_CMD_READ`.
    let mut request = [0; REQUEST_BYTES];
    request[..4].copy_from_slice(&REQUEST_MAGIC.to_be_bytes());
    request[24..].copy_from_slice(&BLOCK_BYTES.to_be_bytes());
    let clock = Clock::monotonic();
    let (mut header, mut remainder) = ([0; SIMPLE_HEADER_BYTES], [0; HEADER_REMAINDER_BYTES]);
    let (mut offset, mut block) = ([0; OFFSET_BYTES], [0; BLOCK_BYTES as usize]);
    latencies(READS, blocks, |at| {
        let offset_bytes = at * u64::from(BLOCK_BYTES);
        request[16..24].copy_from_slice(&offset_bytes.to_be_bytes());
        let sent = clock.now();
        stream.write_all(&request)?;
        // Receives as libnbd does (used by fio, qemu and nbdcopy): poll, shorter header, remainder,
        // offset, data.
        poll(&mut [PollFd::new(&stream, PollFlags::IN)], None)?;
        stream.read_exact(&mut header)?;
        stream.read_exact(&mut remainder)?;
        if !is_whole_block(&header, &remainder) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        stream.read_exact(&mut offset)?;
        stream.read_exact(&mut block)?;
        Ok(clock.now() - sent)
    })
}

/// The header announces one chunk with the whole block.
fn is_whole_block(
    header: &[u8; SIMPLE_HEADER_BYTES],
    remainder: &[u8; HEADER_REMAINDER_BYTES],
) -> bool {
    let length_bytes = OFFSET_BYTES as u32 + BLOCK_BYTES;
    header[..4] == STRUCTURED_REPLY_MAGIC.to_be_bytes()
        && header[4..6] == chunk::DONE.to_be_bytes()
        && header[6..8] == chunk::OFFSET_DATA.to_be_bytes()
        && *remainder == length_bytes.to_be_bytes()
}

#[cfg(test)]
#[path = "../tests/unit/round_trip.rs"]
mod tests;
