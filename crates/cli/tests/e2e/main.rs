//! End-to-end tests: the real binary, on real files, real block devices and simulated drives, judged by what it did (bytes on
//! the drive, files written, numbers in its JSON) and not only by its exit status.
//!
//! # Architecture
//! [`lab`] gives each test a folder and runs the binary in it; [`rig`] sets up block devices and takes them down again. One
//! module per promise that users rely on. All in one binary, so that they share the processors and one link.
//!
//! # Non-goals
//! How fast anything is. The few tests that look at a clock look at the drive's own (virtual, hence exact) or allow for a busy
//! machine.

#![allow(
    clippy::unwrap_used,
    reason = "a test whose world cannot be set up stops right there"
)]

mod lab;
mod rig;

mod bad_input;
mod bad_suites;
mod contracts;
mod devices;
mod fit;
mod fuzz;
mod golden;
mod judging;
mod kill;
mod kill_points;
mod outputs;
mod pacing;
mod repeat;
mod review_lab;
mod safety;
mod serve;
mod serving;
mod signals;
mod streams;
mod streams_damage;
mod suites;
mod testbench;
mod vanish;
mod verify_faults;
mod verify_files;
mod workloads;
