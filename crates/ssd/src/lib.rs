//! Simulated SSD: link, NVMe front end, flash translation layer, NAND, power and thermal model.
//!
//! # Purpose
//! Behaves like a given real drive: queues, rates per block size and depth, buffer, SLC cache, garbage collection and
//! throttling, from *mechanisms with parameters*, so that behaviour that was not fitted is predicted.
//!
//! # Architecture
//! Sans-IO and single-threaded. The caller owns time: [`Drive::submit`] at an instant, [`Drive::next_event`] for the next
//! time to act, [`Drive::advance`] to collect completions up to an instant. A command passes, in this order:
//!
//! | module | concept | computed |
//! |---|---|---|
//! | [`frontend`] | submission queues, arbitration, controller cores | in order of time |
//! | [`prefetch`] | sequential read-ahead | at firmware start |
//! | [`map`], [`ftl`] | L2P map, superblocks, garbage collection, SLC cache | at firmware start |
//! | [`map_cache`] | cache of a map on flash | at firmware start |
//! | [`nand`] | dies and channels | by reservation ([`timeline`]) |
//! | [`spread`], [`retry`], [`suspend`] | read times, read retry, program/erase suspend | with the die's reservation |
//! | [`in_place`] | 3D XPoint: no map, no erase blocks | by reservation, in place of the three above |
//! | [`link`], [`sata`] | data path; PCIe link in each direction, or SATA with NCQ | by reservation |
//! | [`buffer`] | write buffer with early acknowledgement | by reservation |
//! | [`coalescing`] | interrupt coalescing | in order of time |
//! | [`power`] | power states and governor | at arrival and at firmware end |
//! | [`thermal`] | energy, temperature, throttling | in fixed time steps |
//!
//! Reservation: when a command's firmware starts, its whole path is computed at once from the times at which each resource is
//! free. One queue operation per command instead of an event per stage; exact for resources served in order. Buses reached
//! out of order are reserved gap by gap.
//!
//! [`data`] keeps written bytes on request, [`faults`] injects errors, [`volatile`] reverts data at power loss, and
//! [`counterfeit`] models forged capacity. A [`Profile`] holds a drive's numbers with their provenance, [`DriveOptions`] the
//! settings of one run.
//!
//! # Determinism
//! Integer nanoseconds; ties in order of submission; every random number from a named stream of the seed; no clock, no thread,
//! no default hasher. Floating point only in [`thermal`], with IEEE operations that round the same everywhere.
//!
//! # Non-goals
//! The NVMe wire format, sockets and files (see the controller and server crates); the measuring computer, whose costs are in
//! [`profile::BenchProfile`] and are applied by the caller (`assay-sim-host`).
//!
//! # Key constants
//! [`profile::MAP_UNIT_BYTES`] (4096), [`thermal::STEP_NS`] (50 ms).
#![forbid(unsafe_code)]
#![allow(
    rustdoc::private_intra_doc_links,
    reason = "the documentation is built with private items"
)]

mod buffer;
pub mod coalescing;
mod command;
mod counterfeit;
pub mod data;
mod drive;
mod fastdiv;
mod faults;
mod frontend;
pub mod ftl;
mod in_place;
mod link;
mod map;
mod map_cache;
mod medium;
mod nand;
mod options;
mod power;
mod prefetch;
pub mod profile;
pub mod published;
pub mod regenerate;
mod retry;
mod sata;
mod sourced;
mod spread;
mod suspend;
mod telemetry;
pub mod thermal;
mod timeline;
mod volatile;

pub use command::{Command, Completion, Status};
pub use drive::digest::StateDigest;
pub use drive::{Drive, DriveError};
pub use map_cache::MapCacheCounters;
pub use options::{
    Age, DriveOptions, Fault, FaultKind, InitialState, MAX_LATENCY_SPIKE, OptionError,
};
pub use power::PowerState;
pub use profile::{Profile, ProfileError};
pub use sourced::{Provenance, Sourced};
pub use telemetry::{Identity, Telemetry};
