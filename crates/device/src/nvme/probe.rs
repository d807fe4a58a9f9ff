use assay_nvme_spec::feature::{
    AutonomousTable, FeatureId, FeatureSwitch, HostThermal, InterruptCoalescing, NumberOfQueues,
    TemperatureThreshold,
};
use assay_nvme_spec::identify::{
    IdentifyController, IdentifyNamespace, ctratt, oacs, oncs, sanicap,
};
use assay_nvme_spec::register::Version;
use assay_units::text::hexadecimal;
use serde::{Deserialize, Serialize};

use super::commands::Commands;
use super::endurance::EnduranceLogs;
use super::health::{Health, read_by};
use super::placement::{Placement, placement};
use super::registers::ControllerRegisters;
use super::{AdminPort, CommandError};

/// Identification and properties of a controller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// E.g. `1.4`.
    pub version: String,
    pub model: String,
    pub serial: String,
    pub firmware: String,
    /// Slot, revision, active.
    pub firmware_slots: Vec<(u8, String, bool)>,
    pub pci_vendor: (u16, u16),
    pub ieee_oui: String,
    pub controller_id: u16,
    pub registers: Option<RegisterFacts>,
    pub registers_missing: Option<String>,
    /// `None`: no limit.
    pub max_transfer_bytes: Option<u64>,
    /// Submission and completion queues.
    pub queues_granted: Option<(u32, u32)>,
    /// MSI-X vectors that the kernel allocated.
    pub interrupt_vectors: Option<u32>,
    pub coalescing: Option<Coalescing>,
    /// `None` without a volatile write cache.
    pub write_cache_on: Option<bool>,
    /// `None` where not supported.
    pub autonomous_power: Option<AutonomousPower>,
    pub power_states: Vec<PowerStateLimits>,
    pub thermal: Thermal,
    pub admin_commands: Vec<String>,
    pub io_commands: Vec<String>,
    pub sanitize: Vec<String>,
    pub total_capacity_bytes: Option<u64>,
    pub namespaces: Vec<Namespace>,
    pub health: Health,
    /// Flexible Data Placement; `None` where the controller has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegisterFacts {
    pub cap: String,
    /// CAP.MQES and one.
    pub max_queue_entries: u32,
    /// CAP.TO.
    pub ready_timeout_ms: u32,
    /// CAP.DSTRD.
    pub doorbell_stride_bytes: u32,
    /// CAP.AMS: arbitration mechanisms beside round robin.
    pub weighted_round_robin: bool,
    /// CAP.CQR.
    pub contiguous_queues: bool,
    /// CAP.NSSRS.
    pub subsystem_reset: bool,
    /// CAP.CMBS.
    pub memory_buffer: bool,
    /// CAP.MPSMIN, CAP.MPSMAX.
    pub page_bytes: (u64, u64),
    pub version: String,
    pub cc: String,
    /// CSTS.RDY.
    pub ready: bool,
    /// CSTS.CFS.
    pub fatal: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coalescing {
    /// Aggregation threshold.
    pub completions: u16,
    /// 0: disabled.
    pub time_us: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutonomousPower {
    pub enabled: bool,
    /// Each goes from a state, after idle milliseconds, to a state.
    pub transitions: Vec<(u8, u32, u8)>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PowerStateLimits {
    pub state: u8,
    pub max_mw: f64,
    pub operational: bool,
    pub entry_us: Option<u32>,
    pub exit_us: Option<u32>,
    pub idle_mw: Option<f64>,
    pub active_mw: Option<f64>,
    pub current: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thermal {
    pub warning_c: Option<i32>,
    pub critical_c: Option<i32>,
    /// Feature 04h.
    pub threshold_c: Option<i32>,
    /// Host controlled thermal management (feature 10h).
    pub host_range_c: Option<(i32, i32)>,
    /// Thermal management temperatures 1 and 2; `None` where off.
    pub host_set_c: (Option<i32>, Option<i32>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespace {
    pub nsid: u32,
    pub size_bytes: u64,
    pub capacity_bytes: u64,
    pub used_bytes: u64,
    pub thin: bool,
    /// Deallocated blocks read as zeroes.
    pub deallocated_zeroes: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preferred_writes: Option<PreferredWrites>,
    /// NGUID or EUI64, hexadecimal.
    pub unique_id: Option<String>,
    pub formats: Vec<Format>,
    /// Writes of at most so many bytes are never seen in part.
    #[serde(default)]
    pub atomic_bytes: u64,
    /// Nor after a power failure, if they cross no boundary.
    #[serde(default)]
    pub atomic_power_fail_bytes: u64,
    /// Of Compare and Write as one operation; `None` where the controller has no fused operations.
    #[serde(default)]
    pub atomic_compare_bytes: Option<u64>,
    /// `None` without boundaries.
    #[serde(default)]
    pub atomic_boundary_bytes: Option<u64>,
    /// Type of end-to-end protection information of each block; 0 for none.
    #[serde(default)]
    pub protection_type: u8,
    /// Metadata follows the data of its block instead of a buffer of its own.
    #[serde(default)]
    pub extended_blocks: bool,
}

/// Smaller or misaligned writes cost the namespace a read and a longer write (NVM Command Set
/// Specification 1.0c, 4.1.5.1 and 5.8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreferredWrites {
    /// NPWG.
    pub granularity_bytes: u64,
    /// NPWA.
    pub alignment_bytes: u64,
    /// NOWS.
    pub optimal_bytes: u64,
}

impl Probe {
    /// Without `nsid`, those of the first namespace.
    pub fn preferred_writes(&self, nsid: Option<u32>) -> Option<PreferredWrites> {
        let of = |n: &&Namespace| nsid.is_none_or(|nsid| n.nsid == nsid);
        self.namespaces.iter().find(of)?.preferred_writes
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Format {
    pub index: u8,
    pub block_bytes: u64,
    /// Per block.
    pub metadata_bytes: u16,
    /// Best is 0, degraded 3.
    pub relative_performance: u8,
    pub in_use: bool,
}

#[derive(Debug, Default)]
pub(crate) struct ControllerContext {
    /// Or why they cannot be read.
    pub registers: Option<Result<ControllerRegisters, String>>,
    pub interrupt_vectors: Option<u32>,
    pub nsid: Option<u32>,
}

/// Reads a controller whose registers, interrupts and namespace are not known.
pub fn read(port: &mut dyn AdminPort) -> Result<Probe, CommandError> {
    probe(port, ControllerContext::default())
}

/// Optional features that the controller rejects are left out; Identify and SMART are mandatory.
pub(crate) fn probe(
    port: &mut dyn AdminPort,
    context: ControllerContext,
) -> Result<Probe, CommandError> {
    let mut commands = Commands::to(port);
    let controller = commands.identify_controller()?;
    let logs = EnduranceLogs::find(&mut commands, context.nsid)?;
    let health = read_by(&mut commands, &logs)?;
    let (registers, registers_missing) = match context.registers.transpose() {
        Ok(registers) => (registers, None),
        Err(why) => (None, Some(why)),
    };
    let mps_min = registers.map_or(0, |r| r.capabilities.mps_min());
    let mut value = |feature: FeatureId| commands.feature(feature, 0, &mut []).ok();
    let queues = value(FeatureId::NUMBER_OF_QUEUES).map(NumberOfQueues::from_raw);
    let coalescing = value(FeatureId::INTERRUPT_COALESCING).map(InterruptCoalescing::from_raw);
    let has_cache = controller.volatile_write_cache() & 1 != 0;
    let cache = has_cache.then(|| value(FeatureId::VOLATILE_WRITE_CACHE));
    let thermal = thermal(&mut commands, &controller);
    let now = commands.power_state().ok();
    let autonomous_power = autonomous(&mut commands, &controller);
    let slots = commands.firmware_slots().ok();
    let slots = slots.iter().flat_map(|log| {
        let active = log.active_slot();
        log.slots().map(move |(slot, text)| (slot, text, slot == active))
    });
    let firmware_slots = slots.collect();
    let (namespaces, group) = namespaces(&mut commands, &controller)?;
    let places = controller.attributes() & ctratt::FLEXIBLE_DATA_PLACEMENT != 0;
    let group = group.filter(|_| places);
    let placement = group.and_then(|group| placement(&mut commands, group));
    let [low, mid, high] = controller.ieee_oui();
    Ok(Probe {
        version: Version::from_raw(controller.version()).to_string(),
        model: controller.model(),
        serial: controller.serial(),
        firmware: controller.firmware(),
        firmware_slots,
        pci_vendor: (controller.vendor_id(), controller.subsystem_vendor_id()),
        ieee_oui: format!("{high:02X}-{mid:02X}-{low:02X}"),
        controller_id: controller.controller_id(),
        registers: registers.as_ref().map(register_facts),
        registers_missing,
        max_transfer_bytes: controller.max_transfer_bytes(mps_min),
        queues_granted: queues
            .map(|q| (u32::from(q.submission()) + 1, u32::from(q.completion()) + 1)),
        interrupt_vectors: context.interrupt_vectors,
        coalescing: coalescing.map(|c| Coalescing {
            completions: u16::from(c.threshold()) + 1,
            time_us: u32::from(c.time_100us()) * 100,
        }),
        write_cache_on: cache.flatten().map(|raw| FeatureSwitch::from_raw(raw).enabled()),
        autonomous_power,
        power_states: power_states(&controller, now),
        thermal,
        admin_commands: named(u32::from(controller.oacs()), &ADMIN_COMMANDS),
        io_commands: named(u32::from(controller.oncs()), &IO_COMMANDS),
        sanitize: named(controller.sanitize_capabilities(), &SANITIZES),
        total_capacity_bytes: u64::try_from(controller.total_capacity_bytes())
            .ok()
            .filter(|&bytes| bytes > 0),
        namespaces,
        health,
        placement,
    })
}

fn thermal(commands: &mut Commands<'_>, controller: &IdentifyController) -> Thermal {
    let mut value = |feature: FeatureId| commands.feature(feature, 0, &mut []).ok();
    let threshold = value(FeatureId::TEMPERATURE_THRESHOLD).map(TemperatureThreshold::from_raw);
    // All ones: no threshold is set (Base 5.27.1.3).
    let threshold = threshold.filter(|t| t.kelvin() != u16::MAX);
    let has_host_thermal = controller.hctma() & 1 != 0;
    let host = has_host_thermal.then(|| value(FeatureId::HOST_THERMAL));
    let host = host.flatten().map(HostThermal::from_raw);
    let host = host.unwrap_or_default();
    Thermal {
        warning_c: celsius(controller.warning_kelvin()),
        critical_c: celsius(controller.critical_kelvin()),
        threshold_c: threshold.and_then(|t| celsius(t.kelvin())),
        host_range_c: celsius(controller.min_thermal_kelvin())
            .zip(celsius(controller.max_thermal_kelvin()))
            .filter(|_| has_host_thermal),
        host_set_c: (celsius(host.light_kelvin()), celsius(host.heavy_kelvin())),
    }
}

const ADMIN_COMMANDS: [(u32, &str); 5] = [
    (oacs::SECURITY as u32, "security"),
    (oacs::FORMAT as u32, "format"),
    (oacs::FIRMWARE as u32, "firmware"),
    (oacs::NAMESPACES as u32, "namespace management"),
    (oacs::SELF_TEST as u32, "self-test"),
];
const IO_COMMANDS: [(u32, &str); 6] = [
    (oncs::COMPARE as u32, "compare"),
    (oncs::WRITE_UNCORRECTABLE as u32, "write uncorrectable"),
    (oncs::DATASET_MANAGEMENT as u32, "dataset management (trim)"),
    (oncs::WRITE_ZEROES as u32, "write zeroes"),
    (oncs::VERIFY as u32, "verify"),
    (oncs::COPY as u32, "copy"),
];
const SANITIZES: [(u32, &str); 3] = [
    (sanicap::BLOCK_ERASE, "block erase"),
    (sanicap::CRYPTO_ERASE, "crypto erase"),
    (sanicap::OVERWRITE, "overwrite"),
];

fn named(bits: u32, names: &[(u32, &str)]) -> Vec<String> {
    let set = names.iter().filter(|(bit, _)| bits & bit != 0);
    set.map(|(_, name)| (*name).to_owned()).collect()
}

/// 0 degrees Celsius is 273 K; 0 stands for "not reported".
fn celsius(kelvin: u16) -> Option<i32> {
    (kelvin != 0).then(|| i32::from(kelvin) - 273)
}

fn autonomous(
    commands: &mut Commands<'_>,
    controller: &IdentifyController,
) -> Option<AutonomousPower> {
    if controller.apsta() & 1 == 0 {
        return None;
    }
    let mut data = [0; AutonomousTable::SIZE];
    let raw = commands.feature(FeatureId::AUTONOMOUS_POWER, 0, &mut data);
    let enabled = raw.ok()? & 1 != 0;
    let table = (0..).zip(AutonomousTable::from_bytes(data).transitions());
    let used = table.filter(|(_, t)| t.idle_ms() > 0);
    Some(AutonomousPower {
        enabled,
        transitions: used.map(|(from, t)| (from, t.idle_ms(), t.state())).collect(),
    })
}

fn power_states(controller: &IdentifyController, now: Option<u8>) -> Vec<PowerStateLimits> {
    let milliwatts = |microwatts: u64| microwatts as f64 / 1e3;
    (0..)
        .zip(controller.power_state_descriptors())
        .map(|(state, d)| PowerStateLimits {
            state,
            max_mw: milliwatts(d.max_power_uw()),
            operational: !d.non_operational(),
            entry_us: Some(d.entry_latency_us()).filter(|&us| us > 0),
            exit_us: Some(d.exit_latency_us()).filter(|&us| us > 0),
            idle_mw: d.idle_power_uw().map(milliwatts),
            active_mw: d.active_power_uw().map(milliwatts),
            current: now == Some(state),
        })
        .collect()
}

/// The active ones, and the endurance group of the first that has one.
fn namespaces(
    commands: &mut Commands<'_>,
    controller: &IdentifyController,
) -> Result<(Vec<Namespace>, Option<u16>), CommandError> {
    let (mut namespaces, mut group) = (Vec::new(), None);
    for nsid in commands.active_namespaces()? {
        let found = commands.identify_namespace(nsid)?;
        group = group.or(Some(found.endurance_group()).filter(|&group| group > 0));
        namespaces.push(namespace(nsid, &found, controller));
    }
    Ok((namespaces, group))
}

fn namespace(nsid: u32, found: &IdentifyNamespace, controller: &IdentifyController) -> Namespace {
    let block_bytes = found.format().block_bytes().unwrap_or(0);
    let bytes = |blocks: u64| blocks.saturating_mul(block_bytes);
    let in_use = found.format_index();
    // NSFEAT bit 1: the namespace has atomic units of its own, where they are not 0.
    let own = found.features() & 1 << 1 != 0;
    let unit = |of_namespace: u16, of_controller: u16| match of_namespace {
        blocks if own && blocks > 0 => bytes(u64::from(blocks) + 1),
        _ => bytes(u64::from(of_controller) + 1),
    };
    let boundary = found.atomic_boundary_power_fail();
    let (nguid, eui64) = (found.nguid(), found.eui64());
    let unique_id = match (nguid != [0; 16], eui64 != [0; 8]) {
        (true, _) => Some(hexadecimal(&nguid)),
        (false, has_eui64) => has_eui64.then(|| hexadecimal(&eui64)),
    };
    Namespace {
        nsid,
        size_bytes: bytes(found.size_blocks()),
        capacity_bytes: bytes(found.capacity_blocks()),
        used_bytes: bytes(found.used_blocks()),
        thin: found.features() & 1 != 0,
        deallocated_zeroes: match found.deallocate_features() & 7 {
            1 => Some(true),
            2 => Some(false),
            _ => None,
        },
        // NSFEAT bit 4: the fields are there.
        preferred_writes: (found.features() & 1 << 4 != 0).then(|| PreferredWrites {
            granularity_bytes: bytes(u64::from(found.write_granularity()) + 1),
            alignment_bytes: bytes(u64::from(found.write_alignment()) + 1),
            optimal_bytes: bytes(u64::from(found.optimal_write_size()) + 1),
        }),
        unique_id,
        atomic_bytes: unit(found.atomic_write(), controller.atomic_write()),
        atomic_power_fail_bytes: unit(found.atomic_power_fail(), controller.atomic_power_fail()),
        // FUSES bit 0.
        atomic_compare_bytes: (controller.fused_operations() & 1 != 0)
            .then(|| unit(found.atomic_compare(), controller.atomic_compare())),
        atomic_boundary_bytes: (own && boundary > 0).then(|| bytes(u64::from(boundary) + 1)),
        protection_type: found.protection_type(),
        extended_blocks: found.has_extended_blocks() && found.format().metadata_bytes() > 0,
        formats: (0..)
            .zip(found.formats())
            .filter_map(|(index, format)| {
                Some(Format {
                    index,
                    block_bytes: format.block_bytes()?,
                    metadata_bytes: format.metadata_bytes(),
                    relative_performance: format.relative_performance(),
                    in_use: index == in_use,
                })
            })
            .collect(),
    }
}

fn register_facts(registers: &ControllerRegisters) -> RegisterFacts {
    let cap = &registers.capabilities;
    let page = |exponent: u8| 1_u64 << (12 + u32::from(exponent));
    RegisterFacts {
        cap: format!("{:#018x}", cap.raw()),
        max_queue_entries: u32::from(cap.mqes()) + 1,
        ready_timeout_ms: u32::from(cap.timeout()) * 500,
        doorbell_stride_bytes: 4 << cap.doorbell_stride(),
        weighted_round_robin: cap.ams() & 1 != 0,
        contiguous_queues: cap.contiguous_queues(),
        subsystem_reset: cap.subsystem_reset(),
        memory_buffer: cap.memory_buffer(),
        page_bytes: (page(cap.mps_min()), page(cap.mps_max())),
        version: registers.version.to_string(),
        cc: format!("{:#010x}", registers.configuration.raw()),
        ready: registers.status.ready(),
        fatal: registers.status.fatal(),
    }
}
