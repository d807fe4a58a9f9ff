//! A disk, and a block cache on a cache device in front of it: the model of bcache, dm-cache and
//! Intel's cache on Optane Memory. Sans-IO and deterministic. A cached disk keeps no data. The only
//! policy is LRU with promotion on the first access.

pub mod cached;
pub mod disk;
pub mod lru;
