use std::ops::{Index, IndexMut};

use assay_device::session::DriveSession;

/// All drives of a run, or one of them.
pub(super) struct Drives<'a> {
    first: usize,
    sessions: &'a mut [DriveSession],
}

impl<'a> Drives<'a> {
    pub(super) fn all(sessions: &'a mut [DriveSession]) -> Drives<'a> {
        Drives { first: 0, sessions }
    }

    /// Each drive for itself, with its number.
    pub(super) fn split(&mut self) -> impl Iterator<Item = (usize, Drives<'_>)> {
        let numbered = (self.first..).zip(self.sessions.chunks_mut(1));
        numbered.map(|(first, sessions)| (first, Drives { first, sessions }))
    }

    pub(super) fn len(&self) -> usize {
        self.sessions.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &DriveSession> {
        self.sessions.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut DriveSession> {
        self.sessions.iter_mut()
    }
}

impl Index<usize> for Drives<'_> {
    type Output = DriveSession;

    fn index(&self, drive: usize) -> &DriveSession {
        &self.sessions[drive - self.first]
    }
}

impl IndexMut<usize> for Drives<'_> {
    fn index_mut(&mut self, drive: usize) -> &mut DriveSession {
        &mut self.sessions[drive - self.first]
    }
}
