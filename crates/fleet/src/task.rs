//! The task: what a job runs on a host. Does what is left to do for the plan's drives that the host has, and can be run again at any time.
//!
//! # Architecture
//! [`machine`] decides, without I/O. [`custody`] holds a drive's claim and ships its folders; [`folder`] makes run folders ready. [`runner`]
//! carries actions out: a thread per drive that ships, one per `assay run`, so that nothing that measures waits for the shared store.

mod child;
mod control;
pub mod custody;
pub mod folder;
pub mod machine;
mod processors;
pub mod runner;
mod shipping;
pub mod stored_plan;

pub use shipping::Pace;
