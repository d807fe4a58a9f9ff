use std::io::Cursor;
use std::process::Command;

use assay_units::{Nanos, Op};

use crate::{TraceError, TraceFormat, TraceReader, TraceRecord, TraceSource};

fn all(mut reader: TraceReader) -> Result<Vec<TraceRecord>, TraceError> {
    std::iter::from_fn(|| reader.next_record().transpose()).collect()
}

fn read(bytes: Vec<u8>) -> Vec<TraceRecord> {
    let input = Box::new(Cursor::new(bytes));
    all(TraceReader::new("t".to_owned(), input, None, None).unwrap()).unwrap()
}

/// Time, operation, offset and length.
fn told(records: &[TraceRecord]) -> Vec<(u64, Op, u64, u64)> {
    let one = |r: &TraceRecord| (r.time.0, r.op, r.offset_bytes, r.len_bytes);
    records.iter().map(one).collect()
}

struct Event {
    time_ns: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    device: u32,
    payload: Vec<u8>,
}

/// As the kernel writes it (`struct blk_io_trace`), on a machine of either byte order.
fn encode(events: &[Event], big_endian: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut put = |value: u64, length: usize| match big_endian {
        true => bytes.extend_from_slice(&value.to_be_bytes()[8 - length..]),
        false => bytes.extend_from_slice(&value.to_le_bytes()[..length]),
    };
    for (number, event) in events.iter().enumerate() {
        put(0x6561_7407, 4);
        put(number as u64 + 1, 4);
        put(event.time_ns, 8);
        put(event.sector, 8);
        put(event.bytes.into(), 4);
        put(event.action.into(), 4);
        put(1234, 4);
        put(event.device.into(), 4);
        put(0, 4);
        put(0, 2);
        put(event.payload.len() as u64, 2);
        for byte in &event.payload {
            put(u64::from(*byte), 1);
        }
    }
    bytes
}

const QUEUE: u32 = 1 | 1 << 20;
const ISSUE: u32 = 7 | 1 << 22;
const REMAP: u32 = 15 | 1 << 20;
const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const DISCARD: u32 = 1 << 29;
const FUA: u32 = 1 << 31;
const SDA: u32 = 8 << 20;

fn event(time_ns: u64, action: u32, sector: u64, bytes: u32) -> Event {
    Event { time_ns, sector, bytes, action, device: SDA, payload: Vec::new() }
}

fn events() -> Vec<Event> {
    vec![
        event(1_000, QUEUE | READ, 16, 4096),
        event(1_500, ISSUE | READ, 16, 4096),
        event(2_000, QUEUE | WRITE | FUA, 8, 512),
        event(3_000, QUEUE | FLUSH | WRITE, 64, 8192),
        event(4_000, QUEUE | WRITE | DISCARD, 2048, 1 << 20),
    ]
}

#[test]
fn events_of_blktrace_in_either_byte_order() {
    let found = read(encode(&events(), false));
    let expected = [
        (0, Op::Read, 8192, 4096),
        (1_000, Op::Write, 4096, 512),
        (2_000, Op::Flush, 0, 0),
        (2_000, Op::Write, 32768, 8192),
        (3_000, Op::Discard, 1 << 20, 1 << 20),
    ];
    assert_eq!(told(&found), expected);
    assert!(found[1].fua && !found[3].fua);
    assert_eq!(read(encode(&events(), true)), found);
    // Recorded with -a issue.
    let issued = read(encode(&events()[1..2], false));
    assert_eq!(told(&issued), [(0, Op::Read, 8192, 4096)]);
}

/// The text that blkparse makes of a file is the same trace.
#[test]
fn blkparse_reads_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.blktrace.0");
    std::fs::write(&path, encode(&events(), false)).unwrap();
    let made = Command::new("blkparse")
        .args(["-i", "t", "-o", "t.txt"])
        .current_dir(folder.path())
        .output();
    if made.is_err() {
        eprintln!("skipped: blkparse is not installed (package blktrace)");
        return;
    }
    let open = |name: &str| {
        TraceReader::open(&TraceSource {
            path: folder.path().join(name),
            format: None,
            device: None,
        })
    };
    let (text, binary) = (open("t.txt").unwrap(), open("t.blktrace.0").unwrap());
    assert_eq!(text.format(), TraceFormat::Blkparse);
    assert_eq!(all(text).unwrap(), all(binary).unwrap());
}

/// One file per processor, and a device over another one.
#[test]
fn files_of_all_processors_are_one_trace() {
    let folder = tempfile::tempdir().unwrap();
    let upper =
        |time_ns, sector| Event { device: 253 << 20, ..event(time_ns, QUEUE | READ, sector, 4096) };
    // `struct blk_io_trace_remap`: device, device, sector, in network byte order.
    let from = [(253_u32 << 20).to_be_bytes(), SDA.to_be_bytes(), [0; 4], [0; 4]].concat();
    let remap = Event { payload: from, ..event(150, REMAP | READ, 2048, 4096) };
    let files = [
        vec![upper(100, 0), event(300, QUEUE | READ, 2056, 4096)],
        vec![],
        vec![remap, event(200, QUEUE | READ, 2048, 4096), upper(250, 8)],
    ];
    for (processor, events) in files.iter().enumerate() {
        let name = format!("d.blktrace.{processor}");
        std::fs::write(folder.path().join(name), encode(events, false)).unwrap();
    }
    let source =
        TraceSource { path: folder.path().join("d.blktrace.2"), format: None, device: None };
    let found = all(TraceReader::open(&source).unwrap()).unwrap();
    let expected = [(0, Op::Read, 1 << 20, 4096), (100, Op::Read, 2056 * 512, 4096)];
    assert_eq!(told(&found), expected);
}

fn little(values: &[(u64, usize)]) -> Vec<u8> {
    let bytes = values.iter().flat_map(|(value, length)| value.to_le_bytes()[..*length].to_vec());
    bytes.collect()
}

#[test]
fn records_of_vscsi_and_oracle_general() {
    let first = |ts, cmd, len, lbn| {
        little(&[(1, 4), (len, 4), (1, 4), (cmd, 2), (0x100, 2), (lbn, 8), (ts, 8)])
    };
    let found = read([first(7, 0x2a, 512, 8), first(9, 0x88, 4096, 16)].concat());
    let expected = [(0, Op::Write, 4096, 512), (2_000, Op::Read, 8192, 4096)];
    assert_eq!(told(&found), expected);
    let second = |ts, cmd, len, lbn, rt| {
        little(&[(cmd, 2), (0x200, 2), (1, 4), (len, 4), (1, 4), (lbn, 8), (ts, 8), (rt, 8)])
    };
    let found = read([second(7, 0x2a, 512, 8, 3), second(9, 0x88, 4096, 16, 4)].concat());
    assert_eq!(told(&found), expected);
    assert_eq!(found[1].response, Some(Nanos(4_000)));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w01.oracleGeneral.bin");
    let one = |time, id, size| little(&[(time, 4), (id, 8), (size, 4), (u64::MAX, 8)]);
    std::fs::write(&path, [one(5, 8, 512), one(6, 16, 4096)].concat()).unwrap();
    let source = TraceSource { path, format: None, device: None };
    let reader = TraceReader::open(&source).unwrap();
    assert_eq!(reader.format(), TraceFormat::OracleGeneral);
    let expected = [(0, Op::Read, 4096, 512), (1_000_000_000, Op::Read, 8192, 4096)];
    assert_eq!(told(&all(reader).unwrap()), expected);
}
