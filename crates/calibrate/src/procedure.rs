//! The reference procedures on a simulated drive. Each returns everything that its figures are computed from, so that
//! one run gives all.

pub mod fill;
pub mod hour;
pub mod soak;
pub mod steady;
pub mod streams;
