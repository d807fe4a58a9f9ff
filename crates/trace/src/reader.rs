use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;

use assay_units::Nanos;
use assay_units::text::printable;

use crate::format::{LineParser, RawRecord};
use crate::{TraceError, TraceFormat, TraceRecord};

/// Longest line of a trace, bytes: names of processes and files have limits far below.
pub const MAX_LINE_BYTES: usize = 4096;
/// Buffer of a file; its first filling is what a format is detected by.
const BUFFER_BYTES: usize = 256 << 10;
/// Most of a line that an error quotes, characters.
const QUOTED_CHARS: usize = 80;
/// End of the addresses that a request may have: that of a Linux device.
const END_BYTES: u64 = 1 << 63;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// Of a binary file of blktrace: `BLK_IO_TRACE_MAGIC` (linux/blktrace_api.h), in either byte order.
const BLKTRACE: u32 = 0x6561_7400;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TraceSource {
    pub path: PathBuf,
    /// Its format; `None`: by its first lines.
    pub format: Option<TraceFormat>,
    /// Only requests of this device, by its name in the trace; `None`: of all.
    pub device: Option<String>,
}

impl TraceSource {
    pub fn name(&self) -> String {
        printable(&self.path.display().to_string())
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// Requests without length, or of no known kind.
    pub unusable: u64,
    /// Requests with a time before that of one that is earlier in the file; they have its time.
    pub reordered: u64,
    /// Requests of other devices than the one asked for.
    pub other_devices: u64,
}

pub struct TraceReader {
    name: String,
    input: Box<dyn BufRead + Send>,
    format: TraceFormat,
    parser: LineParser,
    device: Option<String>,
    line: Vec<u8>,
    number: u64,
    first_ns: Option<u64>,
    last: Nanos,
    /// The request behind a flush of the same line.
    next: Option<RawRecord>,
    counts: ReadCounts,
}

impl TraceReader {
    pub fn open(source: &TraceSource) -> Result<TraceReader, TraceError> {
        let name = source.name();
        let unreadable = |error: io::Error| TraceError::Unreadable {
            file: name.clone(),
            why: error.to_string(),
        };
        let unsuitable = |what: &str, advice: String| TraceError::Unsuitable {
            file: name.clone(),
            what: what.to_owned(),
            advice,
        };
        let file = File::open(&source.path).map_err(unreadable)?;
        if !file.metadata().map_err(unreadable)?.is_file() {
            return Err(unsuitable(
                "is no regular file",
                "a trace is read more than once: save it into a file first".to_owned(),
            ));
        }
        let mut input = BufReader::with_capacity(BUFFER_BYTES, file);
        let head = input.fill_buf().map_err(unreadable)?;
        let magic = head.first_chunk().copied().map(u32::from_ne_bytes);
        let is_blktrace = |magic: u32| {
            [magic, magic.swap_bytes()]
                .iter()
                .any(|magic| magic & 0xffff_ff00 == BLKTRACE)
        };
        if head.starts_with(GZIP) {
            return Err(unsuitable(
                "is compressed with gzip, which is not read here",
                format!("unpack it with: gzip -dk {name}"),
            ));
        }
        if magic.is_some_and(is_blktrace) {
            return Err(unsuitable(
                "is a binary file of blktrace",
                "make text of it with: blkparse -i FILE -o FILE.txt".to_owned(),
            ));
        }
        let input: Box<dyn BufRead + Send> = match head.starts_with(ZSTD) {
            true => {
                let decoder =
                    zstd::stream::read::Decoder::with_buffer(input).map_err(unreadable)?;
                Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder))
            }
            false => Box::new(input),
        };
        TraceReader::new(name, input, source.format, source.device.clone())
    }

    pub fn new(
        name: String,
        mut input: Box<dyn BufRead + Send>,
        format: Option<TraceFormat>,
        device: Option<String>,
    ) -> Result<TraceReader, TraceError> {
        let head = input.fill_buf().map_err(|error| TraceError::Unreadable {
            file: name.clone(),
            why: error.to_string(),
        })?;
        let head = String::from_utf8_lossy(head).into_owned();
        let detected = format.or_else(|| TraceFormat::detect(&head));
        let format = detected.ok_or_else(|| TraceError::Unsuitable {
            file: name.clone(),
            what: match head.is_empty() {
                true => "is empty".to_owned(),
                false => "is in no known format".to_owned(),
            },
            advice: format!(
                "--trace_format takes {} (docs/traces.md shows a line of each)",
                TraceFormat::NAMES
            ),
        })?;
        Ok(TraceReader {
            name,
            input,
            format,
            parser: LineParser::new(format, &head),
            device,
            line: Vec::new(),
            number: 0,
            first_ns: None,
            last: Nanos::ZERO,
            next: None,
            counts: ReadCounts::default(),
        })
    }

    pub fn format(&self) -> TraceFormat {
        self.format
    }

    pub fn counts(&self) -> ReadCounts {
        self.counts
    }

    /// `seen` gets the device of every request, before those of other devices are left out.
    pub fn next_seeing(
        &mut self,
        seen: &mut dyn FnMut(&str),
    ) -> Result<Option<TraceRecord>, TraceError> {
        loop {
            if let Some(raw) = self.next.take() {
                return self.record(raw).map(Some);
            }
            if !self.read_line()? {
                return Ok(None);
            }
            let line = String::from_utf8_lossy(&self.line);
            let parsed = match self.parser.line(&line, self.number) {
                Ok(parsed) => parsed,
                Err(what) => return Err(self.wrong(&what)),
            };
            if parsed.is_unknown {
                self.counts.unusable += 1;
            }
            let [Some(first), second] = parsed.records else {
                continue;
            };
            seen(parsed.device);
            if let Some(wanted) = &self.device
                && wanted != parsed.device
            {
                self.counts.other_devices += 1;
                continue;
            }
            if first.len_bytes == 0 && first.op != assay_units::Op::Flush {
                self.counts.unusable += 1;
                continue;
            }
            self.next = second;
            return self.record(first).map(Some);
        }
    }

    /// The next request; `None` at the end.
    pub fn next_record(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        self.next_seeing(&mut |_| {})
    }

    fn record(&mut self, raw: RawRecord) -> Result<TraceRecord, TraceError> {
        let end = raw.offset_bytes.checked_add(raw.len_bytes);
        if end.is_none_or(|end| end > END_BYTES) {
            return Err(self.wrong("the request ends beyond 8 EiB"));
        }
        let first_ns = *self.first_ns.get_or_insert(raw.time_ns);
        let since = raw.time_ns.checked_sub(first_ns).map(Nanos);
        let time = match since {
            Some(since) if since >= self.last => since,
            _ => {
                self.counts.reordered += 1;
                self.last
            }
        };
        self.last = time;
        Ok(TraceRecord {
            time,
            op: raw.op,
            offset_bytes: raw.offset_bytes,
            len_bytes: raw.len_bytes,
            response: raw.response_ns.map(Nanos),
            fua: raw.fua,
        })
    }

    fn read_line(&mut self) -> Result<bool, TraceError> {
        self.line.clear();
        self.number += 1;
        let limit = MAX_LINE_BYTES as u64 + 1;
        let read = (&mut *self.input)
            .take(limit)
            .read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| TraceError::Unreadable {
            file: self.name.clone(),
            why: format!("line {}: {error}", self.number),
        })?;
        if read > MAX_LINE_BYTES {
            return Err(self.wrong(&format!("the line is longer than {MAX_LINE_BYTES} bytes")));
        }
        Ok(read > 0)
    }

    fn wrong(&self, what: &str) -> TraceError {
        let line = String::from_utf8_lossy(&self.line);
        let quoted: String = line.trim_end().chars().take(QUOTED_CHARS).collect();
        TraceError::Line {
            file: self.name.clone(),
            line: self.number,
            what: printable(&format!("{what}: {quoted}")),
            advice: format!(
                "the file is read as {}: remove the line, or give its format with --trace_format",
                self.format.description()
            ),
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/reader.rs"]
mod tests;
