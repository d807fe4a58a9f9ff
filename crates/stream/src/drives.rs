//! The drives of a software stream: opened, with queues over them.

use std::sync::Arc;

use assay_device::identity::{DriveInfo, PcieLink};
use assay_device::session::{DriveSession, OpenMode, OpenTarget, SessionError};
use assay_integrity::pattern::PatternPages;
use assay_io::null::NullTarget;
use assay_io::page_cache::ReadSource;
use assay_io::sync::SyncTarget;
use assay_io::uring::{self, UringOptions, UringTarget};
use assay_io::{IO_TIMEOUT, Target};

use crate::index::{Recording, find};
use crate::queue::StreamQueue;
use crate::range::{DriveExtent, StreamRange};
use crate::status::StreamError;
use crate::streamer::{SoftwareStreamer, StreamDrive, StreamHost, Streamer};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueOptions {
    pub writes: bool,
    /// I/Os in flight on each.
    pub depth: u32,
    /// Bytes of each buffer.
    pub chunk_bytes: u32,
    /// O_DIRECT.
    pub direct: bool,
    pub calls: IoCalls,
}

/// System calls for I/O on real drives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoCalls {
    /// Blocking calls on RAM-backed drives and where io_uring is refused, io_uring on all others.
    /// zram and RAM disks do not support `RWF_NOWAIT`, so io_uring would pass each I/O to a kernel
    /// thread; one chunk at a time also stays in the processor cache.
    #[default]
    Auto,
    /// io_uring with registered buffers.
    Ring,
    Blocking,
}

impl IoCalls {
    /// Whether this drive gets blocking calls.
    pub fn block_on(self, info: &DriveInfo) -> bool {
        match self {
            IoCalls::Auto => {
                matches!(info.transport.as_deref(), Some("zram" | "ram"))
                    || uring::refusal().is_some()
            }
            IoCalls::Ring => false,
            IoCalls::Blocking => true,
        }
    }
}

/// The properties of a drive that limit a range.
pub fn media(info: &DriveInfo) -> DriveExtent {
    DriveExtent {
        drive: info.spec.clone(),
        capacity_bytes: info.capacity_bytes,
        min_io_bytes: info.min_io_bytes,
    }
}

/// The software streamer and its drives: sessions, in a vector or borrowed.
pub struct SoftwareHost<S: AsRef<[DriveSession]> + AsMut<[DriveSession]>> {
    sessions: S,
    drives: Vec<StreamDrive>,
    options: QueueOptions,
    layer: Box<dyn TargetLayer>,
    pages: Option<Arc<PatternPages>>,
    /// Empty while the drives are closed.
    targets: Vec<OpenTarget>,
    /// Where the bytes come from that the newest queues read.
    source: ReadSource,
    /// Order of the drives in the recording that was found.
    order: Vec<usize>,
}

impl<S: AsRef<[DriveSession]> + AsMut<[DriveSession]>> SoftwareHost<S> {
    pub fn new(sessions: S, options: QueueOptions) -> SoftwareHost<S> {
        let drive = |session: &DriveSession| StreamDrive {
            extent: media(session.info()),
            simulated: session.info().simulated,
            direct: options.direct && session.info().direct_io,
        };
        let drives: Vec<_> = sessions.as_ref().iter().map(drive).collect();
        SoftwareHost {
            order: (0..drives.len()).collect(),
            sessions,
            drives,
            options,
            layer: Box::new(PassThrough),
            pages: None,
            targets: Vec::new(),
            source: ReadSource::Drive,
        }
    }

    /// With a layer between queues and targets.
    #[must_use]
    pub fn with_layer(mut self, layer: impl TargetLayer + 'static) -> SoftwareHost<S> {
        self.layer = Box::new(layer);
        self
    }

    /// With the page generator that the sessions of simulated drives were opened with.
    #[must_use]
    pub fn with_pages(mut self, pages: Arc<PatternPages>) -> SoftwareHost<S> {
        self.pages = Some(pages);
        self
    }

