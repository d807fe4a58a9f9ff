//! What all tests work with: drives opened for a test, streams written and compared, seeds and words.

use std::io;

use assay_device::session::{DriveSession, SessionError};
use assay_units::rng::splitmix64;

use super::layout::{Compare, Found, Layout};
use super::words::{Book, sentence};
use super::{BenchError, BenchOptions, Observer, Rates, Wiring};
use assay_integrity::pattern::Pattern;
use assay_stream::drives::{Drives, LaneOptions};
use assay_stream::lane::Lane;
use assay_stream::proof::PatternSource;
use assay_stream::range::Range;
use assay_stream::record::{RecordOptions, record};
use assay_stream::registers::{BEAT_BYTES, Control, Registers, StatusBits};
use assay_stream::replay::{ReplayOptions, What, replay};
use assay_stream::source::{Filled, Sink, Source};
use assay_stream::status::{Status, StreamError};

/// Why a test ended before its end.
pub(super) enum Trouble {
    /// It failed, and why.
    Failed(String),
    /// The user has had enough.
    Stopped,
    /// Nothing more can be tested.
    Bench(BenchError),
}

impl From<StreamError> for Trouble {
    fn from(error: StreamError) -> Trouble {
        Trouble::Failed(error.to_string())
    }
}

impl From<SessionError> for Trouble {
    fn from(error: SessionError) -> Trouble {
        Trouble::Bench(error.into())
    }
}

/// A test that went wrong, with this detail.
pub(super) fn fail<T>(detail: impl Into<String>) -> Result<T, Trouble> {
    Err(Trouble::Failed(detail.into()))
}

/// The drives and everything else.
pub(super) struct Bench<'a> {
    pub drives: &'a mut [DriveSession],
    pub wiring: &'a mut dyn Wiring,
    pub desk: Desk<'a>,
}

impl Bench<'_> {
    /// Open the drives, do something with their lanes, and close them again.
    pub fn open<R>(
        &mut self,
        work: impl FnOnce(&mut [Lane<'_>], &mut Desk<'_>) -> Result<R, Trouble>,
    ) -> Result<R, Trouble> {
        let mut open = Drives::open(self.drives, self.desk.lanes)?;
        let mut lanes = open.lanes_through(self.wiring)?;
        work(&mut lanes, &mut self.desk)
    }

    /// Cut the power, where that can be done.
    pub fn lose_power(&mut self) -> bool {
        self.wiring.lose_power(self.drives)
    }
}

/// Everything but the drives.
pub(super) struct Desk<'a> {
    pub options: &'a BenchOptions,
    pub observer: &'a mut dyn Observer,
    /// The whole range.
    pub range: Range,
    /// What the short tests use of it, from its beginning.
    pub window: Range,
    pub lanes: LaneOptions,
    pub min_io_bytes: u32,
    pub capacity_bytes: u64,
    pub book: Book,
    /// Which test is running.
    pub test: &'static str,
    pub seeds: u64,
    pub done_bytes: u64,
    pub total_bytes: u64,
    pub sweep: Vec<Rates>,
    pub continuous: Option<Rates>,
}

/// How a stream is written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct How {
    /// Flush when it has ended.
    pub flush_after: bool,
    /// Say these when so many chunks have been taken.
    pub orders: [Option<(u64, Control)>; 2],
}

impl How {
    /// Flush when it has ended.
    pub const FLUSH: How = How {
        flush_after: true,
        orders: [None, None],
    };

    /// Say this when so many chunks have been taken.
    pub fn order(chunks: u64, control: Control) -> How {
        How {
            flush_after: false,
            orders: [Some((chunks, control)), None],
        }
    }
}

