//! All tests of this crate but the unit tests, as one program: linking costs more than compiling.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
#[path = "../../device/tests/interlock_fixture/mod.rs"]
mod interlock_fixture;

mod cache;
mod causes;
mod database;
mod drain_deadlines;
mod drive_state_cache_real;
mod drive_threads;
mod fill;
mod host_waits;
mod indirection;
mod jobs;
mod live;
mod lots;
mod placement;
mod policies;
mod preconditioning;
mod procedures;
mod reports;
mod rounds;
mod segments;
mod shared_host;
mod shrunk;
mod snia;
mod start_state;
mod steady_state;
mod stream_steps;
mod suites;
