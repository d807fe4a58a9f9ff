//! All tests of this crate but the unit tests, as one program: linking costs more than compiling.

mod common;

mod ageing;
mod amplification;
mod anandtech_m8pe;
mod anandtech_optane;
mod atomic;
mod background;
mod behaviour;
mod controller_features;
mod external_link;
mod fidelity;
mod guarantees;
mod heat;
mod indirection;
mod latency_curves;
mod map_cache;
mod pipelined_reads;
mod placement;
mod power;
mod power_loss;
mod read_costs;
mod read_slots;
mod twenties;
mod write_costs;
