//! The simulated drive as a PCIe function of a virtual machine, over vfio-user. QEMU 10.1 or later
//! (`-device vfio-user-pci`) connects to a socket, shares the guest's memory by file descriptors,
//! and forwards each access of the guest to the function's registers. [`protocol`] is the server
//! side of the protocol, sans-IO; [`backend`] has the sockets; [`function`] is the controller with
//! its clock and interrupts. Two threads share the function. The socket thread writes registers and
//! lets the controller fetch commands. The completion thread sleeps until the model's next event
//! ([`crate::pacer`]), polls for the last [`crate::server::SPIN`], and raises interrupts. A
//! doorbell write is acknowledged before the model completes anything. One virtual machine is
//! served at a time; the next one waits, and finds the drive's state unchanged. There are at most
//! 16 interrupt vectors, because a message carries at most [`protocol::MAX_DESCRIPTORS`] file
//! descriptors, hence 15 I/O queue pairs. Memory that is not shared is not accessible. A message
//! and its reply have at most [`protocol::MAX_MESSAGE_BYTES`].

pub mod backend;
pub mod config_space;
pub mod function;
pub mod guest_memory;
pub mod protocol;
pub mod round_trip;

pub use backend::{ServeFunctionError, serve};
pub use function::{MAX_QUEUE_PAIRS, PciFunction};
