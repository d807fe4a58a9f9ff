//! All tests of this crate but the unit tests, as one program: linking costs more than compiling.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixtures;

mod damage;
mod folding;
mod interrupted_start;
mod progress;
mod run_folder;
