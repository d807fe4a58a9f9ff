//! Files and folders that commands make, replace and continue.
//!
//! # Architecture
//! Every file that a command writes, but for drives, is opened here. A folder may be writable for
//! others, who can put a symbolic link, a hard link, a FIFO or a device where a file is expected.
//! So a name is never followed and never truncated:
//! - [`Replacement`]: a new file of a random name beside the old one, which takes its place whole;
//! - [`create_new`], [`create_to_append`]: a file that did not exist;
//! - [`open_to_append`], [`open_to_rewrite`]: a regular file with this one name;
//! - [`open_to_read`]: a regular file, so that no FIFO holds up the reader; [`read_text`] has a
//!   limit;
//! - [`owner`]: what root makes through sudo(8) belongs to the user who called it.
//!
//! # Non-goals
//! Drives and images of drives: `assay_device::open` opens them with a permit of the interlock.
//! Protection of folders above the one that is written: the caller named them.
//!
//! # Key constants
//! [`TEXT_BYTES`] (16 MiB). Permissions of new files are 0666 and the umask's.
#![forbid(unsafe_code)]

pub mod owner;
mod replacement;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fstat, ftruncate, open};
use rustix::io::Errno;

pub use replacement::{Replacement, random_name, replace};

/// Permissions of a new file, before the umask.
const NEW_FILE: Mode = Mode::from_raw_mode(0o666);

/// What stands in the place of an output: nothing was opened for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsafeFile {
    #[error("it is a symbolic link, which is not followed: name the file itself")]
    SymbolicLink,
    #[error(
        "the file has {0} names (hard links), so that a write would change another \
         file too: copy it first"
    )]
    SeveralNames(u64),
    #[error("it is {0}, not a regular file")]
    NotRegular(&'static str),
}

impl From<UnsafeFile> for io::Error {
    fn from(error: UnsafeFile) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidInput, error)
    }
}

impl UnsafeFile {
    /// True for an error that [`UnsafeFile`] caused.
    pub fn is_cause_of(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|cause| cause.is::<UnsafeFile>())
    }
}

/// A file that did not exist; the caller of sudo(8) owns it.
pub fn create_new(path: &Path) -> io::Result<File> {
    create_with(path, OFlags::empty())
}

/// A file that did not exist, for reading and appending.
pub fn create_to_append(path: &Path) -> io::Result<File> {
    create_with(path, OFlags::APPEND)
}

fn create_with(path: &Path, flags: OFlags) -> io::Result<File> {
    let new = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    let flags = flags | new | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(open(path, flags, NEW_FILE)?);
    owner::chown_file_to_sudo_user(&file);
    Ok(file)
}

/// An existing file, for reading and appending.
pub fn open_to_append(path: &Path) -> io::Result<File> {
    open_own(path, OFlags::RDWR | OFlags::APPEND)
}

/// A file, new or existing, for appending.
pub fn open_log(path: &Path) -> io::Result<File> {
    open_own(path, OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE)
}

/// A file, new or emptied.
pub fn open_to_rewrite(path: &Path) -> io::Result<File> {
    let file = open_own(path, OFlags::WRONLY | OFlags::CREATE)?;
    ftruncate(&file, 0)?;
    owner::chown_file_to_sudo_user(&file);
    Ok(file)
}

/// A regular file for reading, through symbolic links.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(open(path, flags, Mode::empty())?);
    check_regular(file_type(&file)?)?;
    Ok(file)
}

/// Longest text file that a command reads as a whole: a policy, a plan, a job file, a suite.
pub const TEXT_BYTES: u64 = 16 << 20;

/// The text of a file that the user named, which may be a FIFO.
///
/// # Errors
/// Also for one of more than [`TEXT_BYTES`].
pub fn read_text(path: &Path) -> io::Result<String> {
    let bytes = read_named(path)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The content of a file that the user named, which may be a FIFO.
///
/// # Errors
/// Also for one of more than [`TEXT_BYTES`].
pub fn read_named(path: &Path) -> io::Result<Vec<u8>> {
    read_all(File::open(path)?, TEXT_BYTES)
}

/// The content of a regular file of at most `most_bytes`.
///
/// # Errors
/// Also for a longer file.
pub fn read(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    read_all(open_to_read(path)?, most_bytes)
}

fn read_all(file: File, most_bytes: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.take(most_bytes.saturating_add(1)).read_to_end(&mut content)?;
    if content.len() as u64 > most_bytes {
        let why = format!("it is longer than {most_bytes} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(content)
}

/// Opened without waiting for the other end of a FIFO, then checked by its descriptor.
fn open_own(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match open(path, flags, NEW_FILE) {
        Err(Errno::LOOP) => return Err(UnsafeFile::SymbolicLink.into()),
        // A FIFO without a reader, a socket.
        Err(Errno::NXIO) => return Err(UnsafeFile::NotRegular("a FIFO or socket").into()),
        file => File::from(file?),
    };
    check_regular(file_type(&file)?)?;
    // Its type differs between architectures.
    #[allow(clippy::useless_conversion)]
    match u64::from(fstat(&file)?.st_nlink) {
        0 | 1 => Ok(file),
        names => Err(UnsafeFile::SeveralNames(names).into()),
    }
}

fn file_type(file: &File) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(file)?.st_mode))
}

fn check_regular(found: FileType) -> Result<(), UnsafeFile> {
    Err(UnsafeFile::NotRegular(match found {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => "a folder",
        FileType::BlockDevice => "a block device",
        FileType::CharacterDevice => "a character device",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        _ => "a special file",
    }))
}
