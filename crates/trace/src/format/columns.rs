//! Traces with a request per line and a fixed column for each of its properties. The columns of the
//! published formats, counted from one:
//!
//! ```text
//! msr          Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime   100 ns; bytes
//! systor       Timestamp,Response,IOType,LUN,Offset,Size                     s; bytes
//! alibaba      device_id,opcode,offset,length,timestamp                      us; bytes
//! spc          ASU,LBA,Size,Opcode,Timestamp                                 s; sectors, bytes
//! tencent      Timestamp,Offset,Size,IOType,VolumeID                         s; sectors; 0 reads
//! libcachesim  version,time,op,size,lbn                                      us; bytes, sectors
//! mqsim        Time Device Address Size Type                                 ns; sectors; 0 writes
//! disksim      Time Device Address Size Flags                                ms; sectors
//! fiu          Time PID Process Address Size Op Major Minor MD5              ns; sectors
//! ```
//!
//! Operations of libcachesim are SCSI operation codes; bit 0 of the flags of disksim is set of a
//! read. A request of SYSTOR '17 without a type is one whose response was not recorded; it is left
//! out and counted.

mod op_codes;

use assay_units::text::{UCUM_MICROSECOND, did_you_mean};
use assay_units::{Op, SECTOR_BYTES};

use super::{Parsed, RawRecord, TraceFormat, dates, decimal_ns, whole};
use crate::TraceError;
pub use op_codes::OpCodes;
pub(super) use op_codes::scsi_operation;

/// Most columns of a line that are looked at; what follows is no property of a request.
const MOST_COLUMNS: usize = 32;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

