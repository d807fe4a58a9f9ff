//! Binary traces: records of a fixed layout.
//!
//! ```text
//! blktrace        magic u32, sequence u32, time u64 ns, sector u64, bytes u32, action u32,
//!                 pid u32, device u32, cpu u32, error u16, length of what follows u16
//! vscsi, first    sn u32, len u32, nSG u32, cmd u16, ver u16, lbn u64, ts u64 us
//! vscsi, second   cmd u16, ver u16, sn u32, len u32, nSG u32, lbn u64, ts u64 us, rt u64 us
//! oracleGeneral   time u32 s, id u64, size u32, next access i64
//! ```
//!
//! The first is `struct blk_io_trace` of linux/blktrace_api.h; blktrace writes one file per
//! processor, `NAME.blktrace.0` and so on, which are read together, in the order of their times.
//! The last is libCacheSim's. An id of it counts as a sector, as libCacheSim makes it from block
//! traces; its requests are reads.

use std::io::{self, BufRead, Read};

use assay_units::{Op, SECTOR_BYTES};

use super::columns::scsi_operation;
use super::{Parsed, RawRecord, TraceFormat};

pub(crate) type Bytes = Box<dyn BufRead + Send>;

/// `BLK_IO_TRACE_MAGIC`; the lowest byte is the version.
const BLKTRACE_MAGIC: u32 = 0x6561_7400;
const BLKTRACE_BYTES: usize = 48;
/// Categories of an action (`enum blktrace_cat`), above its number.
mod category {
    pub const WRITE: u32 = 1 << 17;
    pub const FLUSH: u32 = 1 << 18;
    pub const PASSTHROUGH: u32 = 1 << 25;
    pub const NOTIFY: u32 = 1 << 26;
    pub const DISCARD: u32 = 1 << 29;
    pub const FUA: u32 = 1 << 31;
}
/// Numbers of actions (`enum blktrace_act`).
const QUEUED: u32 = 1;
const ISSUED: u32 = 7;
const REMAPPED: u32 = 15;
/// The flag that a control group follows.
const IN_CGROUP: u32 = 1 << 8;

pub(super) fn detect(head: &[u8]) -> Option<TraceFormat> {
    if is_little_endian(head).is_some() {
        return Some(TraceFormat::Blktrace);
    }
    let all = |bytes: usize, cmd: usize, version: u8| {
        let mut records = head.chunks_exact(bytes).take(8).peekable();
        records.peek().is_some()
            && records.all(|record| {
                let known = scsi_operation(u16_at(record, cmd)).is_some();
                record[cmd + 3] == version && known
            })
    };
    // `ver` follows `cmd`; its upper byte is the version.
    (all(32, 12, 1) || all(40, 0, 2)).then_some(TraceFormat::Vscsi)
}

