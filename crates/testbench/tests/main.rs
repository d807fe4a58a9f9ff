//! All tests of this crate but the unit tests, as one program: linking costs more than compiling.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../device/tests/interlock_fixture/mod.rs"]
mod interlock_fixture;

#[path = "bench/main.rs"]
mod bench;
mod real;
