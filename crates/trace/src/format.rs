mod binary;
mod biosnoop;
mod blkparse;
mod columns;
mod dates;
mod ftrace;
mod iolog;

use std::str::FromStr;

use assay_units::Op;
use assay_units::text::did_you_mean;

use crate::TraceError;
pub(crate) use binary::{BinaryTrace, Bytes, RecordError};
use biosnoop::Biosnoop;
use blkparse::Blkparse;
pub use columns::Columns;
use ftrace::Ftrace;
use iolog::Iolog;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TraceFormat {
    /// Requests queued (Q), or issued to the driver (D) where none is queued.
    Blkparse,
    Blktrace,
    Ftrace,
    Biosnoop,
    /// fio's iolog, version 2 or 3 by its first line.
    Iolog,
    Msr,
    Systor,
    Alibaba,
    Tencent,
    Spc,
    Fiu,
    Mqsim,
    Disksim,
    LibCacheSim,
    Vscsi,
    OracleGeneral,
    /// Columns that the user named.
    Columns(Columns),
}

/// Every format but columns: its name and what it is.
const NAMED: [(TraceFormat, &str, &str); 16] = [
    (TraceFormat::Blkparse, "blkparse", "text of blkparse"),
    (TraceFormat::Blktrace, "blktrace", "binary file of blktrace"),
    (TraceFormat::Ftrace, "ftrace", "block events of ftrace"),
    (TraceFormat::Biosnoop, "biosnoop", "text of biosnoop"),
    (TraceFormat::Iolog, "iolog", "fio iolog"),
    (TraceFormat::Msr, "msr", "MSR Cambridge CSV"),
    (TraceFormat::Systor, "systor", "SYSTOR '17 CSV"),
    (TraceFormat::Alibaba, "alibaba", "Alibaba CSV"),
    (TraceFormat::Tencent, "tencent", "Tencent CBS CSV"),
    (TraceFormat::Spc, "spc", "SPC (UMass) CSV"),
    (TraceFormat::Fiu, "fiu", "FIU text"),
    (TraceFormat::Mqsim, "mqsim", "MQSim text"),
    (TraceFormat::Disksim, "disksim", "DiskSim text"),
    (TraceFormat::LibCacheSim, "libcachesim", "libCacheSim CSV of SCSI commands"),
    (TraceFormat::Vscsi, "vscsi", "vscsi records"),
    (TraceFormat::OracleGeneral, "oracle_general", "libCacheSim oracleGeneral records"),
];

impl TraceFormat {
    /// What the option `trace_format` takes.
    pub fn option_values() -> String {
        let names: Vec<&str> = NAMED.iter().map(|(_, name, _)| *name).collect();
        format!("auto, {}", names.join(", "))
    }

    /// All but columns.
    pub fn all() -> impl Iterator<Item = TraceFormat> {
        NAMED.iter().map(|(format, ..)| *format)
    }

    fn names(self) -> (&'static str, &'static str) {
        let named = NAMED.iter().find(|(format, ..)| *format == self);
        named.map_or(("columns", "lines with these columns"), |(_, name, what)| (name, what))
    }

    pub fn name(self) -> &'static str {
        self.names().0
    }

    pub fn description(self) -> &'static str {
        self.names().1
    }

    pub fn is_binary(self) -> bool {
        matches!(self, TraceFormat::Blktrace | TraceFormat::Vscsi | TraceFormat::OracleGeneral)
    }

    /// It says when a request of one device becomes a request of a device below.
    pub(crate) fn has_remaps(self) -> bool {
        matches!(self, TraceFormat::Blkparse | TraceFormat::Blktrace | TraceFormat::Ftrace)
    }

    /// Of the options `trace_format`, where `auto` is none, and `trace_columns`.
    ///
    /// # Errors
    ///
    /// An unknown name; columns beside a format that has its own.
    pub fn parse(
        format: Option<&str>,
        columns: Option<&str>,
    ) -> Result<Option<TraceFormat>, TraceError> {
        let format = format.filter(|name| *name != "auto");
        match (format, columns) {
            (None, None) => Ok(None),
            (None, Some(columns)) => Columns::parse(columns).map(TraceFormat::Columns).map(Some),
            (Some(format), None) => format.parse().map(Some),
            (Some(format), Some(_)) => Err(TraceError::Option {
                option: "trace_format",
                given: format.to_owned(),
                expected: "with --trace_columns, the columns are the format".to_owned(),
            }),
        }
    }

    /// `None` where no line of it is like one of a known format.
    pub fn detect(head: &[u8]) -> Option<TraceFormat> {
        binary::detect(head).or_else(|| {
            let head = String::from_utf8_lossy(head);
            let lines = head.lines().map(|line| line.trim_start_matches(BYTE_ORDER_MARK));
            lines.take(DETECTION_LINES).find_map(detect_line)
        })
    }
}

/// Lines of a file that are looked at for its format: blkparse may begin with messages.
const DETECTION_LINES: usize = 50;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// No format has a request that begins so.
pub(crate) fn is_comment(line: &str) -> bool {
    line.starts_with('#') || line.trim().is_empty()
}

fn detect_line(line: &str) -> Option<TraceFormat> {
    if is_comment(line) {
        return None;
    }
    if line.starts_with("fio version ") {
        return Some(TraceFormat::Iolog);
    }
    if blkparse::is_event(line) {
        return Some(TraceFormat::Blkparse);
    }
    if ftrace::is_event(line) {
        return Some(TraceFormat::Ftrace);
    }
    if biosnoop::is_header(line) || biosnoop::is_request(line) {
        return Some(TraceFormat::Biosnoop);
    }
    columns::detect(line)
}

