//! All tests of this crate but the unit tests, as one program: linking costs more than compiling.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod interlock_fixture;

mod interlock_files;
mod interlock_mounts;
mod interlock_real;
mod interlock_sysfs;
mod io;
mod purge_real;
