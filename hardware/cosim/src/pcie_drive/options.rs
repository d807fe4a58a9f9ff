use assay_ssd::Profile;

use super::endpoint::DriveCounters;
use super::link::LinkOptions;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PcieDriveOptions {
    pub link: LinkOptions,
    /// Of `dev_*`: 128, 256 or 512.
    pub data_width: u32,
    /// Parameter `BusBase` of the core.
    pub bus_base: u64,
    pub seed: u64,
    /// Cycles in which a valid or ready of the drive is held back, on every channel.
    pub back_pressure_percent: u8,
    /// Data of writes that the drive reads before their commands end; one command is always read.
    pub staging_bytes: u64,
    /// The drive fetches no further entry before one of so many I/O commands has ended.
    pub max_commands: u32,
    /// Namespace identifier of the drive's only namespace.
    pub namespace: u32,
    /// PERST# of the core reaches the drive.
    pub has_perst: bool,
    /// The root port does a hot reset (Bridge Control, Secondary Bus Reset).
    pub has_hot_reset: bool,
}

impl PcieDriveOptions {
    /// Without back-pressure, with 1 MiB of staging memory.
    pub fn new(link: LinkOptions, data_width: u32) -> PcieDriveOptions {
        PcieDriveOptions {
            link,
            data_width,
            bus_base: 0,
            seed: 0,
            back_pressure_percent: 0,
            staging_bytes: 1 << 20,
            max_commands: u32::MAX,
            namespace: 1,
            has_perst: true,
            has_hot_reset: true,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PcieDriveCounters {
    pub drive: DriveCounters,
    /// Bytes that the core gave, protocol included.
    pub read_bytes: u64,
    /// Bytes that the core took, protocol included.
    pub written_bytes: u64,
    pub reads: u64,
    pub writes: u64,
    /// Of the core, configuration space included.
    pub register_reads: u64,
    /// Of the core, configuration space included.
    pub register_writes: u64,
    /// Refused by the root port: no bus master, or an address that is not the core's.
    pub refused_requests: u64,
    /// By PERST# or by the root port.
    pub resets: u64,
    /// Packets longer than the receiver's Max_Payload_Size, which are lost.
    pub malformed_packets: u64,
}

/// For measurements of core and link: media without delay, commands of up to 2 MiB.
pub fn unlimited_profile() -> Profile {
    const PROFILE: &str = "intel-optane-p4800x";
    let mut profile = Profile::builtin(PROFILE).expect("a built-in profile");
    profile.identity.max_transfer_bytes.value = 2 << 20;
    let firmware = &mut profile.firmware;
    for ns in [
        &mut firmware.read_command_ns,
        &mut firmware.read_page_ns,
        &mut firmware.read_kib_ns,
        &mut firmware.write_command_ns,
        &mut firmware.write_unit_ns,
        &mut firmware.other_command_ns,
    ] {
        ns.value = 1;
    }
    let media = profile.in_place.as_mut().expect("media written in place");
    for ns in [&mut media.indirection_ns, &mut media.read_ns, &mut media.write_ns] {
        ns.value = 1;
    }
    media.read_sigma_ns = None;
    media.retry = None;
    const UNLIMITED: u64 = 1_000_000_000_000;
    media.write_bytes_per_second.value = UNLIMITED;
    media.channel_bytes_per_second.value = UNLIMITED;
    profile.data_path.direct_bytes_per_second.value = UNLIMITED;
    profile.data_path.staged_bytes_per_second.value = UNLIMITED;
    profile
}
