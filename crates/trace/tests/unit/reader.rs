use std::io::{Cursor, Write};

use assay_units::Op;
use proptest::prelude::*;

use super::*;

fn reader(text: impl Into<Vec<u8>>, device: Option<&str>) -> Result<TraceReader, TraceError> {
    let input = Box::new(Cursor::new(text.into()));
    TraceReader::new("t.csv".to_owned(), input, None, device.map(str::to_owned))
}

fn all(reader: &mut TraceReader) -> Result<Vec<TraceRecord>, TraceError> {
    std::iter::from_fn(|| reader.next_record().transpose()).collect()
}

#[test]
fn times_begin_at_the_first_request_and_never_go_back() {
    let mut reader = reader(
        "1,R,0,4096,100\n1,W,0,4096,350\n1,R,0,4096,340\n1,R,0,4096,50\n1,R,0,4096,400\n",
        None,
    )
    .unwrap();
    let times: Vec<u64> = all(&mut reader).unwrap().iter().map(|r| r.time.0).collect();
    assert_eq!(times, [0, 250_000, 250_000, 250_000, 300_000]);
    assert_eq!(reader.counts().reordered, 2);
}

#[test]
fn one_device_of_several() {
    let text = "7,R,0,4096,100\n8,R,4096,4096,150\n7,R,8192,0,200\n7,W,8192,512,300\n";
    let mut reader = reader(text, Some("7")).unwrap();
    let found = all(&mut reader).unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(
        (found[1].op, found[1].offset_bytes, found[1].time),
        (Op::Write, 8192, Nanos(200_000))
    );
    let counts = reader.counts();
    assert_eq!((counts.other_devices, counts.unusable), (1, 1));
}

/// An error names file, line, what is wrong and what to do; text of the file cannot act on a
/// terminal.
#[test]
fn errors_name_the_line() {
    let mut reader = reader("1,R,0,4096,100\n1,R,0,\u{1b}[31m,100\n", None).unwrap();
    let error = all(&mut reader).unwrap_err().to_string();
    assert_eq!(
        error,
        "t.csv:2: the size \"\\u{1b}[31m\" is not a whole number below 2^64: \
         1,R,0,\u{fffd}[31m,100; the file is read as Alibaba CSV: remove the line, or give its \
         format with --trace_format"
    );
}

#[test]
fn what_is_no_trace_is_refused() {
    for (text, part) in [("", "is empty"), ("a,b\n", "no known format")] {
        let error = reader(text, None).err().unwrap().to_string();
        assert!(
            error.contains(part) && error.contains("--trace_format takes auto"),
            "{error}"
        );
    }
    let long = format!("1,R,0,4096,100\n{}", "x".repeat(MAX_LINE_BYTES + 10));
    let error = all(&mut reader(long, None).unwrap())
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("t.csv:2: the line is longer than 4096 bytes"),
        "{error}"
    );
    let beyond = format!("1,R,{},4096,100\n", (1_u64 << 63) - 512);
    let error = all(&mut reader(beyond, None).unwrap())
        .unwrap_err()
        .to_string();
    assert!(error.contains("beyond 8 EiB"), "{error}");
}

#[test]
fn files_as_they_are_and_compressed() {
    let folder = tempfile::tempdir().unwrap();
    let text = "1,R,0,4096,100\n1,W,4096,4096,150\n";
    let open = |name: &str, data: &[u8]| {
        let path = folder.path().join(name);
        File::create(&path).unwrap().write_all(data).unwrap();
        TraceReader::open(&TraceSource {
            path,
            format: None,
            device: None,
        })
    };
    let plain = all(&mut open("t.csv", text.as_bytes()).unwrap()).unwrap();
    let packed = zstd::encode_all(text.as_bytes(), 3).unwrap();
    assert_eq!(
        all(&mut open("t.csv.zst", &packed).unwrap()).unwrap(),
        plain
    );
    let gzip = open("t.csv.gz", &[0x1f, 0x8b, 8, 0])
        .err()
        .unwrap()
        .to_string();
    assert!(gzip.contains("gzip -dk"), "{gzip}");
    let binary = open("t.blktrace.0", &0x6561_7407_u32.to_be_bytes())
        .err()
        .unwrap()
        .to_string();
    assert!(binary.contains("blkparse -i"), "{binary}");
    let source = TraceSource {
        path: folder.path().to_owned(),
        format: None,
        device: None,
    };
    let error = TraceReader::open(&source).err().unwrap().to_string();
    assert!(
        error.contains("no regular file") || error.contains("cannot read"),
        "{error}"
    );
}

proptest! {
    /// Any bytes are read or refused, in bounded memory.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..3000), format in prop::sample::select(TraceFormat::ALL.to_vec())) {
        let input = Box::new(Cursor::new(bytes));
        let mut reader = TraceReader::new("t".to_owned(), input, Some(format), None).unwrap();
        let found = all(&mut reader);
        prop_assert!(reader.line.capacity() <= 4 * MAX_LINE_BYTES);
        if let Ok(records) = found {
            prop_assert!(records.iter().all(|r| r.len_bytes > 0 || r.op == Op::Flush));
        }
    }
}
