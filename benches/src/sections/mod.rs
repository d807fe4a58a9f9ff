//! The benchmarks.

pub mod agreement;
pub mod controller;
pub mod demo;
pub mod efficiency;
pub mod flatness;
pub mod live;
pub mod null;
pub mod passthru;
pub mod pattern;
pub mod report;
pub mod scaling;
pub mod serve;
pub mod simulated_job;
pub mod simulation;
pub mod stream;
pub mod suites;
