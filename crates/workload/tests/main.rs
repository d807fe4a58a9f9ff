//! All tests of this crate but the unit tests, as one program: linking costs more than compiling.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod clockwork;

mod condition;
mod flushes_and_ends;
mod io_loop;
mod io_loop_end;
mod peer_fio;
mod plan;
mod seeds;
mod simulated_drives;
mod trace_fit;
mod trace_replay;
