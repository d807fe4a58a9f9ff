//! Profile loading: a built-in profile by its name, or a custom one by the path of its TOML file.

use std::path::{Path, PathBuf};

use assay_ssd::{DriveOptions, Profile, ProfileError};
use assay_units::{Classified, ErrorClass};

pub const MAX_BYTES: u64 = 1 << 20;
/// Distinguishes a path from the name of a built-in profile.
const EXTENSION: &str = ".toml";

#[derive(Debug, thiserror::Error)]
pub enum ProfileFileError {
    /// No built-in profile of that name, or the built-in one is damaged.
    #[error("{0}; a custom profile is named by its file, as in sim:./my-drive.toml")]
    Builtin(ProfileError),
    #[error("{path}: {1}", path = .0.display())]
    File(PathBuf, #[source] std::io::Error),
    #[error("{path}: {1}", path = .0.display())]
    Content(PathBuf, #[source] ProfileError),
}

pub fn is_file(name: &str) -> bool {
    name.ends_with(EXTENSION)
}

/// Text and parsed profile; `name` is a built-in one's name, or a path that ends in `.toml`.
pub fn load(name: &str) -> Result<(String, Profile), ProfileFileError> {
    let text = text_of(name)?;
    let profile = Profile::from_toml(&text).map_err(|error| invalid(name, error))?;
    Ok((text, profile))
}

fn text_of(name: &str) -> Result<String, ProfileFileError> {
    if !is_file(name) {
        let text = Profile::builtin_text(name).map_err(ProfileFileError::Builtin)?;
        return Ok(text.to_owned());
    }
    read(Path::new(name)).map_err(|error| ProfileFileError::File(PathBuf::from(name), error))
}

fn invalid(name: &str, error: ProfileError) -> ProfileFileError {
    match is_file(name) {
        true => ProfileFileError::Content(PathBuf::from(name), error),
        false => ProfileFileError::Builtin(error),
    }
}

/// The profile of a drive with these options: of the lot ([`DriveOptions::lot`]), of the
/// capacity ([`DriveOptions::capacity_bytes`]), then an Nth of it ([`DriveOptions::shrink`]).
///
/// # Errors
/// As [`load`].
pub fn load_for(name: &str, options: &DriveOptions) -> Result<Profile, ProfileFileError> {
    let text = text_of(name)?;
    let profile = match options.lot {
        None => Profile::from_toml(&text),
        // An error of the text itself names its line.
        Some(lot) => Profile::of_lot(&text, lot, options.seed)
            .map_err(|error| Profile::from_toml(&text).err().unwrap_or(error)),
    };
    let profile = profile.and_then(|profile| match options.capacity_bytes {
        Some(bytes) => profile.of_capacity(bytes),
        None => Ok(profile),
    });
    let profile = profile.and_then(|profile| profile.shrunk(options.shrink.unwrap_or(1)));
    profile.map_err(|error| invalid(name, error))
}

fn read(path: &Path) -> std::io::Result<String> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err(std::io::Error::other(
            "is not a regular file of at most 1 MiB, so it is not a profile",
        ));
    }
    std::fs::read_to_string(path)
}

impl Classified for ProfileFileError {
    fn class(&self) -> ErrorClass {
        match self {
            ProfileFileError::Builtin(_) | ProfileFileError::Content(..) => ErrorClass::Usage,
            ProfileFileError::File(_, source) => ErrorClass::of_named_file(source),
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/profile_file.rs"]
mod tests;
