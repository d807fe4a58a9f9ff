//! The drives of a stream, opened.

use assay_engine::run::Bed;
use assay_engine::session::{DriveSession, SessionError};
use assay_target::Target;
use assay_target::identity::DriveInfo;
use assay_target::null::NullTarget;
use assay_target::sync::SyncTarget;
use assay_target::uring::{UringOptions, UringTarget};

use crate::lane::Lane;
use crate::range::Media;

/// How drives are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneOptions {
    /// Will they be written?
    pub writes: bool,
    /// I/Os in flight on each.
    pub depth: u32,
    /// Bytes of each buffer.
    pub chunk_bytes: u32,
    /// Past the page cache.
    pub direct: bool,
    /// Blocking calls instead of io_uring (depth 1 in effect).
    pub blocking: bool,
}

/// The drives of a stream, each lent by its session for as long as this lives.
pub struct Drives<'s> {
    sessions: &'s mut [DriveSession],
    beds: Vec<Bed>,
    options: LaneOptions,
}

/// What a drive must be known by, for its range.
pub fn media(info: &DriveInfo) -> Media {
    Media {
        drive: info.spec.clone(),
        capacity_bytes: info.capacity_bytes,
        min_io_bytes: info.min_io_bytes,
    }
}

impl<'s> Drives<'s> {
    /// Open them.
    ///
    /// # Errors
    /// When one cannot be opened, or would be written without leave.
    pub fn open(
        sessions: &'s mut [DriveSession],
        options: LaneOptions,
    ) -> Result<Drives<'s>, SessionError> {
        let mut drives = Drives {
            sessions,
            beds: Vec::new(),
            options,
        };
        for at in 0..drives.sessions.len() {
            let bed = drives.sessions[at].lend_for(options.writes, options.direct)?;
            drives.beds.push(bed);
        }
        Ok(drives)
    }

    /// Lanes over them. One slot more than the depth: for the index.
    ///
    /// # Errors
    /// When memory or a ring cannot be had.
    pub fn lanes(&mut self) -> Result<Vec<Lane<'_>>, SessionError> {
        self.lanes_through(&mut Straight)
    }

    /// Lanes over them, with something in between.
    ///
    /// # Errors
    /// As [`Drives::lanes`].
    pub fn lanes_through(
        &mut self,
        between: &mut dyn Between,
    ) -> Result<Vec<Lane<'_>>, SessionError> {
        let options = self.options;
        let slots = options.depth.max(1) + 1;
        let spare = between.spare_slots();
        let mut lanes = Vec::new();
        for (at, (bed, session)) in self.beds.iter_mut().zip(self.sessions.iter()).enumerate() {
            let target = target(bed, options, slots.saturating_add(spare))?;
            let target = between.wrap(at, target, slots);
            let name = session.info().spec.clone();
            lanes.push(Lane::new(name, target, slots, options.chunk_bytes));
        }
        Ok(lanes)
    }
}

/// What stands between lanes and their targets.
pub trait Between {
    /// Slots it needs for itself on each target, each with a buffer of a chunk.
    fn spare_slots(&self) -> u32;

    /// Put it before this drive's target, whose slots from `first_spare` on are its own.
    fn wrap<'t>(
        &mut self,
        drive: usize,
        target: Box<dyn Target + 't>,
        first_spare: u32,
    ) -> Box<dyn Target + 't>;
}

/// Nothing in between.
#[derive(Clone, Copy, Debug, Default)]
pub struct Straight;

impl Between for Straight {
    fn spare_slots(&self) -> u32 {
        0
    }

    fn wrap<'t>(&mut self, _: usize, target: Box<dyn Target + 't>, _: u32) -> Box<dyn Target + 't> {
        target
    }
}

fn target<'b>(
    bed: &'b mut Bed,
    options: LaneOptions,
    slots: u32,
) -> Result<Box<dyn Target + 'b>, SessionError> {
    let chunk_bytes = options.chunk_bytes;
    Ok(match bed {
        Bed::Null => Box::new(NullTarget::new(slots)),
        Bed::Sim(target, _) => {
            target.begin_job(1, slots, chunk_bytes)?;
            Box::new(target.as_mut())
        }
        Bed::Real { open, .. } if options.blocking => {
            Box::new(SyncTarget::new(open.clone(), slots, chunk_bytes)?)
        }
        Bed::Real { open, .. } => {
            let ring = UringOptions::default();
            Box::new(UringTarget::new(open.clone(), slots, chunk_bytes, ring)?)
        }
    })
}

impl Drop for Drives<'_> {
    fn drop(&mut self) {
        for (session, bed) in self.sessions.iter_mut().zip(self.beds.drain(..)) {
            session.give_back(bed);
        }
    }
}
