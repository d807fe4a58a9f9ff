//! Record, replay and prove: continuous streams to and from a drive, with every byte accounted for.

pub mod pattern;
