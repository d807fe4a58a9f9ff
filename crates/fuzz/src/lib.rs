//! Fuzz targets: for each parser of foreign bytes one function of bytes, which asserts what the
//! parser promises.
//!
//! # Architecture
//! [`TARGETS`] names the functions of [`targets`]. `tests/corpora.rs` replays the inputs in
//! `corpus/NAME/` and mutations of them, as part of `make test`; the program `assay-fuzz` (feature
//! `libfuzzer`) drives one target by coverage, as `make fuzz` does. An input that failed is kept in
//! the corpus.
//!
//! A target returns for every input: it does not panic, abort, hang or use memory out of proportion
//! to its input. Where more is promised (what is encoded is decoded again, decoding does not depend
//! on how bytes are split), it asserts that.
//!
//! # Non-goals
//! Parsers of the crates that assay depends on (TOML, JSON, clap); their own projects fuzz them.
//! State machines with time, which property tests of their own crates drive.
//!
//! # Key constants
//! [`MAX_INPUT_BYTES`].
#![forbid(unsafe_code)]

mod input;
pub mod targets;

/// Longest input that a target is given, bytes.
pub const MAX_INPUT_BYTES: usize = 64 << 10;

/// A fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, that of its corpus.
    pub name: &'static str,
    /// Runs an input; a panic is a defect.
    pub run: fn(&[u8]),
}

const fn target(name: &'static str, run: fn(&[u8])) -> Target {
    Target { name, run }
}

/// All targets.
pub const TARGETS: &[Target] = &[
    target("controller", targets::nvme::controller),
    target("csv-table", targets::text::csv_table),
    target("fio-job", targets::text::fio_job),
    target("fleet-plan", targets::text::fleet_plan),
    target("fleet-sweep", targets::text::fleet_sweep),
    target("histogram", targets::text::histogram),
    target("import", targets::text::import),
    target("journal", targets::run_folder::journal),
    target("manifest", targets::run_folder::manifest),
    target("nbd", targets::wire::nbd),
    target("nvme-tcp", targets::wire::nvme_tcp),
    target("pattern", targets::data::pattern),
    target("policy", targets::text::policy),
    target("probe", targets::nvme::probe),
    target("profile", targets::text::profile),
    target("recording-index", targets::data::recording_index),
    target("saved-drive", targets::nvme::saved_drive),
    target("signature", targets::data::signature),
    target("suite", targets::text::suite),
    target("trace", targets::text::trace),
    target("verify-blocks", targets::data::verify_blocks),
    target("vfio-user", targets::wire::vfio_user),
    target("words", targets::text::words),
];

/// The target of a name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
