//! End-to-end tests: the real binary on files, block devices and simulated drives, checked by its
//! effects (bytes on the drive, files, JSON) and its exit status.
//!
//! # Architecture
//! [`fixture`] gives each test a folder and runs the binary in it; [`block_devices`] sets up block
//! devices and takes them down again. One module per documented guarantee. One binary, so that the
//! tests share CPUs and one link step.
//!
//! # Non-goals
//! No performance. The few time checks use the virtual clock of simulated drives, or allow for a
//! busy host.

#![allow(clippy::unwrap_used, reason = "a test whose fixture cannot be set up panics")]

mod block_devices;
mod engines;
mod fault_fs;
mod fixture;
mod fuse;
#[allow(dead_code, reason = "shared with the simulation, which uses the rest")]
mod power_fail_fs;

mod bad_input;
mod bad_suites;
mod check;
mod conclusions;
mod contracts;
mod devices;
mod fio;
mod fio_logs;
mod fio_tools;
mod fit;
mod fleet_full;
mod fleet_task;
mod fuzz;
mod golden;
mod half_hour;
mod hosts;
mod import;
mod judging;
mod kill;
mod kill_points;
mod lake;
mod library;
mod live;
mod log;
mod notation;
mod outputs;
mod pacing;
mod pages;
mod planted;
mod power_loss;
mod power_loss_outputs;
mod repeat;
mod rtl;
mod run_folder_memory;
mod safety;
mod serve;
mod serve_clients;
mod serve_vfio_clients;
mod serving;
mod shortened_suites;
mod signals;
mod streams;
mod streams_damage;
mod stuck;
mod suites;
mod sweeps;
mod terminal;
mod testbench;
mod traces;
mod vanish;
mod verify_faults;
mod verify_files;
mod workloads;
