//! All tests of this crate but the unit tests, as one program: linking costs more than compiling.

mod common;
#[path = "pcie_drive/core_side.rs"]
mod core_side;
#[path = "pcie_drive/host.rs"]
mod host;
mod measure;
#[path = "pcie_drive/setup.rs"]
mod setup;

mod bench;
mod bring_up;
mod closing;
mod consumers;
mod control;
#[path = "core.rs"]
mod core_tests;
mod coverage;
mod faults;
mod pcie_drive;
mod pcie_drive_faults;
mod performance;
mod ports;
mod random;
mod resets;
mod rings;
mod sequences;
mod split;