/// A column, counted from zero, and its unit: nanoseconds or bytes.
type Column = (u8, u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Columns {
    /// Between columns; `None`: spaces and tabs.
    separator: Option<char>,
    /// A line has so many, and more where `open_ended`.
    count: u8,
    open_ended: bool,
    time: Column,
    /// `None`: all are reads.
    op: Option<(u8, OpCodes)>,
    /// May be empty, for a request that is left out.
    op_may_miss: bool,
    offset: Column,
    size: Column,
    /// First and last of adjacent columns that name the device together.
    device: Option<(u8, u8)>,
    response: Option<Column>,
}

/// In the order in which they are looked for; else spaces and tabs.
const SEPARATORS: [char; 3] = [',', ';', '|'];

const PLAIN: Columns = Columns {
    separator: Some(','),
    count: 5,
    open_ended: false,
    time: (0, S),
    op: None,
    op_may_miss: false,
    offset: (0, 1),
    size: (0, 1),
    device: None,
    response: None,
};

/// In the order in which a line is tried.
const FORMATS: [(TraceFormat, Columns); 9] = [
    (
        TraceFormat::Msr,
        Columns {
            count: 7,
            time: (0, 100),
            device: Some((1, 2)),
            op: Some((3, OpCodes::Letters)),
            offset: (4, 1),
            size: (5, 1),
            response: Some((6, 100)),
            ..PLAIN
        },
    ),
    (
        TraceFormat::Systor,
        Columns {
            count: 6,
            response: Some((1, S)),
            op: Some((2, OpCodes::Letters)),
            op_may_miss: true,
            device: Some((3, 3)),
            offset: (4, 1),
            size: (5, 1),
            ..PLAIN
        },
    ),
    (
        TraceFormat::Alibaba,
        Columns {
            device: Some((0, 0)),
            op: Some((1, OpCodes::Letters)),
            offset: (2, 1),
            size: (3, 1),
            time: (4, US),
            ..PLAIN
        },
    ),
    (
        TraceFormat::Spc,
        Columns {
            open_ended: true,
            device: Some((0, 0)),
            offset: (1, SECTOR_BYTES),
            size: (2, 1),
            op: Some((3, OpCodes::Letters)),
            time: (4, S),
            ..PLAIN
        },
    ),
    (
        TraceFormat::Tencent,
        Columns {
            offset: (1, SECTOR_BYTES),
            size: (2, SECTOR_BYTES),
            op: Some((3, OpCodes::ZeroReads)),
            device: Some((4, 4)),
            ..PLAIN
        },
    ),
    (
        TraceFormat::LibCacheSim,
        Columns {
            time: (1, US),
            op: Some((2, OpCodes::Scsi)),
            size: (3, 1),
            offset: (4, SECTOR_BYTES),
            ..PLAIN
        },
    ),
    (
        TraceFormat::Fiu,
        Columns {
            separator: None,
            count: 8,
            open_ended: true,
            time: (0, 1),
            offset: (3, SECTOR_BYTES),
            size: (4, SECTOR_BYTES),
            op: Some((5, OpCodes::Letters)),
            device: Some((6, 7)),
            ..PLAIN
        },
    ),
    (
        TraceFormat::Mqsim,
        Columns {
            separator: None,
            time: (0, 1),
            device: Some((1, 1)),
            offset: (2, SECTOR_BYTES),
            size: (3, SECTOR_BYTES),
            op: Some((4, OpCodes::OneReads)),
            ..PLAIN
        },
    ),
    (
        TraceFormat::Disksim,
        Columns {
            separator: None,
            time: (0, MS),
            device: Some((1, 1)),
            offset: (2, SECTOR_BYTES),
            size: (3, SECTOR_BYTES),
            op: Some((4, OpCodes::OneReads)),
            ..PLAIN
        },
    ),
];

impl TraceFormat {
    pub(super) fn columns(self) -> Option<Columns> {
        let found = FORMATS.iter().find(|(format, _)| *format == self);
        match self {
            TraceFormat::Columns(columns) => Some(columns),
            _ => found.map(|(_, columns)| *columns),
        }
    }
}

/// First lines that name the columns.
const HEADERS: [(&str, TraceFormat); 4] = [
    ("timestamp,hostname,disknumber,", TraceFormat::Msr),
    ("timestamp,response,iotype,", TraceFormat::Systor),
    ("device_id,opcode,", TraceFormat::Alibaba),
    ("version,time,op,size,lbn", TraceFormat::LibCacheSim),
];

/// `None` for a line that could be of several formats, or of none.
pub(super) fn detect(line: &str) -> Option<TraceFormat> {
    let lower = line.to_ascii_lowercase();
    let header = HEADERS.iter().find(|(start, _)| lower.starts_with(start));
    if let Some((_, format)) = header {
        return Some(*format);
    }
    // MQSim's times are whole nanoseconds, DiskSim's decimal milliseconds.
    let first = line.split_whitespace().next().unwrap_or_default();
    let other = match first.contains('.') {
        true => TraceFormat::Mqsim,
        false => TraceFormat::Disksim,
    };
    let fits = |(format, columns): &&(TraceFormat, Columns)| {
        let parsed = columns.line(line, *format);
        *format != other && matches!(parsed, Ok(parsed) if parsed != Parsed::NOTHING)
    };
    FORMATS.iter().find(fits).map(|(format, _)| *format)
}

impl Columns {
    /// `time=5:us,op=2,offset=3:512,size=4,device=1`, columns counted from one.
    ///
    /// # Errors
    ///
    /// An unknown name, unit or column; without time, offset or size.
    pub fn parse(text: &str) -> Result<Columns, TraceError> {
        const NAMES: &str = "time, offset, size, op, device, response";
        let wrong = |expected: String| TraceError::Option {
            option: "trace_columns",
            given: text.to_owned(),
            expected,
        };
        let mut columns = Columns { count: 0, open_ended: true, ..PLAIN };
        let mut found = [false; 3];
        for part in text.split(',').map(str::trim) {
            let example = || {
                wrong(format!(
                    "{part:?} is not NAME=COLUMN or NAME=COLUMN:UNIT, e.g. \
                     time=5:us,op=2,offset=3:512,size=4,device=1"
                ))
            };
            let (name, column) = part.split_once('=').ok_or_else(example)?;
            let (column, unit) = column.split_once(':').map_or((column, ""), |(c, u)| (c, u));
            let column: u8 = column.trim().parse().map_err(|_| example())?;
            if column == 0 || usize::from(column) > MOST_COLUMNS {
                return Err(wrong(format!("columns are counted from 1 to {MOST_COLUMNS}")));
            }
            columns.count = columns.count.max(column);
            let at = column - 1;
            let time = || {
                time_unit(unit)
                    .ok_or_else(|| wrong("times are in s, ms, us, ns or 100ns".to_owned()))
            };
            let size = || {
                size_unit(unit).ok_or_else(|| {
                    wrong("sizes are in bytes, or in units of so many: offset=3:512".to_owned())
                })
            };
            match name.trim() {
                "time" => (columns.time, found[0]) = ((at, time()?), true),
                "offset" => (columns.offset, found[1]) = ((at, size()?), true),
                "size" => (columns.size, found[2]) = ((at, size()?), true),
                "response" => columns.response = Some((at, time()?)),
                "device" => columns.device = Some((at, at)),
                "op" => {
                    let codes = op_codes(unit).ok_or_else(|| {
                        wrong(
                            "operations are letters, 0=read, 1=read or scsi: op=2:0=read"
                                .to_owned(),
                        )
                    })?;
                    columns.op = Some((at, codes));
                }
                other => {
                    return Err(wrong(format!(
                        "{other:?} is not one of: {NAMES}{}",
                        did_you_mean(other, NAMES)
                    )));
                }
            }
        }
        match found {
            [true, true, true] => Ok(columns),
            _ => Err(wrong("time, offset and size are needed".to_owned())),
        }
    }

    /// The same columns between what the first line has between them.
    pub(super) fn between(self, head: &str) -> Columns {
        let data = head.lines().find(|line| !super::is_comment(line));
        Columns {
            separator: SEPARATORS
                .into_iter()
                .find(|&separator| data.is_some_and(|line| line.contains(separator))),
            ..self
        }
    }

    fn time_ns(&self, found: &[&str]) -> Option<u64> {
        let at = usize::from(self.time.0);
        let time = *found.get(at)?;
        let date = || dates::since_1970_ns(time, found.get(at + 1).copied());
        decimal_ns(time, self.time.1).or_else(date)
    }

    /// `format` names it in errors.
    pub(super) fn line<'a>(
        &self,
        line: &'a str,
        format: TraceFormat,
    ) -> Result<Parsed<'a>, String> {
        let mut found = [""; MOST_COLUMNS];
        let mut count = 0;
        let mut take = |column: &'a str| {
            if let Some(slot) = found.get_mut(count) {
                *slot = unquoted(column.trim());
            }
            count += 1;
        };
        match self.separator {
            Some(separator) => line.split(separator).for_each(&mut take),
            None => line.split_whitespace().for_each(&mut take),
        }
        let wanted = usize::from(self.count);
        if count < wanted || count > wanted && !self.open_ended {
            let more = if self.open_ended { " or more" } else { "" };
            return Err(format!("a line of {} has {wanted}{more} columns", format.description()));
        }
        let column = |at: u8| found[usize::from(at)];
        let device = self.device.map_or("", |(first, last)| {
            let (first, last) = (column(first), column(last));
            // Both are parts of the line, in this order.
            let start = first.as_ptr() as usize - line.as_ptr() as usize;
            let end = last.as_ptr() as usize - line.as_ptr() as usize + last.len();
            &line[start..end]
        });
        let op = match self.op {
            None => Op::Read,
            Some((at, _)) if column(at).is_empty() && self.op_may_miss => {
                return Ok(Parsed::unknown(device));
            }
            Some((at, codes)) => match codes.operation(column(at)) {
                Some(op) => op,
                // SCSI commands that move no data.
                None if codes == OpCodes::Scsi && u16::from_str_radix(column(at), 16).is_ok() => {
                    return Ok(Parsed::unknown(device));
                }
                None => return Err(format!("the type {:?} is no operation", column(at))),
            },
        };
        let time_ns = (self.time_ns(&found))
            .ok_or("its time is not a number of the format's unit, nor a date, or too large")?;
        if op == Op::Flush {
            return Ok(Parsed::one(device, RawRecord::flush(time_ns)));
        }
        let bytes = |field: &str, (at, unit): Column| {
            let bytes = whole(field, column(at))?.checked_mul(unit);
            bytes.ok_or_else(|| format!("the {field} is beyond 2^64 bytes"))
        };
        Ok(Parsed::one(
            device,
            RawRecord {
                time_ns,
                op,
                offset_bytes: bytes("offset", self.offset)?,
                len_bytes: bytes("size", self.size)?,
                response_ns: self.response.and_then(|(at, unit)| decimal_ns(column(at), unit)),
                fua: false,
            },
        ))
    }
}

