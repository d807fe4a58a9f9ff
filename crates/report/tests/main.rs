//! All tests of this crate but the unit tests, as one program: linking costs more than compiling.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
#[path = "../../store/tests/fixtures/mod.rs"]
mod run_fixture;
#[path = "common/cohort.rs"]
mod synthetic;

mod browser;
mod cohort;
mod conclusions;
mod figures;
mod html;
mod summary;
mod terminal;
mod views;
