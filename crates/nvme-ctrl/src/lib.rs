//! NVMe controller model around the simulated drive.
//!
//! # Purpose
//! Presents [`assay_ssd::Drive`] as an NVMe controller: registers, queues in host memory, commands,
//! interrupts. The caller (a PCIe function of a virtual machine, a driver in the same process)
//! provides memory and time. "Host" is the host of the NVMe specification: the side of the driver.
//!
//! # Architecture
//! Sans-IO and single-threaded, like the drive. [`Controller::next_event`] is the time at which to
//! call [`Controller::advance`], which fetches commands, transfers data through [`HostMemory`],
//! writes completion entries, and returns the interrupt vectors raised.
//!
//! | module | contents | NVMe Base 2.0c |
//! |---|---|---|
//! | `controller` | registers, doorbells, I/O commands, completion | 3.1, 3.3, 7, NVM 3.2 |
//! | `queues`, `slots` | queues in host memory; outstanding commands | 3.3 |
//! | `transfer` | PRPs and SGLs | 4.1 |
//! | [`interrupts`] | vectors and interrupt coalescing | 5.27.1.6 |
//! | `controller::fabrics` | queues that are connections of a network | 3.3.2, 6.3 |
//! | `admin` | admin commands on the model's state | 5 |
//! | [`memory`] | access to host memory | |
//! | [`driver`] | a minimal driver with queue depth 1 | 3.5.1 |
//!
//! A doorbell write only records the tail. `advance` fetches entries in batches, validates each
//! command (an invalid one completes after the firmware's time), stores it in a slot and submits it
//! to the drive at the time of the doorbell. No memory is allocated per command, and at most
//! [`MAX_IN_FLIGHT`] commands are outstanding. Data is transferred if the drive stores it
//! ([`assay_ssd::DriveOptions::keep_data`]); otherwise data pointers are validated only, and
//! Compare is not supported.
//!
//! Injected faults complete with their statuses: media errors as Unrecovered Read Error and Write
//! Fault (with Do Not Retry), loss of power as Commands Aborted due to Power Loss Notification.
//! After surprise removal nothing completes and registers read as ones.
//!
//! # Choices
//! Where the specification leaves a choice: Format (foreground) and Sanitize (background) are the
//! model's purge, a block erase; every write has Force Unit Access while the volatile write cache
//! is disabled; Dataset Management deallocates its ranges in sequence; deleting a submission queue
//! implicitly completes its commands; Abort never stops a command that the drive has started;
//! features cannot be saved.
//!
//! # Non-goals
//! No PCI configuration space and no MSI-X table (both belong to the PCIe function), no sockets, no
//! clock. No namespace management, firmware update, security commands, reservations, metadata or
//! protection information, controller memory buffer, weighted arbitration.
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
pub use controller::{
    Association, Controller, ControllerOptions, FabricsOptions, MAX_IN_FLIGHT, MPS_MAX, PAGE_BYTES,
    READY_NS, READY_TIMEOUT_500MS,
};
pub use interrupts::VectorSet;
pub use memory::{FlatMemory, HostMemory, Unmapped};
pub use transfer::MAX_SGL_DESCRIPTORS;
