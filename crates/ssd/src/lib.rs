//! The simulated SSD.
//!
//! # Purpose
//! A drive that behaves like a given real one, without one: same queues, same rates at every block size and depth, same
//! buffer, cache, garbage collection and heat, from *mechanisms with parameters* so that what was not fitted is predicted.
//!
//! # Architecture
//! Sans-IO and single-threaded. The caller owns time: [`Drive::submit`] at an instant, [`Drive::next_event`] to know when to
//! look again, [`Drive::advance`] to collect completions up to an instant. A command passes, in this order:
//!
//! | module | what | how it is computed |
//! |---|---|---|
//! | [`frontend`] | submission queues, arbitration, controller cores | exactly, in order of time |
//! | [`prefetch`] | sequential streams read ahead | at firmware start |
//! | [`map`], [`ftl`] | page map, superblocks, garbage collection, SLC cache | at firmware start |
//! | [`map_cache`] | a map on flash, of which only a part is near | at firmware start |
//! | [`nand`] | dies and channels | by reservation ([`timeline`]) |
//! | [`spread`], [`retry`], [`suspend`] | how long reads take, and what they interrupt | with the die's reservation |
//! | [`in_place`] | 3D XPoint: no map, no erase blocks | by reservation, in place of the three above |
//! | [`link`], [`sata`] | data path and PCIe link, each direction; SATA and its command slots | by reservation |
//! | [`buffer`] | write buffer with early acknowledgement | by reservation |
//! | [`coalescing`] | completions that wait for an interrupt | in order of time |
//! | [`power`] | power states, and the governor below a state's power | at arrival and at firmware end |
//! | [`thermal`] | energy, heat, throttling | in fixed steps of time |
//!
//! Reservation means: when a command's firmware starts, its whole path is computed at once from the times at which each resource
//! is free. That costs one queue operation per command instead of an event per stage, and is exact for resources served in
//! order; buses that are reached out of order are reserved gap by gap.
//!
//! Beside the timing, [`data`] keeps bytes when asked to, [`faults`] spoils them by plan, and [`volatile`] takes back what a loss of power
//! finds in the buffer; [`counterfeit`] is the memory of a counterfeit. A [`Profile`] holds the numbers of one drive with their provenance; [`DriveOptions`] the choices of one run.
//!
//! # Determinism
//! Integer nanoseconds; ties in order of submission; every random number from a named stream of the seed; no clock, no thread, no
//! default hasher. Floating point only in [`thermal`], with IEEE operations that round the same everywhere.
//!
//! # Non-goals
//! No NVMe wire format (a controller around this model has it), no sockets or files, no host: the cost of submission and
//! completion on the tester's machine is in [`profile::BenchProfile`] and applied by the caller (`assay-sim-host`).
//!
//! # Key constants
//! [`profile::MAP_UNIT_BYTES`] (4096), [`thermal::STEP_NS`] (50 ms).
#![forbid(unsafe_code)]

pub mod buffer;
pub mod coalescing;
pub mod command;
pub mod counterfeit;
pub mod data;
mod drive;
mod fastdiv;
pub mod faults;
pub mod frontend;
pub mod ftl;
pub mod in_place;
pub mod link;
pub mod map;
pub mod map_cache;
pub mod medium;
pub mod nand;
pub mod options;
pub mod power;
pub mod prefetch;
pub mod profile;
pub mod published;
pub mod regenerate;
pub mod retry;
pub mod sata;
pub mod sourced;
pub mod spread;
pub mod suspend;
pub mod telemetry;
pub mod thermal;
pub mod timeline;
pub mod volatile;

pub use command::{Command, Completion, Status};
pub use drive::digest::StateDigest;
pub use drive::{Drive, DriveError};
pub use options::{Age, DriveOptions, Fault, FaultKind, InitialState, OptionError};
pub use profile::{Profile, ProfileError};
pub use sourced::{Provenance, Sourced};
pub use telemetry::{Identity, Telemetry};
