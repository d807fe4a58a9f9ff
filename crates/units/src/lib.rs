//! Quantities, pseudo-random numbers and operation types shared by all crates.
//!
//! # Architecture
//! - [`time`]: [`Nanos`], an integer nanosecond: both an instant on a target's clock and a span.
//! - [`rate`]: how long bytes take at a rate, and rates from counts, in integers (no rounding
//!   surprises in the model).
//! - [`regenerate`]: the interface by which a simulated drive regenerates test data instead of
//!   storing it.
//! - [`rng`]: [`Rng`], xoshiro256++ with *named* streams, so that adding a consumer of randomness
//!   never shifts another's.
//! - [`telemetry`]: [`telemetry::Telemetry`], the health and power readings of a drive.
//! - [`text`]: parsing and formatting of sizes, durations and percentages (`4k`, `16GiB`, `5s`).
//! - [`median()`]: the median, for reports and benchmarks.
//! - [`endurance`]: origins and steps of a drive's endurance counters.
//! - [`error_class`]: [`ErrorClass`], what kind of failure an error is.
//! - [`event_limit`]: how many events one place in the code writes in a second.
//! - [`op`]: [`Op`] and [`DataClass`], the operations and data classes of workloads, targets and
//!   simulated drives.
//!
//! # Non-goals
//! No clock, no I/O, no general unit algebra.
//!
//! # Key constants
//! [`SECTOR_BYTES`] (512, the smallest unit of every interface here), [`Nanos::SECOND`].
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod endurance;
pub mod error_class;
pub mod event_limit;
mod median;
pub mod op;
pub mod rate;
pub mod regenerate;
pub mod rng;
pub mod telemetry;
pub mod text;
pub mod time;

pub use error_class::{Classified, ErrorClass};
pub use median::median;
pub use op::{DataClass, Op};
pub use rng::Rng;
pub use text::{ParseError, parse_duration, parse_size};
pub use time::Nanos;

/// The smallest addressable unit of every interface here, in bytes.
pub const SECTOR_BYTES: u64 = 512;
/// Bytes in one KiB.
pub const KIB: u64 = 1 << 10;
/// Bytes in one MiB.
pub const MIB: u64 = 1 << 20;
/// Bytes in one GiB.
pub const GIB: u64 = 1 << 30;

/// Declares modules of constants of one type: name, value, documentation.
#[macro_export]
macro_rules! constants {
    ($($(#[$meta:meta])* pub mod $module:ident: $ty:ty {
        $($name:ident = $value:expr, $doc:literal;)*
    })*) => {$(
        $(#[$meta])*
        pub mod $module {
            $(#[doc = $doc] pub const $name: $ty = $value;)*
        }
    )*};
}
