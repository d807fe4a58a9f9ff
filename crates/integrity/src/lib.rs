//! Data integrity: self-describing test data, checkers, and the classification of mismatches.
//!
//! # Architecture
//! - [`data`]: contents of writes: incompressible, compressible by a given ratio, or zero.
//! - [`blocks`]: the block format of jobs, which write at random addresses and more than once: a header with seed, offset, generation and
//!   checksums in each block.
//! - [`pattern`]: the 128-bit LFSR pattern of streams, which are written once and in order.
//! - [`finding`]: what is wrong with a block, and bounded collection of findings. [`checker`]: verification by one worker of a job.
//!
//! # Non-goals
//! No I/O, no clock, no policy: the caller decides whether a finding ends a job. Not for secrets: seeds are not keys.
//!
//! # Key constants
//! [`blocks::HEADER_BYTES`] (64), [`blocks::DEFAULT_INTERVAL_BYTES`] (4096), [`blocks::MAX_GENERATION`] (2^24 - 1), [`pattern::BEAT_BYTES`] (16).

pub mod blocks;
pub mod checker;
pub mod data;
pub mod finding;
pub mod mismatch;
pub mod pattern;
