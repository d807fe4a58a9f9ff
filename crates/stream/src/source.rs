use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use assay_integrity::pattern::{Pattern, PatternRegister};
use assay_io::Nanos;
use assay_io::clock::Clock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::queue::POLL_INTERVAL;
use crate::registers::{ControlBits, Registers};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FillResult {
    /// Bytes, from the chunk's beginning.
    pub bytes: usize,
    /// The stream ended with these bytes.
    pub last: bool,
}

pub trait StreamSource {
    fn name(&self) -> String;

    /// Of the whole stream, where it is known beforehand.
    fn length_bytes(&self) -> Option<u64> {
        None
    }

    /// Fill this part of a chunk: completely, to the end of the stream, or with the bytes that
    /// arrived within a poll interval. After a partial fill that is not the last, it is called
    /// again.
    ///
    /// # Errors
    /// When the stream cannot be read. Bytes placed by a failing call are discarded: a source
    /// returns what it has first and fails at the next call.
    fn fill(&mut self, chunk: &mut [u8], registers: &Registers) -> io::Result<FillResult>;

    /// Waits for the answer if `wait`; `None` where only waiting could tell.
    fn has_more(&mut self, wait: bool, registers: &Registers) -> io::Result<Option<bool>>;
}

pub trait StreamSink {
    fn name(&self) -> String;

    /// The first byte delivered is this byte of the stream: not 0 where the start of a ring was
    /// overwritten.
    fn begin(&mut self, _first_byte: u64) {}

    /// Take the next bytes of the stream, all of them.
    ///
    /// # Errors
    /// When they cannot be taken; of kind [`io::ErrorKind::BrokenPipe`] when the receiver closed.
    fn put(&mut self, bytes: &[u8], registers: &Registers) -> io::Result<()>;
}

/// Wait until a descriptor is ready; false on a stop request.
fn ready(fd: &File, flags: PollFlags, registers: &Registers) -> io::Result<bool> {
    loop {
        if registers.stop_requested() {
            return Ok(false);
        }
        if poll_once(fd, flags, POLL_INTERVAL)? {
            return Ok(true);
        }
    }
}

