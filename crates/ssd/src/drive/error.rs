//! Why a drive could not be created.

use crate::ftl::FlashError;

/// Why a drive could not be created.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DriveError {
    /// Flash and capacity of the profile do not match.
    #[error("simulated drive {profile:?}: {reason}; check nand and identity.capacity_bytes")]
    Flash {
        /// The profile's name.
        profile: String,
        /// The reason.
        reason: FlashError,
    },
    /// The drive has no map to place on flash.
    #[error(
        "simulated drive {profile:?}: option map_cache needs a drive with flash; its media are \
         written in place, so leave the option out"
    )]
    NoMap {
        /// The profile's name.
        profile: String,
    },
    /// A drive without use for host memory.
    #[error(
        "simulated drive {profile:?}: option hmb needs an NVMe drive without DRAM, with its map \
         on flash, and this one has its map in DRAM or a SATA link; give map_cache=SIZE (the \
         controller's own cache) too, or leave the option out"
    )]
    NoHostMemory {
        /// The profile's name.
        profile: String,
    },
    /// The profile describes no heat sink.
    #[error(
        "simulated drive {profile:?}: option heatsink needs a heat sink, and its profile \
         describes none; leave the option out, or add [thermal.heat_sink] to a copy of the profile"
    )]
    NoHeatSink {
        /// The profile's name.
        profile: String,
    },
    /// Media that do not age as flash does.
    #[error(
        "simulated drive {profile:?}: options cycles and retention age flash, and its media are \
         3D XPoint, written in place: a change of phase is not worn by program/erase cycles in \
         blocks, nor lost as charge, and no source gives its law; leave the options out"
    )]
    NoAgeing {
        /// The profile's name.
        profile: String,
    },
    /// The drive cannot place data by handles.
    #[error(
        "simulated drive {profile:?}: option fdp needs flash without an SLC cache, with \
         power-loss protection and enough spare superblocks for the handles (it allows {most}); \
         leave the option out"
    )]
    NoPlacement {
        /// The profile's name.
        profile: String,
        /// Most handles.
        most: u16,
    },
    /// The drive has no such power state.
    #[error(
        "simulated drive {profile:?} has no power state {state}: it has 0 to {last}; choose one \
         of them"
    )]
    PowerState {
        /// The profile's name.
        profile: String,
        /// The requested state.
        state: u8,
        /// The last state.
        last: usize,
    },
}
