//! The real binary inside a Linux guest, on QEMU's NVMe controller: identity, polling, namespaces,
//! controller errors, and health changes injected over QMP.
//!
//! # Architecture
//! `scripts/guest-vm` fetches QEMU, a kernel and a guest's programs once, and packs the guest's
//! initramfs. [`guest`] boots it and runs commands in it over a serial port; [`qmp`] changes the
//! running virtual machine. The folder of drives and the checks of commands are those of the
//! end-to-end tests. A boot takes seconds, so each test makes many checks.
//!
//! # Non-goals
//! Performance: the processor is emulated. Downloads: without QEMU and kernel the tests are skipped
//! with a message.

#![allow(clippy::unwrap_used, reason = "a test whose fixture cannot be set up panics")]

#[allow(dead_code, reason = "shared with the end-to-end tests, which use the rest")]
#[path = "../e2e/fixture.rs"]
mod fixture;
mod guest;
mod qmp;
#[allow(dead_code, reason = "shared with the end-to-end tests, which use the rest")]
#[path = "../e2e/serving.rs"]
mod serving;

mod caches;
mod drives;
mod endurance;
mod faults;
mod health;
mod interlock;
mod namespaces;
mod not_plain;
mod over_nbd;
mod over_tcp;
mod plugged;
mod streams;
mod vanish;
mod workloads;