/// Poll once; a signal ends the wait.
fn poll_once(fd: &File, flags: PollFlags, span: Nanos) -> io::Result<bool> {
    let mut fds = [PollFd::new(fd, flags)];
    let span = Timespec {
        tv_sec: (span.0 / 1_000_000_000) as i64,
        tv_nsec: (span.0 % 1_000_000_000) as i64,
    };
    match poll(&mut fds, Some(&span)) {
        Ok(count) => Ok(count > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Pipe capacity requested, bytes: fewer wake-ups per chunk.
const PIPE_BYTES: usize = 1 << 20;

/// A pipe, socket, file or terminal. As a sink: one copy, from the ring into the kernel.
#[derive(Debug)]
pub struct Descriptor {
    name: String,
    file: File,
    /// False for regular files, which never block.
    waits: bool,
}

impl Descriptor {
    pub fn new(name: impl Into<String>, fd: impl AsFd) -> io::Result<Descriptor> {
        let file = File::from(fd.as_fd().try_clone_to_owned()?);
        // Fails for files and sockets and at the system's limit, without consequence.
        let _ = rustix::pipe::fcntl_setpipe_size(&file, PIPE_BYTES);
        Ok(Descriptor {
            name: name.into(),
            waits: !file.metadata().is_ok_and(|metadata| metadata.is_file()),
            file,
        })
    }
}

/// A descriptor to read from: one copy, from the kernel into the ring.
#[derive(Debug)]
pub struct ReadSource {
    end: Descriptor,
    clock: Clock,
    ahead: Option<u8>,
    /// Error of a call that had already read bytes; reported by the next call.
    failed: Option<io::Error>,
}

impl ReadSource {
    pub fn new(name: impl Into<String>, fd: impl AsFd) -> io::Result<ReadSource> {
        Ok(ReadSource {
            end: Descriptor::new(name, fd)?,
            clock: Clock::monotonic(),
            ahead: None,
            failed: None,
        })
    }

    /// From a blocking source it takes only what arrives within [`POLL_INTERVAL`], so that a slow
    /// source cannot block the caller.
    fn read_on(
        &mut self,
        chunk: &mut [u8],
        bytes: &mut usize,
        registers: &Registers,
    ) -> io::Result<bool> {
        let until = self.clock.now() + POLL_INTERVAL;
        while *bytes < chunk.len() {
            if self.end.waits {
                let left = until - self.clock.now();
                let wanted =
                    registers.stop_requested() || registers.commanded(ControlBits::FLUSH_NOW);
                if wanted || left == Nanos::ZERO || !poll_once(&self.end.file, PollFlags::IN, left)?
                {
                    return Ok(false);
                }
            }
            match unless_transient(self.end.file.read(&mut chunk[*bytes..]))? {
                Some(0) => return Ok(true),
                Some(more) => *bytes += more,
                None => {}
            }
        }
        Ok(false)
    }
}

/// `None`: try again.
fn unless_transient<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    use io::ErrorKind::{Interrupted, WouldBlock};
    match result {
        Err(e) if matches!(e.kind(), Interrupted | WouldBlock) => Ok(None),
        other => other.map(Some),
    }
}

impl StreamSource for ReadSource {
    fn name(&self) -> String {
        self.end.name.clone()
    }

    fn fill(&mut self, chunk: &mut [u8], registers: &Registers) -> io::Result<FillResult> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let mut bytes = 0;
        if let (Some(byte), Some(first)) = (self.ahead.take(), chunk.first_mut()) {
            *first = byte;
            bytes = 1;
        }
        match self.read_on(chunk, &mut bytes, registers) {
            Ok(last) => Ok(FillResult { bytes, last }),
            Err(error) if bytes == 0 => Err(error),
            Err(error) => {
                self.failed = Some(error);
                Ok(FillResult { bytes, last: false })
            }
        }
    }

    fn has_more(&mut self, wait: bool, registers: &Registers) -> io::Result<Option<bool>> {
        if self.ahead.is_some() {
            return Ok(Some(true));
        }
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let file = &mut self.end.file;
        if self.end.waits && !wait && !poll_once(file, PollFlags::IN, Nanos::ZERO)? {
            return Ok(None);
        }
        let mut byte = [0];
        loop {
            if self.end.waits && !ready(file, PollFlags::IN, registers)? {
                return Ok(None);
            }
            if let Some(read) = unless_transient(file.read(&mut byte))? {
                self.ahead = (read > 0).then_some(byte[0]);
                return Ok(Some(read > 0));
            }
        }
    }
}

/// Longest blocking write to a pipe: it cannot be interrupted by the registers.
const PIECE_BYTES: usize = 64 << 10;

impl StreamSink for Descriptor {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn put(&mut self, mut bytes: &[u8], registers: &Registers) -> io::Result<()> {
        while !bytes.is_empty() {
            let piece = if self.waits {
                if !ready(&self.file, PollFlags::OUT, registers)? {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                &bytes[..bytes.len().min(PIECE_BYTES)]
            } else {
                bytes
            };
            match unless_transient(self.file.write(piece))? {
                Some(0) => return Err(io::ErrorKind::WriteZero.into()),
                Some(written) => bytes = &bytes[written..],
                None => {}
            }
        }
        Ok(())
    }
}

/// Discards everything; for rate measurements.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiscardSink;

impl StreamSink for DiscardSink {
    fn name(&self) -> String {
        "nowhere".to_owned()
    }

    fn put(&mut self, _: &[u8], _: &Registers) -> io::Result<()> {
        Ok(())
    }
}

/// A stream of known length: of the pattern, or, without the cost of a source, of the ring as it
/// is.
#[derive(Clone, Debug)]
pub struct SizedSource {
    pattern: Option<PatternRegister>,
    left_bytes: u64,
}

impl SizedSource {
    pub fn pattern(pattern: Pattern, bytes: u64) -> SizedSource {
        SizedSource { pattern: Some(pattern.at(0)), left_bytes: bytes }
    }

    pub fn uninit(bytes: u64) -> SizedSource {
        SizedSource { pattern: None, left_bytes: bytes }
    }
}

impl StreamSource for SizedSource {
    fn name(&self) -> String {
        match &self.pattern {
            Some(register) => format!("the pattern of seed {:#x}", register.pattern().seed()),
            None => "nowhere".to_owned(),
        }
    }

    fn length_bytes(&self) -> Option<u64> {
        Some(self.left_bytes)
    }

    fn fill(&mut self, chunk: &mut [u8], _: &Registers) -> io::Result<FillResult> {
        let bytes = self.left_bytes.min(chunk.len() as u64) as usize;
        if let Some(register) = &mut self.pattern {
            register.fill(&mut chunk[..bytes]);
        }
        self.left_bytes -= bytes as u64;
        Ok(FillResult { bytes, last: self.left_bytes == 0 })
    }

    fn has_more(&mut self, _: bool, _: &Registers) -> io::Result<Option<bool>> {
        Ok(Some(self.left_bytes > 0))
    }
}

/// Bytes in memory.
impl StreamSource for &[u8] {
    fn name(&self) -> String {
        "memory".to_owned()
    }

    fn fill(&mut self, chunk: &mut [u8], _: &Registers) -> io::Result<FillResult> {
        let bytes = self.len().min(chunk.len());
        let (now, left) = self.split_at(bytes);
        chunk[..bytes].copy_from_slice(now);
        *self = left;
        Ok(FillResult { bytes, last: left.is_empty() })
    }

    fn has_more(&mut self, _: bool, _: &Registers) -> io::Result<Option<bool>> {
        Ok(Some(!self.is_empty()))
    }
}

impl StreamSink for Vec<u8> {
    fn name(&self) -> String {
        "memory".to_owned()
    }

    fn put(&mut self, bytes: &[u8], _: &Registers) -> io::Result<()> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
#[path = "../tests/unit/source.rs"]
mod tests;
