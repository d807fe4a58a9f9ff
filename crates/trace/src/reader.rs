use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, Read};
use std::path::PathBuf;

use assay_units::Nanos;
use assay_units::text::printable;

use crate::files::{files, open_file};
use crate::format::{BinaryTrace, Bytes, LineParser, Parsed, RawRecord, RecordError};
use crate::{TraceError, TraceFormat, TraceRecord, TraceSurvey};

/// Longest line of a trace, bytes: names of processes and files have limits far below.
pub const MAX_LINE_BYTES: usize = 4096;
/// Most of a line that an error quotes, characters.
const QUOTED_CHARS: usize = 80;
/// End of the addresses that a request may have: that of a Linux device.
const END_BYTES: u64 = 1 << 63;

/// Requests that are kept back to be put in order of their times, some 5 MiB: programs that record
/// on several processors, or at completion, write them out of order by much less.
const REORDERED: usize = 1 << 16;

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
    /// Requests that stand behind a later one in the file; they are put in order, those of an iolog
    /// have its time.
    pub reordered: u64,
    /// Requests of other devices than the one asked for.
    pub other_devices: u64,
    /// Requests of devices above another one of the trace, by its remappings: each is there again
    /// as a request of the device below.
    pub upper_devices: u64,
}

impl ReadCounts {
    pub fn add(&mut self, other: ReadCounts) {
        self.unusable += other.unusable;
        self.reordered += other.reordered;
        self.other_devices += other.other_devices;
        self.upper_devices += other.upper_devices;
    }
}

/// A request with its place in the file, in order of time.
#[derive(PartialEq, Eq)]
struct Queued {
    number: u64,
    device: u64,
    record: RawRecord,
}

