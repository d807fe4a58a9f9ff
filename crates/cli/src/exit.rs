//! Exit statuses (contract): 0 done, 1 the drive or its data failed, 2 usage, 3 refused for safety,
//! 4 I/O error, 75 the run folder or the drive is in use by another process, 130 interrupted by the
//! user.

use std::io::ErrorKind;
use std::process::ExitCode;

use assay_calibrate::CalibrateError;
use assay_cosim::host::CoreHostError;
use assay_cosim::model::ModelError;
use assay_cosim::streamer::CoreError;
use assay_cosim::world::WorldError;
use assay_device::identity::IdentityError;
use assay_device::interlock::Refusal;
use assay_device::session::SessionError;
use assay_fleet::FleetError;
use assay_fleet::chunks::ChunkError;
use assay_fleet::plan::PlanError;
use assay_fleet::queue::QueueError;
use assay_fleet::shared_store::SharedStoreError;
use assay_fleet::sweep::SweepError;
use assay_lake::LakeError;
use assay_serve::ListenError;
use assay_sim_host::profile_file::ProfileFileError;
use assay_store::StoreError;
use assay_stream::endpoint::EndpointError;
use assay_stream::index::IndexError;
use assay_stream::status::StreamError;
use assay_suite::SuiteError;
use assay_testbench::BenchError;

use crate::terminal::Output;

/// Outcome of a command, with its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// Success.
    Done = 0,
    /// The drive or its data failed.
    DriveFailed = 1,
    /// Interrupted by the user.
    Interrupted = 130,
}

impl CommandOutcome {
    /// A failure prevails over an interruption.
    pub fn of(failed: bool, interrupted: bool) -> CommandOutcome {
        match (failed, interrupted) {
            (true, _) => CommandOutcome::DriveFailed,
            (false, true) => CommandOutcome::Interrupted,
            (false, false) => CommandOutcome::Done,
        }
    }
}

const DRIVE_FAILED: u8 = CommandOutcome::DriveFailed as u8;
const USAGE: u8 = 2;
const REFUSED: u8 = 3;
pub const IO_ERROR: u8 = 4;
/// `EX_TEMPFAIL` of sysexits(3): the same command can succeed later.
const IN_USE: u8 = 75;

/// Print clap's message; returns the status.
pub fn usage(error: &clap::Error) -> ExitCode {
    // Fails only on a closed stdout.
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { USAGE } else { 0 })
}

/// The status of an outcome; prints an error with its causes.
pub fn status(outcome: anyhow::Result<CommandOutcome>, output: Output) -> ExitCode {
    ExitCode::from(match outcome {
        Ok(outcome) => outcome as u8,
        Err(error) if is_broken_pipe(&error) => 0,
        Err(error) => {
            output.error(&error);
            code_of(&error)
        }
    })
}

/// The reader closed stdout, as `head` does: not an error.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kinds = error.chain().filter_map(|cause| cause.downcast_ref());
    kinds
        .map(std::io::Error::kind)
        .any(|kind| kind == ErrorKind::BrokenPipe)
}

/// True where the drive or the run folder is in use by another process.
pub fn is_in_use(error: &anyhow::Error) -> bool {
    code_of(error) == IN_USE
}

/// The status of the first cause that determines one.
fn code_of(error: &anyhow::Error) -> u8 {
    let code = |cause: &(dyn std::error::Error + 'static)| {
        None.or_else(|| cause.downcast_ref().map(refusal_code))
            .or_else(|| cause.downcast_ref().map(session_code))
            .or_else(|| cause.downcast_ref().map(suite_code))
            .or_else(|| cause.downcast_ref().map(store_code))
            .or_else(|| cause.downcast_ref().map(calibrate_code))
            .or_else(|| cause.downcast_ref().map(stream_code))
            .or_else(|| cause.downcast_ref().map(index_code))
            .or_else(|| cause.downcast_ref().map(endpoint_code))
            .or_else(|| cause.downcast_ref().map(bench_code))
            .or_else(|| cause.downcast_ref().map(core_code))
            .or_else(|| cause.downcast_ref().map(listen_code))
            .or_else(|| cause.downcast_ref().map(fleet_code))
            .or_else(|| cause.downcast_ref().map(lake_code))
            .or_else(|| cause.downcast_ref().map(sweep_code))
            .or_else(|| cause.downcast_ref().map(chunk_code))
            .or_else(|| cause.downcast_ref().map(|task: &TaskStatus| task.status))
            .or_else(|| cause.downcast_ref().map(shared_store_code))
            .or_else(|| cause.downcast_ref().map(|_: &UsageError| USAGE))
            .or_else(|| cause.downcast_ref().map(|_: &ProfileFileError| USAGE))
    };
    error.chain().find_map(code).unwrap_or(IO_ERROR)
}

fn suite_code(error: &SuiteError) -> u8 {
    match error {
        SuiteError::Session(error) => session_code(error),
        SuiteError::Store(error) => store_code(error),
        SuiteError::File { source, .. } if source.kind() == ErrorKind::NotFound => USAGE,
        SuiteError::Run(_) | SuiteError::File { .. } => IO_ERROR,
        _ => USAGE,
    }
}

fn calibrate_code(error: &CalibrateError) -> u8 {
    match error {
        CalibrateError::Run(error) => store_code(error),
        CalibrateError::File { .. } => IO_ERROR,
        CalibrateError::Simulation { .. } => DRIVE_FAILED,
        _ => USAGE,
    }
}

