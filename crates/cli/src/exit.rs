//! Exit statuses (contract): 0 done, 1 the drive or its data failed, 2 usage, 3 refused for safety,
//! 4 I/O error, 75 the run folder or the drive is in use by another process, 130 interrupted by the
//! user.

use std::error::Error;
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitCode;

use assay_calibrate::CalibrateError;
use assay_cosim::host::CoreHostError;
use assay_device::interlock::Refusal;
use assay_device::session::SessionError;
use assay_device::supervise::{Outcome, SuperviseError};
use assay_execute::ExecuteError;
use assay_export::ExportError;
use assay_fleet::FleetError;
use assay_fleet::chunks::ChunkError;
use assay_fleet::shared_store::SharedStoreError;
use assay_fleet::sweep::SweepError;
use assay_import::ImportError;
use assay_metrics::MetricsError;
use assay_serve::ListenError;
use assay_sim_host::profile_file::ProfileFileError;
use assay_store::StoreError;
use assay_stream::endpoint::EndpointError;
use assay_stream::index::IndexError;
use assay_stream::status::StreamError;
use assay_suite::SuiteError;
use assay_testbench::BenchError;
use assay_units::{Classified, ErrorClass};

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
    pub fn from_flags(failed: bool, interrupted: bool) -> CommandOutcome {
        match (failed, interrupted) {
            (true, _) => CommandOutcome::DriveFailed,
            (false, true) => CommandOutcome::Interrupted,
            (false, false) => CommandOutcome::Done,
        }
    }

    /// A gate turns success into a failure, and nothing else.
    pub fn unless(self, failed: bool) -> CommandOutcome {
        match self {
            CommandOutcome::Done if failed => CommandOutcome::DriveFailed,
            outcome => outcome,
        }
    }
}

const DRIVE_FAILED: u8 = CommandOutcome::DriveFailed as u8;
const USAGE: u8 = 2;
const REFUSED: u8 = 3;
const IO_ERROR: u8 = 4;
/// `EX_TEMPFAIL` of sysexits(3): the same command can succeed later.
const IN_USE: u8 = 75;
/// Of a process that SIGKILL ended, as shells report it.
pub const KILLED: u8 = 128 + 9;

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

/// The status of a supervised command: the child's. A signal that ended the child ends this process
/// likewise.
pub fn supervised(outcome: Result<Outcome, SuperviseError>, output: Output) -> ExitCode {
    let status = match outcome {
        Ok(Outcome::Ended(status)) => status,
        Ok(Outcome::Abandoned(message)) => {
            return self::status(Err(anyhow::anyhow!(message)), output);
        }
        Err(error) => return self::status(Err(error.into()), output),
    };
    let signalled = |signal| {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        128 + signal
    };
    let code = status.code().or_else(|| status.signal().map(signalled));
    let code = code.and_then(|code| u8::try_from(code).ok());
    ExitCode::from(code.unwrap_or(IO_ERROR))
}

/// The reader closed stdout, as `head` does: not an error.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kinds = error.chain().filter_map(|cause| cause.downcast_ref());
    kinds.map(std::io::Error::kind).any(|kind| kind == ErrorKind::BrokenPipe)
}

/// True where the drive or the run folder is in use by another process.
pub fn is_in_use(error: &anyhow::Error) -> bool {
    code_of(error) == IN_USE
}

/// The status of the first cause that determines one. An error that has no class is an I/O error.
fn code_of(error: &anyhow::Error) -> u8 {
    let code = |cause: &(dyn Error + 'static)| match cause.downcast_ref::<TaskStatus>() {
        Some(task) => Some(task.status),
        None => CLASSIFIED.iter().find_map(|class| class(cause)).map(code_of_class),
    };
    error.chain().find_map(code).unwrap_or(IO_ERROR)
}

fn code_of_class(class: ErrorClass) -> u8 {
    match class {
        ErrorClass::DriveFailed => DRIVE_FAILED,
        ErrorClass::Usage => USAGE,
        ErrorClass::Refused => REFUSED,
        ErrorClass::Io | ErrorClass::Internal => IO_ERROR,
        ErrorClass::InUse => IN_USE,
    }
}

/// The class of a cause, if it is of one type of error.
type ClassOf = fn(&(dyn Error + 'static)) -> Option<ErrorClass>;

const CLASSIFIED: &[ClassOf] = &[
    class_of::<UsageError>,
    class_of::<Refusal>,
    class_of::<SessionError>,
    class_of::<ExecuteError>,
    class_of::<SuiteError>,
    class_of::<StoreError>,
    class_of::<ImportError>,
    class_of::<CalibrateError>,
    class_of::<StreamError>,
    class_of::<IndexError>,
    class_of::<EndpointError>,
    class_of::<BenchError>,
    class_of::<CoreHostError>,
    class_of::<ListenError>,
    class_of::<FleetError>,
    class_of::<ExportError>,
    class_of::<MetricsError>,
    class_of::<SweepError>,
    class_of::<ChunkError>,
    class_of::<SharedStoreError>,
    class_of::<ProfileFileError>,
];

fn class_of<E: Classified + Error + 'static>(cause: &(dyn Error + 'static)) -> Option<ErrorClass> {
    cause.downcast_ref::<E>().map(Classified::class)
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

impl Classified for UsageError {
    fn class(&self) -> ErrorClass {
        ErrorClass::Usage
    }
}

/// Return a [`UsageError`] with a formatted text, as [`anyhow::bail`] does.
macro_rules! bail_usage {
    ($($text:tt)*) => {
        return Err($crate::exit::UsageError(format!($($text)*)).into())
    };
}
pub(crate) use bail_usage;

#[cfg(test)]
#[path = "../tests/unit/exit.rs"]
mod tests;
