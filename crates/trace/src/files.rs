//! The files of a trace, unpacked.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::format::Bytes;
use crate::{TraceError, TraceSource};

/// Buffer of a file; its first filling is what a format is detected by.
const BUFFER_BYTES: usize = 256 << 10;
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// All files of a trace: blktrace writes one per processor.
pub(crate) fn files(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_processor = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let stem = name.rsplit_once(".blktrace.").filter(|(_, n)| is_processor(n));
    let Some((stem, _)) = stem else {
        return vec![path.to_owned()];
    };
    let prefix = format!("{stem}.blktrace.");
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new(".")));
    let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut all: Vec<PathBuf> = names
        .filter(|name| {
            let name = name.to_string_lossy();
            name.strip_prefix(&prefix).is_some_and(is_processor)
        })
        .map(|name| path.with_file_name(name))
        // A processor without requests leaves an empty file.
        .filter(|path| std::fs::metadata(path).is_ok_and(|file| file.len() > 0))
        .collect();
    all.sort();
    match all.is_empty() {
        true => vec![path.to_owned()],
        false => all,
    }
}

pub(crate) fn open_file(source: &TraceSource, path: &Path) -> Result<Bytes, TraceError> {
    let name = source.name();
    let unreadable =
        |error: io::Error| TraceError::Unreadable { file: name.clone(), why: error.to_string() };
    let file = File::open(path).map_err(unreadable)?;
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(TraceError::Unsuitable {
            file: name.clone(),
            what: "is no regular file".to_owned(),
            advice: "a trace is read more than once: save it into a file first".to_owned(),
        });
    }
    let mut input = BufReader::with_capacity(BUFFER_BYTES, file);
    let head = input.fill_buf().map_err(unreadable)?;
    let unpacked: Box<dyn Read + Send> = if head.starts_with(GZIP) {
        Box::new(flate2::bufread::MultiGzDecoder::new(input))
    } else if head.starts_with(ZSTD) {
        Box::new(zstd::stream::read::Decoder::with_buffer(input).map_err(unreadable)?)
    } else {
        return Ok(Box::new(input));
    };
    Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, unpacked)))
}
