//! An NVMe controller around the simulated drive.
//!
//! # Purpose
//! [`assay_ssd::Drive`] as a host's NVMe driver sees a drive: registers, queues in host memory, commands, interrupts. Whoever shows it to
//! a host (a virtual machine's PCI function, a test in the same process) brings memory and time.
//!
//! # Architecture
//! Sans-IO and single-threaded, like the drive in it. [`Controller::read_register`] and [`Controller::write_register`] at any instant;
//! [`Controller::next_event`] says when to call [`Controller::advance`], which fetches commands, moves data through [`HostMemory`] and
//! writes completion entries, and returns the interrupt vectors raised.
//!
//! | module | what | NVMe Base 2.0c |
//! |---|---|---|
//! | `controller` | registers, doorbells, fetching, I/O commands, completion | 3.1, 3.3, 7, NVM 3.2 |
//! | `queues`, `slots` | queues in host memory; commands that are not completed | 3.3 |
//! | `transfer` | PRPs and SGLs | 4.1 |
//! | [`interrupts`] | vectors and their coalescing | 5.27.1.6 |
//! | `admin` | admin commands, each on the model's own state | 5 |
//! | [`memory`] | what is wanted of host memory | |
//! | [`driver`] | the other side: a host that asks one command after the other | 3.5.1 |
//!
//! A command's life: a doorbell is only noted. `advance` reads entries in batches, checks a command (namespace, range, length, data
//! pointer; a wrong one gets its status after the firmware's time), keeps it in a slot and submits it to the drive under the slot's
//! number at the doorbell's time. The drive says when it is done; then data moves, and the completion entry is written. No memory is allocated
//! for a command, and none is kept that grows with what a guest sends: at most [`MAX_IN_FLIGHT`] commands.
//!
//! Bytes move where the drive keeps them ([`assay_ssd::DriveOptions::keep_data`]): what a guest writes is then what it reads. Without
//! that, data pointers are checked and host memory is left alone, for speed; Compare is then not supported.
//!
//! Faults planned in the model end as their statuses: media errors as Unrecovered Read Error and Write Fault (with Do Not Retry), a loss of
//! power as Commands Aborted due to Power Loss Notification; a drive that vanishes answers nothing any more, and its registers read as
//! ones.
//!
//! # Choices
//! Where the specification leaves room: Format and Sanitize both are the model's purge (a block erase), Format as long as it takes,
//! Sanitize in the background; Force Unit Access, and every write while the volatile write cache is off, is followed by the drive's
//! own flush; Dataset Management deallocates one range after the other; deleting a submission queue completes what it has implicitly;
//! Abort never stops what the drive has begun; features cannot be saved.
//!
//! # Non-goals
//! No PCI configuration space, no MSI-X table (whoever shows the function has them), no sockets, no clock. No namespace
//! management, firmware update, security commands, reservations, metadata or protection information, fabrics, controller memory
//! buffer, weighted arbitration.
//!
//! # Key constants
//! [`MAX_IN_FLIGHT`] (65,536), [`READY_NS`] (1 ms), [`MAX_SGL_DESCRIPTORS`] (8192).
#![forbid(unsafe_code)]

mod admin;
mod controller;
pub mod driver;
pub mod interrupts;
pub mod memory;
mod queues;
mod slots;
mod transfer;

pub use admin::background::{EXTENDED_TEST_MINUTES, HEALTH_PERIOD_NS, SHORT_TEST_NS};
pub use admin::feature::{MAX_THERMAL_KELVIN, MIN_THERMAL_KELVIN};
pub use admin::log::RATED_CYCLES;
pub use controller::{
    Controller, ControllerOptions, MAX_IN_FLIGHT, MPS_MAX, PAGE_BYTES, READY_NS,
    READY_TIMEOUT_500MS,
};
pub use interrupts::VectorSet;
pub use memory::{FlatMemory, HostMemory, Unmapped};
pub use transfer::MAX_SGL_DESCRIPTORS;