impl Queued {
    fn key(&self) -> (u64, u64) {
        (self.record.time_ns, self.number)
    }
}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Queued) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Queued {
    fn cmp(&self, other: &Queued) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

enum Input {
    Lines { bytes: Bytes, parser: Box<LineParser>, line: Vec<u8> },
    Records(Box<BinaryTrace>),
}

pub struct TraceReader {
    name: String,
    input: Input,
    format: TraceFormat,
    device: Option<String>,
    /// Devices above others, whose requests are left out.
    upper: BTreeSet<String>,
    /// Lines or records read.
    number: u64,
    latest_ns: u64,
    has_ended: bool,
    /// Why it ended; what was read before comes first.
    failed: Option<TraceError>,
    queue: BinaryHeap<Reverse<Queued>>,
    queued: u64,
    first_ns: Option<u64>,
    last_ns: u64,
    counts: ReadCounts,
}

impl TraceReader {
    /// Reads a trace whose format names remappings once, to leave out what is above another device,
    /// unless a device is asked for.
    pub fn open(source: &TraceSource) -> Result<TraceReader, TraceError> {
        let mut reader = TraceReader::open_all(source)?;
        if reader.format.has_remaps() && source.device.is_none() {
            reader.upper = TraceReader::open_all(source)?.remapped()?;
        }
        Ok(reader)
    }

    /// A trace that was surveyed, whose devices above others are known.
    pub(crate) fn open_surveyed(
        source: &TraceSource,
        survey: &TraceSurvey,
    ) -> Result<TraceReader, TraceError> {
        let mut reader = TraceReader::open_all(source)?;
        reader.upper = survey.upper_devices.iter().cloned().collect();
        Ok(reader)
    }

    fn open_all(source: &TraceSource) -> Result<TraceReader, TraceError> {
        let inputs = files(&source.path)
            .iter()
            .map(|path| open_file(source, path))
            .collect::<Result<Vec<Bytes>, TraceError>>()?;
        // Nothing in such a file says what it is.
        let by_name = || {
            let name = source.path.file_name()?.to_string_lossy().to_ascii_lowercase();
            name.contains("oraclegeneral").then_some(TraceFormat::OracleGeneral)
        };
        let format = source.format.or_else(by_name);
        TraceReader::with_inputs(source.name(), inputs, format, source.device.clone())
    }

    pub fn new(
        name: String,
        input: Bytes,
        format: Option<TraceFormat>,
        device: Option<String>,
    ) -> Result<TraceReader, TraceError> {
        TraceReader::with_inputs(name, vec![input], format, device)
    }

    fn with_inputs(
        name: String,
        mut inputs: Vec<Bytes>,
        format: Option<TraceFormat>,
        device: Option<String>,
    ) -> Result<TraceReader, TraceError> {
        let unreadable = |error: io::Error| TraceError::Unreadable {
            file: name.clone(),
            why: error.to_string(),
        };
        let head = inputs[0].fill_buf().map_err(unreadable)?.to_vec();
        let detected = format.or_else(|| TraceFormat::detect(&head));
        let format = detected.ok_or_else(|| TraceError::Unsuitable {
            file: name.clone(),
            what: match head.is_empty() {
                true => "is empty".to_owned(),
                false => "is in no known format".to_owned(),
            },
            advice: format!(
                "--trace_format takes {}, and --trace_columns says which column is what, e.g. \
                 time=5:us,op=2,offset=3:512,size=4,device=1 (docs/traces.md)",
                TraceFormat::option_values()
            ),
        })?;
        let input = match LineParser::new(format, &String::from_utf8_lossy(&head)) {
            Some(parser) => Input::Lines {
                bytes: inputs.swap_remove(0),
                parser: Box::new(parser),
                line: Vec::new(),
            },
            None => {
                let trace = BinaryTrace::new(format, inputs);
                Input::Records(Box::new(trace.map_err(|e| record_error(&name, 1, format, e))?))
            }
        };
        Ok(TraceReader {
            name,
            input,
            format,
            device,
            upper: BTreeSet::new(),
            number: 0,
            latest_ns: 0,
            has_ended: false,
            failed: None,
            queue: BinaryHeap::new(),
            queued: 0,
            first_ns: None,
            last_ns: 0,
            counts: ReadCounts::default(),
        })
    }

    pub fn format(&self) -> TraceFormat {
        self.format
    }

    pub fn upper_devices(&self) -> Vec<String> {
        self.upper.iter().cloned().collect()
    }

    pub fn counts(&self) -> ReadCounts {
        self.counts
    }

    /// `seen` gets the device of every request, before those of other devices are left out.
    pub fn next_seeing(
        &mut self,
        seen: &mut dyn FnMut(&str),
    ) -> Result<Option<TraceRecord>, TraceError> {
        while !self.has_ended && self.queue.len() < REORDERED {
            if let Err(error) = self.read_more(seen) {
                (self.has_ended, self.failed) = (true, Some(error));
            }
        }
        match self.queue.pop() {
            Some(Reverse(queued)) => Ok(Some(self.record(&queued))),
            None => self.failed.clone().map_or(Ok(None), Err),
        }
    }

    /// The next request; `None` at the end.
    pub fn next_record(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        self.next_seeing(&mut |_| {})
    }

    /// Devices whose requests became requests of another device of the trace.
    fn remapped(mut self) -> Result<BTreeSet<String>, TraceError> {
        let mut found = BTreeSet::new();
        while let Some(parsed) = self.parse()? {
            if let Some(device) = parsed.remapped_from
                && !found.contains(device)
            {
                found.insert(device.to_owned());
            }
        }
        Ok(found)
    }

    /// The next line or record; `None` at the end.
    fn parse(&mut self) -> Result<Option<Parsed<'_>>, TraceError> {
        self.number += 1;
        let (name, number, format) = (&self.name, self.number, self.format);
        match &mut self.input {
            Input::Records(trace) => {
                trace.next().map_err(|error| record_error(name, number, format, error))
            }
            Input::Lines { bytes, parser, line } => {
                if !read_line(bytes, line, name, number)? {
                    return Ok(None);
                }
                // Bytes that are no text are in names of processes and files only.
                if std::str::from_utf8(line).is_err() {
                    *line = String::from_utf8_lossy(line).into_owned().into_bytes();
                }
                let text = std::str::from_utf8(line).unwrap_or_default();
                let parsed = parser.line(text, number);
                parsed.map(Some).map_err(|what| line_error(name, number, format, &what, text))
            }
        }
    }

    fn read_more(&mut self, seen: &mut dyn FnMut(&str)) -> Result<(), TraceError> {
        let (device_asked, upper) = (self.device.take(), std::mem::take(&mut self.upper));
        let read = self.parse().map(|parsed| {
            parsed.map(|parsed| {
                let [first, _] = parsed.records;
                let takes = first.is_some();
                if takes {
                    seen(parsed.device);
                }
                let is_other = device_asked.as_ref().is_some_and(|d| d != parsed.device);
                let is_upper = upper.contains(parsed.device);
                let mut hasher = DefaultHasher::new();
                parsed.device.hash(&mut hasher);
                (
                    parsed.records,
                    (parsed.is_unknown, parsed.is_behind),
                    takes && is_other,
                    takes && is_upper,
                    hasher.finish(),
                )
            })
        });
        (self.device, self.upper) = (device_asked, upper);
        let Some((records, (is_unknown, is_behind), is_other, is_upper, device)) = read? else {
            self.has_ended = true;
            return Ok(());
        };
        self.counts.unusable += u64::from(is_unknown);
        self.counts.other_devices += u64::from(is_other);
        self.counts.upper_devices += u64::from(is_upper);
        if is_other || is_upper {
            return Ok(());
        }
        self.counts.reordered += u64::from(is_behind);
        for record in records.into_iter().flatten() {
            self.enqueue(record, device)?;
        }
        Ok(())
    }

    fn enqueue(&mut self, record: RawRecord, device: u64) -> Result<(), TraceError> {
        if record.len_bytes == 0 && record.op != assay_units::Op::Flush {
            self.counts.unusable += 1;
            return Ok(());
        }
        let end = record.offset_bytes.checked_add(record.len_bytes);
        if end.is_none_or(|end| end > END_BYTES) {
            return Err(self.wrong("the request ends beyond 8 EiB"));
        }
        if self.first_ns.is_some() && record.time_ns < self.last_ns {
            let behind = Nanos(self.last_ns - record.time_ns);
            return Err(self.unordered(behind));
        }
        self.counts.reordered += u64::from(record.time_ns < self.latest_ns);
        self.latest_ns = self.latest_ns.max(record.time_ns);
        self.queued += 1;
        self.queue.push(Reverse(Queued { number: self.queued, device, record }));
        Ok(())
    }

    fn record(&mut self, queued: &Queued) -> TraceRecord {
        let raw = queued.record;
        let first_ns = *self.first_ns.get_or_insert(raw.time_ns);
        assert!(raw.time_ns >= self.last_ns, "the queue is in order");
        self.last_ns = raw.time_ns;
        TraceRecord {
            time: Nanos(raw.time_ns - first_ns),
            op: raw.op,
            device: queued.device,
            offset_bytes: raw.offset_bytes,
            len_bytes: raw.len_bytes,
            response: raw.response_ns.map(Nanos),
            fua: raw.fua,
        }
    }

    fn unordered(&self, behind: Nanos) -> TraceError {
        TraceError::Unsuitable {
            file: self.name.clone(),
            what: format!(
                "is not in the order of its times: request {} of it begins {behind} before one \
                 that stands more than {REORDERED} requests earlier",
                self.queued + 1
            ),
            advice: "files that were joined need to be sorted by their time (sort -n, with -t and \
                     -k for its column), or replayed one by one"
                .to_owned(),
        }
    }

    fn wrong(&self, what: &str) -> TraceError {
        let line = match &self.input {
            Input::Lines { line, .. } => String::from_utf8_lossy(line),
            Input::Records(_) => "".into(),
        };
        line_error(&self.name, self.number, self.format, what, &line)
    }
}

