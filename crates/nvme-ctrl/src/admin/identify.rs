//! Identify (Base 5.17).

use assay_nvme_spec::admin::IdentifyCommand;
use assay_nvme_spec::fabrics::named;
use assay_nvme_spec::identify::{
    Cns, DATA_BYTES, IdentifyController, IdentifyNamespace, IndependentNamespace, LbaFormat,
    NamespaceIdType, NvmController, PowerStateDescriptor, ctratt, lpa, oacs, oaes, oncs,
    push_descriptor, sanicap, sgls,
};
use assay_nvme_spec::wire::padded;
use assay_nvme_spec::{NSID_ALL, StatusCode, SubmissionEntry};
use assay_ssd::PowerState;
use assay_units::rng::mix;

use super::background::EXTENDED_TEST_MINUTES;
use super::errors::ERROR_ENTRIES;
use super::events::EVENT_REQUESTS;
use super::fdp::ENDURANCE_GROUP;
use super::feature::{MAX_THERMAL_KELVIN, MIN_THERMAL_KELVIN, kelvin};
use super::host_memory::{MAX_DESCRIPTORS, sizes_in_pages};
use super::{AdminCommand, AdminOutcome, AdminResult};
use crate::controller::{Controller, KEEP_ALIVE_100MS, NAMESPACE, PAGE_BYTES};

const CSI_NVM: u8 = 0;

fn descriptors(states: &[PowerState]) -> [PowerStateDescriptor; 32] {
    let mut descriptors = [PowerStateDescriptor::default(); 32];
    for (rank, (descriptor, state)) in (0..).zip(descriptors.iter_mut().zip(states)) {
        // Limited to the range of the fields, 71 minutes.
        let micros = |ns: u64| ns.div_ceil(1000).min(u64::from(u32::MAX)) as u32;
        descriptor
            .set_max_power_mw(state.max_mw)
            .set_non_operational(!state.operational)
            .set_entry_latency_us(micros(state.enter_ns))
            .set_exit_latency_us(micros(state.exit_ns))
            .set_idle_power_mw(state.idle_mw)
            .set_read_throughput(rank)
            .set_read_latency(rank)
            .set_write_throughput(rank)
            .set_write_latency(rank);
    }
    descriptors
}

impl Controller {
    pub(super) fn identify(&mut self, command: &mut AdminCommand<'_>) -> AdminResult {
        let identify: IdentifyCommand = command.view();
        let (cns, nsid) = (Cns(identify.cns()), identify.nsid());
        let is_nvm = identify.csi() == CSI_NVM;
        let data = match cns {
            Cns::CONTROLLER => self.controller_data().as_bytes().to_vec(),
            Cns::NAMESPACE | Cns::ALLOCATED_NAMESPACE if nsid == NAMESPACE => {
                self.namespace_data().as_bytes().to_vec()
            }
            // Fields common to all namespaces.
            Cns::NAMESPACE if nsid == NSID_ALL => {
                let mut data = self.namespace_data();
                data.set_size_blocks(0)
                    .set_capacity_blocks(0)
                    .set_used_blocks(0)
                    .set_capacity_bytes(0)
                    .set_nguid([0; 16])
                    .set_eui64([0; 8]);
                data.as_bytes().to_vec()
            }
            Cns::NAMESPACE | Cns::ALLOCATED_NAMESPACE => return Err(StatusCode::INVALID_NAMESPACE),
            Cns::ACTIVE_NAMESPACES | Cns::ALLOCATED_NAMESPACES => list_after(nsid)?,
            Cns::COMMAND_SET_ACTIVE_NAMESPACES if is_nvm => list_after(nsid)?,
            Cns::NAMESPACE_DESCRIPTORS if nsid == NAMESPACE => self.descriptors(),
            // All 0: no protection information, no extended LBA formats.
            Cns::COMMAND_SET_NAMESPACE if is_nvm && nsid == NAMESPACE => Vec::new(),
            Cns::COMMAND_SET_CONTROLLER if is_nvm => {
                let mut data = NvmController::default();
                data.set_verify_limit(self.transfer_limit());
                data.as_bytes().to_vec()
            }
            Cns::INDEPENDENT_NAMESPACE if nsid == NAMESPACE => {
                let mut data = IndependentNamespace::default();
                data.set_status(1);
                data.as_bytes().to_vec()
            }
            // Number of Identifiers, then identifiers from the requested one on.
            Cns::CONTROLLERS => {
                let id = self.association.controller_id;
                let count = u16::from(identify.controller() <= id);
                [count, id * count].map(u16::to_le_bytes).concat()
            }
            Cns::COMMAND_SETS => vec![1 << CSI_NVM],
            Cns::NAMESPACE_DESCRIPTORS
            | Cns::INDEPENDENT_NAMESPACE
            | Cns::COMMAND_SET_NAMESPACE
                if is_nvm =>
            {
                return Err(StatusCode::INVALID_NAMESPACE);
            }
            _ => return Err(StatusCode::INVALID_FIELD),
        };
        command.reply(&data, DATA_BYTES, self.page_bytes)?;
        Ok(AdminOutcome::Done(0))
    }

