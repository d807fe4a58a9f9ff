//! Sections `[ftl]`, `[gc]` and `[slc]`.

use serde::Deserialize;

use crate::sourced::Sourced;

/// Flash translation layer, see [`crate::ftl`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FtlProfile {
    /// Garbage collection runs while fewer superblocks than this are free.
    pub gc_low_superblocks: Sourced<u32>,
    /// Are unwritten and deallocated units answered without touching flash?
    pub skip_unmapped: Sourced<bool>,
    /// Are writes of zeroes recorded in the map only?
    pub elide_zero: Sourced<bool>,
}

/// Which superblock is collected next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VictimPolicy {
    /// The one with the fewest valid units.
    #[default]
    Greedy,
    /// The one with the greatest `age * (1 - u) / (1 + u)`, `u` its valid share (A. Kawaguchi et al., "A flash-memory based file
    /// system", USENIX 1995): cold data is collected before it is as empty as hot data.
    CostBenefit,
}

/// When garbage collection moves data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GcPace {
    /// In step with host writes, as much as they use up: an even rate.
    #[default]
    Even,
    /// Nothing until the low mark, then everything up to the high one while the host waits: bursts and stalls.
    Burst,
}

/// How garbage is collected, see [`crate::ftl`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GcProfile {
    /// Which superblock is next. Absent: greedy.
    pub victim: Option<Sourced<VictimPolicy>>,
    /// When. Absent: even.
    pub pace: Option<Sourced<GcPace>>,
    /// Once begun, collection goes on until so many superblocks are free. Absent: `ftl.gc_low_superblocks`.
    pub high_superblocks: Option<Sourced<u32>>,
    /// Even pace: how much more than what the host uses up is made free, per mille. Absent: 0.
    pub surplus_permille: Option<Sourced<u32>>,
    /// One core's time per unit moved, in nanoseconds. Absent: 0.
    pub unit_ns: Option<Sourced<u64>>,
    /// Collection also runs, up to `high_superblocks`, after this long without a host command, in nanoseconds. Absent: never.
    pub idle_after_ns: Option<Sourced<u64>>,
    /// Static wear levelling: when a closed superblock has been erased so many times less than the most worn one, its data is
    /// moved, so that it takes part again. Absent: never.
    pub wear_gap_erases: Option<Sourced<u32>>,
}

/// Where host writes go when no SLC superblock is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlcOverflow {
    /// They wait until older data is folded into multi-bit flash.
    #[default]
    Fold,
    /// Straight to multi-bit flash.
    Direct,
}

/// An SLC cache in front of the multi-bit flash, see [`crate::ftl`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlcProfile {
    /// User bytes that the part of the cache with flash of its own holds.
    pub bytes: Sourced<u64>,
    /// User bytes that the drive adds from free multi-bit superblocks used in SLC mode, while it has them. Absent: 0.
    pub borrowed_bytes: Option<Sourced<u64>>,
    /// Where host writes go when the cache is full. Absent: `fold`.
    pub overflow: Option<Sourced<SlcOverflow>>,
    /// Page read time in nanoseconds.
    pub read_ns: Sourced<u64>,
    /// Page program time in nanoseconds.
    pub program_ns: Sourced<u64>,
    /// Time to fold one program group (all planes, all bits) of one die into multi-bit flash, in nanoseconds.
    pub fold_ns: Sourced<u64>,
    /// Dies that fold at the same time.
    pub fold_parallel: Sourced<u8>,
    /// Folding starts by itself after this long without a host command, in nanoseconds.
    pub idle_fold_after_ns: Sourced<u64>,
}