impl FromStr for TraceFormat {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<TraceFormat, TraceError> {
        let found = NAMED.iter().find(|(_, name, _)| *name == text);
        found.map(|(format, ..)| *format).ok_or_else(|| {
            let values = TraceFormat::option_values();
            TraceError::Option {
                option: "trace_format",
                given: text.to_owned(),
                expected: format!("not one of: {values}{}", did_you_mean(text, &values)),
            }
        })
    }
}

/// A request as a line has it: its time is that of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawRecord {
    pub(crate) time_ns: u64,
    pub(crate) op: Op,
    pub(crate) offset_bytes: u64,
    pub(crate) len_bytes: u64,
    pub(crate) response_ns: Option<u64>,
    pub(crate) fua: bool,
}

impl RawRecord {
    pub(crate) fn flush(time_ns: u64) -> RawRecord {
        RawRecord {
            time_ns,
            op: Op::Flush,
            offset_bytes: 0,
            len_bytes: 0,
            response_ns: None,
            fua: false,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parsed<'a> {
    pub(crate) device: &'a str,
    pub(crate) records: [Option<RawRecord>; 2],
    /// A request of no known kind, which is left out.
    pub(crate) is_unknown: bool,
    /// The device whose request became one of a device below.
    pub(crate) remapped_from: Option<&'a str>,
    /// Its own time is before that of an earlier line, whose time it has instead.
    pub(crate) is_behind: bool,
}

impl<'a> Parsed<'a> {
    pub(crate) const NOTHING: Parsed<'static> = Parsed {
        device: "",
        records: [None; 2],
        is_unknown: false,
        remapped_from: None,
        is_behind: false,
    };

    pub(crate) fn remap(from: Option<&'a str>) -> Parsed<'a> {
        Parsed { remapped_from: from, ..Parsed::NOTHING }
    }

    pub(crate) fn one(device: &'a str, record: RawRecord) -> Parsed<'a> {
        Parsed { device, records: [Some(record), None], ..Parsed::NOTHING }
    }

    /// A flush before a request, or one of both; without either it is unknown.
    pub(crate) fn flushed(
        device: &'a str,
        flush: Option<RawRecord>,
        request: Option<RawRecord>,
    ) -> Parsed<'a> {
        let first = flush.or(request);
        Parsed {
            device,
            records: [first, flush.and(request)],
            is_unknown: first.is_none(),
            ..Parsed::NOTHING
        }
    }

    pub(crate) fn unknown(device: &'a str) -> Parsed<'a> {
        Parsed { device, is_unknown: true, ..Parsed::NOTHING }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum LineParser {
    Blkparse(Blkparse),
    Ftrace(Ftrace),
    Biosnoop(Biosnoop),
    Iolog(Iolog),
    /// Whether a line that is no comment has been read.
    Columns(Columns, TraceFormat, bool),
}

impl LineParser {
    /// `None` for a binary format.
    pub(crate) fn new(format: TraceFormat, head: &str) -> Option<LineParser> {
        Some(match format {
            TraceFormat::Blkparse => LineParser::Blkparse(Blkparse::new(head)),
            TraceFormat::Ftrace => LineParser::Ftrace(Ftrace::new(head)),
            TraceFormat::Biosnoop => LineParser::Biosnoop(Biosnoop::new(head)),
            TraceFormat::Iolog => LineParser::Iolog(Iolog::default()),
            TraceFormat::Columns(columns) => {
                LineParser::Columns(columns.between(head), format, false)
            }
            _ => LineParser::Columns(format.columns()?, format, false),
        })
    }

    pub(crate) fn line<'a>(&mut self, line: &'a str, number: u64) -> Result<Parsed<'a>, String> {
        let line = line.trim_end_matches(['\r', '\n']);
        let line = match number {
            1 => line.trim_start_matches(BYTE_ORDER_MARK),
            _ => line,
        };
        if is_comment(line) {
            return Ok(Parsed::NOTHING);
        }
        match self {
            LineParser::Blkparse(parser) => parser.line(line),
            LineParser::Ftrace(parser) => parser.line(line),
            LineParser::Biosnoop(parser) => parser.line(line),
            LineParser::Iolog(parser) => parser.line(line, number),
            LineParser::Columns(columns, format, begun) => {
                match !std::mem::replace(begun, true) && columns::is_header(line) {
                    true => Ok(Parsed::NOTHING),
                    false => columns.line(line, *format),
                }
            }
        }
    }
}

pub(crate) fn whole(field: &str, text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("the {field} {text:?} is not a whole number below 2^64"))
}

/// A decimal number of `unit_ns` as nanoseconds; what is below a nanosecond is cut.
pub(crate) fn decimal_ns(text: &str, unit_ns: u64) -> Option<u64> {
    /// Further digits of a fraction change nothing.
    const DIGITS: usize = 18;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let (mut part, mut of) = (0_u128, 1_u128);
    for digit in fraction.bytes().take(DIGITS) {
        part = part * 10 + u128::from(digit - b'0');
        of *= 10;
    }
    let part = part * u128::from(unit_ns) / of;
    let units: u64 = whole.parse().ok()?;
    units.checked_mul(unit_ns)?.checked_add(part as u64)
}

#[cfg(test)]
#[path = "../tests/unit/format.rs"]
mod tests;
