//! Append-only journal. A line is `<8 lower-case hex digits: CRC-32C of the JSON> <JSON>\ `.
//! CRC-32C (Castagnoli, RFC 3720 appendix B.4) finds every error of up to five bits and every burst
//! up to 32 bits in lines of the length that occur here. Lines are appended with one `write(2)`
//! each, so a process that dies tears at most the line being written; a machine that dies loses at
//! most what was appended since the last [`JournalWriter::sync`].

use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use assay_output::{create_to_append, open_to_append, open_to_read};
use assay_units::text::hexadecimal;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::error::{APPEND, StoreError};
use crate::model::Entry;
use crate::run::sha256_of;

/// The journal's name in a run folder.
pub const JOURNAL_FILE: &str = "journal.log";
/// A longer line counts as damaged; full histograms of every operation stay below 4 MiB.
pub const MAX_LINE_BYTES: u64 = 16 << 20;
/// Hex digits of the checksum, and the blank after them.
const HEAD_BYTES: usize = 9;

/// Appends events to a journal, under an exclusive advisory lock.
#[derive(Debug)]
pub struct JournalWriter {
    file: File,
    path: PathBuf,
    /// Up to the last whole line.
    len: u64,
    /// A write failed half way: bytes after `len` must be cut off before the next line.
    torn: bool,
    buffer: Vec<u8>,
    /// SHA-256 of its lines, if all are of this writer.
    sum: Option<Sha256>,
}

impl JournalWriter {
    /// Begins a new journal. Fails when the file exists.
    pub fn create(path: &Path) -> Result<JournalWriter, StoreError> {
        JournalWriter::locked(path, create_to_append(path).map_err(StoreError::io("create", path))?)
    }

    /// Continues a journal. A torn last line is cut off; a last line that lacks only its line end,
    /// by its checksum, is completed. Fails with [`StoreError::Busy`] when another writer holds it.
    pub fn open(path: &Path) -> Result<JournalWriter, StoreError> {
        let file = open_to_append(path).map_err(StoreError::io("open", path))?;
        let mut writer = JournalWriter::locked(path, file)?;
        let metadata = writer.file.metadata();
        writer.len = metadata.map_err(StoreError::io("examine", path))?.len();
        writer.sum = None;
        writer.repair_tail()?;
        Ok(writer)
    }

    fn locked(path: &Path, file: File) -> Result<JournalWriter, StoreError> {
        // flock(2): released by the kernel when the process ends.
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(JournalWriter {
                file,
                path: path.to_owned(),
                len: 0,
                torn: false,
                buffer: Vec::new(),
                sum: Some(Sha256::new()),
            }),
            Err(Errno::WOULDBLOCK) => Err(StoreError::Busy(path.to_owned())),
            Err(error) => Err(StoreError::io("lock", path)(error.into())),
        }
    }

    fn repair_tail(&mut self) -> Result<(), StoreError> {
        let failed = |error| StoreError::io("read", &self.path)(error);
        let whole = end_of_last_line(&self.file, self.len).map_err(failed)?;
        let tail_bytes = self.len - whole;
        let mut tail = Vec::new();
        if tail_bytes <= MAX_LINE_BYTES {
            tail.resize(tail_bytes as usize, 0);
            self.file.read_exact_at(&mut tail, whole).map_err(failed)?;
        }
        if checked_json(&tail).is_ok() {
            return self.write(b"\n");
        }
        self.torn = tail_bytes > 0;
        self.len = whole;
        self.cut_torn_tail()
    }

    fn cut_torn_tail(&mut self) -> Result<(), StoreError> {
        if self.torn {
            let cut = self.file.set_len(self.len);
            cut.map_err(StoreError::io("cut the torn last line off", &self.path))?;
            self.torn = false;
        }
        Ok(())
    }

    /// Appends events with one write, so that they stay together. After [`StoreError::Io`] (disk
    /// full, I/O error) nothing before is lost, nothing of this batch is kept, and the writer may
    /// be used again. Nothing is written of an entry with a figure that is not a number
    /// ([`StoreError::Unwritable`]).
    pub fn append_all(&mut self, entries: &[Entry]) -> Result<(), StoreError> {
        let mut lines = std::mem::take(&mut self.buffer);
        lines.clear();
        let mut encoded = entries.iter();
        let written = encoded
            .try_for_each(|entry| encode(entry, &self.path, &mut lines))
            .and_then(|()| self.write(&lines));
        self.buffer = lines;
        written
    }

    /// Whole lines, with one write.
    pub(crate) fn write(&mut self, lines: &[u8]) -> Result<(), StoreError> {
        self.cut_torn_tail()?;
        // `write_all` is one write(2) unless the system takes less, as a nearly full disk does.
        if let Err(error) = self.file.write_all(lines) {
            self.torn = true;
            // Truncating works on a full disk. Should it fail, the next append or `open` tries
            // again, and readers recognise the torn line by its checksum.
            let _ = self.cut_torn_tail();
            return Err(StoreError::io(APPEND, &self.path)(error));
        }
        self.len += lines.len() as u64;
        if let Some(sum) = &mut self.sum {
            sum.update(lines);
        }
        Ok(())
    }

    /// SHA-256 of the whole journal.
    pub(crate) fn sha256(&self) -> Result<String, StoreError> {
        match &self.sum {
            Some(sum) => Ok(hexadecimal(&sum.clone().finalize())),
            None => sha256_of(&self.path),
        }
    }

    /// Takes all lines out.
    pub(crate) fn clear(&mut self) -> Result<(), StoreError> {
        let emptied = self.file.set_len(0);
        emptied.map_err(StoreError::io("empty", &self.path))?;
        self.len = 0;
        self.sum = Some(Sha256::new());
        Ok(())
    }

    /// Waits until everything appended is on the medium (fdatasync).
    pub fn sync(&mut self) -> Result<(), StoreError> {
        let synced = self.file.sync_data();
        synced.map_err(StoreError::io("flush", &self.path))
    }
}

