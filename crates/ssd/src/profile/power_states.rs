//! Sections `[power]` and `[power.states]`, see [`crate::power`].

use serde::Deserialize;

use super::IdentityProfile;
use super::validate::{Validity, rules};
use crate::sourced::Sourced;

/// Longest idle time before a state: 10 days.
const LONGEST_IDLE_NS: u64 = 864_000_000_000_000;
const LONGEST_LATENCY_NS: u64 = 100_000_000_000;

/// Energy per operation, see [`crate::thermal`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerProfile {
    /// Idle power in milliwatts.
    pub idle_mw: Sourced<u32>,
    /// Energy per command in nanojoules, beside that of the core's time.
    pub command_nj: Sourced<u64>,
    /// Power of a busy core at full clock rate, above idle, in milliwatts. Absent: 0.
    pub core_mw: Option<Sourced<u32>>,
    /// Energy per sense of a die in nanojoules, whatever the number of planes. Absent: 0.
    pub sense_nj: Option<Sourced<u64>>,
    /// Energy per NAND page read in nanojoules, beside `sense_nj`.
    pub read_page_nj: Sourced<u64>,
    /// Energy per NAND page programmed in nanojoules.
    pub program_page_nj: Sourced<u64>,
    /// Energy per block erased in nanojoules. Absent: 0.
    pub erase_block_nj: Option<Sourced<u64>>,
    /// Energy per KiB moved between host and drive in nanojoules: link and data path.
    pub transfer_kib_nj: Sourced<u64>,
    /// Energy per KiB moved between flash and controller, either way, in nanojoules; relocation
    /// moves a page twice. Absent: 0, in `transfer_kib_nj` then.
    pub flash_transfer_kib_nj: Option<Sourced<u64>>,
    /// Energy per KiB read from flash in nanojoules for error correction: iterative decoding costs
    /// far more than encoding. Absent: 0, in `transfer_kib_nj` then.
    pub decode_kib_nj: Option<Sourced<u64>>,
    /// Power state table. Absent: transitions take no time.
    pub states: Option<PowerStateTable>,
}

/// States of `identity.power_states_mw`; one entry per state in every list, state 0 first.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerStateTable {
    /// Operational state (NOPS clear).
    pub operational: Sourced<Vec<bool>>,
    /// Idle power in milliwatts; the entry of state 0 equals `power.idle_mw`.
    pub idle_mw: Sourced<Vec<u32>>,
    /// Entry latency in nanoseconds (ENLAT).
    pub enter_ns: Sourced<Vec<u64>>,
    /// Exit latency in nanoseconds (EXLAT).
    pub exit_ns: Sourced<Vec<u64>>,
    /// Idle time before the autonomous transition into the state, in nanoseconds; 0: never.
    pub idle_before_ns: Sourced<Vec<u64>>,
    /// Autonomous Power State Transitions enabled by default.
    pub autonomous: Sourced<bool>,
}

impl PowerStateTable {
    pub(super) fn validate(&self, identity: &IdentityProfile, power: &PowerProfile) -> Validity {
        let max_mw = &identity.power_states_mw.value;
        let (operational, idle_mw) = (&self.operational.value, &self.idle_mw.value);
        let (enter_ns, exit_ns) = (&self.enter_ns.value, &self.exit_ns.value);
        let (idle_before_ns, states) = (&self.idle_before_ns.value, max_mw.len());
        let times = [enter_ns, exit_ns, idle_before_ns];
        rules! {
            times.iter().all(|list| list.len() == states)
                && [operational.len(), idle_mw.len()] == [states; 2] && states <= 32
                => "power.states needs in every list one entry per state of \
                    identity.power_states_mw, at most 32";
            operational.first() == Some(&true)
                => "power.states.operational must be true for state 0";
            idle_mw.first() == Some(&power.idle_mw.value)
                => "power.states.idle_mw must begin with the value of power.idle_mw";
            (1..states).all(|n| !operational[n] || idle_mw[n] < max_mw[n])
                => "power.states.idle_mw must be below identity.power_states_mw in \
                    operational states";
            (0..states).all(|n| !operational[n] || idle_before_ns[n] == 0)
                => "power.states.idle_before_ns must be 0 for operational states: only others are \
                    entered autonomously";
            enter_ns.iter().chain(exit_ns).all(|&ns| ns <= LONGEST_LATENCY_NS)
                && idle_before_ns.iter().all(|&ns| ns <= LONGEST_IDLE_NS)
                => "power.states latencies must not exceed 100 s and idle_before_ns 10 days";
        }
        Ok(())
    }
}
