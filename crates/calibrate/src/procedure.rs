//! The procedures, run on a simulated drive. Each gives everything its figures are taken from, so that one run answers all of
//! them.

pub mod fill;
pub mod hour;
pub mod soak;
pub mod steady;
pub mod streams;
