use std::fs::File;
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
fn requests_are_put_in_the_order_of_their_times() {
    let mut reader = reader(
        "1,R,0,4096,100\n1,W,0,4096,350\n1,R,0,4096,340\n1,R,512,4096,50\n1,R,0,4096,400\n",
        None,
    )
    .unwrap();
    let found = all(&mut reader).unwrap();
    let times: Vec<u64> = found.iter().map(|r| r.time.0).collect();
    assert_eq!(times, [0, 50_000, 290_000, 300_000, 350_000]);
    assert_eq!(found[0].offset_bytes, 512);
    assert_eq!(reader.counts().reordered, 2);
}

/// Of logs of fio that were joined, times begin anew: what is behind is counted.
#[test]
fn requests_of_joined_logs_are_counted() {
    let log = "fio version 3 iolog\n1 f add\n100 f read 0 4096\n900 f read 4096 4096\n";
    let mut one = reader(log, None).unwrap();
    assert_eq!(all(&mut one).unwrap().len(), 2);
    assert_eq!(one.counts().reordered, 0);
    let mut two = reader(format!("{log}{log}"), None).unwrap();
    let times: Vec<u64> = all(&mut two).unwrap().iter().map(|r| r.time.0).collect();
    assert_eq!(times, [0, 800_000, 800_000, 800_000]);
    assert_eq!(two.counts().reordered, 1);
}

/// The names of columns may have comments before them.
#[test]
fn names_of_columns_are_passed_over() {
    for head in ["", "# of a volume\n", "\u{feff}# of a volume\n# another\n"] {
        let text = format!("{head}device,op,offset,size,time\n1,R,0,4096,100\n");
        let input = Box::new(Cursor::new(text.into_bytes()));
        let format = Some(TraceFormat::Alibaba);
        let reader = TraceReader::new("t.csv".to_owned(), input, format, None);
        assert_eq!(all(&mut reader.unwrap()).unwrap().len(), 1, "{head:?}");
    }
}

#[test]
fn columns_stand_between_commas_semicolons_bars_or_spaces_and_quoted_or_not() {
    for separator in [",", ";", "|", " ", "\t"] {
        for quote in ["", "\""] {
            let line =
                |words: [&str; 4]| words.map(|w| format!("{quote}{w}{quote}")).join(separator);
            let text =
                [line(["t", "op", "lba", "n"]), line(["1", "write", "8", "16"])].join("\r\n");
            let columns = TraceFormat::parse(None, Some("time=1,op=2,offset=3:512,size=4:512"));
            let input = Box::new(Cursor::new(text.clone().into_bytes()));
            let reader = TraceReader::new("t.csv".to_owned(), input, columns.unwrap(), None);
            let found = all(&mut reader.unwrap()).unwrap();
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!((found[0].offset_bytes, found[0].len_bytes), (4096, 8192));
        }
    }
}

#[test]
fn times_are_dates_too() {
    let times = |columns: &str, text: &str| {
        let columns = TraceFormat::parse(None, Some(columns)).unwrap();
        let input = Box::new(Cursor::new(text.to_owned().into_bytes()));
        let mut reader = TraceReader::new("t.csv".to_owned(), input, columns, None).unwrap();
        all(&mut reader).map(|all| all.iter().map(|request| request.time.0).collect::<Vec<_>>())
    };
    let one = "time=1,offset=2,size=3";
    for (first, second) in [
        ("2026-01-05T12:00:00.0001Z", "2026-01-05T12:00:00.0003Z"),
        ("2026-01-05 12:00:00.000100", "2026-01-05 12:00:00.000300"),
        ("2026-01-05T13:00:00.0001+01:00", "2026-01-05 12:00:00.0003Z"),
        ("\"2026-01-05 12:00:00.0001\"", "\"2026-01-05 12:00:00.0003\""),
    ] {
        let text = format!("when,where,length\n{first},0,4096\n{second},4096,4096\n");
        assert_eq!(times(one, &text), Ok(vec![0, 200_000]), "{text}");
    }
    let apart = "2026-01-05 23:59:59.9 0 4096\n2026-01-06 00:00:00.1 0 4096\n";
    let found = times("time=1,offset=3,size=4", apart);
    assert_eq!(found, Ok(vec![0, 200_000_000]));
    for wrong in ["2026-13-05T12:00:00", "2026-01-05", "1969-12-31T23:59:59Z", "noon"] {
        let text = format!("1,0,4096\n{wrong},0,4096\n");
        let error = times(one, &text).unwrap_err().to_string();
        assert!(error.contains("nor a date"), "{error}");
    }
}

