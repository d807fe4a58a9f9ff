//! CSV files of published traces. The order of the columns is that of their descriptions:
//!
//! ```text
//! MSR Cambridge  Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime   100 ns since 1601, bytes
//! SYSTOR '17     Timestamp,Response,IOType,LUN,Offset,Size                     seconds since 1970, bytes
//! Alibaba        device_id,opcode,offset,length,timestamp                      microseconds since 1970, bytes
//! ```
//!
//! A request of SYSTOR '17 without a type is one whose response was not recorded; it is left out
//! and counted.

use assay_units::Op;

use super::{Parsed, RawRecord, TraceFormat, seconds_ns, whole};

#[derive(Clone, Debug)]
pub(crate) struct CsvTrace(TraceFormat);

const MOST_COLUMNS: usize = 7;

/// The columns of a line; none where it has more than a format has.
fn columns(line: &str) -> Option<([&str; MOST_COLUMNS], usize)> {
    let mut columns = [""; MOST_COLUMNS];
    let mut count = 0;
    for column in line.split(',') {
        *columns.get_mut(count)? = column.trim();
        count += 1;
    }
    Some((columns, count))
}

fn operation(text: &str) -> Option<Op> {
    match text {
        "R" | "r" | "Read" | "read" => Some(Op::Read),
        "W" | "w" | "Write" | "write" => Some(Op::Write),
        _ => None,
    }
}

fn is_header(line: &str) -> bool {
    let line = line.trim_start_matches('\u{feff}').to_ascii_lowercase();
    line.starts_with("timestamp,") || line.starts_with("device_id,")
}

pub(super) fn detect(line: &str) -> Option<TraceFormat> {
    let (columns, count) = columns(line)?;
    let is_number = |at: usize| columns[at].parse::<u64>().is_ok();
    let found = match count {
        7 if operation(columns[3]).is_some() && is_number(0) => TraceFormat::Msr,
        6 if seconds_ns(columns[0]).is_some()
            && (columns[2].is_empty() || operation(columns[2]).is_some()) =>
        {
            TraceFormat::Systor
        }
        5 if operation(columns[1]).is_some() && is_number(4) => TraceFormat::Alibaba,
        count if is_header(line) => match count {
            7 => TraceFormat::Msr,
            6 => TraceFormat::Systor,
            5 => TraceFormat::Alibaba,
            _ => return None,
        },
        _ => return None,
    };
    Some(found)
}

impl CsvTrace {
    pub(super) fn new(format: TraceFormat) -> CsvTrace {
        CsvTrace(format)
    }

    pub(super) fn line<'a>(&self, line: &'a str, number: u64) -> Result<Parsed<'a>, String> {
        if line.trim().is_empty() || number == 1 && is_header(line) {
            return Ok(Parsed::NOTHING);
        }
        let wanted = match self.0 {
            TraceFormat::Systor => 6,
            TraceFormat::Alibaba => 5,
            _ => 7,
        };
        let found = columns(line).filter(|(_, count)| *count == wanted);
        let Some((c, _)) = found else {
            return Err(format!(
                "a line of {} has {wanted} columns",
                self.0.description()
            ));
        };
        let (time_ns, kind, device, offset, length) = match self.0 {
            TraceFormat::Systor => {
                let time = seconds_ns(c[0]);
                (time, c[2], c[3], c[4], c[5])
            }
            TraceFormat::Alibaba => {
                let time = whole("time", c[4])?.checked_mul(1000);
                (time, c[1], c[0], c[2], c[3])
            }
            _ => {
                let time = whole("time", c[0])?.checked_mul(100);
                (time, c[3], host_and_disk(line), c[4], c[5])
            }
        };
        let time_ns =
            time_ns.ok_or("its time is not a number of the format's unit, or too large")?;
        let op = match operation(kind) {
            Some(op) => op,
            None if kind.is_empty() && self.0 == TraceFormat::Systor => {
                return Ok(Parsed::unknown(device));
            }
            None => return Err(format!("the type {kind:?} is neither read nor write")),
        };
        Ok(Parsed::one(
            device,
            RawRecord {
                time_ns,
                op,
                offset_bytes: whole("offset", offset)?,
                len_bytes: whole("size", length)?,
                response_ns: match self.0 {
                    TraceFormat::Systor => seconds_ns(c[1]),
                    TraceFormat::Msr => c[6].parse::<u64>().ok().and_then(|t| t.checked_mul(100)),
                    _ => None,
                },
                fua: false,
            },
        ))
    }
}

/// `Hostname,DiskNumber` of a line of MSR Cambridge, which together name a device.
fn host_and_disk(line: &str) -> &str {
    let rest = line.split_once(',').map_or("", |(_, rest)| rest);
    let commas = rest.match_indices(',').nth(1);
    commas.map_or(rest, |(end, _)| &rest[..end])
}
