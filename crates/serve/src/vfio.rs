//! A simulated drive as the NVMe drive of a virtual machine: a PCI function over vfio-user.
//!
//! # Architecture
//! QEMU 10.1 or later (`-device vfio-user-pci`) connects to a socket, shares the guest's memory by file descriptors, and sends every access
//! of the guest to the function's registers. [`config`] is its PCI configuration space, [`guest`] the guest's memory, [`backend`] what
//! the `vfio_user` crate calls, [`function`] the controller with its clock and its interrupts, [`floor`] what the way to it costs.
//!
//! Two threads share the function: the one that serves the socket writes registers and lets the controller fetch what was
//! announced; the other sleeps until the model has something to complete ([`crate::pacer`]), spins for the last stretch, and raises the
//! interrupts. The guest's doorbell is answered before the model has completed anything.
//!
//! # Limits
//! One virtual machine at a time; when it is gone the next may connect, and finds the drive as it was left. At most 16 interrupt vectors, because
//! a message carries at most 16 file descriptors (`vfio_user` 0.1.7), hence 15 I/O queue pairs. Memory that is not shared is not reached.

pub mod backend;
pub mod config;
pub mod floor;
pub mod function;
pub mod guest;

pub use backend::{ServeFunctionError, serve};
pub use function::{Function, MAX_QUEUE_PAIRS};
