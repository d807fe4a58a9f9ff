//! Peak memory of commands that read run folders, by the size of the folder.

#[path = "../../../store/tests/fixtures/mod.rs"]
mod fixtures;

use std::path::Path;

use assay_store::model::RunEnd;
use assay_store::{Destination, RunWriter};

use crate::fixture::{Done, Fixture, MIB, pause};
use fixtures::{SMALL, Size};

/// What a folder consists of.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// One long cell: a short line per second and drive, and a line of telemetry.
    Seconds,
    /// Cells with latencies all over the range: long histograms.
    Histograms,
    /// Thousands of short cells.
    Cells,
}

const SHAPES: [Shape; 3] = [Shape::Seconds, Shape::Histograms, Shape::Cells];

/// Commands, where `RUN` is the folder.
const COMMANDS: [&str; 6] = [
    "report RUN -o page.html",
    "compare RUN RUN",
    "export RUN --format json -o run.json",
    "export RUN --format csv -o csv",
    "export RUN --format parquet -o parquet",
    "export RUN --format ocp -o run.jsonl",
];

/// Makes a run folder; `scale` is the number of seconds, histograms or copies of the table of
/// cells.
fn make(folder: &Path, shape: Shape, scale: u64) -> u64 {
    let size = match shape {
        Shape::Seconds => Size { soak_intervals: scale, ..SMALL },
        Shape::Histograms => Size { max_ios_per_interval: 20_000, intervals: scale, ..SMALL },
        Shape::Cells => SMALL,
    };
    let mut manifest = fixtures::manifest(size);
    if matches!(shape, Shape::Cells) {
        let table = manifest.cells.clone();
        manifest.cells = (0..scale)
            .flat_map(|copy| {
                table.iter().cloned().map(move |mut cell| {
                    cell.id = format!("{}-{copy}", cell.id);
                    cell
                })
            })
            .collect();
    }
    let destination = Destination::At(folder.to_owned());
    let mut writer = RunWriter::create(&destination, &manifest).unwrap();
    for entry in fixtures::entries(&manifest, size) {
        writer.append(&entry).unwrap();
    }
    writer.finish(RunEnd::Complete, "2026-03-14T09:41:07Z").unwrap();
    let bytes = |name: &str| folder.join(name).metadata().unwrap().len();
    bytes("journal.log") + bytes("manifest.json")
}

/// Runs a command; its peak resident memory in bytes.
fn peak_bytes(fixture: &Fixture, words: &str) -> u64 {
    let child = fixture.command(words).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let waited = std::thread::spawn({
        let words = words.to_owned();
        move || Done::new(&words, child).expect(0)
    });
    let mut peak_kib: u64 = 0;
    while !waited.is_finished() {
        // Gone once the process has ended.
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        peak_kib = peak_kib.max(kib.unwrap_or(0));
        pause(1);
    }
    waited.join().unwrap();
    peak_kib << 10
}

/// The peaks of all commands on a folder of this shape; its size.
fn peaks(shape: Shape, scale: u64) -> (u64, Vec<(&'static str, u64)>) {
    let fixture = Fixture::on_disk();
    let bytes = make(&fixture.path("run"), shape, scale);
    let of = |command: &'static str| {
        let peak = peak_bytes(&fixture, &command.replace("RUN", "run"));
        (command, peak)
    };
    (bytes, COMMANDS.map(of).to_vec())
}

fn show(shape: Shape, bytes: u64, peaks: &[(&str, u64)]) {
    let mib = |bytes: u64| bytes as f64 / MIB as f64;
    let peaks = peaks.iter().map(|(command, peak)| {
        let name = command.split(" -o").next().unwrap_or(command);
        format!("{name} {:.0}", mib(*peak))
    });
    let peaks: Vec<String> = peaks.collect();
    println!("{shape:?}, {:.1} MiB: {}", mib(bytes), peaks.join(", "));
}

/// The bound: this, and [`PER_BYTE`] of the folder's size. Also the limit for the figures by hand.
const BASE_BYTES: u64 = 40 << 20;
/// See [`BASE_BYTES`].
const PER_BYTE: u64 = 8;

fn stays_within_bounds(shape: Shape, megabytes: u64) {
    let (bytes, peaks) = peaks(shape, megabytes * per_mib(shape));
    show(shape, bytes, &peaks);
    for (command, peak) in peaks {
        assert!(peak > 0, "{command}");
        let most = BASE_BYTES + PER_BYTE * bytes;
        assert!(peak <= most, "{shape:?}, {command}: {peak} bytes for {bytes}, at most {most}");
    }
}

#[test]
fn reading_a_run_folder_takes_memory_in_proportion_to_it() {
    for shape in SHAPES {
        stays_within_bounds(shape, 4);
    }
}

#[test]
#[ignore = "minutes: the figures of docs/reliability.md"]
fn memory_by_size() {
    for shape in SHAPES {
        for megabytes in [1, 10, 100] {
            // No suite has more than 10,000 cells.
            if megabytes < 100 || !matches!(shape, Shape::Cells) {
                stays_within_bounds(shape, megabytes);
            }
        }
    }
}

/// Scale of about one MiB.
fn per_mib(shape: Shape) -> u64 {
    match shape {
        Shape::Seconds => 700,
        Shape::Histograms => 8,
        Shape::Cells => 50,
    }
}
