//! A disk, and a block cache on a cache device in front of it: the model of bcache, dm-cache and
//! Intel's cache on Optane Memory.
//!
//! # Architecture
//! Sans-IO and deterministic, as `ssd`: the caller owns time.
//! - [`disk::Disk`]: a rotating disk with seek curve, rotation, zones and command queuing.
//! - [`lru::LruMap`]: which block of the disk is in which slot of the cache, least recently used
//!   first.
//! - [`cached::CachedDisk`]: host commands become commands of the cache device, which the caller
//!   holds, and of the disk; promotion on a miss, eviction, write-back or write-through.
//!
//! # Non-goals
//! Data: a cached disk keeps none. Policies other than LRU with promotion on the first access.
//!
//! # Key constants
//! [`cached::DEFAULT_BLOCK_BYTES`], [`disk::QUEUE_DEPTH`], [`disk::DISK_7200`].
#![forbid(unsafe_code)]

pub mod cached;
pub mod disk;
pub mod lru;
