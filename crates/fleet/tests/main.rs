//! All tests of this crate but the unit tests, as one program: linking costs more than compiling.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "shared_store/main.rs"]
mod shared_store;
#[path = "task/main.rs"]
mod task;
