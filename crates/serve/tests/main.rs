//! All tests of this crate but the unit tests, as one program: linking costs more than compiling.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

mod access_paths;
mod nvme_tcp;
mod nvme_tcp_damage;
mod server;
mod session;
mod vfio;
