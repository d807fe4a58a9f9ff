//! Costs of commands by the profile.

use crate::profile::Profile;
use crate::sourced::value_or;

#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    pub(super) read_command_ns: u64,
    pub(super) read_partial_ns: u64,
    pub(super) read_split_ns: u64,
    pub(super) die_read_bytes: u64,
    pub(super) read_page_ns: u64,
    /// Longest read without `read_page_ns`; 0 if none.
    pub(super) read_by_hardware_bytes: u64,
    pub(super) read_kib_ns: u64,
    /// Time of a read outside its core.
    pub(super) read_latency_ns: u64,
    /// Data path setup time per read of flash, and of one that needs a PRP list.
    pub(super) path_setup_ns: [u64; 2],
    pub(super) write_command_ns: u64,
    pub(super) write_unit_ns: u64,
    pub(super) cores: u64,
    pub(super) other_command_ns: u64,
    pub(super) ack_ns: u64,
    pub(super) ack_unit_ns: u64,
    /// Data path and collection time in per cent of unthrottled.
    pub(super) data_path_percent: u64,
    pub(super) skip_unmapped: bool,
    pub(super) elide_zero: bool,
    pub(super) command_nj: u64,
    pub(super) transfer_kib_nj: u64,
    pub(super) core_mw: u64,
}

impl Costs {
    pub(super) fn new(profile: &Profile) -> [Costs; 2] {
        let throttled = u64::from(profile.thermal.throttle_percent.value);
        [100, throttled].map(|percent| Costs::at_clock_rate(profile, percent))
    }

    fn at_clock_rate(profile: &Profile, percent: u64) -> Costs {
        let firmware = &profile.firmware;
        let scaled = |ns: u64| ns * percent / 100;
        let by_hardware = value_or(&firmware.read_block_by_hardware, false);
        let block_bytes = profile.identity.logical_block_bytes.value;
        Costs {
            read_command_ns: scaled(firmware.read_command_ns.value),
            read_partial_ns: scaled(value_or(&firmware.read_partial_ns, 0)),
            read_split_ns: scaled(value_or(&firmware.read_split_ns, 0)),
            die_read_bytes: value_or(
                &profile.nand.stripe_bytes,
                u64::from(profile.nand.planes.value) * profile.nand.page_bytes.value,
            ),
            read_page_ns: scaled(firmware.read_page_ns.value),
            read_by_hardware_bytes: if by_hardware { block_bytes } else { 0 },
            read_kib_ns: scaled(firmware.read_kib_ns.value),
            read_latency_ns: scaled(value_or(&firmware.read_latency_ns, 0)),
            path_setup_ns: [0, value_or(&profile.data_path.prp_list_ns, 0)]
                .map(|list_ns| scaled(value_or(&profile.data_path.setup_ns, 0) + list_ns)),
            write_command_ns: scaled(firmware.write_command_ns.value),
            write_unit_ns: scaled(firmware.write_unit_ns.value),
            cores: u64::from(firmware.cores.value).max(1),
            other_command_ns: scaled(firmware.other_command_ns.value),
            ack_ns: profile.buffer.ack_ns.value,
            ack_unit_ns: profile.buffer.ack_unit_ns.value,
            data_path_percent: percent,
            skip_unmapped: profile.ftl.skip_unmapped.value,
            elide_zero: profile.ftl.elide_zero.value,
            command_nj: profile.power.command_nj.value,
            transfer_kib_nj: profile.power.transfer_kib_nj.value,
            core_mw: value_or(&profile.power.core_mw, 0).into(),
        }
    }

    #[inline(always)]
    pub(super) fn read_pages_ns(&self, pages: u32, len: u64) -> u64 {
        if len <= self.read_by_hardware_bytes {
            return 0;
        }
        self.read_page_ns * u64::from(pages)
    }

    pub(super) fn min_ns(&self) -> u64 {
        let writes_ns = self.write_command_ns.min(self.other_command_ns);
        self.read_command_ns.min(writes_ns)
    }
}
