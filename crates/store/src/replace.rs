//! Files that are replaced whole.

use std::io::Write;
use std::path::Path;

use assay_output::Replacement;

use crate::error::StoreError;

/// [`Replacement`] of a file by these bytes.
pub fn replace_content(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut new = Replacement::begin(path).map_err(StoreError::io("create", path))?;
    let written = new.file.write_all(bytes).and_then(|()| new.commit());
    written.map_err(StoreError::io("write", path))
}
