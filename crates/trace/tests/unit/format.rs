use proptest::prelude::*;

use super::*;

fn parse(format: TraceFormat, text: &str) -> Result<Vec<(String, RawRecord)>, String> {
    let mut parser = LineParser::new(format, text).unwrap();
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let parsed = parser.line(line, number)?;
        let records = parsed.records.into_iter().flatten();
        found.extend(records.map(|record| (parsed.device.to_owned(), record)));
    }
    Ok(found)
}

fn record(time_ns: u64, op: Op, offset_bytes: u64, len_bytes: u64) -> RawRecord {
    RawRecord { time_ns, op, offset_bytes, len_bytes, response_ns: None, fua: false }
}

/// A record of a format with response times.
fn answered(record: RawRecord, response_ns: u64) -> RawRecord {
    RawRecord { response_ns: Some(response_ns), ..record }
}

/// As blkparse prints a trace: queued requests count, merges, completions, messages and statistics
/// do not.
#[test]
fn blkparse_text() {
    let text = "\
  8,0    3        1     0.000000000   697  A   W 223490 + 8 <- (8,1) 223427
  8,0    3        2     0.000000500   697  Q   R 223490 + 8 [kjournald]
  8,0    3        3     0.000001829   697  G   R 223490 + 8 [kjournald]
  8,0    3        0     0.000002000     0  m   N cfq697 alloced
  8,0    3        8     0.000035142   697  D   R 223490 + 8 [kjournald]
  8,0    1        1     0.005000001   697  Q FWFS 16 + 16 [some name]
  8,0    1        2     0.006000000   697  Q  FN [jbd2/sda1-8]
  8,0    1        3     0.006500000   697  Q  DS 2048 + 4096 [fstrim]
  8,0    1        4     0.006600000   697  Q   N [smartctl]
  8,0    1        9     0.007194539     0  C   R 223490 + 8 [0]
CPU0 (8,0):
 Reads Queued:           1,        4KiB\t Writes Queued:           1,        8KiB
Total (8,0):
 Reads Queued:           1,        4KiB\t Writes Queued:           1,        8KiB

Throughput (R/W): 571KiB/s / 1142KiB/s
Events (8,0): 8 entries
Skips: 0 forward (0 -   0.0%)
";
    assert_eq!(TraceFormat::detect(text.as_bytes()), Some(TraceFormat::Blkparse));
    let found = parse(TraceFormat::Blkparse, text).unwrap();
    let device = |record| ("8,0".to_owned(), record);
    assert_eq!(
        found,
        [
            device(record(500, Op::Read, 223_490 * 512, 4096)),
            device(record(5_000_001, Op::Flush, 0, 0)),
            device(RawRecord { fua: true, ..record(5_000_001, Op::Write, 16 * 512, 8192) }),
            device(record(6_000_000, Op::Flush, 0, 0)),
            device(record(6_500_000, Op::Discard, 2048 * 512, 4096 * 512)),
        ]
    );
}

/// A trace recorded with `blktrace -a issue` has no queued requests.
#[test]
fn blkparse_text_of_issued_requests() {
    let text = "259,0 1 1 0.000000100 9 D WS 8 + 8 [fio]\n259,0 1 2 0.000000200 0 C WS 8 + 8 [0]\n";
    let found = parse(TraceFormat::Blkparse, text).unwrap();
    assert_eq!(found, [("259,0".to_owned(), record(100, Op::Write, 4096, 4096))]);
}

/// HOWTO.rst of fio: in version 2 time passes in waits, and waits below 100 microseconds are
/// discarded.
#[test]
fn iolog_version_2() {
    let text = "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n/dev/sda write 4096 \
                8192\n/dev/sda wait 99\n/dev/sda wait 250\n/dev/sda read 0 512\n/dev/sda sync 0 \
                0\n/dev/sda trim 8192 4096\n/dev/sda close\n";
    let found = parse(TraceFormat::Iolog, text).unwrap();
    let records: Vec<RawRecord> = found.iter().map(|(_, record)| *record).collect();
    assert_eq!(
        records,
        [
            record(0, Op::Write, 4096, 8192),
            record(250_000, Op::Read, 0, 512),
            RawRecord::flush(250_000),
            record(250_000, Op::Discard, 8192, 4096),
        ]
    );
    assert!(found.iter().all(|(device, _)| device == "/dev/sda"));
}

