//! Arguments of the stream commands.

use std::path::PathBuf;

use assay_stream::drives::IoCalls;
use assay_units::{Nanos, parse_duration, parse_size, text::parse_rate};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Drives and range of a stream.
#[derive(Clone, Debug, Args)]
pub struct StreamArguments {
    /// The drive, or several, over which the stream is striped chunk by chunk.
    #[arg(required = true, value_name = "DRIVE")]
    pub drives: Vec<String>,
    /// Address of the first chunk, in bytes [default: 0]
    #[arg(long, value_name = "ADDR", value_parser = parse_size, help_heading = "Area")]
    pub first: Option<u64>,
    /// Address of the last chunk, inclusive [default: the last on the smallest drive]
    #[arg(long, value_name = "ADDR", value_parser = parse_size, help_heading = "Area")]
    pub last: Option<u64>,
    /// Bytes per chunk; replay and verify take that of the recording
    #[arg(
        long, value_name = "SIZE", value_parser = parse_size, default_value = "128k",
        help_heading = "Area"
    )]
    pub chunk: u64,
    /// Chunks in flight per drive; times the chunk size: the ring of buffers, the only memory used
    /// [default: 32]
    #[arg(
        long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096),
        help_heading = "Engine"
    )]
    pub iodepth: Option<u32>,
    /// O_DIRECT (true) or through the page cache (false) [default: true]
    #[arg(
        long, value_name = "BOOL", value_parser = assay_workload::options::parse_bool,
        help_heading = "Engine"
    )]
    pub direct: Option<bool>,
    /// uring, sync (blocking calls, one chunk at a time), or auto: sync on drives in memory (zram),
    /// uring on all others [default: auto]
    #[arg(long, value_parser = calls(), help_heading = "Engine")]
    pub engine: Option<IoCalls>,
}

/// The co-simulated core.
#[derive(Clone, Debug, Default, Args)]
pub struct CoreArguments {
    /// Bits of the core's data buses [default: 128]
    #[arg(
        long, value_name = "N", value_parser = bus_bits(),
        help_heading = "Co-simulated core (rtl:)"
    )]
    pub bus_bits: Option<u32>,
    /// Write all signals of the core to this wave file (FST): about 6 MB, and 27 MB per MiB of the
    /// stream
    #[arg(long, value_name = "FILE", help_heading = "Co-simulated core (rtl:)")]
    pub wave: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  producer | assay record /dev/nvme0n1 --destroy S4EWNX0M
  assay record disk.img --destroy disk.img --index --from tcp-listen:0.0.0.0:9000
  camera | assay record /dev/nvme0n1 --destroy S4EWNX0M --index --rate 800MB/s --lossy-deadline \
                        50ms
  assay record /dev/nvme0n1 --destroy S4EWNX0M --plan --rate 800MB/s
  assay record sim:mle-brief-960gb --pattern 1 --length 4g
  assay record rtl:sim:mle-brief-960gb --pattern 1 --length 16m --wave core.fst

Ctrl-C and a closed terminal abort (what is in flight is finished and flushed), SIGTERM stops (no \
                        flush), SIGUSR1 flushes now. Addresses are those of chunks; a
