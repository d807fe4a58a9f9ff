//! The profile of a simulated drive: a built-in one by its name, or a user's own (a digital twin) by the path of its TOML file.

use std::path::{Path, PathBuf};

use assay_ssd::{Profile, ProfileError};

/// Longer files are no profiles, in bytes.
const LONGEST_BYTES: u64 = 1 << 20;
/// What a file's name ends with: how a path is told from the name of a built-in profile.
const EXTENSION: &str = ".toml";

/// Why there is no such profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileFileError {
    /// No built-in profile of that name, or the built-in one is damaged.
    #[error("{0}; a profile of your own is named by its file, as in sim:./my-twin.toml")]
    Builtin(ProfileError),
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no profile, or its numbers make no drive.
    #[error("{}: {source}", path.display())]
    Content {
        /// Which.
        path: PathBuf,
        /// Why.
        source: ProfileError,
    },
}

/// Does the name of a profile mean a file?
pub fn is_file(name: &str) -> bool {
    name.ends_with(EXTENSION)
}

/// The text of a profile and what it says: `name` is a built-in one's name, or a path that ends in `.toml`.
///
/// # Errors
/// When there is none, it cannot be read, or its numbers make no drive.
pub fn load(name: &str) -> Result<(String, Profile), ProfileFileError> {
    if !is_file(name) {
        let text = Profile::builtin_text(name).map_err(ProfileFileError::Builtin)?;
        let profile = Profile::from_toml(text).map_err(ProfileFileError::Builtin)?;
        return Ok((text.to_owned(), profile));
    }
    let path = Path::new(name);
    let text = read(path).map_err(|source| ProfileFileError::File {
        path: path.to_owned(),
        source,
    })?;
    let profile = Profile::from_toml(&text).map_err(|source| ProfileFileError::Content {
        path: path.to_owned(),
        source,
    })?;
    Ok((text, profile))
}

fn read(path: &Path) -> std::io::Result<String> {
    let about = std::fs::metadata(path)?;
    if !about.is_file() || about.len() > LONGEST_BYTES {
        return Err(std::io::Error::other(
            "is no regular file of at most 1 MiB, so it is no profile",
        ));
    }
    std::fs::read_to_string(path)
}

#[cfg(test)]
#[path = "../tests/unit/profile.rs"]
mod tests;
