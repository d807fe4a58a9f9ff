//! Robustness of run folders: kills at every byte, flipped bits, arbitrary and hostile bytes.

use crate::fixtures;

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use assay_stats::{Histogram, OpInterval};
use assay_store::journal::{JOURNAL_FILE, JournalReader, JournalWriter, LineContent, parse_line};
use assay_store::model::{Entry, IntervalRecord, OpRecord, RunEnd};
use assay_store::{Destination, Run, RunWriter};
use assay_units::{Nanos, Op, Rng};
use proptest::prelude::*;

use fixtures::SMALL;

/// A small run, and its journal's bytes.
fn small() -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    let path = fixtures::make(dir.path(), SMALL);
    let journal = fs::read(path.join(JOURNAL_FILE)).unwrap();
    (dir, path, journal)
}

/// A run of four cells that has every kind of event, for tests that open it thousands of times.
fn tiny() -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    let mut manifest = fixtures::manifest(SMALL);
    let mut soaked = false;
    manifest.cells.retain(|cell| match cell.step.as_str() {
        "all-aboard" | "discard" => true,
        "file-read" => cell.drives == [0],
        "soak" => !std::mem::replace(&mut soaked, true),
        _ => false,
    });
    assert_eq!(manifest.cells.len(), 4);
    let under = Destination::Under(dir.path().to_owned());
    let mut writer = RunWriter::create(&under, &manifest).unwrap();
    writer.append_all(&fixtures::entries(&manifest, SMALL)).unwrap();
    let path = writer.finish(RunEnd::Complete, "then").unwrap();
    let journal = fs::read(path.join(JOURNAL_FILE)).unwrap();
    (dir, path, journal)
}

/// The run without its notes of damage, for comparing.
fn without_notes(mut run: Run) -> Run {
    run.damaged_lines.clear();
    run
}

/// Ends of lines, as lengths of the journal up to and including them.
fn line_ends(journal: &[u8]) -> Vec<usize> {
    let ends = journal.iter().enumerate().filter(|(_, b)| **b == b'\n');
    ends.map(|(i, _)| i + 1).collect()
}

#[test]
fn a_run_truncated_at_any_byte_loses_only_the_torn_line() {
    let (_dir, path, journal) = tiny();
    let journal_path = path.join(JOURNAL_FILE);
    let ends = line_ends(&journal);
    // The run after each number of whole lines.
    let whole: Vec<Run> = std::iter::once(0)
        .chain(ends.iter().copied())
        .map(|end| {
            fs::write(&journal_path, &journal[..end]).unwrap();
            Run::open(&path).unwrap()
        })
        .collect();
    assert!(whole.iter().all(|run| run.damaged_lines.is_empty()));
    fs::write(&journal_path, &journal).unwrap();
    let file = OpenOptions::new().write(true).open(&journal_path).unwrap();
    for len in (0..journal.len()).rev() {
        file.set_len(len as u64).unwrap();
        let run = Run::open(&path).unwrap();
        let lines = ends.partition_point(|&end| end <= len);
        let torn = len - if lines == 0 { 0 } else { ends[lines - 1] };
        // A line without its line end is valid by its checksum.
        let complete_but_for_its_end = ends.get(lines) == Some(&(len + 1));
        if complete_but_for_its_end {
            assert_eq!(run, whole[lines + 1], "at {len}");
        } else {
            assert_eq!(run.damaged_lines.len(), usize::from(torn > 0), "at {len}");
            assert_eq!(without_notes(run), whole[lines], "at {len}");
        }
    }
}

#[test]
fn a_run_truncated_at_any_byte_is_resumable() {
    let (_dir, path, journal) = tiny();
    let journal_path = path.join(JOURNAL_FILE);
    let ends = line_ends(&journal);
    // Around every line end, and every 61st byte between.
    let near_end = |len: &usize| ends.iter().any(|end| end.abs_diff(*len) <= 1);
    let before_the_finish = ends[ends.len() - 2];
    for len in (0..before_the_finish).filter(|len| near_end(len) || len % 61 == 0) {
        fs::write(&journal_path, &journal[..len]).unwrap();
        let before = without_notes(Run::open(&path).unwrap());
        let (mut writer, run) = RunWriter::resume(&path).unwrap();
        assert_eq!(run.damaged_lines, Vec::<String>::new(), "at {len}: the torn line is gone");
        assert_eq!(run, before, "at {len}: mending neither loses nor invents");
        let start = Entry::Start { at: "later".to_owned(), resumed: writer.resumed };
        writer.append(&start).unwrap();
        drop(writer);
        assert_eq!(Run::open(&path).unwrap().damaged_lines, Vec::<String>::new(), "at {len}");
    }
}

