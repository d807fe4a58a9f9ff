use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use assay_store::journal::JOURNAL_FILE;

#[derive(Debug, Default)]
pub(super) struct NewLines {
    journal: PathBuf,
    read_bytes: u64,
}

impl NewLines {
    pub(super) fn from_start(folder: &Path) -> NewLines {
        NewLines { journal: folder.join(JOURNAL_FILE), read_bytes: 0 }
    }

    pub(super) fn from_end(folder: &Path) -> NewLines {
        let lines = NewLines::from_start(folder);
        let read_bytes = std::fs::metadata(&lines.journal).map_or(0, |m| m.len());
        NewLines { read_bytes, ..lines }
    }

    pub(super) fn folder(&self) -> Option<&Path> {
        self.journal.parent()
    }

    /// Up to the last line end. `None` without a new line, or where the journal cannot be read now:
    /// a line that is being written is read again from its start.
    pub(super) fn take(&mut self) -> Option<Vec<u8>> {
        let file = File::open(&self.journal).ok()?;
        let len = file.metadata().ok()?.len();
        let new = usize::try_from(len.checked_sub(self.read_bytes)?).ok()?;
        let mut bytes = vec![0; new];
        file.read_exact_at(&mut bytes, self.read_bytes).ok()?;
        let end = bytes.iter().rposition(|&byte| byte == b'\n')? + 1;
        bytes.truncate(end);
        self.read_bytes += end as u64;
        Some(bytes)
    }
}
