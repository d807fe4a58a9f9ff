//! Sections `[ftl]`, `[gc]` and `[slc]`.

use serde::Deserialize;

use crate::sourced::Sourced;

/// Flash translation layer, see [`crate::ftl`].
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FtlProfile {
    /// Garbage collection runs while fewer superblocks than this are free.
    pub gc_low_superblocks: Sourced<u32>,
    /// Unmapped units are answered without a flash read.
    pub skip_unmapped: Sourced<bool>,
    /// Writes of zeroes only change the map.
    pub elide_zero: Sourced<bool>,
}

/// Victim selection policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VictimPolicy {
    /// Fewest valid units.
    #[default]
    Greedy,
    /// Greatest `age * (1 - u) / (1 + u)`, `u` the valid share: cold data is collected early (A.
    /// Kawaguchi et al., "A flash-memory based file system", USENIX 1995).
    CostBenefit,
}

/// Pace of garbage collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GcPace {
    /// In step with host writes: an even rate.
    #[default]
    Even,
    /// From the low mark to the high one at once while the host waits: bursts and stalls.
    Burst,
}

/// Garbage collection, see [`crate::ftl`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GcProfile {
    /// Victim selection. Absent: greedy.
    pub victim: Option<Sourced<VictimPolicy>>,
    /// Pace. Absent: even.
    pub pace: Option<Sourced<GcPace>>,
    /// Collection ends at this many free superblocks. Absent: `ftl.gc_low_superblocks`.
    pub high_superblocks: Option<Sourced<u32>>,
    /// Even pace: surplus over what the host uses up, per mille. Absent: 0.
    pub surplus_permille: Option<Sourced<u32>>,
    /// Core time per unit moved, in nanoseconds. Absent: 0.
    pub unit_ns: Option<Sourced<u64>>,
    /// Idle time before background collection to `high_superblocks`, in nanoseconds. Absent: never.
    pub idle_after_ns: Option<Sourced<u64>>,
    /// Static wear levelling from this gap in erases to the most worn superblock. Absent: never.
    pub wear_gap_erases: Option<Sourced<u32>>,
}

/// Operation when no SLC superblock is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlcOverflow {
    /// Writes wait until older data is folded into multi-bit flash.
    #[default]
    Fold,
    /// Writes go directly to multi-bit flash.
    Direct,
}

/// An SLC cache in front of the multi-bit flash, see [`crate::ftl`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlcProfile {
    /// User bytes of the part with flash of its own.
    pub bytes: Sourced<u64>,
    /// User bytes borrowed from free multi-bit superblocks while there are any. Absent: 0.
    pub borrowed_bytes: Option<Sourced<u64>>,
    /// Operation when full. Absent: `fold`.
    pub overflow: Option<Sourced<SlcOverflow>>,
    /// Page read time in nanoseconds.
    pub read_ns: Sourced<u64>,
    /// Page program time in nanoseconds.
    pub program_ns: Sourced<u64>,
    /// Time to fold one program group (all planes, all bits) of one die, in nanoseconds.
    pub fold_ns: Sourced<u64>,
    /// Dies that fold at the same time.
    pub fold_parallel: Sourced<u8>,
    /// Idle time before background folding, in nanoseconds.
    pub idle_fold_after_ns: Sourced<u64>,
}
