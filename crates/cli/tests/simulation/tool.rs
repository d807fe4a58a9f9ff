//! What the commands `run`, `report`, `record` and `replay` do, in this process.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use assay_device::session::{DriveSession, SessionOptions};
use assay_device::spec::DriveSpec;
use assay_execute::ExecuteError;
use assay_execute::drive_state_cache::DriveStateCache;
use assay_execute::events::{RunEvent, RunListener};
use assay_execute::live::Live;
use assay_execute::manifest::manifest;
use assay_execute::run::{Resume, RunSummary, Runner};
use assay_integrity::blocks::VerifyBlocks;
use assay_report::terminal::{Style, render};
use assay_stats::HostAudit;
use assay_store::model::BuildRecord;
use assay_store::replace::replace_content;
use assay_store::{Destination, Run, RunWriter};
use assay_stream::drives::{IoCalls, QueueOptions, SoftwareHost, media};
use assay_stream::endpoint::Endpoint;
use assay_stream::index::{IndexOptions, StreamId};
use assay_stream::range::{RangeRequest, StreamRange};
use assay_stream::record::RecordOptions;
use assay_stream::registers::{ControlBits, Registers};
use assay_stream::replay::{ReplayOptions, ReplayOutcome};
use assay_stream::source::{Descriptor, FillResult, StreamSource};
use assay_stream::status::{StreamError, StreamStatus};
use assay_stream::streamer::StreamHost;
use assay_suite::expand::{RunPlan, RunSettings, expand};
use assay_suite::schema::Suite;
use assay_units::{Classified, ErrorClass, Rng};

/// Two cells that write and verify, one that reads; the seeds are given, so that two runs are equal.
const SUITE: &str = r#"
name = "simulation"
title = "Cells for faults"
summary = "Writes, verifies, reads."
source = "these tests"
duration = "short"
[[step]]
id = "write"
title = "Sequential write"
kind = "measure"
job = { rw = "write", bs = "64k", iodepth = 4, size = "1m", verify = true, verify_seed = 7, interval = "1ms" }
[[step]]
id = "randwrite"
title = "Random write"
kind = "measure"
job = { rw = "randwrite", random_distribution = "cover", bs = "16k", iodepth = 4, offset = "1m", size = "512k", verify = true, verify_seed = 8, interval = "1ms" }
[[step]]
id = "randread"
title = "Random read"
kind = "measure"
job = { rw = "randread", bs = "4k", iodepth = 2, size = "1m", runtime = "5ms", interval = "2ms" }
"#;

struct Quiet;

impl RunListener for Quiet {
    fn event(&mut self, _: &RunPlan, _: &RunEvent<'_>) {}
}

fn sessions(drives: &[String]) -> Result<Vec<DriveSession>, ExecuteError> {
    let session = |drive: &String| {
        let options = SessionOptions {
            keep_data: true,
            generator: Some(Arc::new(VerifyBlocks)),
            ..SessionOptions::default()
        };
        let spec = DriveSpec::parse(drive).expect("drives of these tests are written correctly");
        Ok(DriveSession::open(&spec, &options)?)
    };
    drives.iter().map(session).collect()
}

/// Begins the run in this folder, or resumes it; then its report.
pub fn run(
    folder: &Path,
    drives: &[String],
    stop: &AtomicBool,
) -> Result<RunSummary, ExecuteError> {
    let suite = Suite::parse("simulation", SUITE)?;
    let settings = RunSettings { set: vec![], scale: 1.0, seed: 1 };
    let mut drives = sessions(drives)?;
    let plan = expand(&suite, &settings, &drives)?;
    let path = folder.join("run");
    let (writer, resume) = if path.join("manifest.json").exists() {
        let (writer, before) = RunWriter::resume(&path)?;
        (writer, Resume::from_run(&before, &plan)?)
    } else {
        let manifest = manifest(&plan, &drives, BuildRecord::default(), vec![]);
        let destination = Destination::At(path.clone());
        (RunWriter::create(&destination, &manifest)?, Resume::default())
    };
    let live = Live::new(&plan, &drives);
    let summary = Runner {
        plan: &plan,
        drives: &mut drives,
        writer,
        audit: HostAudit::default(),
        stop,
        listener: &mut Quiet,
        live: &live,
        drive_states: DriveStateCache::at(folder.join("drives")),
    }
    .run(&resume)?;
    let text = render(&Run::open(&path)?, 100, Style::Plain);
    replace_content(&folder.join("report.txt"), text.as_bytes())?;
    Ok(summary)
}

const CHUNK_BYTES: u32 = 16 << 10;
const CHUNKS: usize = 40;

/// Drives with a recording.
pub struct Recorder {
    drives: Vec<DriveSession>,
    pub stream: Vec<u8>,
    /// Bytes that were reported durable.
    pub durable_bytes: u64,
}

/// Ends the recording with the bytes of a call to `fill`.
struct Stopping<'a> {
    bytes: &'a [u8],
    fills: u64,
    stop_at: Option<(u64, ControlBits)>,
}

