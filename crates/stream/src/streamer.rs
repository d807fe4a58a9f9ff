//! [`Streamer`] is implemented by [`SoftwareStreamer`] over the queues of this crate, and by a
//! co-simulated hardware core. [`StreamHost`] is a streamer with its drives: it opens and closes
//! them, and says what they are. Not every streamer can do everything: [`StreamOption`] names what
//! is optional, and [`StreamError::Unsupported`] is the answer where it is missing.

use std::sync::Arc;

use assay_device::identity::PcieLink;
use assay_integrity::pattern::PatternPages;
use assay_io::page_cache::ReadSource;

use crate::index::Recording;
use crate::queue::StreamQueue;
use crate::range::{DriveExtent, RangeRequest, StreamRange};
use crate::record::{RecordOptions, RecordOutcome, record};
use crate::registers::{Registers, StatusBits};
use crate::replay::{ReplayOptions, ReplayOutcome, ReplaySource, replay};
use crate::source::{StreamSink, StreamSource};
use crate::status::StreamError;
pub use crate::status::StreamOption;

impl RecordOptions {
    pub fn check_supported(
        &self,
        streamer: &str,
        supported: &[StreamOption],
    ) -> Result<(), StreamError> {
        let options = [
            (self.index.is_some(), StreamOption::Index),
            (self.ring, StreamOption::Ring),
            (self.checkpoint_bytes.is_some(), StreamOption::DurableEvery),
            (self.source_rate.is_some(), StreamOption::Rate),
            (self.buffer_table, StreamOption::Plan),
        ];
        let missing = options.iter().find(|(set, option)| *set && !supported.contains(option));
        match missing {
            None => Ok(()),
            Some(&(_, option)) => {
                Err(StreamError::Unsupported { streamer: streamer.to_owned(), option })
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriveChunk {
    /// The drive, in the order of the stripes.
    pub drive: usize,
    /// Byte address of the chunk on it.
    pub address: u64,
    pub chunk_bytes: u32,
}

/// Records streams on open drives and replays them, one stream at a time.
///
/// # Contract
/// - A stream is controlled and observed through its [`Registers`]: the streamer keeps status,
///   progress and stalls there while it runs, and acts on [`crate::registers::ControlBits`] set by
///   any thread or by the source or sink itself.
/// - [`StreamSource::fill`] is called with a whole chunk, or with the rest of it after a partial
///   fill. A command that the source gives during a fill takes effect behind the bytes of that
///   fill: STOP ends the stream with them.
/// - [`StreamSink::put`] gets at most a chunk at once, in order. A command that the sink gives
///   during a `put` takes effect behind its bytes: STOP delivers no chunk after it.
/// - Nothing of an interrupted stream remains for the next one.
/// - A range that the streamer refuses ends at once: an outcome with the bit of
///   [`Streamer::refusal`] in its status and no bytes.
pub trait Streamer {
    fn name(&self) -> String;

    /// Whether data are moved, or only counted.
    fn moves_bytes(&self) -> bool {
        true
    }

    /// The bit of `STATUS` with which a range would be refused, without any I/O.
    fn refusal(&mut self, request: &RangeRequest) -> Option<StatusBits>;

    /// A failed command ends it with `DEVICE_ERROR`; chunks before it stay.
    fn record(
        &mut self,
        range: &StreamRange,
        source: &mut dyn StreamSource,
        options: &RecordOptions,
        registers: &Registers,
    ) -> Result<RecordOutcome, StreamError>;

    /// The first `bytes` as they are; a failed command ends it with `DEVICE_ERROR`.
    fn replay(
        &mut self,
        range: &StreamRange,
        bytes: Option<u64>,
        sink: &mut dyn StreamSink,
        options: ReplayOptions,
        registers: &Registers,
    ) -> Result<ReplayOutcome, StreamError>;

    fn read_chunk(
        &mut self,
        chunk: DriveChunk,
        bytes: Option<u64>,
        sink: &mut dyn StreamSink,
        options: ReplayOptions,
        registers: &Registers,
    ) -> Result<ReplayOutcome, StreamError>;

    fn replay_recording(
        &mut self,
        _recording: &mut Recording,
        _sink: &mut dyn StreamSink,
        _options: ReplayOptions,
        _registers: &Registers,
    ) -> Result<ReplayOutcome, StreamError> {
        Err(StreamError::Unsupported { streamer: self.name(), option: StreamOption::Index })
    }
}

impl<S: Streamer + ?Sized> Streamer for &mut S {
    fn name(&self) -> String {
        (**self).name()
    }

    fn moves_bytes(&self) -> bool {
        (**self).moves_bytes()
    }

    fn refusal(&mut self, request: &RangeRequest) -> Option<StatusBits> {
        (**self).refusal(request)
    }

    fn record(
        &mut self,
        range: &StreamRange,
        source: &mut dyn StreamSource,
        options: &RecordOptions,
        registers: &Registers,
    ) -> Result<RecordOutcome, StreamError> {
        (**self).record(range, source, options, registers)
    }

    fn replay(
        &mut self,
        range: &StreamRange,
        bytes: Option<u64>,
        sink: &mut dyn StreamSink,
        options: ReplayOptions,
        registers: &Registers,
    ) -> Result<ReplayOutcome, StreamError> {
        (**self).replay(range, bytes, sink, options, registers)
    }

    fn read_chunk(
        &mut self,
        chunk: DriveChunk,
        bytes: Option<u64>,
        sink: &mut dyn StreamSink,
        options: ReplayOptions,
        registers: &Registers,
    ) -> Result<ReplayOutcome, StreamError> {
        (**self).read_chunk(chunk, bytes, sink, options, registers)
    }

    fn replay_recording(
        &mut self,
        recording: &mut Recording,
        sink: &mut dyn StreamSink,
        options: ReplayOptions,
        registers: &Registers,
    ) -> Result<ReplayOutcome, StreamError> {
        (**self).replay_recording(recording, sink, options, registers)
    }
}

/// A drive of a [`StreamHost`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamDrive {
    pub extent: DriveExtent,
    /// It is a model.
    pub simulated: bool,
    /// Data go to the drive itself, not to a page cache.
    pub direct: bool,
}

/// A streamer and its drives, which are open only while they are used.
pub trait StreamHost {
    fn drives(&self) -> &[StreamDrive];

    /// Opens them if they are closed; they remain open until [`StreamHost::close`].
    fn streamer(&mut self) -> Result<Box<dyn Streamer + '_>, StreamError>;

    /// Close the drives; no effect if they are closed.
    fn close(&mut self);

    /// Where the newest streamer reads what was written before it was made.
    fn read_source(&self) -> ReadSource {
        ReadSource::Drive
    }

    /// Fails where reading does not verify the drive.
    fn check_reads_drive(&self) -> Result<(), StreamError> {
        match self.read_source() {
            ReadSource::Drive => Ok(()),
            ReadSource::HostMemory => Err(StreamError::HostMemory { drives: self.names() }),
        }
    }

    fn data_path(&self) -> String;

    /// The recording from the start of this range on. The next [`StreamHost::streamer`] is made for
    /// its chunk size and its order of drives.
    fn find_recording(&mut self, _range: &StreamRange) -> Result<Recording, StreamError> {
        Err(StreamError::Unsupported { streamer: self.names(), option: StreamOption::Index })
    }

    /// Power-cycle all drives; false where this is not possible. Closes them.
    fn lose_power(&mut self) -> bool;

    /// Current PCIe link of a drive.
    fn link(&mut self, drive: usize) -> Option<PcieLink>;

    /// Seeds of streams must be announced to it before they are written.
    fn pattern_pages(&self) -> Option<Arc<PatternPages>> {
        None
    }

    fn names(&self) -> String {
        let names = self.drives().iter().map(|drive| drive.extent.drive.as_str());
        names.collect::<Vec<_>>().join(", ")
    }

    fn extents(&self) -> Vec<DriveExtent> {
        let drives = self.drives().iter();
        drives.map(|drive| drive.extent.clone()).collect()
    }
}

pub struct SoftwareStreamer<'t> {
    queues: Vec<StreamQueue<'t>>,
    extents: Vec<DriveExtent>,
}

impl<'t> SoftwareStreamer<'t> {
    pub fn new(queues: Vec<StreamQueue<'t>>, extents: Vec<DriveExtent>) -> SoftwareStreamer<'t> {
        assert_eq!(queues.len(), extents.len(), "one extent per queue");
        SoftwareStreamer { queues, extents }
    }
}

impl Streamer for SoftwareStreamer<'_> {
    fn name(&self) -> String {
        let names: Vec<_> = self.queues.iter().map(StreamQueue::name).collect();
        names.join(", ")
    }

    fn moves_bytes(&self) -> bool {
        self.queues.iter().all(StreamQueue::moves_bytes)
    }

    fn refusal(&mut self, request: &RangeRequest) -> Option<StatusBits> {
        let range = StreamRange::new(request, &self.extents);
        range.err().map(|error| error.status())
    }

    fn record(
        &mut self,
        range: &StreamRange,
        source: &mut dyn StreamSource,
        options: &RecordOptions,
        registers: &Registers,
    ) -> Result<RecordOutcome, StreamError> {
        record(&mut self.queues, range, source, options, registers)
    }

    fn replay(
        &mut self,
        range: &StreamRange,
        bytes: Option<u64>,
        sink: &mut dyn StreamSink,
        options: ReplayOptions,
        registers: &Registers,
    ) -> Result<ReplayOutcome, StreamError> {
        let what = ReplaySource::Raw(*range, bytes);
        replay(&mut self.queues, what, sink, options, registers)
    }

    fn read_chunk(
        &mut self,
        chunk: DriveChunk,
        bytes: Option<u64>,
        sink: &mut dyn StreamSink,
        options: ReplayOptions,
        registers: &Registers,
    ) -> Result<ReplayOutcome, StreamError> {
        let range = StreamRange {
            first: chunk.address,
            last: chunk.address,
            chunk_bytes: chunk.chunk_bytes,
            drives: 1,
        };
        let queue = &mut self.queues[chunk.drive..=chunk.drive];
        let what = ReplaySource::Raw(range, bytes);
        replay(queue, what, sink, options, registers)
    }

    fn replay_recording(
        &mut self,
        recording: &mut Recording,
        sink: &mut dyn StreamSink,
        options: ReplayOptions,
        registers: &Registers,
    ) -> Result<ReplayOutcome, StreamError> {
        let what = ReplaySource::Recording(recording);
        replay(&mut self.queues, what, sink, options, registers)
    }
}

#[cfg(test)]
#[path = "../tests/unit/streamer.rs"]
mod tests;