#[test]
fn a_flipped_bit_invalidates_only_its_line() {
    let (_dir, path, journal) = small();
    let journal_path = path.join(JOURNAL_FILE);
    let ends = line_ends(&journal);
    let mut rng = Rng::new(11);
    for _ in 0..400 {
        let mut damaged = journal.clone();
        let at = rng.below(journal.len() as u64) as usize;
        let bit = rng.below(8);
        damaged[at] ^= 1 << bit;
        fs::write(&journal_path, &damaged).unwrap();
        // The line, the line after it when the line end was hit, or both halves when a line end was
        // made.
        let mut reader = JournalReader::open(&journal_path).unwrap();
        let (mut kept, mut lost) = (0, 0);
        while let Some(line) = reader.next_line().unwrap() {
            match line.content {
                LineContent::Entry(_) => kept += 1,
                LineContent::Damaged(_) => lost += 1,
                LineContent::Unknown(event) => {
                    panic!("byte {at} bit {bit} made an event {event:?}")
                }
            }
        }
        assert!((1..=2).contains(&lost), "byte {at} bit {bit}: {lost} lines lost");
        let hit_line_end = journal[at] == b'\n' && at + 1 < journal.len();
        assert_eq!(kept, ends.len() - 1 - usize::from(hit_line_end), "byte {at} bit {bit}");
        let run = Run::open(&path).unwrap();
        assert!(run.damaged_lines.iter().any(|note| note.starts_with("journal.log line")));
    }
}

#[test]
fn arbitrary_changes_never_panic() {
    let (_dir, path, journal) = small();
    let journal_path = path.join(JOURNAL_FILE);
    let mut rng = Rng::new(12);
    for _ in 0..300 {
        let mut damaged = journal.clone();
        for _ in 0..=rng.below(20) {
            let at = rng.below(damaged.len() as u64) as usize;
            let length = rng.below(40).min((damaged.len() - at) as u64) as usize;
            match rng.below(4) {
                0 => rng.fill(&mut damaged[at..at + length]),
                1 => drop(damaged.drain(at..at + length)),
                2 => damaged[at..at + length].fill(0),
                _ => {
                    let copy = damaged[at..at + length].to_vec();
                    damaged.splice(at..at, copy);
                }
            }
        }
        fs::write(&journal_path, &damaged).unwrap();
        Run::open(&path).unwrap();
    }
}

/// A line of any content with a valid checksum.
fn proven(json: &str) -> Vec<u8> {
    let mut line = format!("{:08x} {json}", crc32c::crc32c(json.as_bytes())).into_bytes();
    line.push(b'\n');
    line
}

/// The run's journal, then these lines.
fn reopened(path: &Path, journal: &[u8], lines: &[Vec<u8>]) -> Run {
    let mut bytes = journal.to_vec();
    bytes.extend(lines.concat());
    fs::write(path.join(JOURNAL_FILE), bytes).unwrap();
    Run::open(path).unwrap()
}

#[test]
fn events_of_a_newer_version_are_left_out_with_a_note() {
    let (_dir, path, journal) = small();
    let before = Run::open(&path).unwrap();
    let newer = proven("{\"event\":\"trim_map\",\"cell\":\"x\",\"ranges\":[1,2]}");
    let run = reopened(
        &path,
        &journal,
        &[newer.clone(), newer, proven("{\"event\":\"start\"}"), proven("[]")],
    );
    assert_eq!(run.damaged_lines.len(), 3);
    let notes = run.damaged_lines.join("\n");
    assert!(
        notes.contains("2 event(s)") && notes.contains("trim_map") && notes.contains("newer"),
        "{notes}"
    );
    assert!(notes.contains("not an event"), "{notes}");
    assert_eq!(without_notes(run), before);
}

#[test]
fn hostile_but_well_formed_events_are_left_out() {
    let (_dir, path, journal) = small();
    let before = Run::open(&path).unwrap();
    let id = &before.manifest.cells[0].id;
    let events = [
        "{\"event\":\"cell_start\",\"cell\":\"nowhere\",\"at\":\"\"}".to_owned(),
        format!("{{\"event\":\"telemetry\",\"cell\":{id:?},\"drive\":77,\"at\":0}}"),
        "{\"event\":\"verdict\",\"drive\":18446744073709551615,\"verdict\":{\"result\":\"\
         recommended\",\"reasons\":[]}}"
            .to_owned(),
        format!(
            "{{\"event\":\"interval\",\"cell\":{id:?},\"drive\":0,\"index\":0,\"ramp\":false,\"\
             start\":0,\"end\":1,\"ops\":[]}}"
        ),
    ];
    let lines: Vec<Vec<u8>> = events.iter().map(|e| proven(e)).collect();
    let run = reopened(&path, &journal, &lines);
    assert_eq!(run.damaged_lines.len(), lines.len(), "{:?}", run.damaged_lines);
    assert!(run.damaged_lines[3].contains("already ended"));
    assert_eq!(without_notes(run), before);
}