impl Desk<'_> {
    /// A seed nobody had.
    pub fn seed(&mut self) -> u64 {
        self.seeds += 1;
        let mut state = self.options.seed ^ self.seeds.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        splitmix64(&mut state)
    }

    /// Beats of a chunk.
    pub fn chunk_beats(&self) -> u64 {
        u64::from(self.range.chunk_bytes) / BEAT_BYTES
    }

    /// Bytes of so many chunks.
    pub fn chunks(&self, chunks: u64) -> u64 {
        chunks * u64::from(self.range.chunk_bytes)
    }

    /// Part of the window: chunks of each drive.
    pub fn part(&self, from: u64, count: u64) -> Range {
        let first = self.window.first + self.chunks(from);
        Range {
            first,
            last: first + self.chunks(count.saturating_sub(1)),
            ..self.window
        }
    }

    /// A new stream written over all of a range, and flushed: what was there before is known from now on.
    pub fn lay(
        &mut self,
        lanes: &mut [Lane<'_>],
        range: &Range,
        name: &str,
    ) -> Result<u64, Trouble> {
        let seed = self.seed();
        let status = self.write(lanes, range, (seed, name), range.bytes(), How::FLUSH)?;
        self.ended(&status, range.bytes(), range.last)?;
        Ok(seed)
    }

    /// Write a stream.
    pub fn write(
        &mut self,
        lanes: &mut [Lane<'_>],
        range: &Range,
        (seed, name): (u64, &str),
        bytes: u64,
        how: How,
    ) -> Result<Status, Trouble> {
        self.book.note(seed, format!("{name} (test {})", self.test));
        if let Some(pages) = self.options.pages.as_ref().filter(|_| range.lanes == 1) {
            pages.announce(seed, range.first);
        }
        let options = RecordOptions {
            flush_after: how.flush_after,
            min_io_bytes: self.min_io_bytes,
            ..RecordOptions::default()
        };
        let (done, total, observer) = (&mut self.done_bytes, self.total_bytes, &mut *self.observer);
        let mut watch = |bytes: u64, registers: &Registers| {
            tick(done, total, observer, bytes, registers);
        };
        let mut source = Ordered {
            stream: PatternSource::new(Pattern::new(seed), bytes),
            orders: how.orders,
            taken: 0,
            watch: &mut watch,
        };
        let recorded = record(lanes, range, &mut source, &options, &Registers::default())?;
        if self.observer.is_to_stop() {
            return Err(Trouble::Stopped);
        }
        match recorded.status.failure {
            Some(failure) => fail(format!("device error: {failure}")),
            None => Ok(recorded.status),
        }
    }

    /// Did a stream end as it should that filled its range?
    pub fn ended(&self, status: &Status, bytes: u64, last: u64) -> Result<(), Trouble> {
        let whole = StatusBits::FINISHED.with(StatusBits::LAST_VALID);
        if status.status != whole
            || status.bytes != bytes
            || status.last_address_written != Some(last)
        {
            return fail(format!(
                "wrong status: a stream of {bytes} bytes up to address {last} ended as {:?}, {} bytes, last address {:?}",
                status.status, status.bytes, status.last_address_written
            ));
        }
        Ok(())
    }

    /// Read a range back and compare.
    pub fn look(
        &mut self,
        lanes: &mut [Lane<'_>],
        range: &Range,
        layout: &Layout,
    ) -> Result<(Found, Status), Trouble> {
        let (done, total, observer) = (&mut self.done_bytes, self.total_bytes, &mut *self.observer);
        let mut watch = |bytes: u64, registers: &Registers| {
            tick(done, total, observer, bytes, registers);
        };
        let chunk_bytes = u64::from(range.chunk_bytes);
        // Where it may have come from: the whole window, or the range where that is longer.
        let chunks = range.chunks().max(self.window.chunks());
        let mut sink = Compare::new(layout, chunk_bytes, chunks, &mut watch);
        let status = self::read(lanes, range, layout.bytes(), self.min_io_bytes, &mut sink)?;
        let found = sink.found();
        if self.observer.is_to_stop() {
            return Err(Trouble::Stopped);
        }
        if let Some(failure) = &status.failure {
            return fail(format!("device error: {failure}"));
        }
        if found.bytes != layout.bytes() {
            return fail(format!(
                "short read: {} of {} bytes came back",
                found.bytes,
                layout.bytes()
            ));
        }
        Ok((found, status))
    }

    /// Read a range back and compare; what is wrong fails the test, in words that begin with `what`.
    pub fn compare(
        &mut self,
        lanes: &mut [Lane<'_>],
        range: &Range,
        layout: &Layout,
        what: &str,
    ) -> Result<Status, Trouble> {
        let (found, status) = self.look(lanes, range, layout)?;
        match found.wrong.first() {
            None => Ok(status),
            Some(_) => fail(format!(
                "{what}: {}",
                self.explain(lanes, range, layout, &found)?
            )),
        }
    }

    /// What is wrong, in words, after a second look at the first wrong chunk.
    pub fn explain(
        &mut self,
        lanes: &mut [Lane<'_>],
        range: &Range,
        layout: &Layout,
        found: &Found,
    ) -> Result<String, Trouble> {
        let again = match found.wrong.first() {
            Some(first) => {
                let chunk = first.at_byte / u64::from(range.chunk_bytes);
                let (lane, address) = range.place(chunk);
                let one = Range {
                    first: address,
                    last: address,
                    lanes: 1,
                    ..*range
                };
                let part = layout.part(self.chunks(chunk), self.chunks(1));
                match self.look(&mut lanes[lane..=lane], &one, &part) {
                    Ok((found, _)) => Some(found.wrong.is_empty()),
                    Err(Trouble::Failed(_)) => None,
                    Err(other) => return Err(other),
                }
            }
            None => None,
        };
        Ok(sentence(&self.book, found, range, again))
    }
}

/// Read the first bytes of a range into a sink.
pub(super) fn read(
    lanes: &mut [Lane<'_>],
    range: &Range,
    bytes: u64,
    min_io_bytes: u32,
    sink: &mut dyn Sink,
) -> Result<Status, StreamError> {
    let options = ReplayOptions {
        min_io_bytes,
        ..ReplayOptions::default()
    };
    let what = What::Raw(*range, Some(bytes));
    Ok(replay(lanes, what, sink, options, &Registers::default())?.status)
}

fn tick(
    done: &mut u64,
    total: u64,
    observer: &mut dyn Observer,
    bytes: u64,
    registers: &Registers,
) {
    *done += bytes;
    observer.progress((*done).min(total), total);
    if observer.is_to_stop() {
        registers.command(Control::ABORT);
    }
}

/// A pattern that gives orders at chunks.
struct Ordered<'a> {
    stream: PatternSource,
    orders: [Option<(u64, Control)>; 2],
    taken: u64,
    watch: &'a mut dyn FnMut(u64, &Registers),
}

impl Source for Ordered<'_> {
    fn name(&self) -> String {
        self.stream.name()
    }

    fn fill(&mut self, chunk: &mut [u8], registers: &Registers) -> io::Result<Filled> {
        let filled = self.stream.fill(chunk, registers)?;
        self.taken += 1;
        let due = self.orders.iter().flatten();
        for &(_, control) in due.filter(|(at, _)| *at == self.taken) {
            registers.command(control);
        }
        (self.watch)(filled.bytes as u64, registers);
        Ok(filled)
    }

    fn has_more(&mut self, wait: bool, registers: &Registers) -> io::Result<Option<bool>> {
        self.stream.has_more(wait, registers)
    }
}

/// Hands bytes on until so many chunks have come, and then gives an order.
pub(super) struct Until<'a> {
    pub left: u64,
    pub control: Control,
    pub sink: &'a mut dyn Sink,
}

impl Sink for Until<'_> {
    fn name(&self) -> String {
        self.sink.name()
    }

    fn put(&mut self, bytes: &[u8], registers: &Registers) -> io::Result<()> {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            registers.command(self.control);
        }
        self.sink.put(bytes, registers)
    }
}
