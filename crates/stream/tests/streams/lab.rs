//! Drives, ranges, and streams onto them and back.

use assay_device::session::{DriveSession, SessionOptions};
use assay_device::spec::DriveSpec;
use assay_stream::drives::{Calls, Drives, LaneOptions, media};
use assay_stream::index::{IndexOptions, Recording, StreamId, find};
use assay_stream::range::{Range, RangeRequest};
use assay_stream::record::{RecordOptions, Recorded, record};
use assay_stream::registers::Registers;
use assay_stream::replay::{ReplayOptions, Replayed, What, replay};
use assay_stream::source::{Bytes, Source};
use assay_stream::status::Status;
use assay_units::Rng;

pub(crate) const CHUNK: u32 = 16 << 10;

pub(crate) fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut out: Vec<u8> = (0..bytes.div_ceil(8))
        .flat_map(|_| rng.next_u64().to_le_bytes())
        .collect();
    out.truncate(bytes);
    out
}

pub(crate) struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    pub(crate) fn new() -> Lab {
        Lab {
            folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap(),
        }
    }

    pub(crate) fn file(&self, name: &str, chunks: u64) -> String {
        let path = self.folder.path().join(name);
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(chunks * u64::from(CHUNK)).unwrap();
        path.display().to_string()
    }

    pub(crate) fn open(&self, specs: &[&str]) -> Vec<DriveSession> {
        let options = SessionOptions {
            destroy: specs
                .iter()
                .filter_map(|s| s.rsplit('/').next())
                .map(str::to_owned)
                .collect(),
            keep_data: true,
            ..SessionOptions::default()
        };
        let open =
            |spec: &&str| DriveSession::open(&DriveSpec::parse(spec).unwrap(), &options).unwrap();
        specs.iter().map(open).collect()
    }
}

pub(crate) fn lanes(writes: bool) -> LaneOptions {
    LaneOptions {
        writes,
        depth: 8,
        chunk_bytes: CHUNK,
        direct: true,
        calls: Calls::Ring,
    }
}

pub(crate) fn range(drives: &[DriveSession], first: Option<u64>, last: Option<u64>) -> Range {
    let request = RangeRequest {
        first: first.map(|n| n * u64::from(CHUNK)),
        last: last.map(|n| n * u64::from(CHUNK)),
        chunk_bytes: CHUNK,
    };
    let media: Vec<_> = drives.iter().map(|d| media(d.info())).collect();
    Range::new(&request, &media).unwrap()
}

pub(crate) fn put(
    drives: &mut [DriveSession],
    range: &Range,
    source: &mut dyn Source,
    options: &RecordOptions,
    registers: &Registers,
) -> Recorded {
    let options = RecordOptions {
        min_io_bytes: 512,
        ..options.clone()
    };
    let mut open = Drives::open(drives, lanes(true)).unwrap();
    let mut lanes = open.lanes().unwrap();
    record(&mut lanes, range, source, &options, registers).unwrap()
}

/// Record these bytes, with nobody watching.
pub(crate) fn take(
    drives: &mut [DriveSession],
    range: &Range,
    bytes: &[u8],
    options: &RecordOptions,
) -> Status {
    let registers = Registers::default();
    put(drives, range, &mut Bytes::new(bytes), options, &registers).status
}

pub(crate) fn get(drives: &mut [DriveSession], range: &Range, bytes: u64) -> (Replayed, Vec<u8>) {
    let mut open = Drives::open(drives, lanes(false)).unwrap();
    let mut lanes = open.lanes().unwrap();
    let mut out = Vec::new();
    let options = ReplayOptions {
        min_io_bytes: 512,
        ..ReplayOptions::default()
    };
    let what = What::Raw(*range, Some(bytes));
    let replayed = replay(&mut lanes, what, &mut out, options, &Registers::default()).unwrap();
    (replayed, out)
}

/// Find, and replay.
pub(crate) fn recover(drives: &mut [DriveSession], first: u64) -> (Replayed, Vec<u8>, bool) {
    let capacities: Vec<u64> = drives.iter().map(|d| d.info().capacity_bytes).collect();
    let mut open = Drives::open(drives, lanes(false)).unwrap();
    let mut lanes = open.lanes().unwrap();
    let mut found = Vec::new();
    for (lane, capacity) in lanes.iter_mut().zip(capacities) {
        found.push((lane.name().to_owned(), find(lane, first, capacity).unwrap()));
    }
    let (mut recording, order) = Recording::assemble(found).unwrap();
    let mut all: Vec<_> = lanes.drain(..).map(Some).collect();
    let mut lanes: Vec<_> = order.iter().filter_map(|&at| all[at].take()).collect();
    let whole = recording.is_whole();
    let mut out = Vec::new();
    let what = What::Recording(&mut recording);
    let replayed = replay(
        &mut lanes,
        what,
        &mut out,
        ReplayOptions::default(),
        &Registers::default(),
    )
    .unwrap();
    (replayed, out, whole)
}

pub(crate) fn index(stream: u8) -> Option<IndexOptions> {
    Some(IndexOptions {
        stream: StreamId([stream; 16]),
        label: "test".to_owned(),
        began_unix_s: 1,
    })
}

/// On a file and on a simulated drive.
pub(crate) fn on_each(chunks: u64, test: impl Fn(&mut [DriveSession])) {
    let lab = Lab::new();
    test(&mut lab.open(&[&lab.file("drive", chunks)]));
    test(&mut lab.open(&["sim:samsung-951"]));
}
