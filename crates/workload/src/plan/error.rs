use assay_units::{Classified, ErrorClass, ParseError};

use crate::access::AccessError;
use crate::options::JobOption;
use assay_integrity::blocks::VerifyError;
use assay_integrity::data::DataError;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    #[error("--{option}: {source}")]
    Text { option: &'static str, source: ParseError },
    #[error("--cpus_allowed: {0}")]
    Cpus(#[from] assay_io::cpus::CpuListError),
    #[error(
        "{drive}: --{option} {given_bytes} is not a multiple of its logical block of \
         {block_bytes} bytes; use {suggestion}"
    )]
    Misaligned {
        drive: String,
        option: &'static str,
        given_bytes: u64,
        block_bytes: u32,
        suggestion: u64,
    },
    #[error(
        "{drive}: a block of {block_bytes} bytes does not fit into {area}, which has {area_bytes} \
         bytes; use a smaller --bs or a larger --size"
    )]
    BlockTooLarge { drive: String, block_bytes: u32, area: &'static str, area_bytes: u64 },
    #[error("{0}")]
    Invalid(String),
    /// The drive lacks what the job needs, or has zones that cannot be written so.
    #[error("{0}")]
    Unsupported(String),
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error("--data: {0}")]
    Data(#[from] DataError),
    #[error(transparent)]
    Trace(#[from] assay_trace::TraceError),
    #[error("--verify: {0}")]
    Verify(#[from] VerifyError),
}

impl PlanError {
    pub fn options(&self) -> Vec<&'static str> {
        match self {
            PlanError::Text { option, .. } | PlanError::Misaligned { option, .. } => vec![option],
            PlanError::Cpus(_) => vec!["cpus_allowed"],
            PlanError::BlockTooLarge { .. } => vec!["bs", "size"],
            PlanError::Data(_) => vec!["data"],
            PlanError::Verify(_) => vec!["verify_interval", "verify", "bs"],
            PlanError::Access(error) => error.options(),
            PlanError::Trace(assay_trace::TraceError::Option { option, .. }) => vec![option],
            PlanError::Trace(_) => vec!["trace"],
            // Its message names them as on the command line.
            PlanError::Invalid(message) | PlanError::Unsupported(message) => {
                let words = message.split("--").skip(1);
                let name = |word: &str| {
                    let end = word.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
                    let name = &word[..end.unwrap_or(word.len())];
                    JobOption::find(name).map(|option| option.name)
                };
                words.filter_map(name).collect()
            }
        }
    }
}

impl Classified for PlanError {
    fn class(&self) -> ErrorClass {
        match self {
            PlanError::Text { .. }
            | PlanError::Cpus(_)
            | PlanError::Misaligned { .. }
            | PlanError::BlockTooLarge { .. }
            | PlanError::Invalid(_)
            | PlanError::Unsupported(_)
            | PlanError::Access(_)
            | PlanError::Data(_)
            | PlanError::Trace(_)
            | PlanError::Verify(_) => ErrorClass::Usage,
        }
    }
}