stream over several drives uses the same addresses on each. See docs/build-a-recorder.md.")]
pub struct RecordArguments {
    /// Where and how.
    #[command(flatten)]
    pub stream: StreamArguments,
    /// Allow this drive to be overwritten: its serial (or a file's name)
    #[arg(long, value_name = "SERIAL", help_heading = "Safety and output")]
    pub destroy: Vec<String>,
    /// Where the stream comes from: - (stdin), a path, unix:PATH, tcp:HOST:PORT, unix-listen:PATH,
    /// tcp-listen:HOST:PORT
    #[arg(long, value_name = "SOURCE", default_value = "-", help_heading = "Stream")]
    pub from: String,
    /// Record the test pattern of this seed (check it with assay replay --check SEED)
    #[arg(
        long, value_name = "SEED", value_parser = seed, conflicts_with = "from",
        help_heading = "Stream"
    )]
    pub pattern: Option<u64>,
    /// Bytes of the pattern, or of a plan; k, m, g (and KB, MB, GB) are powers of 1024 [default:
    /// the whole range]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Stream")]
    pub length: Option<u64>,
    /// Write an index, so that the recording can be found, verified and replayed after a crash
    #[arg(long, help_heading = "Stream")]
    pub index: bool,
    /// Label in the index
    #[arg(
        long,
        requires = "index",
        default_value = "",
        hide_default_value = true,
        help_heading = "Stream"
    )]
    pub label: String,
    /// Wrap to the first address when the range is full, over the oldest chunks
    #[arg(long, help_heading = "Stream")]
    pub ring: bool,
    /// Flush the drive when the stream has ended
    #[arg(long, help_heading = "Engine")]
    pub flush_after: bool,
    /// Checkpoint interval: make the recording durable after this many bytes [default with --index:
    /// 64m; without: never]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Engine")]
    pub durable_every: Option<u64>,
    /// The source delivers at this rate and does not wait (800MB/s is decimal, 1.5GiB/s and 100m
    /// are not; a bare number is bytes per second)
    #[arg(long, value_name = "RATE", value_parser = rate, help_heading = "Engine")]
    pub rate: Option<u64>,
    /// Longest time that the source can buffer; longer stalls are reported and give exit status 1
    #[arg(
        long, value_name = "TIME", value_parser = parse_duration, requires = "rate",
        help_heading = "Engine"
    )]
    pub lossy_deadline: Option<Nanos>,
    /// Measure without a source: write at full speed, and print the buffer needed per rate
    #[arg(
        long, conflicts_with_all = ["from", "pattern", "index", "ring", "lossy_deadline"],
        help_heading = "Stream"
    )]
    pub plan: bool,
    /// Print a line of JSON on stderr whenever more has become durable
    #[arg(long, help_heading = "Safety and output")]
    pub watch: bool,
    /// Only with rtl:.
    #[command(flatten)]
    pub core: CoreArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay replay /dev/nvme0n1 > stream
  assay replay /dev/nvme0n1 --raw --first 1g --length 4g --to unix:/run/player
  assay replay /dev/nvme0n1 --check 1 --length 4g

A recording with an index is found and replayed up to its last whole chunk, each chunk checked \
                        before it is delivered. Without one only
--raw replays the bytes of the range, as they are and unchecked.")]
pub struct ReplayArguments {
    /// Where and how.
    #[command(flatten)]
    pub stream: StreamArguments,
    /// Where the stream goes: - (stdout), a new file, unix:PATH, tcp:HOST:PORT, unix-listen:PATH,
    /// tcp-listen:HOST:PORT
    #[arg(long, value_name = "SINK", default_value = "-", help_heading = "Stream")]
    pub to: String,
    /// Check against the pattern of this seed instead of writing it out
    #[arg(
        long, value_name = "SEED", value_parser = seed, conflicts_with = "to",
        help_heading = "Stream"
    )]
    pub check: Option<u64>,
    /// Bytes to replay of a raw range (with --raw or --check) [default: all of it]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Stream")]
    pub length: Option<u64>,
    /// Do not look for an index: the bytes as they are, unchecked
    #[arg(long, help_heading = "Stream")]
    pub raw: bool,
    /// Only with rtl:.
    #[command(flatten)]
    pub core: CoreArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay verify /dev/nvme0n1
  assay verify disk.img --first 1g --json

Reads the whole recording and compares every chunk with its checksum. Exit status 1 when any does \
                        not match, or is missing from
a damaged index.")]
pub struct VerifyArguments {
    /// Where and how.
    #[command(flatten)]
    pub stream: StreamArguments,
}

fn bus_bits() -> impl TypedValueParser<Value = u32> {
    PossibleValuesParser::new(["128", "256", "512"]).map(|bits| match bits.as_str() {
        "256" => 256,
        "512" => 512,
        _ => 128,
    })
}

/// System calls for I/O.
pub fn calls() -> impl TypedValueParser<Value = IoCalls> {
    PossibleValuesParser::new(["auto", "uring", "sync"]).map(|name| match name.as_str() {
        "uring" => IoCalls::Ring,
        "sync" => IoCalls::Blocking,
        _ => IoCalls::Auto,
    })
}

fn rate(text: &str) -> Result<u64, String> {
    match parse_rate(text) {
        Ok(0) => Err("a rate of 0 never delivers anything".to_owned()),
        other => other.map_err(|e| e.to_string()),
    }
}

/// Decimal, or hexadecimal after 0x.
pub fn seed(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| {
        format!("{text:?} is no seed: use a whole number below 2^64, or 0x and hexadecimal digits")
    })
}
