//! Replacing a file as a whole.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use assay_units::text::hexadecimal;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, fsync, open, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::{NEW_FILE, check_regular, owner};

/// Longest part of a name in that of its temporary file, bytes: names have at most 255.
const NAME_BYTES: usize = 200;

/// A new file that takes the place of an old one as a whole, even after a loss of power: written
/// beside it, flushed, renamed; then the folder is flushed. A symbolic link in its place is
/// replaced, not followed. A killed process leaves `.NAME.RANDOM.tmp`.
#[derive(Debug)]
pub struct Replacement {
    /// What was written to it is lost unless [`Replacement::commit`] is called.
    pub file: BufWriter<File>,
    folder: OwnedFd,
    temporary: OsString,
    name: OsString,
    is_committed: bool,
}

impl Replacement {
    /// # Errors
    /// Also where the path, through symbolic links, leads to anything but a regular file or
    /// nothing.
    pub fn begin(path: &Path) -> io::Result<Replacement> {
        let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = open(parent.unwrap_or(Path::new(".")), flags, Mode::empty())?;
        match statat(&folder, name, AtFlags::empty()) {
            Ok(there) => check_regular(FileType::from_raw_mode(there.st_mode))?,
            // A symbolic link to nothing, or in a circle, is replaced.
            Err(Errno::NOENT | Errno::LOOP) => {}
            Err(error) => return Err(error.into()),
        }
        let (temporary, file) = new_beside(&folder, name)?;
        owner::chown_file_to_sudo_user(&file);
        Ok(Replacement {
            file: BufWriter::with_capacity(1 << 20, file),
            folder,
            temporary,
            name: name.to_owned(),
            is_committed: false,
        })
    }

    /// Puts it in its place, durably.
    pub fn commit(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        self.rename()?;
        Ok(fsync(&self.folder)?)
    }

    /// Puts it in its place, whole for other readers; a loss of power can leave it empty or torn.
    pub fn commit_unflushed(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.rename()
    }

    fn rename(&mut self) -> io::Result<()> {
        renameat(&self.folder, &self.temporary, &self.folder, &self.name)?;
        self.is_committed = true;
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.is_committed {
            // The partial file is useless; the old one stays.
            let _ = unlinkat(&self.folder, &self.temporary, AtFlags::empty());
        }
    }
}

/// [`Replacement`] with these bytes.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut new = Replacement::begin(path)?;
    new.file.write_all(bytes)?;
    new.commit()
}

/// So many random bytes as hexadecimal digits: a name that nobody can foresee, so that nobody can
/// occupy it. The kernel gives up to 256 bytes at once (getrandom(2)).
pub fn random_name<const BYTES: usize>() -> io::Result<String> {
    let mut random = [0; BYTES];
    let given = getrandom(&mut random, GetRandomFlags::empty())?;
    assert_eq!(given, BYTES, "getrandom(2) gives up to 256 bytes at once");
    Ok(hexadecimal(&random))
}

fn new_beside(folder: &OwnedFd, name: &OsStr) -> io::Result<(OsString, File)> {
    let shown = &name.as_bytes()[..name.len().min(NAME_BYTES)];
    loop {
        let mut temporary = OsString::from(".");
        temporary.push(OsStr::from_bytes(shown));
        temporary.push(format!(".{}.tmp", random_name::<8>()?));
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(folder, &temporary, flags, NEW_FILE) {
            Err(Errno::EXIST) => {}
            file => return Ok((temporary, File::from(file?))),
        }
    }
}
