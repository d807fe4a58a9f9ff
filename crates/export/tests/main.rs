//! All tests of this crate but the unit tests, as one program: linking costs more than compiling.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../store/tests/fixtures/mod.rs"]
mod fixtures;

mod duckdb;
mod export;
mod join;
mod ocp;