#[test]
fn counts_beyond_64_bits_are_refused() {
    let (_dir, path, journal) = small();
    let id = Run::open(&path).unwrap().manifest.cells[0].id.clone();
    let huge = |index: u32, ios: u64, bytes: u64| {
        let mut latency = Histogram::new();
        latency.record(Nanos(5));
        let op = OpRecord {
            op: Op::Read,
            counts: OpInterval {
                ios,
                bytes,
                errors: u64::MAX / 3,
                latency,
                ..OpInterval::default()
            },
        };
        let record = IntervalRecord {
            cell: id.clone(),
            drive: 0,
            index,
            ramp: false,
            start: Nanos(9),
            end: Nanos(3),
            // The same operation twice in one record: added up like any other.
            ops: vec![op.clone(), op],
        };
        proven(&serde_json::to_string(&Entry::Interval(record)).unwrap())
    };
    let start = proven(&format!("{{\"event\":\"cell_start\",\"cell\":{id:?},\"at\":\"\"}}"));
    let run = reopened(
        &path,
        &journal,
        &[start.clone(), huge(0, u64::MAX, 1), huge(1, 1, u64::MAX), huge(2, 4, 5), huge(2, 4, 5)],
    );
    // The third fits and is kept; the sum with the fourth overflows.
    assert_eq!(run.damaged_lines.len(), 3, "{:?}", run.damaged_lines);
    let series = &run.cells[0].drives[0].series;
    assert_eq!(series.len(), 1);
    assert_eq!((series[0].ios, series[0].bytes, series[0].latency.samples), (8, 10, 2));

    // A histogram whose sum cannot be the sum of its values: LEB128 of count 1, no overflow, sum
    // 2^64-1 and 2^64-1.
    let mut bytes = vec![1, 0];
    for _ in 0..2 {
        bytes.extend([0xff; 9]);
        bytes.push(1);
    }
    bytes.extend([5, 5, 5, 1]);
    let text = base64(&bytes);
    assert!(Histogram::decode(&text).is_ok(), "the encoding itself is sound");
    let lying = proven(&format!(
        "{{\"event\":\"interval\",\"cell\":{id:?},\"drive\":0,\"index\":0,\"ramp\":false,\"start\"\
         :0,\"end\":1,\"ops\":[{{\"op\":\"read\",\"ios\":1,\"bytes\":1,\"errors\":0,\"latency\":\"\
         {text}\"}}]}}"
    ));
    let run = reopened(&path, &journal, &[start, lying]);
    assert!(run.damaged_lines[0].contains("sum"), "{:?}", run.damaged_lines);
}

/// Base64 without padding, as histograms are written.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = (0..3).fold(0_u32, |w, i| w << 8 | u32::from(*chunk.get(i).unwrap_or(&0)));
        for i in 0..=chunk.len() {
            text.push(char::from(ALPHABET[(word >> (18 - 6 * i)) as usize & 63]));
        }
    }
    text
}

#[test]
fn an_overlong_line_is_skipped_in_bounded_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(JOURNAL_FILE);
    let mut bytes = vec![b'x'; (16 << 20) + 70_000];
    bytes.push(b'\n');
    let start = Entry::Start { at: String::new(), resumed: 3 };
    bytes.extend(proven(&serde_json::to_string(&start).unwrap()));
    fs::write(&path, &bytes).unwrap();
    let mut reader = JournalReader::open(&path).unwrap();
    assert_eq!(
        reader.next_line().unwrap().unwrap().content,
        LineContent::Damaged("too long for an event".to_owned())
    );
    let second = reader.next_line().unwrap().unwrap();
    assert_eq!((second.number, second.offset), (2, (16 << 20) + 70_001));
    assert_eq!(second.content, LineContent::Entry(Box::new(start)));
    assert!(reader.next_line().unwrap().is_none());
}

#[test]
fn a_huge_torn_tail_is_truncated() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(JOURNAL_FILE);
    let mut bytes = proven("{\"event\":\"start\",\"at\":\"\",\"resumed\":0}");
    let whole = bytes.len() as u64;
    bytes.extend(vec![0; 300_000]);
    fs::write(&path, &bytes).unwrap();
    JournalWriter::open(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), whole);
    // A file of one torn line becomes empty.
    fs::write(&path, vec![7; 200_000]).unwrap();
    JournalWriter::open(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let mut reader = JournalReader::new(bytes.as_slice());
        let mut end = 0;
        while let Some(line) = reader.next_line().unwrap() {
            prop_assert!(line.offset >= end);
            end = line.offset + 1;
            prop_assert!(matches!(line.content, LineContent::Damaged(_)));
        }
    }

    #[test]
    fn arbitrary_json_with_a_right_checksum_never_panics(json in "\\{\"event\":\"[a-z_]{0,12}\"(,\"[a-z]{1,5}\":(\"[ -~]{0,9}\"|[0-9]{1,25}|null|\\[\\])){0,4}\\}") {
        let line = proven(&json);
        let _ = parse_line(&line[..line.len() - 1]);
    }
}
