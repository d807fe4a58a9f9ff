//! Small, slow drives made of the shipped profiles, optionally with a cache or with heat.

use assay_ssd::profile::{SlcOverflow, SlcProfile};
use assay_ssd::{Profile, Provenance, Sourced};
use assay_units::Rng;

pub const MIB: f64 = 1_048_576.0;

pub struct Dice(pub Rng);

impl Dice {
    pub fn from(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.below(1 << 30) as f64 / f64::from(1 << 30)
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.below(of.len() as u64) as usize]
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.0.below(100) < percent
    }
}

pub fn assumed<T>(value: T) -> Sourced<T> {
    Sourced { value, provenance: Provenance::Assumed, source: "a scenario".to_owned() }
}

/// A small slow drive without heat, host time or cache: flash that writes `write_mib_s` and reads
/// `read_mib_s`.
pub fn small(
    base: &str,
    capacity_mib: f64,
    spare: f64,
    write_mib_s: f64,
    read_mib_s: f64,
    dice: &mut Dice,
) -> Profile {
    let mut p = Profile::builtin(base).unwrap();
    p.identity.capacity_bytes.value = (capacity_mib as u64) << 20;
    p.identity.power_states_mw.value = vec![25_000];
    p.power.states = None;
    let nand = &mut p.nand;
    nand.channels.value = 1;
    nand.dies.value = dice.pick(&[1, 2]);
    nand.planes.value = 2;
    nand.page_bytes.value = 4_096;
    nand.pages_per_block.value = 96;
    let superblock = u64::from(nand.dies.value) * 2 * 4_096 * 96;
    let group = nand.group_bytes() as f64;
    let usual =
        nand.program_ns.value.iter().sum::<u64>() as f64 / nand.program_ns.value.len() as f64;
    let wanted = f64::from(nand.dies.value) * group / (write_mib_s * MIB) * 1e9;
    for ns in &mut nand.program_ns.value {
        *ns = (*ns as f64 * wanted / usual) as u64;
    }
    nand.channel_bytes_per_second.value = 200_000_000;
    let low = 4;
    let wanted_blocks = (capacity_mib * MIB * (1.0 + spare)) as u64 / superblock;
    nand.blocks_per_plane.value =
        (wanted_blocks as u32).max((capacity_mib * MIB) as u32 / superblock as u32 + 10) + low;
    p.ftl.gc_low_superblocks.value = low;
    if let Some(gc) = &mut p.gc {
        gc.high_superblocks = gc.high_superblocks.take().map(|_| assumed(low + 2));
        gc.wear_gap_erases = None;
    }
    p.slc = None;
    p.buffer.bytes.value = 1 << 20;
    p.buffer.overflow = None;
    p.buffer.ack_unit_ns.value = 500;
    p.firmware.cores.value = 1;
    p.firmware.write_command_ns.value = 10_000;
    p.firmware.write_unit_ns.value =
        (4096.0 / (write_mib_s * MIB) * 1e9 / dice.from(1.5, 2.5)) as u64;
    p.data_path.direct_bytes_per_second.value = (read_mib_s * MIB) as u64;
    p.data_path.staged_bytes_per_second.value = (read_mib_s * MIB) as u64;
    p.power.idle_mw.value = 800;
    p.power.transfer_kib_nj.value =
        (dice.from(2.0, 4.0) * 1e9 / (read_mib_s.min(write_mib_s * 2.0) * 1024.0)) as u64;
    p.power.program_page_nj.value = (dice.from(1.0, 2.5) * 1e9 / (write_mib_s * 256.0)) as u64;
    p.power.core_mw = None;
    p.power.sense_nj = None;
    p.power.flash_transfer_kib_nj = None;
    p.power.decode_kib_nj = None;
    p.power.erase_block_nj = None;
    (p.thermal.controller, p.thermal.heat_sink) = (None, None);
    (p.thermal.composite_node, p.thermal.sensor_nodes) = (None, None);
    p.thermal.levels = None;
    p.thermal.throttle_on_celsius.value = 0.0;
    p.thermal.ambient_celsius.value = dice.from(20.0, 35.0);
    set_host(&mut p, 5_000);
    p.bench.host_cores = None;
    p
}

/// The time that each I/O takes of the host, whatever the depth.
pub fn set_host(profile: &mut Profile, io_ns: u64) {
    profile.bench.sync_io_ns.value = io_ns;
    profile.bench.async_io_ns.value = io_ns;
}

pub fn with_cache(
    p: &mut Profile,
    cache_bytes: f64,
    fast_mib_s: f64,
    slow_mib_s: f64,
    overflow: SlcOverflow,
) {
    let nand = &mut p.nand;
    let bits = u32::from(nand.program_pages.value).max(nand.read_ns.value.len() as u32);
    let sense = u64::from(nand.planes.value) * nand.page_bytes.value;
    let dies = f64::from(nand.dies.value);
    let superblock =
        sense * u64::from(nand.dies.value) * u64::from(nand.pages_per_block.value / bits);
    nand.blocks_per_plane.value += (cache_bytes as u64).div_ceil(superblock) as u32 + 3;
    let program_ns = (dies * sense as f64 / (fast_mib_s * MIB) * 1e9) as u64;
    p.firmware.write_unit_ns.value = (4096.0 / (fast_mib_s * MIB) * 1e9 / 2.0) as u64;
    p.slc = Some(SlcProfile {
        bytes: assumed(cache_bytes as u64),
        borrowed_bytes: None,
        overflow: Some(assumed(overflow)),
        read_ns: assumed(40_000),
        program_ns: assumed(program_ns),
        fold_ns: assumed((nand.group_bytes() as f64 / (slow_mib_s * MIB) * 1e9) as u64),
        fold_parallel: assumed(1),
        idle_fold_after_ns: assumed(1_000_000_000),
    });
}

/// Heat with an equilibrium this far above (or below) the threshold, reached after `onset_s`.
pub fn heat(
    p: &mut Profile,
    power_w: f64,
    above_k: f64,
    gap_k: f64,
    percent: u32,
    onset_s: f64,
    dice: &mut Dice,
) {
    let on = dice.from(66.0, 90.0);
    let ambient = p.thermal.ambient_celsius.value;
    let resistance = (on + above_k - ambient) / power_w;
    let idle = ambient + resistance * f64::from(p.power.idle_mw.value) / 1000.0;
    let end = on + above_k;
    let tau =
        if above_k > 0.0 { onset_s / ((end - idle) / (end - on)).ln().max(0.05) } else { onset_s };
    p.thermal.resistance_k_per_w.value = resistance;
    p.thermal.time_constant_s.value = tau.clamp(2.0, 400.0);
    p.thermal.throttle_on_celsius.value = on;
    p.thermal.throttle_off_celsius.value = on - gap_k;
    p.thermal.throttle_percent.value = percent;
    p.identity.warning_celsius.value = if dice.chance(50) { on as u16 } else { 0 };
}
