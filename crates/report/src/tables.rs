//! Tables that several views share, or that the page and the terminal show outside of sections.

pub mod capacity;
pub mod cells;
pub mod concurrent;
pub mod endurance;
pub mod figures;
pub mod health;
pub mod host;
pub mod inspect;
pub mod interval;
pub mod matrix;
pub mod phases;
pub mod power;
pub mod predictive;
pub mod published;
pub mod rate;
pub mod rounds;
pub mod standard;
pub mod stream;
pub mod temperature;
pub mod trend;
