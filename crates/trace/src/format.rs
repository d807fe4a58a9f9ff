mod blkparse;
mod csv;
mod iolog;

use std::str::FromStr;

use assay_units::Op;
use assay_units::text::did_you_mean;

use crate::TraceError;
use blkparse::Blkparse;
use csv::CsvTrace;
use iolog::Iolog;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TraceFormat {
    /// Requests queued (Q), or issued to the driver (D) where none is queued.
    Blkparse,
    /// fio's iolog, version 2 or 3 by its first line.
    Iolog,
    Msr,
    Systor,
    Alibaba,
}

impl TraceFormat {
    pub const ALL: [TraceFormat; 5] = [
        TraceFormat::Blkparse,
        TraceFormat::Iolog,
        TraceFormat::Msr,
        TraceFormat::Systor,
        TraceFormat::Alibaba,
    ];
    pub const NAMES: &'static str = "auto, blkparse, iolog, msr, systor, alibaba";

    pub fn name(self) -> &'static str {
        match self {
            TraceFormat::Blkparse => "blkparse",
            TraceFormat::Iolog => "iolog",
            TraceFormat::Msr => "msr",
            TraceFormat::Systor => "systor",
            TraceFormat::Alibaba => "alibaba",
        }
    }

    pub fn description(self) -> &'static str {
        match self {
            TraceFormat::Blkparse => "text of blkparse",
            TraceFormat::Iolog => "fio iolog",
            TraceFormat::Msr => "MSR Cambridge CSV",
            TraceFormat::Systor => "SYSTOR '17 CSV",
            TraceFormat::Alibaba => "Alibaba CSV",
        }
    }

    /// `auto` is none.
    pub fn parse(text: &str) -> Result<Option<TraceFormat>, TraceError> {
        match text {
            "auto" => Ok(None),
            _ => text.parse().map(Some),
        }
    }

    /// `None` where no line of it is like one of a known format.
    pub fn detect(head: &str) -> Option<TraceFormat> {
        head.lines().take(DETECTION_LINES).find_map(detect_line)
    }
}

/// Lines of a file that are looked at for its format: blkparse may begin with messages.
const DETECTION_LINES: usize = 50;

fn detect_line(line: &str) -> Option<TraceFormat> {
    if line.starts_with("fio version ") {
        return Some(TraceFormat::Iolog);
    }
    if blkparse::is_event(line) {
        return Some(TraceFormat::Blkparse);
    }
    csv::detect(line)
}

impl FromStr for TraceFormat {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<TraceFormat, TraceError> {
        let found = TraceFormat::ALL.into_iter().find(|f| f.name() == text);
        found.ok_or_else(|| TraceError::Option {
            option: "trace_format",
            given: text.to_owned(),
            expected: format!(
                "not one of: {}{}",
                TraceFormat::NAMES,
                did_you_mean(text, TraceFormat::NAMES)
            ),
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
}

impl<'a> Parsed<'a> {
    pub(crate) const NOTHING: Parsed<'static> = Parsed {
        device: "",
        records: [None; 2],
        is_unknown: false,
    };

    pub(crate) fn one(device: &'a str, record: RawRecord) -> Parsed<'a> {
        Parsed {
            device,
            records: [Some(record), None],
            is_unknown: false,
        }
    }

    pub(crate) fn unknown(device: &'a str) -> Parsed<'a> {
        Parsed {
            device,
            is_unknown: true,
            ..Parsed::NOTHING
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum LineParser {
    Blkparse(Blkparse),
    Iolog(Iolog),
    Csv(CsvTrace),
}

impl LineParser {
    pub(crate) fn new(format: TraceFormat, head: &str) -> LineParser {
        match format {
            TraceFormat::Blkparse => LineParser::Blkparse(Blkparse::new(head)),
            TraceFormat::Iolog => LineParser::Iolog(Iolog::default()),
            TraceFormat::Msr | TraceFormat::Systor | TraceFormat::Alibaba => {
                LineParser::Csv(CsvTrace::new(format))
            }
        }
    }

    pub(crate) fn line<'a>(&mut self, line: &'a str, number: u64) -> Result<Parsed<'a>, String> {
        let line = line.trim_end_matches(['\r', '\n']);
        match self {
            LineParser::Blkparse(parser) => parser.line(line),
            LineParser::Iolog(parser) => parser.line(line, number),
            LineParser::Csv(parser) => parser.line(line, number),
        }
    }
}

pub(crate) fn whole(field: &str, text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("the {field} {text:?} is not a whole number below 2^64"))
}

/// Decimal seconds as nanoseconds, exactly; digits below a nanosecond are cut.
pub(crate) fn seconds_ns(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let mut nanos = 0;
    for digit in fraction.bytes().chain(std::iter::repeat(b'0')).take(9) {
        nanos = nanos * 10 + u64::from(digit - b'0');
    }
    let seconds: u64 = whole.parse().ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(nanos)
}

#[cfg(test)]
#[path = "../tests/unit/format.rs"]
mod tests;