impl StreamSource for Stopping<'_> {
    fn name(&self) -> String {
        self.bytes.name()
    }

    fn fill(&mut self, chunk: &mut [u8], registers: &Registers) -> std::io::Result<FillResult> {
        if let Some((at, control)) = self.stop_at
            && at == self.fills
        {
            registers.command(control);
        }
        self.fills += 1;
        self.bytes.fill(chunk, registers)
    }

    fn has_more(&mut self, wait: bool, registers: &Registers) -> std::io::Result<Option<bool>> {
        self.bytes.has_more(wait, registers)
    }
}

impl Recorder {
    pub fn new(drives: &[String], seed: u64) -> Recorder {
        let mut rng = Rng::new(seed);
        let words = (0..CHUNKS * CHUNK_BYTES as usize / 8 - 9).map(|_| rng.next_u64());
        Recorder {
            drives: sessions(drives).expect("a simulated drive opens"),
            stream: words.flat_map(u64::to_le_bytes).collect(),
            durable_bytes: 0,
        }
    }

    fn queues(writes: bool) -> QueueOptions {
        QueueOptions {
            writes,
            depth: 4,
            chunk_bytes: CHUNK_BYTES,
            direct: true,
            calls: IoCalls::Ring,
        }
    }

    fn range(&self) -> StreamRange {
        let request = RangeRequest {
            first: None,
            last: Some(63 * u64::from(CHUNK_BYTES)),
            chunk_bytes: CHUNK_BYTES,
        };
        let media: Vec<_> = self.drives.iter().map(|d| media(d.info())).collect();
        StreamRange::new(&request, &media).expect("it fits the drives")
    }

    pub fn record(
        &mut self,
        stop_at: Option<(u64, ControlBits)>,
    ) -> Result<StreamStatus, StreamError> {
        let range = self.range();
        let options = RecordOptions {
            index: Some(IndexOptions {
                stream: StreamId([7; 16]),
                label: "simulation".to_owned(),
                began_unix_s: 1,
            }),
            checkpoint_bytes: Some(6 * u64::from(CHUNK_BYTES)),
            min_io_bytes: 512,
            ask_for_more: true,
            ..RecordOptions::default()
        };
        let mut source = Stopping { bytes: &self.stream, fills: 0, stop_at };
        let registers = Registers::default();
        let mut host = SoftwareHost::new(&mut self.drives[..], Recorder::queues(true));
        let recorded = match host.streamer() {
            Ok(mut streamer) => streamer.record(&range, &mut source, &options, &registers),
            Err(error) => Err(error),
        };
        drop(host);
        self.durable_bytes = registers.durable_bytes();
        Ok(recorded?.status)
    }

    /// Into a new file.
    pub fn replay(&mut self, file: &Path) -> Result<ReplayOutcome, (ErrorClass, String)> {
        let failed = |error: StreamError| (error.class(), error.to_string());
        let range = self.range();
        let mut host = SoftwareHost::new(&mut self.drives[..], Recorder::queues(false));
        let mut recording = host.find_recording(&range).map_err(failed)?;
        let endpoint = Endpoint::File(file.to_owned());
        let opened = endpoint.open_sink();
        let opened = opened.map_err(|error| (error.class(), error.to_string()))?;
        let mut sink = Descriptor::new(endpoint.name(true), opened).expect("it can be duplicated");
        let options = ReplayOptions::default();
        let registers = Registers::default();
        let mut streamer = host.streamer().map_err(failed)?;
        let replayed = streamer.replay_recording(&mut recording, &mut sink, options, &registers);
        replayed.map_err(failed)
    }
}
