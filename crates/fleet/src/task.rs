//! What a job runs on a host: it does what is left to do for the plan's drives that the host has,
//! and can be run again at any time. [`machine`] decides, without I/O. [`claimed_drive`] holds a
//! drive's claim and ships its folders; [`folder`] makes run folders ready. [`runner`] carries
//! actions out: a thread per drive that ships, one per `assay run`, so that nothing that measures
//! waits for the shared store. [`host_lock`] keeps the next task waiting while one goes on, and
//! [`view`] shows how far its drives are.

mod child;
pub mod claimed_drive;
mod control;
pub mod folder;
pub mod host_lock;
pub mod machine;
mod new_lines;
pub mod outages;
mod processors;
pub mod runner;
pub mod selection;
mod shipping;
pub mod view;

pub use shipping::Pace;
