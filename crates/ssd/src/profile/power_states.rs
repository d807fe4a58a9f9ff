//! Section `[power.states]`, see [`crate::power`].

use serde::Deserialize;

use super::{IdentityProfile, PowerProfile};
use crate::sourced::Sourced;

/// Longest idle time before a state: 10 days, in nanoseconds.
const LONGEST_IDLE_NS: u64 = 864_000_000_000_000;
/// Longest transition latency: 100 s, in nanoseconds.
const LONGEST_LATENCY_NS: u64 = 100_000_000_000;

/// Table of the states of `identity.power_states_mw`; one entry per state in every list, state 0 first.
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
    /// First inconsistency of the table, if any.
    pub(super) fn fault(&self, identity: &IdentityProfile, power: &PowerProfile) -> Option<String> {
        let max_mw = &identity.power_states_mw.value;
        let count = max_mw.len();
        let operational = &self.operational.value;
        let idle_mw = &self.idle_mw.value;
        let lengths = [
            operational.len(),
            idle_mw.len(),
            self.enter_ns.value.len(),
            self.exit_ns.value.len(),
            self.idle_before_ns.value.len(),
        ];
        let longest = |list: &[u64]| list.iter().copied().max().unwrap_or(0);
        if lengths.iter().any(|&len| len != count) || count > 32 {
            return Some(
                "power.states needs in every list one entry per state of identity.power_states_mw, at most 32".to_owned(),
            );
        }
        if !operational.first().is_some_and(|&first| first) {
            return Some("power.states.operational must be true for state 0".to_owned());
        }
        if idle_mw.first() != Some(&power.idle_mw.value) {
            return Some(
                "power.states.idle_mw must begin with the value of power.idle_mw".to_owned(),
            );
        }
        if (1..count).any(|n| operational[n] && idle_mw[n] >= max_mw[n]) {
            return Some(
                "power.states.idle_mw must be below identity.power_states_mw in operational states: nothing is left to work with"
                    .to_owned(),
            );
        }
        if (0..count).any(|n| operational[n] && self.idle_before_ns.value[n] > 0) {
            return Some(
                "power.states.idle_before_ns must be 0 for operational states: only others are entered autonomously".to_owned(),
            );
        }
        let latencies = longest(&self.enter_ns.value).max(longest(&self.exit_ns.value));
        if latencies > LONGEST_LATENCY_NS || longest(&self.idle_before_ns.value) > LONGEST_IDLE_NS {
            return Some(
                "power.states latencies must not exceed 100 s and idle_before_ns 10 days"
                    .to_owned(),
            );
        }
        None
    }
}
