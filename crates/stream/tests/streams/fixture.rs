//! Fixtures: drives, ranges, recording and replay.

use assay_device::session::{DriveSession, SessionOptions};
use assay_device::spec::DriveSpec;
use assay_stream::drives::{IoCalls, QueueOptions, SoftwareHost, media};
use assay_stream::index::{IndexOptions, StreamId};
use assay_stream::range::{RangeRequest, StreamRange};
use assay_stream::record::{RecordOptions, RecordOutcome};
use assay_stream::registers::Registers;
use assay_stream::replay::{ReplayOptions, ReplayOutcome};
use assay_stream::source::StreamSource;
use assay_stream::status::StreamStatus;
use assay_stream::streamer::StreamHost;
use assay_units::Rng;

pub(crate) const CHUNK: u32 = 16 << 10;

pub(crate) fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut out: Vec<u8> =
        (0..bytes.div_ceil(8)).flat_map(|_| rng.next_u64().to_le_bytes()).collect();
    out.truncate(bytes);
    out
}

pub(crate) struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Fixture {
        Fixture { folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap() }
    }

    pub(crate) fn file(&self, name: &str, chunks: u64) -> String {
        let path = self.folder.path().join(name);
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(chunks * u64::from(CHUNK)).unwrap();
        path.display().to_string()
    }

    pub(crate) fn open(&self, specs: &[&str]) -> Vec<DriveSession> {
        let options = SessionOptions {
            destroy: specs.iter().filter_map(|s| s.rsplit('/').next()).map(str::to_owned).collect(),
            keep_data: true,
            ..SessionOptions::default()
        };
        let open =
            |spec: &&str| DriveSession::open(&DriveSpec::parse(spec).unwrap(), &options).unwrap();
        specs.iter().map(open).collect()
    }
}

pub(crate) fn queues(writes: bool) -> QueueOptions {
    QueueOptions { writes, depth: 8, chunk_bytes: CHUNK, direct: true, calls: IoCalls::Ring }
}

pub(crate) fn range(drives: &[DriveSession], first: Option<u64>, last: Option<u64>) -> StreamRange {
    let request = RangeRequest {
        first: first.map(|n| n * u64::from(CHUNK)),
        last: last.map(|n| n * u64::from(CHUNK)),
        chunk_bytes: CHUNK,
    };
    let media: Vec<_> = drives.iter().map(|d| media(d.info())).collect();
    StreamRange::new(&request, &media).unwrap()
}

pub(crate) fn put(
    drives: &mut [DriveSession],
    range: &StreamRange,
    source: &mut dyn StreamSource,
    options: &RecordOptions,
    registers: &Registers,
) -> RecordOutcome {
    let options = RecordOptions { min_io_bytes: 512, ..options.clone() };
    let mut host = SoftwareHost::new(drives, queues(true));
    let mut streamer = host.streamer().unwrap();
    let recorded = streamer.record(range, source, &options, registers);
    recorded.unwrap()
}

/// Record these bytes.
pub(crate) fn take(
    drives: &mut [DriveSession],
    range: &StreamRange,
    bytes: &[u8],
    options: &RecordOptions,
) -> StreamStatus {
    let registers = Registers::default();
    put(drives, range, &mut &bytes[..], options, &registers).status
}

pub(crate) fn get(
    drives: &mut [DriveSession],
    range: &StreamRange,
    bytes: u64,
) -> (ReplayOutcome, Vec<u8>) {
    let mut host = SoftwareHost::new(drives, queues(false));
    let mut streamer = host.streamer().unwrap();
    let mut out = Vec::new();
    let options = ReplayOptions { min_io_bytes: 512, ..ReplayOptions::default() };
    let registers = Registers::default();
    let replayed = streamer.replay(range, Some(bytes), &mut out, options, &registers);
    (replayed.unwrap(), out)
}

fn whole_range() -> RangeRequest {
    RangeRequest { first: None, last: None, chunk_bytes: CHUNK }
}

/// Find and replay.
pub(crate) fn recover(drives: &mut [DriveSession], first: u64) -> (ReplayOutcome, Vec<u8>, bool) {
    let mut host = SoftwareHost::new(drives, queues(false));
    let searched =
        StreamRange { first, ..StreamRange::new(&whole_range(), &host.extents()).unwrap() };
    let mut recording = host.find_recording(&searched).unwrap();
    let whole = recording.is_whole();
    let mut streamer = host.streamer().unwrap();
    let mut out = Vec::new();
    let replayed = streamer.replay_recording(
        &mut recording,
        &mut out,
        ReplayOptions::default(),
        &Registers::default(),
    );
    (replayed.unwrap(), out, whole)
}

pub(crate) fn index(stream: u8) -> Option<IndexOptions> {
    Some(IndexOptions { stream: StreamId([stream; 16]), label: "test".to_owned(), began_unix_s: 1 })
}

/// On a file and on a simulated drive.
pub(crate) fn on_each(chunks: u64, test: impl Fn(&mut [DriveSession])) {
    let fixture = Fixture::new();
    test(&mut fixture.open(&[&fixture.file("drive", chunks)]));
    test(&mut fixture.open(&["sim:samsung-951"]));
}
