//! A simulated drive with the host that uses it.
//!
//! # Architecture
//! - [`event_loop`]: [`EventLoop`], virtual time: a drive, the host's processors and the commands
//!   between the two.
//! - [`closed_loop`]: [`ClosedLoop`], threads with a fixed queue depth on an event loop.
//! - [`block_cache`]: a rotating disk, and an LRU cache on a simulated drive in front of it.
//! - [`host`]: [`HostCosts`], what an I/O costs a host, by kind of thread and length; presets.
//! - [`processors`]: the host's processors, and their scheduler (CFS).
//! - [`shared_host`]: one host for several drives that are simulated at once.
//! - [`target`]: [`SimTarget`], a simulated drive as an [`assay_io::Target`].
//! - [`profile_file`]: a profile by its built-in name or from a TOML file.
//!
//! # Non-goals
//! Workloads: callers decide what a thread does next. NVMe controller (`assay-nvme-ctrl`), wall
//! clock (`assay-serve`).
//!
//! # Key constants
//! [`profile_file::MAX_BYTES`] (1 MiB, the largest profile file), [`shared_host::WINDOW`],
//! [`block_cache::cached::DEFAULT_BLOCK_BYTES`], [`block_cache::disk::DISK_7200`].
#![forbid(unsafe_code)]

pub mod block_cache;
pub mod closed_loop;
pub mod event_loop;
pub mod host;
pub mod processors;
pub mod profile_file;
pub mod shared_host;
pub mod target;

pub use closed_loop::ClosedLoop;
pub use event_loop::{EventLoop, prefer_huge_tables};
pub use host::HostCosts;
pub use processors::HostProcessors;
pub use shared_host::{HostProfile, SharedHost};
pub use target::SimTarget;
