//! Interrupt coalescing of a profile, see [`crate::coalescing`].

use serde::Deserialize;

use crate::sourced::Sourced;

/// How the drive gathers completions before it interrupts the host: NVM Express Base Specification 1.4, Feature 08h.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoalescingProfile {
    /// Aggregation time: a completion waits no longer for others, in units of 100 us; 0 means that none waits.
    pub time_100us: Sourced<u8>,
    /// Aggregation threshold, counted from 0: an interrupt comes at the latest with this many completions and one more.
    pub threshold: Sourced<u8>,
}
