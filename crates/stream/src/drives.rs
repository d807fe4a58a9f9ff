//! Opening the drives of a stream.

use assay_device::identity::DriveInfo;
use assay_device::session::{DriveSession, OpenMode, OpenTarget, SessionError};
use assay_io::Target;
use assay_io::null::NullTarget;
use assay_io::sync::SyncTarget;
use assay_io::uring::{UringOptions, UringTarget};

use crate::queue::StreamQueue;
use crate::range::DriveExtent;

/// Options for opening drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueOptions {
    /// The drives will be written.
    pub writes: bool,
    /// I/Os in flight on each.
    pub depth: u32,
    /// Bytes of each buffer.
    pub chunk_bytes: u32,
    /// O_DIRECT.
    pub direct: bool,
    /// System calls for I/O on real drives.
    pub calls: IoCalls,
}

/// System calls for I/O on real drives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoCalls {
    /// Blocking calls on RAM-backed drives, io_uring on all others. zram and RAM disks do not support `RWF_NOWAIT`, so
    /// io_uring would pass each I/O to a kernel thread; one chunk at a time also stays in the processor cache.
    #[default]
    Auto,
    /// io_uring with registered buffers.
    Ring,
    /// `pread` and `pwrite`, one chunk at a time.
    Blocking,
}

impl IoCalls {
    /// Whether this drive gets blocking calls.
    pub fn block_on(self, info: &DriveInfo) -> bool {
        match self {
            IoCalls::Auto => matches!(info.transport.as_deref(), Some("zram" | "ram")),
            IoCalls::Ring => false,
            IoCalls::Blocking => true,
        }
    }
}

/// The open drives of a stream; released on drop.
pub struct Drives<'s> {
    sessions: &'s mut [DriveSession],
    targets: Vec<OpenTarget>,
    options: QueueOptions,
}

/// The properties of a drive that limit a range.
pub fn media(info: &DriveInfo) -> DriveExtent {
    DriveExtent {
        drive: info.spec.clone(),
        capacity_bytes: info.capacity_bytes,
        min_io_bytes: info.min_io_bytes,
    }
}

impl<'s> Drives<'s> {
    /// Open the drives.
    ///
    /// # Errors
    /// When one cannot be opened, or writing is not permitted.
    pub fn open(
        sessions: &'s mut [DriveSession],
        options: QueueOptions,
    ) -> Result<Drives<'s>, SessionError> {
        let mut drives = Drives {
            sessions,
            targets: Vec::new(),
            options,
        };
        for at in 0..drives.sessions.len() {
            let mode = OpenMode {
                writes: options.writes,
                direct: options.direct,
                passthru: false,
            };
            let target = drives.sessions[at].acquire(mode)?;
            drives.targets.push(target);
        }
        Ok(drives)
    }

    /// Set the buffer size of queues created from now on: a recording determines its own chunk size.
    pub fn set_chunk_bytes(&mut self, chunk_bytes: u32) {
        self.options.chunk_bytes = chunk_bytes;
    }

    /// Queues over the drives, with one slot more than the depth, for the index.
    ///
    /// # Errors
    /// When memory or a ring cannot be allocated.
    pub fn queues(&mut self) -> Result<Vec<StreamQueue<'_>>, SessionError> {
        self.queues_through(&mut PassThrough)
    }

    /// [`Drives::queues`] with a layer between queue and target.
    ///
    /// # Errors
    /// As [`Drives::queues`].
    pub fn queues_through(
        &mut self,
        between: &mut dyn TargetLayer,
    ) -> Result<Vec<StreamQueue<'_>>, SessionError> {
        let options = self.options;
        let spare = between.spare_slots();
        let mut queues = Vec::new();
        let open = self.targets.iter_mut().zip(&*self.sessions);
        for (at, (open, session)) in open.enumerate() {
            let info = session.info();
            let blocking = options.calls.block_on(info) && matches!(open, OpenTarget::Real { .. });
            let depth = if blocking { 1 } else { options.depth.max(1) };
            let slots = depth + 1;
            let target = target(open, options.chunk_bytes, blocking, slots + spare)?;
            let target = between.wrap(at, target, slots);
            let name = info.spec.clone();
            queues.push(StreamQueue::new(name, target, slots, options.chunk_bytes));
        }
        Ok(queues)
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

impl Drop for Drives<'_> {
    fn drop(&mut self) {
        for (session, target) in self.sessions.iter_mut().zip(self.targets.drain(..)) {
            session.release(target);
        }
    }
}
