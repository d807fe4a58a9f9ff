//! fio's flags that have another form here: accepted where they mean what happens anyway, else
//! answered with the equivalent.

use std::path::PathBuf;

use clap::Args;

/// Flags of fio beside the options of the workload.
#[derive(Clone, Debug, Default, Args)]
pub struct FioArguments {
    /// Run the jobs of a fio job file; DRIVE replaces the files that it names
    #[arg(
        id = "fio_file",
        long = "fio",
        value_name = "FILE",
        help_heading = "fio's spelling"
    )]
    pub file: Option<PathBuf>,
    /// With --fio: print the jobs as lines of assay job, and run nothing; with DRIVE, check that
    /// they fit it
    #[arg(
        long = "dry-run",
        alias = "showcmd",
        requires = "fio_file",
        help_heading = "fio's spelling"
    )]
    pub dry_run: bool,
    /// Name of a job. Given several times, each begins a job, and they run at once on the drive; a
    /// single one changes nothing
    #[arg(long, value_name = "NAME", help_heading = "fio's spelling")]
    pub name: Option<String>,
    /// fio's spelling of DRIVE
    #[arg(long, value_name = "DRIVE", help_heading = "fio's spelling")]
    pub filename: Option<String>,
    #[command(flatten)]
    pub job: FioJobArguments,
}

/// Those that a job of several can have.
#[derive(Clone, Debug, Default, Args)]
pub struct FioJobArguments {
    /// fio's spelling of --engine: sync, psync, pvsync, pvsync2 (sync), io_uring (uring),
    /// io_uring_cmd (passthru)
    #[arg(long, value_name = "ENGINE", value_parser = engine, conflicts_with = "engine", help_heading = "fio's spelling")]
    pub ioengine: Option<&'static str>,
    /// Changes nothing: with --runtime a job always repeats its area until the time is over
    #[arg(
        long = "time_based",
        alias = "time-based",
        requires = "runtime",
        help_heading = "fio's spelling"
    )]
    pub time_based: bool,
    /// Changes nothing: threads are always reported together
    #[arg(
        long = "group_reporting",
        alias = "group-reporting",
        help_heading = "fio's spelling"
    )]
    pub group_reporting: bool,
    /// Changes nothing: jobs always are threads
    #[arg(long, help_heading = "fio's spelling")]
    pub thread: bool,
    /// Changes nothing: random offsets repeat, unless --random_distribution cover
    #[arg(long, help_heading = "fio's spelling")]
    pub norandommap: bool,
}

/// The engine that issues the same system calls.
fn engine(name: &str) -> Result<&'static str, String> {
    match name {
        "sync" | "psync" | "pvsync" | "pvsync2" => Ok("sync"),
        "io_uring" | "uring" => Ok("uring"),
        "io_uring_cmd" => Ok("passthru"),
        "libaio" | "posixaio" => Err(
            "there is no such engine here; the asynchronous ones are: --engine uring or threads"
                .to_owned(),
        ),
        "null" => Err("name the null target as the drive: null:".to_owned()),
        _ => Err("write --engine sync, uring, threads, passthru or auto".to_owned()),
    }
}

/// `--verify`, with or without fio's name of a checksum.
pub fn verify_method(text: &str) -> Result<bool, String> {
    match text {
        "true" | "1" | "crc32c" | "crc32c-intel" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(format!(
            "{text} is not checked here; blocks have CRC-32C checksums, seed, offset and \
             generation: write --verify (or --verify=crc32c)"
        )),
    }
}