/// `write_iolog` of fio writes microseconds (`utime_since_now` in `iolog.c`).
#[test]
fn iolog_version_3() {
    let text = "fio version 3 iolog\n2 f add\n872 f open\n878 f write 0 16384\n891 f datasync 0 \
                0\n9000 f close\n";
    assert_eq!(TraceFormat::detect(text.as_bytes()), Some(TraceFormat::Iolog));
    let found = parse(TraceFormat::Iolog, text).unwrap();
    assert_eq!(found[0].1, record(878_000, Op::Write, 0, 16384));
    assert_eq!(found[1].1, RawRecord::flush(891_000));
    // Two jobs have appended to one log.
    let two = parse(
        TraceFormat::Iolog,
        "fio version 3 iolog\n17 f add\n129 f read 0 512\n3000 f read 512 512\nfio version 3 iolog\n\
         14 f add\n1093 f read 1024 512\n6230 f read 1536 512\n",
    );
    let times: Vec<u64> = two.unwrap().iter().map(|(_, record)| record.time_ns / 1000).collect();
    assert_eq!(times, [129, 3000, 3000, 6230]);
    let wait = "fio version 3 iolog\n2 f wait 100\n";
    assert!(parse(TraceFormat::Iolog, wait).unwrap_err().contains("wait"));
}

#[test]
fn published_csv_files() {
    let msr = "128166372003061629,hm,0,Read,383496192,32768,113736\n128166372016382155,hm,1,Write,\
               2822144,4096,23133\n";
    assert_eq!(TraceFormat::detect(msr.as_bytes()), Some(TraceFormat::Msr));
    let found = parse(TraceFormat::Msr, msr).unwrap();
    assert_eq!(
        found,
        [
            (
                "hm,0".to_owned(),
                answered(
                    record(12_816_637_200_306_162_900, Op::Read, 383_496_192, 32768),
                    11_373_600
                )
            ),
            (
                "hm,1".to_owned(),
                answered(record(12_816_637_201_638_215_500, Op::Write, 2_822_144, 4096), 2_313_300)
            ),
        ]
    );
    let systor = "Timestamp,Response,IOType,LUN,Offset,Size\n1456135200.013118000,0.000806000,R,4,\
                  899056122368,131072\n1456135200.113118,0.001,,4,0,4096\n";
    assert_eq!(TraceFormat::detect(systor.as_bytes()), Some(TraceFormat::Systor));
    let found = parse(TraceFormat::Systor, systor).unwrap();
    let read =
        answered(record(1_456_135_200_013_118_000, Op::Read, 899_056_122_368, 131_072), 806_000);
    assert_eq!(found, [("4".to_owned(), read)]);
    let alibaba =
        "0,R,126703661056,4096,1577808000000046\n1,W,19496058880,77824,1577808000000426\n";
    assert_eq!(TraceFormat::detect(alibaba.as_bytes()), Some(TraceFormat::Alibaba));
    let found = parse(TraceFormat::Alibaba, alibaba).unwrap();
    assert_eq!(found[1].0, "1");
    assert_eq!(found[1].1, record(1_577_808_000_000_426_000, Op::Write, 19_496_058_880, 77824));
}

/// Comments, a byte-order mark and names of columns are no requests.
#[test]
fn what_stands_around_requests_is_passed_over() {
    for (format, text) in [
        (
            TraceFormat::Blkparse,
            "#Maj,Mn CPU Seq Seconds\n#------\n259,0 3 3 0.000000299 1867 Q W 8 + 8 [x]\n",
        ),
        (
            TraceFormat::LibCacheSim,
            "\u{feff}version,time,op,size,lbn\n1,5633898,2a,4096,8\n1,5633899,9e,0,0\n",
        ),
        (TraceFormat::Tencent, "# volumes\n\n1538323200,8,8,1,1063\n"),
        (
            TraceFormat::Biosnoop,
            "TIME(s) COMM PID DISK T SECTOR BYTES QUE(ms) LAT(ms)\n0.5 a b 1 sda W 8 4096 9.0 0.25\n",
        ),
        (
            TraceFormat::Ftrace,
            "# tracer: nop\n fio-1 [0] 1.5: block:block_rq_complete: 8,0 W () 8 + 8 [0]\n fio-1 [0] 1.5: \
             block:block_rq_issue: 8,0 WS 4096 () 8 + 8 none,0,0 [fio]\n",
        ),
    ] {
        assert_eq!(TraceFormat::detect(text.as_bytes()), Some(format), "{text}");
        let mut found = parse(format, text).unwrap();
        let (_, record) = found.remove(0);
        assert_eq!((record.op, record.offset_bytes, record.len_bytes), (Op::Write, 4096, 4096));
        assert!(found.is_empty(), "{text}");
    }
    let (_, record) = parse(
        TraceFormat::Biosnoop,
        "TIME(s) COMM PID DISK T SECTOR BYTES QUE(ms) LAT(ms)\n0.5 a b 1 sda W 8 4096 9.0 0.25\n",
    )
    .unwrap()
    .remove(0);
    assert_eq!((record.time_ns, record.response_ns), (499_750_000, Some(250_000)));
}

