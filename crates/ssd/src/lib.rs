//! Simulated SSD: link, NVMe front end, flash translation layer, NAND, power and thermal model.
//!
//! # Purpose
//! Behaves like a given real drive (rates per block size and depth, buffer, SLC cache, garbage
//! collection, throttling) by *mechanisms with parameters*, so that behaviour that was not fitted
//! is predicted.
//!
//! # Architecture
//! Sans-IO and single-threaded. The caller owns time: [`Drive::submit`] at an instant,
//! [`Drive::next_event`] for the next time to act, [`Drive::advance`] to collect completions. A
//! command passes, in this order:
//!
//! - [`frontend`]: submission queues, arbitration, controller cores (in order of time)
//! - [`prefetch`], [`map`], [`map_unit`], [`ftl`], [`map_cache`]: read-ahead, L2P map, superblocks,
//!   SLC cache, map on flash (at firmware start)
//! - [`nand`], [`planes`], [`spread`], [`retry`], [`suspend`]: dies and channels, independent
//!   planes, read times, program/erase suspend (by reservation)
//! - [`ageing`], [`wear`]: error rates, wear and failures (when written, erased, or often read)
//! - [`in_place`]: 3D XPoint, instead of map, translation layer and NAND (by reservation)
//! - [`link`], [`read_cache`], [`sata`], [`command_slots`], [`buffer`]: data path, PCIe or
//!   SATA with NCQ, slots of commands, write buffer (by reservation)
//! - [`coalescing`]: interrupt coalescing (in order of time)
//! - [`power`], [`thermal`]: power states and governor (at events); energy, temperature, throttling
//!   (in time steps)
//!
//! Reservation ([`timeline`]): docs/model.md, Time. [`data`] keeps written bytes on request,
//! [`faults`] injects errors, [`volatile`] reverts data at power loss, [`counterfeit`] models
//! forged capacity. A [`Profile`] holds a drive's numbers with provenance, [`DriveOptions`] a
//! run's.
//!
//! # Determinism
//! Integer nanoseconds; ties in order of submission; every random number from a named stream of the
//! seed; no clock, thread or default hasher. The running model uses floating point only in
//! [`thermal`], [`ageing`] and [`wear`], with IEEE operations that round the same everywhere.
//!
//! # Non-goals
//! The NVMe wire format, sockets and files; the measuring computer ([`profile::BenchProfile`],
//! applied by `assay-sim-host`).
//!
//! # Key constants
//! [`profile::MAP_UNIT_BYTES`] (4096), [`thermal::STEP_NS`] (50 ms).
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![allow(
    rustdoc::private_intra_doc_links,
    reason = "the documentation is built with private items"
)]

mod ageing;
mod buffer;
pub mod coalescing;
mod command;
mod command_slots;
mod counterfeit;
pub mod data;
mod drive;
mod elementary;
mod fastdiv;
mod faults;
mod frontend;
pub mod ftl;
mod in_place;
mod link;
mod map;
mod map_cache;
mod map_unit;
mod medium;
mod nand;
mod options;
mod planes;
mod power;
mod prefetch;
pub mod profile;
pub mod published;
mod read_cache;
pub mod regenerate;
mod retry;
mod sata;
mod sourced;
mod sparse;
mod spread;
mod suspend;
mod telemetry;
pub mod thermal;
mod timeline;
mod volatile;
mod wear;

pub use command::{Command, Completion, Status};
pub use drive::digest::StateDigest;
pub use drive::{Drive, DriveError};
pub use ftl::ReclaimUnit;
pub use map_cache::MapCacheCounters;
pub use options::{
    Age, DriveOptions, Fault, FaultKind, HostChoice, InitialState, MAX_LATENCY_SPIKE, OptionError,
};
pub use power::PowerState;
pub use profile::{Profile, ProfileError};
pub use sourced::{Provenance, Sourced};
pub use telemetry::{Identity, SPARE_THRESHOLD_PERCENT, Telemetry};
