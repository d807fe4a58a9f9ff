//! Default text output of blkparse (blktrace 1.3, blkparse.1 "DEFAULT OUTPUT" and "TRACE ACTIONS";
//! `blkparse_fmt.c`):
//!
//! ```text
//! device cpu sequence seconds pid action RWBS sector + sectors [process]
//! ```
//!
//! Requests are those queued (Q), as fio's `blktrace.c` takes them; where the head of the file has
//! none, those issued to the driver (D). A preflush of a write is a flush before it.

use assay_units::{Op, SECTOR_BYTES};

use super::{Parsed, RawRecord, decimal_ns, whole};

#[derive(Clone, Debug)]
pub(crate) struct Blkparse {
    action: &'static str,
    in_summary: bool,
}

pub(super) fn is_event(line: &str) -> bool {
    let mut fields = line.split_whitespace();
    let device = fields.next().unwrap_or_default();
    let numbers = [fields.next(), fields.next()];
    let time = fields.next().and_then(seconds_ns);
    is_device(device) && numbers.iter().all(|n| n.is_some_and(is_number)) && time.is_some()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_device(text: &str) -> bool {
    text.split_once(',').is_some_and(|(major, minor)| is_number(major) && is_number(minor))
}

fn begins_summary(line: &str) -> bool {
    line.starts_with("CPU") || line.starts_with("Total") || line.starts_with("Throughput")
}

impl Blkparse {
    pub(super) fn new(head: &str) -> Blkparse {
        let has = |action: &str| {
            let is_action = |line: &str| line.split_whitespace().nth(5) == Some(action);
            head.lines().any(|line| is_event(line) && is_action(line))
        };
        Blkparse {
            action: match has("D") && !has("Q") {
                true => "D",
                false => "Q",
            },
            in_summary: false,
        }
    }

    pub(super) fn line<'a>(&mut self, line: &'a str) -> Result<Parsed<'a>, String> {
        if !is_event(line) {
            self.in_summary |= begins_summary(line);
            return match self.in_summary {
                true => Ok(Parsed::NOTHING),
                false => Err("no event (device, cpu, sequence, seconds, pid, action)".to_owned()),
            };
        }
        let mut fields = line.split_whitespace();
        let device = fields.next().unwrap_or_default();
        let seconds = fields.nth(2).unwrap_or_default();
        let action = fields.nth(1).ok_or("ends before its action")?;
        if action == "A" {
            return Ok(Parsed::remap(remapped_from(line)));
        }
        if action != self.action {
            return Ok(Parsed::NOTHING);
        }
        let kinds = fields.next().ok_or("ends before its RWBS field")?;
        let time_ns =
            seconds_ns(seconds).ok_or_else(|| format!("the time {seconds:?} is not in seconds"))?;
        let (sector, sectors) = match (fields.next(), fields.next(), fields.next()) {
            (Some(sector), Some("+"), Some(sectors)) => (sector, sectors),
            _ => ("0", "0"),
        };
        request(device, time_ns, kinds, sector, sectors)
    }
}

fn seconds_ns(text: &str) -> Option<u64> {
    decimal_ns(text, 1_000_000_000)
}

/// `253,0` of `... <- (253,0) 8192`.
pub(super) fn remapped_from(text: &str) -> Option<&str> {
    Some(text.split_once("<- (")?.1.split_once(')')?.0)
}

/// A request by its RWBS field and its sectors. A preflush of a write is a flush before it.
pub(super) fn request<'a>(
    device: &'a str,
    time_ns: u64,
    kinds: &str,
    sector: &str,
    sectors: &str,
) -> Result<Parsed<'a>, String> {
    let (sector, sectors) = (whole("sector", sector)?, whole("length", sectors)?);
    let flush = RawRecord::flush(time_ns);
    let Some(op) = operation(kinds)? else {
        return Ok(Parsed::NOTHING);
    };
    if op == Op::Flush {
        return Ok(Parsed::one(device, flush));
    }
    let bytes = |sectors: u64, what: &str| {
        let bytes = sectors.checked_mul(SECTOR_BYTES);
        bytes.ok_or_else(|| format!("the {what} of {sectors} sectors is beyond 2^64 bytes"))
    };
    let preflush = kinds.starts_with('F').then_some(flush);
    if sectors == 0 {
        return Ok(Parsed::flushed(device, preflush, None));
    }
    let record = RawRecord {
        time_ns,
        op,
        offset_bytes: bytes(sector, "offset")?,
        len_bytes: bytes(sectors, "length")?,
        response_ns: None,
        fua: op == Op::Write && has_fua(kinds),
    };
    Ok(Parsed::flushed(device, preflush, Some(record)))
}

/// One before it is a flush (kernel, kernel/trace/blktrace.c, `blk_fill_rwbs`).
fn has_fua(kinds: &str) -> bool {
    kinds.trim_start_matches('F').contains('F')
}

/// The operation of an RWBS field; `None` for one without data (N) and for zone management (Z).
fn operation(kinds: &str) -> Result<Option<Op>, String> {
    let known = |c: char| "RWDFNSBAMEVZP".contains(c);
    if kinds.is_empty() || !kinds.chars().all(known) {
        return Err(format!("the RWBS field {kinds:?} has unknown letters"));
    }
    Ok(if kinds.starts_with('Z') || kinds.contains('N') && !kinds.contains(['R', 'W', 'D', 'F']) {
        None
    } else if kinds.contains('D') {
        Some(Op::Discard)
    } else if kinds.contains('W') {
        Some(Op::Write)
    } else if kinds.contains('R') {
        Some(Op::Read)
    } else if kinds.starts_with('F') {
        Some(Op::Flush)
    } else {
        return Err(format!("the RWBS field {kinds:?} names no operation"));
    })
}