/// Columns that the user names are any of the published formats, and what is wrong is said.
#[test]
fn columns_by_number() {
    let columns = |text: &str| TraceFormat::parse(None, Some(text));
    let alibaba = columns("time=5:us,op=2,offset=3,size=4,device=1").unwrap().unwrap();
    let text = "3,W,4096,512,7\n4,r,8192,1024,9\n";
    assert_eq!(parse(alibaba, text), parse(TraceFormat::Alibaba, text));
    let spaces = columns("offset=1:sectors,size=2:4k,time=3:ms,op=4:1=read").unwrap().unwrap();
    let found = parse(spaces, "8 1 1.5 0 more of it\n16 2 2 1\n").unwrap();
    let found: Vec<RawRecord> = found.into_iter().map(|(_, record)| record).collect();
    assert_eq!(
        found,
        [record(1_500_000, Op::Write, 4096, 4096), record(2_000_000, Op::Read, 8192, 8192)]
    );
    let TraceFormat::Columns(parsed) = spaces else { panic!("{spaces:?}") };
    assert_eq!(Columns::parse(&parsed.to_string()), Ok(parsed));
    for (wrong, part) in [
        ("time=1,size=2", "time, offset and size are needed"),
        ("time=0,offset=2,size=3", "counted from 1"),
        ("time=1:h,offset=2,size=3", "s, ms, us"),
        ("time=1,ofset=2,size=3", "did you mean \"offset\""),
        ("time", "NAME=COLUMN"),
        ("time=1,offset=2,size=3,op=4:x", "0=read"),
    ] {
        let error = columns(wrong).unwrap_err().to_string();
        assert!(error.contains(part), "{wrong}: {error}");
    }
    let both = TraceFormat::parse(Some("msr"), Some("time=1,offset=2,size=3"));
    assert!(both.unwrap_err().to_string().contains("columns are the format"));
}

#[test]
fn wrong_lines_are_errors() {
    for (format, line, part) in [
        (TraceFormat::Blkparse, "hello", "no event"),
        (TraceFormat::Blkparse, "8,0 3 1 0.1 697 Q R 99999999999999999999 + 8 [x]", "sector"),
        (TraceFormat::Blkparse, "8,0 3 1 0.1 697 Q R 9999999999999999999 + 8 [x]", "2^64"),
        (TraceFormat::Blkparse, "8,0 3 1 0.1 697 Q X 1 + 8 [x]", "RWBS"),
        (TraceFormat::Iolog, "version 1", "first line"),
        (TraceFormat::Msr, "1,2,3", "7 columns"),
        (TraceFormat::Msr, "1,h,0,Erase,0,4096,1", "is no operation"),
        (TraceFormat::Msr, "18446744073709551615,h,0,Read,0,4096,1", "time"),
        (TraceFormat::Systor, "1e9,0.1,R,0,0,4096", "time"),
        (TraceFormat::Alibaba, "1,R,-4096,4096,1", "offset"),
        (TraceFormat::Alibaba, "1,R,0,4k,1", "size"),
    ] {
        let error = parse(format, line).unwrap_err();
        assert!(error.contains(part), "{line}: {error}");
    }
    assert_eq!(TraceFormat::detect("time,address\n1,2\n".as_bytes()), None);
    assert!(
        TraceFormat::parse(Some("msrc"), None)
            .unwrap_err()
            .to_string()
            .contains("did you mean \"msr\"")
    );
}

