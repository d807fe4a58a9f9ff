//! File systems without space: what a message says of them.

use std::io::{Error, ErrorKind};
use std::path::Path;

use assay_units::text::format_size;
use rustix::fs::statvfs;

/// The file system, or the quota on it, is full.
pub(crate) fn is_full(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// The space there that this user may use.
pub(crate) fn at(path: &Path) -> String {
    // The nearest folder that is there.
    let found = path.ancestors().find_map(|path| statvfs(path).ok());
    found.map_or("its free space cannot be read".to_owned(), |found| {
        let size = |blocks: u64| format_size(blocks.saturating_mul(found.f_frsize));
        format!("{} of {} are free there", size(found.f_bavail), size(found.f_blocks))
    })
}

/// What follows a message about a file that could not be written.
pub(crate) fn advice(error: &Error, path: &Path) -> String {
    match is_full(error) {
        false => String::new(),
        true => format!(
            "; {}; what was measured and shipped is kept: free some space or raise the quota, \
             and give the same command again",
            at(path)
        ),
    }
}