/// `path` is the journal's, for the error.
pub(crate) fn encode(entry: &Entry, path: &Path, buffer: &mut Vec<u8>) -> Result<(), StoreError> {
    let start = buffer.len();
    encode_unread(entry, path, buffer)?;
    let json = &buffer[start + HEAD_BYTES..buffer.len() - 1];
    if may_have_null(json) {
        serde_json::from_slice::<Entry>(json)
            .map_err(|e| unwritable(path, format!("{e} in {}", String::from_utf8_lossy(json))))?;
    }
    Ok(())
}

/// JSON writes NaN as null, which is not a number when read. fio's engine `null` is a word in text.
pub(crate) fn may_have_null(json: &[u8]) -> bool {
    let mut found = memchr::memmem::find_iter(json, b"null");
    found.any(|at| at == 0 || matches!(json[at - 1], b':' | b',' | b'[' | b' ' | b'\n'))
}

fn unwritable(path: &Path, reason: String) -> StoreError {
    StoreError::Unwritable { path: path.to_owned(), reason }
}

/// Does not read the entry back.
pub(crate) fn encode_unread(
    entry: &impl Serialize,
    path: &Path,
    buffer: &mut Vec<u8>,
) -> Result<(), StoreError> {
    let start = buffer.len();
    buffer.extend_from_slice(b"00000000 ");
    serde_json::to_writer(&mut *buffer, entry).map_err(|e| unwritable(path, e.to_string()))?;
    let json = &buffer[start + HEAD_BYTES..];
    if json.len() as u64 + HEAD_BYTES as u64 > MAX_LINE_BYTES {
        let bytes = json.len();
        return Err(unwritable(path, format!("its line would be {bytes} bytes long")));
    }
    let head = head_of(json);
    buffer[start..start + HEAD_BYTES].copy_from_slice(head.as_bytes());
    buffer.push(b'\n');
    Ok(())
}