/// Two days of a trace that were joined the wrong way round.
#[test]
fn what_is_out_of_order_by_more_is_refused() {
    let line = |micros: usize| format!("1,R,0,4096,{micros}\n");
    let text: String = (70_000..140_000).chain(0..10).map(line).collect();
    let error = all(&mut reader(text, None).unwrap()).unwrap_err().to_string();
    assert!(error.contains("not in the order of its times: request 70001"), "{error}");
    assert!(error.contains("sort"), "{error}");
}

/// blktrace of a device and of the one below it: every request is there twice.
#[test]
fn requests_of_devices_above_another_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.txt");
    let lines = (0..10).map(|n| {
        format!(
            "253,0 1 1 0.{n}00000000 12 Q WS {sector} + 8 [p]\n8,0 1 2 0.{n}00001000 12 A WS {below} + 8 \
             <- (253,0) {sector}\n8,0 1 3 0.{n}00002000 12 Q WS {below} + 8 [p]\n",
            sector = n * 8,
            below = n * 8 + 2048
        )
    });
    std::fs::write(&path, lines.collect::<String>()).unwrap();
    let read = |device: Option<&str>| {
        let source =
            TraceSource { path: path.clone(), format: None, device: device.map(str::to_owned) };
        let mut reader = TraceReader::open(&source).unwrap();
        let found = all(&mut reader).unwrap();
        (found.len(), found[0].offset_bytes, reader.counts())
    };
    let (requests, first, counts) = read(None);
    assert_eq!((requests, first, counts.upper_devices), (10, 2048 * 512, 10));
    let (requests, first, counts) = read(Some("253,0"));
    assert_eq!((requests, first, counts.other_devices), (10, 0, 10));
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
        assert!(error.contains(part) && error.contains("--trace_format takes auto"), "{error}");
    }
    let long = format!("1,R,0,4096,100\n{}", "x".repeat(MAX_LINE_BYTES + 10));
    let error = all(&mut reader(long, None).unwrap()).unwrap_err().to_string();
    assert!(error.starts_with("t.csv:2: the line is longer than 4096 bytes"), "{error}");
    let beyond = format!("1,R,{},4096,100\n", (1_u64 << 63) - 512);
    let error = all(&mut reader(beyond, None).unwrap()).unwrap_err().to_string();
    assert!(error.contains("beyond 8 EiB"), "{error}");
}

#[test]
fn files_as_they_are_and_compressed() {
    let folder = tempfile::tempdir().unwrap();
    let text = "1,R,0,4096,100\n1,W,4096,4096,150\n";
    let open = |name: &str, data: &[u8]| {
        let path = folder.path().join(name);
        File::create(&path).unwrap().write_all(data).unwrap();
        TraceReader::open(&TraceSource { path, format: None, device: None })
    };
    let plain = all(&mut open("t.csv", text.as_bytes()).unwrap()).unwrap();
    let packed = zstd::encode_all(text.as_bytes(), 3).unwrap();
    assert_eq!(all(&mut open("t.csv.zst", &packed).unwrap()).unwrap(), plain);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    assert_eq!(all(&mut open("t.csv.gz", &gzip).unwrap()).unwrap(), plain);
    let cut_off = open("cut.csv.gz", &gzip[..gzip.len() - 12]);
    assert!(cut_off.and_then(|mut reader| all(&mut reader)).is_err());
    let binary = open("t.blktrace.0", &0x6561_7407_u32.to_be_bytes());
    let error = binary.err().unwrap().to_string();
    assert!(error.contains("ends within a record"), "{error}");
    let source = TraceSource { path: folder.path().to_owned(), format: None, device: None };
    let error = TraceReader::open(&source).err().unwrap().to_string();
    assert!(error.contains("no regular file") || error.contains("cannot read"), "{error}");
}

proptest! {
    /// Any bytes are read or refused, in bounded memory.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..3000), format in prop::sample::select(TraceFormat::all().collect::<Vec<_>>())) {
        let input = Box::new(Cursor::new(bytes));
        let Ok(mut reader) = TraceReader::new("t".to_owned(), input, Some(format), None) else {
            return Ok(());
        };
        let found = all(&mut reader);
        if let Input::Lines { line, .. } = &reader.input {
            prop_assert!(line.capacity() <= 4 * MAX_LINE_BYTES);
        }
        if let Ok(records) = found {
            prop_assert!(records.iter().all(|r| r.len_bytes > 0 || r.op == Op::Flush));
        }
    }
}
