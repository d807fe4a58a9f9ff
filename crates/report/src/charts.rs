//! Charts and parts of charts that several views share.

pub mod draw;
pub mod percentiles;
pub mod phases;
pub mod power;
pub mod series;
pub mod sweep;
pub mod timeline;
