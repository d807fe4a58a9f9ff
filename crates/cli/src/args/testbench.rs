//! Arguments of `assay testbench`.

use assay_stream::drives::IoCalls;
use assay_units::parse_size;
use clap::Args;

use super::stream::{CoreArguments, calls};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay testbench /dev/nvme0n1 --destroy S4EWNX0M
  assay testbench disk.img --destroy disk.img --chunk 64k --json
  assay testbench /dev/nvme0n1 --destroy S4EWNX0M --span 16g          tests 08 and 10 on 16 GiB \
                        only
  assay testbench sim:mle-brief-960gb,fault=drop-write@40000 --span 8g
  assay testbench rtl:sim:mle-brief-960gb --chunk 16k --span 1m       the RTL core in co-simulation

Everything on the range is lost. Without --span, test 10 writes and reads the whole of it. Exit \
                        status 1 when a test failed.
docs/testbench.md explains the tests and the log.")]
pub struct TestbenchArguments {
    /// The drive.
    pub drive: String,
    /// Allow this drive to be overwritten: its serial (or a file's name)
    #[arg(long, value_name = "SERIAL")]
    pub destroy: Vec<String>,
    /// Address of the first chunk, in bytes [default: 0]
    #[arg(long, value_name = "ADDR", value_parser = parse_size)]
    pub first: Option<u64>,
    /// Address of the last chunk, inclusive [default: the last on the drive]
    #[arg(long, value_name = "ADDR", value_parser = parse_size)]
    pub last: Option<u64>,
    /// Bytes per chunk
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "128k")]
    pub chunk: u64,
    /// Chunks in flight [default: 32]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub iodepth: Option<u32>,
    /// Most bytes written at once by the chunk sweep (08) and the full disk test (10) [default:
    /// 32768 chunks, and all of the range]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub span: Option<u64>,
    /// Seed of the patterns [default: 1 on simulated drives, else a new one for each run, so that
    /// no old data match]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// uring, sync (blocking calls, one chunk at a time), or auto: sync on drives in memory (zram),
    /// uring on all others [default: auto]
    #[arg(long, value_parser = calls())]
    pub engine: Option<IoCalls>,
    /// Only with rtl:.
    #[command(flatten)]
    pub core: CoreArguments,
}