/// Offset after the last line end in the first `len` bytes.
fn end_of_last_line(file: &File, len: u64) -> io::Result<u64> {
    const CHUNK_BYTES: u64 = 64 << 10;
    let mut chunk = vec![0; CHUNK_BYTES as usize];
    let mut end = len;
    while end > 0 {
        let start = end.saturating_sub(CHUNK_BYTES);
        let part = &mut chunk[..(end - start) as usize];
        file.read_exact_at(part, start)?;
        if let Some(at) = part.iter().rposition(|&byte| byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// The checksum, and the blank after it.
fn head_of(json: &[u8]) -> String {
    format!("{:08x} ", crc32c::crc32c(json))
}

/// The JSON of a line (without its line end), if its checksum matches.
fn checked_json(line: &[u8]) -> Result<&[u8], String> {
    let parts = line.split_at_checked(HEAD_BYTES);
    let (head, json) = parts.ok_or("too short for a checksum")?;
    let (stated, blank) = head.split_at(HEAD_BYTES - 1);
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if blank != b" " || !stated.iter().all(is_digit) {
        return Err("does not begin with a checksum".to_owned());
    }
    let found = head_of(json);
    if head != found.as_bytes() {
        return Err(format!(
            "its checksum says {}, its content has {}",
            String::from_utf8_lossy(stated),
            found.trim_end()
        ));
    }
    Ok(json)
}

/// Content of a journal line.
#[derive(Clone, Debug, PartialEq)]
pub enum LineContent {
    /// An event.
    Entry(Box<Entry>),
    /// An event of a newer version.
    Unknown(String),
    /// Damaged, with the reason.
    Damaged(String),
}

/// One line of a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// From 1.
    pub number: u64,
    /// Offset in the file.
    pub offset: u64,
    /// Content.
    pub content: LineContent,
}

/// Read one line's bytes (without the line end).
pub fn parse_line(line: &[u8]) -> LineContent {
    #[derive(serde::Deserialize)]
    struct Kind {
        event: String,
    }
    let json = match checked_json(line) {
        Ok(json) => json,
        Err(reason) => return LineContent::Damaged(reason),
    };
    serde_json::from_slice(json).map(LineContent::Entry).unwrap_or_else(|error| {
        match serde_json::from_slice::<Kind>(json) {
            Ok(Kind { event }) if !Entry::KINDS.contains(&event.as_str()) => {
                LineContent::Unknown(event)
            }
            _ => LineContent::Damaged(format!("its content is not an event: {error}")),
        }
    })
}

/// Reads a journal line by line; damage is content, not an error.
#[derive(Debug)]
pub struct JournalReader<R> {
    input: R,
    number: u64,
    offset: u64,
    line: Vec<u8>,
}

impl JournalReader<io::BufReader<File>> {
    /// Opens a journal. Needs no lock: a line being written right now reads as torn.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let file = open_to_read(path).map_err(StoreError::io("open", path))?;
        let input = io::BufReader::with_capacity(256 << 10, file);
        Ok(JournalReader::new(input))
    }
}

impl<R: BufRead> JournalReader<R> {
    /// Over any bytes.
    pub fn new(input: R) -> JournalReader<R> {
        JournalReader { input, number: 0, offset: 0, line: Vec::new() }
    }

    /// The next line; `None` at the end.
    pub fn next_line(&mut self) -> io::Result<Option<Line>> {
        self.line.clear();
        let offset = self.offset;
        let mut read =
            (&mut self.input).take(MAX_LINE_BYTES).read_until(b'\n', &mut self.line)? as u64;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        let ended = self.line.last() == Some(&b'\n');
        let content = if !ended && read == MAX_LINE_BYTES {
            read += self.input.skip_until(b'\n')? as u64;
            LineContent::Damaged("too long for an event".to_owned())
        } else {
            match parse_line(self.line.strip_suffix(b"\n").unwrap_or(&self.line)) {
                LineContent::Damaged(_) if !ended => LineContent::Damaged(
                    "cut short: the writer was stopped in the middle of it".to_owned(),
                ),
                whole => whole,
            }
        };
        self.offset += read;
        Ok(Some(Line { number: self.number, offset, content }))
    }
}

impl<R: BufRead + Seek> JournalReader<R> {
    /// The next whole line; `None` where the journal ends for now: ask again when it has grown.
    pub fn next_whole_line(&mut self) -> io::Result<Option<Line>> {
        let (offset, number) = (self.offset, self.number);
        let line = self.next_line()?;
        let is_whole = self.line.last() == Some(&b'\n') || self.line.len() as u64 == MAX_LINE_BYTES;
        if line.is_some() && !is_whole {
            self.input.seek(SeekFrom::Start(offset))?;
            (self.offset, self.number) = (offset, number);
            return Ok(None);
        }
        Ok(line)
    }

    /// The line at the offset of an earlier [`Line`]; its number is not known and reads 1.
    pub(crate) fn line_at(&mut self, offset: u64) -> io::Result<Option<Line>> {
        self.input.seek(SeekFrom::Start(offset))?;
        self.offset = offset;
        self.number = 0;
        self.next_line()
    }
}