fn stream_code(error: &StreamError) -> u8 {
    match error {
        StreamError::Index(error) => index_code(error),
        StreamError::Session(error) => session_code(error),
        StreamError::Range(_) | StreamError::NoSlots { .. } | StreamError::Unsupported { .. } => {
            USAGE
        }
        _ => IO_ERROR,
    }
}

fn endpoint_code(error: &EndpointError) -> u8 {
    match error {
        EndpointError::System { .. } => IO_ERROR,
        _ => USAGE,
    }
}

fn bench_code(error: &BenchError) -> u8 {
    match error {
        BenchError::Streamer(error) => stream_code(error),
        _ => USAGE,
    }
}

fn core_code(error: &CoreHostError) -> u8 {
    match error {
        CoreHostError::Session(error) => session_code(error),
        CoreHostError::Core(CoreError::World(WorldError::Model(ModelError::Wave { .. })))
        | CoreHostError::Drive { .. } => IO_ERROR,
        CoreHostError::Core(CoreError::World(WorldError::Model(
            ModelError::Missing { .. } | ModelError::Broken { .. },
        ))) => USAGE,
        CoreHostError::Core(_) => DRIVE_FAILED,
        _ => USAGE,
    }
}

fn listen_code(error: &ListenError) -> u8 {
    match error {
        ListenError::Malformed { .. } | ListenError::NotASocket { .. } => USAGE,
        ListenError::Remote { .. } => REFUSED,
        ListenError::Live { .. } | ListenError::System { .. } => IO_ERROR,
    }
}

fn fleet_code(error: &FleetError) -> u8 {
    match error {
        FleetError::DriveList { .. } => IO_ERROR,
        FleetError::Queue(QueueError::NoRack { .. }) => USAGE,
        FleetError::Task { status, .. } => match status.code() {
            Some(2) => USAGE,
            Some(3) => REFUSED,
            Some(75) => IN_USE,
            _ => IO_ERROR,
        },
        FleetError::SharedStore(error) => shared_store_code(error),
        FleetError::NoPlan(_) | FleetError::ChangedPlan { .. } | FleetError::NoDrives { .. } => {
            USAGE
        }
        FleetError::Cancelled { .. } => REFUSED,
        FleetError::Queue(_)
        | FleetError::Claim(_)
        | FleetError::Document { .. }
        | FleetError::Json(_) => IO_ERROR,
        FleetError::Destroy(_) | FleetError::Plan(PlanError::Destroy(_)) => REFUSED,
        FleetError::Name(_) | FleetError::Plan(_) => USAGE,
    }
}

fn lake_code(error: &LakeError) -> u8 {
    match error {
        LakeError::Busy(_) => IN_USE,
        LakeError::Table(error) => store_code(error),
        LakeError::Io { .. } => IO_ERROR,
    }
}

fn sweep_code(error: &SweepError) -> u8 {
    match error {
        SweepError::File { source, .. } if source.kind() != ErrorKind::NotFound => IO_ERROR,
        _ => USAGE,
    }
}

fn chunk_code(error: &ChunkError) -> u8 {
    match error {
        ChunkError::NoSuchChunk { .. } | ChunkError::Incomplete { .. } => USAGE,
        ChunkError::Directory { .. } => USAGE,
        ChunkError::Differs { .. } | ChunkError::Damaged { .. } => IO_ERROR,
        ChunkError::Store(error) => shared_store_code(error),
    }
}

fn shared_store_code(error: &SharedStoreError) -> u8 {
    match error {
        SharedStoreError::Location { .. } => USAGE,
        _ => IO_ERROR,
    }
}

fn refusal_code(refusal: &Refusal) -> u8 {
    match refusal.is_temporary() {
        true => IN_USE,
        false => REFUSED,
    }
}

fn session_code(error: &SessionError) -> u8 {
    match error {
        SessionError::Refused(refusal) => refusal_code(refusal),
        SessionError::Open(error) if error.is_temporary() => IN_USE,
        SessionError::NoPermit { .. } | SessionError::ErasesMore { .. } => REFUSED,
        SessionError::Identity(
            IdentityError::PermissionDenied { .. } | IdentityError::Io { .. },
        )
        | SessionError::Open(_)
        | SessionError::Purge(_)
        | SessionError::Command(_)
        | SessionError::Erase(_)
        | SessionError::Controller { .. }
        | SessionError::Target(_) => IO_ERROR,
        _ => USAGE,
    }
}

fn index_code(error: &IndexError) -> u8 {
    match error {
        IndexError::Device(_) | IndexError::Beyond { .. } => DRIVE_FAILED,
        IndexError::Target(_) => IO_ERROR,
        _ => USAGE,
    }
}

fn store_code(error: &StoreError) -> u8 {
    match error {
        StoreError::NotARun { .. }
        | StoreError::NotEmpty { .. }
        | StoreError::Exists { .. }
        | StoreError::BadRunId { .. }
        | StoreError::NewerSchema { .. }
        | StoreError::AlreadyComplete { .. }
        | StoreError::UnknownFormat { .. }
        | StoreError::BadPlan { .. } => USAGE,
        StoreError::Busy(_) => IN_USE,
        _ => IO_ERROR,
    }
}

/// A task of a fleet ends with the status of one of its drives.
#[derive(Debug, thiserror::Error)]
#[error("plan {plan}: not every drive is done; the lines above say why")]
pub struct TaskStatus {
    /// Exit status.
    pub status: u8,
    /// Plan.
    pub plan: String,
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// Return a [`UsageError`] with a formatted text, as [`anyhow::bail`] does.
macro_rules! bail_usage {
    ($($text:tt)*) => {
        return Err($crate::exit::UsageError(format!($($text)*)).into())
    };
}
pub(crate) use bail_usage;
