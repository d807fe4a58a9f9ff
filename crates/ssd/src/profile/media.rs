//! Sections `[in_place]`, `[nand.retry]`, `[nand.ageing]`, `[nand.suspend]` and `[link.sata]`.

use serde::Deserialize;

use crate::ageing::FlashClass;
use crate::sourced::Sourced;

use super::validate::{Validity, absent_or, rules};
use super::{BufferProfile, FtlProfile, MAP_UNIT_BYTES, NandProfile, Profile};

/// Media written in place, instead of flash and its translation layer, see [`crate::in_place`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InPlaceProfile {
    /// Channels.
    pub channels: Sourced<u16>,
    /// Independent dies.
    pub dies: Sourced<u16>,
    /// Dies over which a 4 KiB unit is striped; they work as one. A divisor of `dies`.
    pub stripe_dies: Sourced<u16>,
    /// Channels of such a stripe. A divisor of `channels`.
    pub stripe_channels: Sourced<u16>,
    /// Write granule in bytes, from 512 to 4096: partial writes read it first.
    pub granule_bytes: Sourced<u64>,
    /// Merge engine time per partial granule, beside read and write, in nanoseconds.
    pub merge_ns: Sourced<u64>,
    /// Indirection table lookup in nanoseconds.
    pub indirection_ns: Sourced<u64>,
    /// Media read time of a unit in nanoseconds.
    pub read_ns: Sourced<u64>,
    /// Standard deviation of the read time in nanoseconds. Absent: 0.
    pub read_sigma_ns: Option<Sourced<u64>>,
    /// Media write time of a unit in nanoseconds.
    pub write_ns: Sourced<u64>,
    /// Write rate of all dies together (shared write current), in bytes per second.
    pub write_bytes_per_second: Sourced<u64>,
    /// Data rate of one channel in bytes per second.
    pub channel_bytes_per_second: Sourced<u64>,
    /// Read retries. Absent: none.
    pub retry: Option<RetryProfile>,
}

/// Read retries, see [`crate::retry`]. One entry per level, mildest first.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetryProfile {
    /// Share of reads of a new drive that need exactly this level, in ppm; ageing adds to it.
    pub probability_ppm: Sourced<Vec<u32>>,
    /// Additional time in nanoseconds.
    pub extra_ns: Sourced<Vec<u64>>,
}

/// Ageing of flash, see [`crate::ageing`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgeingProfile {
    /// Absent: `3d-slc`, `planar-mlc`, `3d-tlc` or `3d-qlc`, by the numbers of `nand.read_ns`.
    pub class: Option<Sourced<FlashClass>>,
    /// Rated program/erase cycles. Absent: those of the class.
    pub rated_cycles: Option<Sourced<u32>>,
}

/// Program/erase suspend, see [`crate::suspend`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuspendProfile {
    /// Suspend command to die ready for a read, in nanoseconds.
    pub suspend_ns: Sourced<u64>,
    /// Additional time of the operation per suspension, in nanoseconds.
    pub resume_ns: Sourced<u64>,
    /// Suspensions per operation; later reads wait for its end.
    pub limit: Sourced<u16>,
}

/// A Serial ATA link instead of PCIe, see [`crate::link`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SataProfile {
    /// Handshake time per frame (FIS), in nanoseconds.
    pub frame_ns: Sourced<u64>,
    /// NCQ depth, 1 to 32.
    pub queue_depth: Sourced<u8>,
}

impl Profile {
    pub(super) fn validate_media(&self) -> Validity {
        let has_flash = self.nand != NandProfile::default()
            || self.buffer != BufferProfile::default()
            || self.ftl != FtlProfile::default()
            || self.gc.is_some()
            || self.slc.is_some();
        rules! {
            has_flash != self.in_place.is_some()
                => "a drive has either [nand], [buffer] and [ftl] (optionally [slc] \
                    and [gc]) or [in_place]";
        }
        if let Some(media) = &self.in_place {
            let (dies, stripe) = (media.dies.value, media.stripe_dies.value);
            let granule = media.granule_bytes.value;
            let (channels, stripe_channels) = (media.channels.value, media.stripe_channels.value);
            let rates = [media.write_bytes_per_second.value, media.channel_bytes_per_second.value];
            rules! {
                (1..=64).contains(&channels) && (1..=4096).contains(&dies)
                    => "in_place.channels must be 1 to 64 and in_place.dies 1 to 4096";
                stripe > 0 && dies.is_multiple_of(stripe)
                    => "in_place.stripe_dies must divide in_place.dies";
                stripe_channels > 0 && channels.is_multiple_of(stripe_channels)
                    => "in_place.stripe_channels must divide in_place.channels";
                granule.is_power_of_two() && (512..=MAP_UNIT_BYTES).contains(&granule)
                    => "in_place.granule_bytes must be a power of two from 512 to 4096";
                rates.iter().all(|rate| (1_000_000..=1_000_000_000_000).contains(rate))
                    => "in_place.write_bytes_per_second and channel_bytes_per_second must be 1 \
                        MB/s to 1 TB/s";
            }
        }
        for retry in self.retries() {
            let (shares, times) = (&retry.probability_ppm.value, &retry.extra_ns.value);
            rules! {
                (1..=8).contains(&shares.len()) && times.len() == shares.len()
                    => "retry needs 1 to 8 levels, and as many extra_ns as probability_ppm";
                times.is_sorted() && shares.iter().all(|&ppm| ppm <= 1_000_000)
                    => "retry.extra_ns must not fall, and retry.probability_ppm must \
                        be at most 1000000";
            }
        }
        if let Some(ageing) = &self.nand.ageing {
            rules! {
                absent_or(&ageing.rated_cycles, |cycles| (1..=10_000_000).contains(cycles))
                    => "nand.ageing.rated_cycles must be 1 to 10000000";
            }
        }
        if let Some(sata) = &self.link.sata {
            let (link, queue_pairs) = (&self.link, self.identity.queue_pairs.value);
            rules! {
                (1..=32).contains(&sata.queue_depth.value)
                    => "link.sata.queue_depth must be 1 to 32";
                link.generation.value <= 3 && link.lanes.value == 1 && queue_pairs == 1
                    => "a SATA drive has link.generation 1 to 3, link.lanes 1 and \
                        identity.queue_pairs 1";
            }
        }
        Ok(())
    }

    pub(super) fn retries(&self) -> impl Iterator<Item = &RetryProfile> {
        let media = self.in_place.iter().flat_map(|media| &media.retry);
        self.nand.retry.iter().chain(media)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/profile/media.rs"]
mod tests;
