//! All tests of this crate but the unit tests, as one program: linking costs more than compiling.

mod common;
#[path = "far_end/core_side.rs"]
mod core_side;
#[path = "far_end/host.rs"]
mod host;
mod measure;
#[path = "far_end/setup.rs"]
mod setup;

mod bench;
mod bring_up;
mod control;
#[path = "core.rs"]
mod core_tests;
mod coverage;
mod far_end;
mod far_end_faults;
mod faults;
mod performance;
mod ports;
mod random;
mod sequences;