/// As [`Columns::parse`] takes it.
impl std::fmt::Display for Columns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let time = |unit_ns| match unit_ns {
            S => "s",
            MS => "ms",
            US => UCUM_MICROSECOND,
            100 => "100ns",
            _ => "ns",
        };
        let (at, unit) = self.time;
        write!(f, "time={}:{}", at + 1, time(unit))?;
        for (name, (at, unit)) in [("offset", self.offset), ("size", self.size)] {
            write!(f, ",{name}={}:{unit}", at + 1)?;
        }
        if let Some((at, codes)) = self.op {
            let codes = match codes {
                OpCodes::Letters => "letters",
                OpCodes::ZeroReads => "0=read",
                OpCodes::OneReads => "1=read",
                OpCodes::Scsi => "scsi",
            };
            write!(f, ",op={}:{codes}", at + 1)?;
        }
        if let Some((at, _)) = self.device {
            write!(f, ",device={}", at + 1)?;
        }
        if let Some((at, unit)) = self.response {
            write!(f, ",response={}:{}", at + 1, time(unit))?;
        }
        Ok(())
    }
}

fn time_unit(text: &str) -> Option<u64> {
    Some(match text.trim() {
        "" | "s" => S,
        "ms" => MS,
        UCUM_MICROSECOND => US,
        "100ns" => 100,
        "ns" => 1,
        _ => return None,
    })
}

fn size_unit(text: &str) -> Option<u64> {
    match text.trim() {
        "" | "b" | "bytes" => Some(1),
        "sectors" => Some(SECTOR_BYTES),
        unit => assay_units::parse_size(unit).ok().filter(|unit| *unit > 0),
    }
}

fn op_codes(text: &str) -> Option<OpCodes> {
    Some(match text.trim() {
        "" | "letters" => OpCodes::Letters,
        "0=read" => OpCodes::ZeroReads,
        "1=read" => OpCodes::OneReads,
        "scsi" => OpCodes::Scsi,
        _ => return None,
    })
}

fn unquoted(column: &str) -> &str {
    let text = column.strip_prefix('"');
    text.and_then(|text| text.strip_suffix('"')).unwrap_or(column)
}

/// Whether this names columns and is no request.
pub(super) fn is_header(line: &str) -> bool {
    let first = line.split([',', ';', '|', ' ', '\t']).next().unwrap_or_default();
    first.trim_start_matches('"').starts_with(|c: char| c.is_ascii_alphabetic())
}