    fn open(&mut self) -> Result<(), SessionError> {
        if !self.targets.is_empty() {
            return Ok(());
        }
        let mode = OpenMode {
            writes: self.options.writes,
            direct: self.options.direct,
            passthru: false,
            in_zones: false,
        };
        for session in self.sessions.as_mut() {
            match session.acquire(mode) {
                Ok(target) => self.targets.push(target),
                Err(error) => {
                    self.close();
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Queues over the drives, which are opened if they are closed; with one slot more than the
    /// depth, for the index.
    pub fn queues(&mut self) -> Result<Vec<StreamQueue<'_>>, SessionError> {
        self.open()?;
        let options = self.options;
        // Without O_DIRECT, what was written before is to be read from the drive.
        let sources = self.targets.iter().map(|open| match open {
            OpenTarget::Real { open, .. } if !options.direct => open.drop_cached(0, u64::MAX),
            _ => ReadSource::Drive,
        });
        self.source = sources.max().unwrap_or(ReadSource::Drive);
        let spare = self.layer.spare_slots();
        let mut queues = Vec::new();
        let open = self.targets.iter_mut().zip(self.sessions.as_ref());
        for (at, (open, session)) in open.enumerate() {
            let info = session.info();
            let blocking = options.calls.block_on(info) && matches!(open, OpenTarget::Real { .. });
            let depth = if blocking { 1 } else { options.depth.max(1) };
            let slots = depth + 1;
            let target = target(open, options.chunk_bytes, blocking, slots + spare)?;
            let target = self.layer.wrap(at, target, slots);
            let name = info.spec.clone();
            let mut queue = StreamQueue::new(name, target, slots, options.chunk_bytes);
            if !info.simulated {
                queue = queue.with_io_timeout(IO_TIMEOUT);
            }
            queues.push(Some(queue));
        }
        let take = |&at: &usize| queues[at].take().expect("the order has each drive once");
        Ok(self.order.iter().map(take).collect())
    }
}

impl<S: AsRef<[DriveSession]> + AsMut<[DriveSession]>> StreamHost for SoftwareHost<S> {
    fn drives(&self) -> &[StreamDrive] {
        &self.drives
    }

    fn streamer(&mut self) -> Result<Box<dyn Streamer + '_>, StreamError> {
        let extent = |&at: &usize| self.drives[at].extent.clone();
        let extents = self.order.iter().map(extent).collect();
        Ok(Box::new(SoftwareStreamer::new(self.queues()?, extents)))
    }

    fn close(&mut self) {
        let sessions = self.sessions.as_mut().iter_mut();
        for (session, target) in sessions.zip(self.targets.drain(..)) {
            session.release(target);
        }
    }

    fn read_source(&self) -> ReadSource {
        self.source
    }

    fn data_path(&self) -> String {
        let infos = self.sessions.as_ref().iter().map(DriveSession::info);
        let real: Vec<_> = infos.filter(|info| !info.simulated && info.path.is_some()).collect();
        if real.is_empty() {
            return "no bytes leave this program".to_owned();
        }
        let mut blocking = real.iter().map(|info| self.options.calls.block_on(info));
        let calls = match (blocking.clone().any(|b| b), blocking.all(|b| b)) {
            (false, _) => "io_uring, registered buffers",
            (_, true) => "blocking calls, one chunk at a time",
            _ => {
                "blocking calls on drives in memory, io_uring with registered buffers on the others"
            }
        };
        let cache = match self.options.direct {
            true => "O_DIRECT",
            false => "through the page cache",
        };
        format!("{calls}, {cache}")
    }

    fn find_recording(&mut self, range: &StreamRange) -> Result<Recording, StreamError> {
        self.order = (0..self.drives.len()).collect();
        let capacity = |drive: &StreamDrive| drive.extent.capacity_bytes;
        let capacities: Vec<u64> = self.drives.iter().map(capacity).collect();
        let mut found = Vec::new();
        for (queue, capacity) in self.queues()?.iter_mut().zip(capacities) {
            let part = find(queue, range, capacity)?;
            found.push((queue.name().to_owned(), part));
        }
        let (recording, order) = Recording::assemble(found)?;
        self.order = order;
        if let Some(header) = recording.header() {
            self.options.chunk_bytes = header.layout.chunk_bytes;
        }
        Ok(recording)
    }

    fn lose_power(&mut self) -> bool {
        self.close();
        if self.layer.lose_power() {
            return true;
        }
        let sessions = self.sessions.as_mut();
        let simulated = sessions.iter().all(|drive| drive.info().simulated);
        simulated && sessions.iter_mut().all(DriveSession::lose_power)
    }

    fn link(&mut self, drive: usize) -> Option<PcieLink> {
        self.sessions.as_ref()[drive].pcie()
    }

    fn pattern_pages(&self) -> Option<Arc<PatternPages>> {
        self.pages.clone()
    }
}

impl<S: AsRef<[DriveSession]> + AsMut<[DriveSession]>> Drop for SoftwareHost<S> {
    fn drop(&mut self) {
        self.close();
    }
}

/// A layer between queues and targets, for example for fault injection.
pub trait TargetLayer {
    /// Slots it needs on each target, each with a buffer of a chunk.
    fn spare_slots(&self) -> u32 {
        0
    }

    /// Wrap this drive's target; slots from `first_spare` on belong to the layer.
    fn wrap<'t>(
        &mut self,
        _drive: usize,
        target: Box<dyn Target + 't>,
        _first_spare: u32,
    ) -> Box<dyn Target + 't> {
        target
    }

    /// Power loss: if the layer models the volatile caches, it drops what they hold; true then.
    fn lose_power(&mut self) -> bool {
        false
    }
}

/// No layer.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassThrough;

impl TargetLayer for PassThrough {}

fn target<'b>(
    target: &'b mut OpenTarget,
    chunk_bytes: u32,
    blocking: bool,
    slots: u32,
) -> Result<Box<dyn Target + 'b>, SessionError> {
    Ok(match target {
        OpenTarget::Null => Box::new(NullTarget::new(slots)),
        OpenTarget::Sim(target, _) => {
            target.begin_job(1, slots, chunk_bytes)?;
            Box::new(target.as_mut())
        }
        OpenTarget::Real { open, .. } if blocking => {
            Box::new(SyncTarget::new(open.clone(), slots, chunk_bytes)?)
        }
        OpenTarget::Real { open, .. } => {
            let ring = UringOptions::default();
            Box::new(UringTarget::new(open.clone(), slots, chunk_bytes, ring)?)
        }
    })
}
