//! Exit statuses (contract): 0 done, 1 the drive or its data failed, 2 usage, 3 refused for safety, 4 I/O error, 130
//! interrupted by the user.

use std::io::ErrorKind;
use std::process::ExitCode;

use assay_calibrate::CalibrateError;
use assay_device::identity::IdentityError;
use assay_device::interlock::Refusal;
use assay_device::session::SessionError;
use assay_serve::ListenError;
use assay_sim_host::profile_file::ProfileFileError;
use assay_store::StoreError;
use assay_stream::endpoint::EndpointError;
use assay_stream::index::IndexError;
use assay_stream::status::StreamError;
use assay_suite::SuiteError;
use assay_testbench::BenchError;

use crate::terminal::Output;

/// Outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// Success.
    Done,
    /// The drive or its data failed.
    DriveFailed,
    /// Interrupted by the user.
    Interrupted,
}

const DRIVE_FAILED: u8 = 1;
const USAGE: u8 = 2;
const REFUSED: u8 = 3;
const IO_ERROR: u8 = 4;
const INTERRUPTED: u8 = 130;

/// Print clap's message; returns the status.
pub fn usage(error: &clap::Error) -> ExitCode {
    // Fails only on a closed stdout.
    let _ = error.print();
    if error.use_stderr() {
        ExitCode::from(USAGE)
    } else {
        ExitCode::SUCCESS
    }
}

/// The status of an outcome; prints an error with its causes.
pub fn status(outcome: anyhow::Result<CommandOutcome>, output: Output) -> ExitCode {
    match outcome {
        Ok(CommandOutcome::Done) => ExitCode::SUCCESS,
        Ok(CommandOutcome::DriveFailed) => ExitCode::from(DRIVE_FAILED),
        Ok(CommandOutcome::Interrupted) => ExitCode::from(INTERRUPTED),
        Err(error) => {
            if is_broken_pipe(&error) {
                return ExitCode::SUCCESS;
            }
            output.error(&error);
            ExitCode::from(code_of(&error))
        }
    }
}

/// The reader closed stdout, as `head` does: not an error.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

fn code_of(error: &anyhow::Error) -> u8 {
    for cause in error.chain() {
        if cause.is::<Refusal>() {
            return REFUSED;
        }
        if let Some(error) = cause.downcast_ref::<SessionError>() {
            return session_code(error);
        }
        if let Some(error) = cause.downcast_ref::<SuiteError>() {
            return match error {
                SuiteError::Session(error) => session_code(error),
                SuiteError::Store(error) => store_code(error),
                SuiteError::File { source, .. } if source.kind() == ErrorKind::NotFound => USAGE,
                SuiteError::Run(_) | SuiteError::File { .. } => IO_ERROR,
                _ => USAGE,
            };
        }
        if let Some(error) = cause.downcast_ref::<StoreError>() {
            return store_code(error);
        }
        if let Some(error) = cause.downcast_ref::<CalibrateError>() {
            return match error {
                CalibrateError::Run(error) => store_code(error),
                CalibrateError::File { .. } => IO_ERROR,
                CalibrateError::Simulation { .. } => DRIVE_FAILED,
                _ => USAGE,
            };
        }
        if let Some(error) = cause.downcast_ref::<StreamError>() {
            return match error {
                StreamError::Index(error) => index_code(error),
                StreamError::Range(_) | StreamError::NoSlots { .. } => USAGE,
                _ => IO_ERROR,
            };
        }
        if let Some(error) = cause.downcast_ref::<IndexError>() {
            return index_code(error);
        }
        if let Some(error) = cause.downcast_ref::<EndpointError>() {
            return match error {
                EndpointError::System { .. } => IO_ERROR,
                _ => USAGE,
            };
        }
        if let Some(error) = cause.downcast_ref::<BenchError>() {
            return match error {
                BenchError::Session(error) => session_code(error),
                _ => USAGE,
            };
        }
        if let Some(error) = cause.downcast_ref::<ListenError>() {
            return match error {
                ListenError::Malformed { .. } | ListenError::NotASocket { .. } => USAGE,
                ListenError::Remote { .. } => REFUSED,
                ListenError::Live { .. } | ListenError::System { .. } => IO_ERROR,
            };
        }
        if cause.is::<UsageError>() || cause.is::<ProfileFileError>() {
            return USAGE;
        }
    }
    IO_ERROR
}

fn session_code(error: &SessionError) -> u8 {
    match error {
        SessionError::Refused(_)
        | SessionError::NoPermit { .. }
        | SessionError::ReachesOthers { .. }
        | SessionError::ReachesUnknown { .. } => REFUSED,
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
        _ => IO_ERROR,
    }
}

/// Invalid usage.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);