fn seconds(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

fn text_formats() -> impl Iterator<Item = TraceFormat> {
    TraceFormat::all().filter(|format| !format.is_binary())
}

/// A request in one of the formats, as text.
fn line(format: TraceFormat, request: &(u64, bool, u64, u64)) -> String {
    let &(micros, write, sector, sectors) = request;
    let (offset, len) = (sector * 512, sectors * 512);
    let (word, letter) = if write { ("Write", "W") } else { ("Read", "R") };
    match format {
        TraceFormat::Blkparse => format!(
            "8,0 0 1 {}.{:06}000 7 Q {letter} {sector} + {sectors} [p]",
            micros / 1_000_000,
            micros % 1_000_000
        ),
        TraceFormat::Iolog => format!("{micros} f {} {offset} {len}", word.to_lowercase()),
        TraceFormat::Msr => format!("{},h,0,{word},{offset},{len},9", micros * 10),
        TraceFormat::Systor => format!(
            "{}.{:06},0.1,{letter},0,{offset},{len}",
            micros / 1_000_000,
            micros % 1_000_000
        ),
        TraceFormat::Alibaba => format!("3,{letter},{offset},{len},{micros}"),
        TraceFormat::Ftrace => format!(
            "            fio-12 [001] d..2. {}: block_rq_issue: 8,0 {letter}S {len} () {sector} + {sectors} [fio]",
            seconds(micros)
        ),
        TraceFormat::Biosnoop => {
            format!("{} kworker/u16:4 u 27 sda {letter} {sector} {len} 0.000", seconds(micros))
        }
        // Bytes have a column of their own; the address is in sectors.
        TraceFormat::Spc => format!("0,{sector},{len},{letter},{},x", seconds(micros)),
        TraceFormat::Tencent => {
            format!("{},{sector},{sectors},{},7", seconds(micros), u8::from(write))
        }
        TraceFormat::Fiu => {
            format!("{} 4 syslogd {sector} {sectors} {letter} 6 0 53e", micros * 1000)
        }
        TraceFormat::Mqsim => {
            format!("{} 0 {sector} {sectors} {}", micros * 1000, u8::from(!write))
        }
        TraceFormat::Disksim => format!(
            "{}.{:03} 0 {sector} {sectors} {}",
            micros / 1000,
            micros % 1000,
            u8::from(!write)
        ),
        TraceFormat::LibCacheSim => {
            format!("1,{micros},{},{len},{sector}", if write { "2a" } else { "28" })
        }
        _ => unreachable!("text formats"),
    }
}

proptest! {
    /// What is written in a format is read back exactly.
    #[test]
    fn every_format_is_read_back(requests in prop::collection::vec((0..1_u64 << 50, any::<bool>(), 0..1_u64 << 40, 1..1_u64 << 20), 1..50)) {
        for format in text_formats() {
            let mut text: String = requests.iter().map(|request| line(format, request) + "\n").collect();
            if format == TraceFormat::Iolog {
                text.insert_str(0, "fio version 3 iolog\n");
            }
            // Such numbers could be of any format but for their header.
            let detected = TraceFormat::detect(text.as_bytes());
            if format != TraceFormat::LibCacheSim {
                prop_assert_eq!(detected, Some(format));
            }
            let found: Vec<RawRecord> = parse(format, &text).unwrap().into_iter().map(|(_, record)| record).collect();
            let mut latest = 0;
            let expected: Vec<RawRecord> = requests.iter().map(|&(micros, write, sector, sectors)| {
                // fio replays its log in the order of the lines.
                latest = micros.max(latest);
                let micros = if format == TraceFormat::Iolog { latest } else { micros };
                let found = record(micros * 1000, if write { Op::Write } else { Op::Read }, sector * 512, sectors * 512);
                match format {
                    TraceFormat::Msr => answered(found, 900),
                    TraceFormat::Systor => answered(found, 100_000_000),
                    TraceFormat::Biosnoop => answered(found, 0),
                    _ => found,
                }
            }).collect();
            prop_assert_eq!(found, expected);
        }
    }

    /// No text makes a parser panic.
    #[test]
    fn any_text_is_read_or_refused(lines in prop::collection::vec("[ -~\u{80}-\u{2030}]{0,60}", 0..8), numbers in prop::collection::vec("[0-9,. +RWDFQ-]{0,50}", 0..8)) {
        let text = [lines, numbers].concat().join("\n");
        let _ = TraceFormat::detect(text.as_bytes());
        for format in text_formats() {
            let _ = parse(format, &text);
        }
    }

    /// A line of a format with one character changed is read or refused.
    #[test]
    fn damaged_lines_are_read_or_refused(request in (0..1_u64 << 50, any::<bool>(), 0..1_u64 << 40, 1..1_u64 << 20), at in any::<prop::sample::Index>(), new in any::<char>()) {
        for format in text_formats() {
            let mut damaged: Vec<char> = line(format, &request).chars().collect();
            let at = at.index(damaged.len());
            damaged[at] = new;
            let damaged: String = damaged.into_iter().collect();
            let _ = parse(format, &format!("fio version 3 iolog\n{damaged}"));
            let _ = parse(format, &damaged);
        }
    }
}
