//! Data integrity: self-describing test data, their verification, and the classification of
//! mismatches.
//!
//! # Architecture
//! - [`data`]: contents of writes: incompressible, compressible by a given ratio, or zero.
//! - [`blocks`]: the block format of jobs; [`checker`]: verification by one worker; [`finding`]:
//!   its findings.
//! - [`pattern`]: the LFSR pattern of streams, with [`pattern::StreamVerifier`].
//! - [`mismatch`]: the classes of mismatches (corrupt, torn, misplaced, stale, lost) and the
//!   decision table that both formats use.
//! - [`planned_faults`]: faults of a drive that only a comparison of data can detect, to test the
//!   detectors.
//!
//! # Two encodings
//! Both formats identify seed and location of every unit; one encoding cannot serve both:
//! - Jobs overwrite blocks in random order. A block therefore carries the generation of its write,
//!   and its payload has the compression ratio of the job: 64 bytes of header with XXH3-64
//!   checksums, payload keyed by (seed, offset, generation).
//! - The pattern of a stream must be generated and checked by a streaming core in an FPGA, a beat
//!   of 128 bits per clock cycle with one layer of XORs ([`pattern`] has the Verilog). A header
//!   with 64-bit multiplications and checksums over a block does not fit, and every beat, not only
//!   every block, must identify itself, because streams are cut at any byte. A stream is written
//!   once, so its seed takes the place of the generation.
//!
//! # Non-goals
//! No I/O, no clock, no policy: the caller decides whether a finding ends a job. Not for secrets:
//! seeds are not keys.
//!
//! # Key constants
//! [`blocks::HEADER_BYTES`] (64), [`blocks::DEFAULT_INTERVAL_BYTES`] (4096),
//! [`blocks::MAX_GENERATION`] (2^24 - 1), [`pattern::BEAT_BYTES`] (16).

pub mod blocks;
pub mod checker;
pub mod data;
pub mod finding;
pub mod mismatch;
pub mod pattern;
pub mod planned_faults;
