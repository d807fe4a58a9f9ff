//! All tests of this crate but the unit tests, as one program: linking costs more than compiling.

mod support;

mod bring_up;
mod differential;
mod driver;
mod erase;
mod features;
mod fuzz;
mod health;
mod host_memory;
mod io;
mod placement;
mod queues;