fn is_little_endian(head: &[u8]) -> Option<bool> {
    let magic = *head.first_chunk()?;
    let is_magic = |magic: u32| magic & !0xff == BLKTRACE_MAGIC;
    match (is_magic(u32::from_le_bytes(magic)), is_magic(u32::from_be_bytes(magic))) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

fn u16_at(record: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([record[at], record[at + 1]])
}

fn u32_at(record: &[u8], at: usize) -> u32 {
    u32::from(u16_at(record, at)) | u32::from(u16_at(record, at + 2)) << 16
}

fn u64_at(record: &[u8], at: usize) -> u64 {
    u64::from(u32_at(record, at)) | u64::from(u32_at(record, at + 4)) << 32
}

pub(crate) struct BinaryTrace {
    layout: Layout,
    inputs: Vec<Input>,
    /// Of the last request.
    device: String,
    /// That the last remapping came from.
    upper: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Blktrace { little_endian: bool, action: u32 },
    Vscsi1,
    Vscsi2,
    OracleGeneral,
}

impl Layout {
    fn record_bytes(self) -> usize {
        match self {
            Layout::Blktrace { .. } => BLKTRACE_BYTES,
            Layout::Vscsi1 => 32,
            Layout::Vscsi2 => 40,
            Layout::OracleGeneral => 24,
        }
    }
}

struct Input {
    bytes: Bytes,
    /// The next record with its payload: it is read ahead, for its time.
    next: Option<(Vec<u8>, Vec<u8>)>,
}

/// Why a record cannot be read.
pub(crate) enum RecordError {
    Unreadable(io::Error),
    Wrong(String),
}

impl From<io::Error> for RecordError {
    fn from(error: io::Error) -> RecordError {
        RecordError::Unreadable(error)
    }
}

impl BinaryTrace {
    pub(crate) fn new(format: TraceFormat, inputs: Vec<Bytes>) -> Result<BinaryTrace, RecordError> {
        let mut inputs: Vec<Input> =
            inputs.into_iter().map(|bytes| Input { bytes, next: None }).collect();
        let layout = match format {
            TraceFormat::OracleGeneral => Layout::OracleGeneral,
            TraceFormat::Blktrace => blktrace_layout(&mut inputs)?,
            _ => {
                let head = inputs[0].bytes.fill_buf()?;
                match head.get(3) {
                    Some(2) => Layout::Vscsi2,
                    _ => Layout::Vscsi1,
                }
            }
        };
        let mut trace = BinaryTrace { layout, inputs, device: String::new(), upper: String::new() };
        for at in 0..trace.inputs.len() {
            trace.read_ahead(at)?;
        }
        Ok(trace)
    }

    fn read_ahead(&mut self, at: usize) -> Result<(), RecordError> {
        let input = &mut self.inputs[at];
        let mut record = vec![0; self.layout.record_bytes()];
        if input.bytes.fill_buf()?.is_empty() {
            input.next = None;
            return Ok(());
        }
        let cut_off = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => RecordError::Wrong("ends within a record".to_owned()),
            _ => RecordError::Unreadable(error),
        };
        input.bytes.read_exact(&mut record).map_err(cut_off)?;
        let mut payload = Vec::new();
        if let Layout::Blktrace { little_endian, .. } = self.layout {
            let little = is_little_endian(&record)
                .ok_or_else(|| RecordError::Wrong("has a record without its magic".to_owned()))?;
            if little != little_endian {
                return Err(RecordError::Wrong("has records of both byte orders".to_owned()));
            }
            if !little {
                swap_fields(&mut record);
            }
            payload = vec![0; usize::from(u16_at(&record, 46))];
            input.bytes.read_exact(&mut payload).map_err(cut_off)?;
        }
        input.next = Some((record, payload));
        Ok(())
    }

    /// That with the earliest record; `None` at the end of all.
    fn first_input(&self) -> Option<usize> {
        let time = |input: &Input| Some(u64_at(&input.next.as_ref()?.0, 8));
        let times = self.inputs.iter().enumerate();
        let times = times.filter_map(|(at, input)| Some((time(input)?, at)));
        times.min().map(|(_, at)| at)
    }

    /// The next record; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Parsed<'_>>, RecordError> {
        let Some(at) = self.first_input() else {
            return Ok(None);
        };
        let Some((record, payload)) = self.inputs[at].next.take() else {
            return Ok(None);
        };
        self.read_ahead(at)?;
        let plain = |time_ns: Option<u64>, op, sector: u64, len_bytes: u32| {
            let offset_bytes = sector.checked_mul(SECTOR_BYTES);
            match (time_ns, offset_bytes) {
                (Some(time_ns), Some(offset_bytes)) => Ok(RawRecord {
                    time_ns,
                    op,
                    offset_bytes,
                    len_bytes: u64::from(len_bytes),
                    response_ns: None,
                    fua: false,
                }),
                _ => Err(RecordError::Wrong("has a time or an address beyond 2^64".to_owned())),
            }
        };
        let us = |us: u64| us.checked_mul(1_000);
        let scsi = |code: u16, lbn: u64, len: u32, ts: u64, rt: Option<u64>| {
            Ok(match scsi_operation(code) {
                None => Parsed::unknown(""),
                Some(op) => Parsed::one(
                    "",
                    RawRecord { response_ns: rt.and_then(us), ..plain(us(ts), op, lbn, len)? },
                ),
            })
        };
        let r = &record[..];
        let parsed = match self.layout {
            Layout::Vscsi1 => scsi(u16_at(r, 12), u64_at(r, 16), u32_at(r, 4), u64_at(r, 24), None),
            Layout::Vscsi2 => {
                let answered = Some(u64_at(r, 32));
                scsi(u16_at(r, 0), u64_at(r, 16), u32_at(r, 8), u64_at(r, 24), answered)
            }
            Layout::OracleGeneral => {
                let time_ns = u64::from(u32_at(r, 0)) * 1_000_000_000;
                let sector = u64_at(r, 4);
                plain(Some(time_ns), Op::Read, sector, u32_at(r, 12)).map(|r| Parsed::one("", r))
            }
            Layout::Blktrace { action, .. } => Ok(self.event(r, &payload, action)),
        };
        parsed.map(Some)
    }

    fn event(&mut self, record: &[u8], payload: &[u8], wanted: u32) -> Parsed<'_> {
        let action = u32_at(record, 28);
        let number = action & 0xffff & !IN_CGROUP;
        if action & (category::NOTIFY | category::PASSTHROUGH) != 0 {
            return Parsed::NOTHING;
        }
        if number == REMAPPED {
            // `struct blk_io_trace_remap`, in network byte order.
            let Some(from) = payload.first_chunk() else {
                return Parsed::NOTHING;
            };
            self.upper = device_name(u32::from_be_bytes(*from));
            return Parsed::remap(Some(&self.upper));
        }
        if number != wanted {
            return Parsed::NOTHING;
        }
        self.device = device_name(u32_at(record, 36));
        let time_ns = u64_at(record, 8);
        let len_bytes = u64::from(u32_at(record, 24));
        let flush = (action & category::FLUSH != 0).then(|| RawRecord::flush(time_ns));
        if len_bytes == 0 {
            return Parsed::flushed(&self.device, flush, None);
        }
        let op = match action {
            action if action & category::DISCARD != 0 => Op::Discard,
            action if action & category::WRITE != 0 => Op::Write,
            _ => Op::Read,
        };
        let request = RawRecord {
            time_ns,
            op,
            // Saturates: the reader refuses what ends beyond 8 EiB.
            offset_bytes: u64_at(record, 16).saturating_mul(SECTOR_BYTES),
            len_bytes,
            response_ns: None,
            fua: op == Op::Write && action & category::FUA != 0,
        };
        Parsed::flushed(&self.device, flush, Some(request))
    }
}

