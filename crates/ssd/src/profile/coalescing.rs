//! Interrupt coalescing of a profile, see [`crate::coalescing`].

use serde::Deserialize;

use crate::sourced::Sourced;

/// Feature 08h (NVM Express Base Specification 1.4).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoalescingProfile {
    /// Aggregation time in units of 100 us; 0: off.
    pub time_100us: Sourced<u8>,
    /// Aggregation threshold, counted from 0.
    pub threshold: Sourced<u8>,
}