    /// A power of two of minimum memory pages.
    fn transfer_limit(&self) -> u8 {
        (self.max_transfer_bytes / PAGE_BYTES).ilog2() as u8
    }

    fn controller_data(&self) -> IdentifyController {
        let identity = self.drive.identity();
        let threshold = |celsius: Option<u16>| celsius.map_or(0, |celsius| kelvin(celsius.into()));
        let atomic = identity.atomic_bytes >> self.block_shift;
        let atomic = atomic.clamp(1, 1 << 16) as u16 - 1;
        let mut data = IdentifyController::default();
        data.set_vendor_id(self.options.vendor_id)
            .set_subsystem_vendor_id(self.options.subsystem_vendor_id)
            .set_serial_number(padded(&identity.serial))
            .set_model_number(padded(&identity.model))
            .set_firmware_revision(padded(&identity.firmware))
            .set_mdts(self.transfer_limit())
            .set_controller_id(self.association.controller_id)
            .set_version(self.version.raw())
            // Linux requests events only where one is optional that it knows.
            .set_async_events(oaes::NAMESPACE_ATTRIBUTES)
            .set_controller_type(1)
            .set_oacs(oacs::FORMAT | oacs::SELF_TEST)
            .set_async_event_limit(EVENT_REQUESTS as u8 - 1)
            .set_abort_limit(3)
            // One slot, read-only.
            .set_firmware_updates(0b11)
            .set_log_page_attributes(lpa::COMMAND_EFFECTS | lpa::EXTENDED_DATA | lpa::TELEMETRY)
            .set_error_log_entries(ERROR_ENTRIES as u8 - 1)
            .set_total_capacity_bytes(identity.capacity_bytes.into())
            .set_self_test_minutes(EXTENDED_TEST_MINUTES)
            .set_self_test_options(1)
            .set_sanitize_capabilities(sanicap::BLOCK_ERASE | sanicap::NO_DEALLOCATE_INHIBITED)
            .set_sqes(0x66)
            .set_cqes(0x44)
            .set_namespaces(NAMESPACE)
            .set_volatile_write_cache(0b111)
            .set_atomic_write(atomic)
            .set_atomic_power_fail(atomic)
            .set_sgls(sgls::SUPPORTED | sgls::BIT_BUCKET | sgls::LONGER)
            .set_warning_kelvin(threshold(identity.warning_celsius))
            .set_critical_kelvin(threshold(identity.critical_celsius));
        let optional = self.io_commands().map(|(.., oncs)| oncs);
        data.set_oncs(optional.fold(oncs::TIMESTAMP | oncs::SAVE_FEATURES, |all, bit| all | bit));
        if self.features.can_throttle {
            data.set_hctma(1)
                .set_min_thermal_kelvin(MIN_THERMAL_KELVIN)
                .set_max_thermal_kelvin(MAX_THERMAL_KELVIN);
        }
        if let Some([least, preferred]) = sizes_in_pages(self) {
            data.set_least_host_pages(least)
                .set_preferred_host_pages(preferred)
                .set_host_descriptors(MAX_DESCRIPTORS);
        }
        if self.has_placement() {
            data.set_attributes(ctratt::ENDURANCE_GROUPS | ctratt::FLEXIBLE_DATA_PLACEMENT)
                .set_endurance_groups(ENDURANCE_GROUP);
        }
        let states = &identity.power_states;
        data.set_power_states(states.len().clamp(1, 32) as u8 - 1);
        data.set_apsta(u8::from(self.has_non_operational_states()));
        data.set_descriptors(descriptors(states));
        data.set_subsystem_nqn(named(&self.nqn()));
        if let Some(fabrics) = &self.options.fabrics {
            data.set_keep_alive_100ms(KEEP_ALIVE_100MS)
                .set_max_commands(fabrics.max_entries)
                .set_sgls(sgls::SUPPORTED | sgls::OFFSET | sgls::TRANSPORT)
                .set_command_capsule((SubmissionEntry::SIZE as u32 + fabrics.in_capsule_bytes) / 16)
                .set_response_capsule(1)
                .set_sgl_descriptors(1);
        }
        data
    }