/// By the heads of all files: requests queued, or issued where none is queued.
fn blktrace_layout(inputs: &mut [Input]) -> Result<Layout, RecordError> {
    let (mut little_endian, mut queued, mut issued) = (true, false, false);
    for input in inputs {
        let mut head = input.bytes.fill_buf()?;
        while let Some(record) = head.first_chunk::<BLKTRACE_BYTES>() {
            let mut record = record.to_vec();
            let Some(little) = is_little_endian(&record) else {
                break;
            };
            little_endian = little;
            if !little {
                swap_fields(&mut record);
            }
            let number = u32_at(&record, 28) & 0xffff & !IN_CGROUP;
            queued |= number == QUEUED;
            issued |= number == ISSUED;
            let next = BLKTRACE_BYTES + usize::from(u16_at(&record, 46));
            head = head.get(next..).unwrap_or_default();
        }
    }
    Ok(Layout::Blktrace { little_endian, action: if issued && !queued { ISSUED } else { QUEUED } })
}

/// Makes a record of the other byte order one of this.
fn swap_fields(record: &mut [u8]) {
    const LENGTHS: [usize; 11] = [4, 4, 8, 8, 4, 4, 4, 4, 4, 2, 2];
    let mut at = 0;
    for length in LENGTHS {
        record[at..at + length].reverse();
        at += length;
    }
}

/// `MINORBITS` of the kernel's device numbers is 20.
fn device_name(number: u32) -> String {
    format!("{},{}", number >> 20, number & 0xf_ffff)
}

#[cfg(test)]
#[path = "../../tests/unit/binary.rs"]
mod tests;
