//! The drives of a stream, opened.

use assay_engine::run::Bed;
use assay_engine::session::{DriveSession, SessionError};
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
        let options = self.options;
        let sessions = self.sessions.iter();
        self.beds
            .iter_mut()
            .zip(sessions)
            .map(|(bed, session)| lane(bed, session, options))
            .collect()
    }
}

fn lane<'b>(
    bed: &'b mut Bed,
    session: &DriveSession,
    options: LaneOptions,
) -> Result<Lane<'b>, SessionError> {
    let name = session.info().spec.clone();
    let (slots, chunk_bytes) = (options.depth.max(1) + 1, options.chunk_bytes);
    Ok(match bed {
        Bed::Null => Lane::new(name, NullTarget::new(slots), slots, chunk_bytes),
        Bed::Sim(target, _) => {
            target.begin_job(1, slots, chunk_bytes)?;
            Lane::new(name, target.as_mut(), slots, chunk_bytes)
        }
        Bed::Real { open, .. } if options.blocking => {
            let target = SyncTarget::new(open.clone(), slots, chunk_bytes)?;
            Lane::new(name, target, slots, chunk_bytes)
        }
        Bed::Real { open, .. } => {
            let ring = UringOptions::default();
            let target = UringTarget::new(open.clone(), slots, chunk_bytes, ring)?;
            Lane::new(name, target, slots, chunk_bytes)
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