fn read_line(
    bytes: &mut Bytes,
    line: &mut Vec<u8>,
    name: &str,
    number: u64,
) -> Result<bool, TraceError> {
    line.clear();
    let limit = MAX_LINE_BYTES as u64 + 1;
    let read = bytes.take(limit).read_until(b'\n', line);
    let read = read.map_err(|error| TraceError::Unreadable {
        file: name.to_owned(),
        why: format!("line {number}: {error}"),
    })?;
    if read > MAX_LINE_BYTES {
        return Err(TraceError::Unsuitable {
            file: format!("{name}:{number}"),
            what: format!("the line is longer than {MAX_LINE_BYTES} bytes"),
            advice: "it is no trace, or a binary one: give its format with --trace_format"
                .to_owned(),
        });
    }
    Ok(read > 0)
}

fn line_error(name: &str, number: u64, format: TraceFormat, what: &str, line: &str) -> TraceError {
    let quoted: String = line.trim_end().chars().take(QUOTED_CHARS).collect();
    TraceError::Line {
        file: name.to_owned(),
        line: number,
        what: printable(&format!("{what}: {quoted}")),
        advice: format!(
            "the file is read as {}: remove the line, or give its format with --trace_format",
            format.description()
        ),
    }
}

fn record_error(name: &str, number: u64, format: TraceFormat, error: RecordError) -> TraceError {
    match error {
        RecordError::Unreadable(error) => TraceError::Unreadable {
            file: name.to_owned(),
            why: format!("record {number}: {error}"),
        },
        RecordError::Wrong(what) => TraceError::Unsuitable {
            file: name.to_owned(),
            what: format!("{what} (record {number})"),
            advice: format!(
                "the file is read as {}: record it again, or give its format with --trace_format",
                format.description()
            ),
        },
    }
}

#[cfg(test)]
#[path = "../tests/unit/reader.rs"]
mod tests;
