//! Co-simulation of the RTL streaming core (`hardware/rtl/`) with the NVMe controller model and
//! simulated drives.
//!
//! # Purpose
//! Runs the core clock cycle by clock cycle: Verilator translates `hardware/rtl/` into a C++ model,
//! and this crate models everything around the core.
//!
//! # Architecture
//! - [`config`]: configurations of the core. `build.rs` makes a model of each.
//! - [`signals`]: values of the core's ports in one clock cycle. [`model`]: the core itself.
//! - [`memory`], [`stream_port`], [`register_port`]: what is connected to its ports. [`monitor`]:
//!   the rules of AXI on all of them.
//! - [`world`]: the cycle loop. [`timeline`]: when something happened on the ports.
//! - [`streamer`]: the core as a streamer, by its registers. [`host`]: a core with simulated
//!   drives.
//! - [`pcie_drive`]: PCIe link, configuration space, controller and drive behind a drive's ports.
//!
//! # Non-goals
//! No wall clock, no threads. Clock domain crossings, the PCIe physical layer and the memory
//! controller's internals are not modelled.
//!
//! # Key constants
//! [`CYCLE_NS`] (4 ns, 250 MHz), [`TICK_CYCLES`] (250, one microsecond).

pub mod config;
mod error_class;
pub mod host;
pub mod map;
pub mod memory;
pub mod model;
pub mod monitor;
pub mod pace;
pub mod pcie_drive;
pub mod register_port;
pub mod signals;
pub mod stream_port;
pub mod streamer;
pub mod timeline;
pub mod world;

/// Duration of a clock cycle.
pub const CYCLE_NS: u64 = 4;

/// Clock cycles between pulses of `tick`: one microsecond.
pub const TICK_CYCLES: u64 = 250;