    /// NQN of the subsystem: the same for each start of a server.
    pub fn nqn(&self) -> String {
        let named = self.options.fabrics.as_ref().and_then(|fabrics| fabrics.nqn.clone());
        named.unwrap_or_else(|| {
            let uuid = uuid_text(uuid(self.derived_id(0)));
            format!("nqn.2014-08.org.nvmexpress:uuid:{uuid}")
        })
    }

    pub(super) fn namespace_data(&self) -> IdentifyNamespace {
        let mut data = IdentifyNamespace::default();
        let mut formats = [LbaFormat::default(); 64];
        let sizes = &self.lba_sizes;
        for (rank, (format, &size)) in (0..).zip(formats.iter_mut().zip(sizes.iter().rev())) {
            // The size of a mapping unit performs best.
            format.set_data_size(size).set_relative_performance(rank);
        }
        formats[..sizes.len()].reverse();
        let mut sizes = sizes.iter();
        let current = sizes.position(|&size| u32::from(size) == self.block_shift);
        let current = current.expect("the block size is one of the LBA formats");
        data.set_size_blocks(self.blocks)
            .set_capacity_blocks(self.blocks)
            .set_used_blocks(self.blocks)
            .set_lba_format_count(self.lba_sizes.len() as u8 - 1)
            .set_formatted(current as u8)
            .set_lba_formats(formats)
            // Deallocated blocks read as zeroes, and Write Zeroes may deallocate.
            .set_deallocate_features(0b1001)
            .set_features(1 << 4)
            .set_capacity_bytes(self.drive.identity().capacity_bytes.into())
            .set_nguid(self.unique_id())
            .set_eui64(eui64(self.unique_id()));
        if self.has_placement() {
            data.set_endurance_group(ENDURANCE_GROUP);
        }
        // Indirection unit in logical blocks, less one: writes below it cost a read-modify-write
        // (NPWG, NPWA, NPDG, NPDA and NOWS; NVM Command Set 1.0, 4.1.5.1 and 5.8.2).
        let unit_bytes = self.drive.profile().indirection_unit_bytes();
        let unit = ((unit_bytes >> self.block_shift).max(1) - 1) as u16;
        data.set_write_granularity(unit)
            .set_write_alignment(unit)
            .set_deallocate_granularity(unit)
            .set_deallocate_alignment(unit)
            .set_optimal_write_size(unit);
        data
    }

    fn descriptors(&self) -> Vec<u8> {
        let mut list = Vec::new();
        let id = self.unique_id();
        push_descriptor(&mut list, NamespaceIdType::EUI64, &eui64(id));
        push_descriptor(&mut list, NamespaceIdType::NGUID, &id);
        push_descriptor(&mut list, NamespaceIdType::UUID, &uuid(id));
        push_descriptor(&mut list, NamespaceIdType::CSI, &[CSI_NVM]);
        list
    }

    fn unique_id(&self) -> [u8; 16] {
        self.derived_id(self.options.identity_nonce)
    }

    /// Locally administered, derived from the drive's serial number and a nonce unless it is 0.
    fn derived_id(&self, nonce: u64) -> [u8; 16] {
        let serial = &self.drive.identity().serial;
        let hash = |seed| {
            let hash = serial.bytes().fold(seed, |hash, byte| mix(hash, byte.into()));
            if nonce == 0 { hash } else { mix(hash, nonce) }
        };
        let mut id = [0; 16];
        id[..8].copy_from_slice(&hash(1).to_be_bytes());
        id[8..].copy_from_slice(&hash(2).to_be_bytes());
        // The OUI of an NGUID is in bytes 8 to 10.
        id[8] = id[8] & !1 | 2;
        id
    }
}

/// UUID version 8 (vendor-defined, RFC 9562).
fn uuid(mut id: [u8; 16]) -> [u8; 16] {
    id[6] = id[6] & 0x0f | 0x80;
    id[8] = id[8] & 0x3f | 0x80;
    id
}

fn uuid_text(uuid: [u8; 16]) -> String {
    let hex = format!("{:032x}", u128::from_be_bytes(uuid));
    [8..12, 12..16, 16..20, 20..32]
        .into_iter()
        .fold(hex[..8].to_owned(), |text, part| text + "-" + &hex[part])
}

fn eui64(id: [u8; 16]) -> [u8; 8] {
    *id.last_chunk().expect("16 bytes have a last 8")
}

/// Namespace list from `nsid + 1` on (Base 5.17.2.2), without the zeroes that end it.
fn list_after(nsid: u32) -> Result<Vec<u8>, StatusCode> {
    StatusCode::INVALID_NAMESPACE.fail_if(nsid >= 0xffff_fffe)?;
    let following = (nsid < NAMESPACE).then_some(NAMESPACE);
    Ok(following.map_or(Vec::new(), |nsid| nsid.to_le_bytes().to_vec()))
}
