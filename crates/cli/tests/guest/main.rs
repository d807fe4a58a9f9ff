//! The real binary inside a Linux guest, on QEMU's own NVMe controller: what no loop device shows. Identity, polling, namespaces,
//! errors of the controller, and a drive whose health is changed from outside.
//!
//! # Architecture
//! `scripts/guest-vm` fetches QEMU, a kernel and a guest's programs once, and packs a guest's file system. [`guest`] boots it and
//! runs commands in it over a serial port; [`qmp`] changes the machine from outside meanwhile. The folder of drives and the
//! judgement of commands are those of the end-to-end tests. One boot takes seconds, so a test makes many checks in one.
//!
//! # Non-goals
//! How fast anything is: the processor is emulated. Fetching: without the fixture the tests say that they were skipped.

#![allow(
    clippy::unwrap_used,
    reason = "a test whose fixture cannot be set up panics"
)]

#[allow(
    dead_code,
    reason = "shared with the end-to-end tests, which use the rest"
)]
#[path = "../e2e/fixture.rs"]
mod fixture;
mod guest;
mod qmp;
#[allow(
    dead_code,
    reason = "shared with the end-to-end tests, which use the rest"
)]
#[path = "../e2e/serving.rs"]
mod serving;

mod drives;
mod faults;
mod health;
mod interlock;
mod namespaces;
mod over_nbd;
mod plugged;
mod streams;
mod vanish;
mod workloads;
