//! Storage medium: flash behind its translation layer, or media written in place.

use std::ops::Range;

use crate::ftl::{FlashError, Ftl, FtlCounters, MapTables, ReclaimUnit};
use crate::in_place::InPlace;
use crate::map::UNMAPPED;
use crate::options::Age;
use crate::profile::{MAP_UNIT_BYTES, Profile};
use crate::thermal::Energy;
use crate::wear::WearCounters;

#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one per drive, and flash is asked several times per command"
)]
pub enum Medium {
    Flash(Ftl),
    InPlace(InPlace),
}

/// Delegates to a method of the translation layer or its parts; other media return the value after
/// `else`.
macro_rules! flash_only {
    ($($(#[$doc:meta])* [$($mutable:tt)?] $name:ident($($arg:ident: $type:ty),*) -> $out:ty,
       $($method:ident).+, else $value:expr;)+) => {
        impl Medium {
            $($(#[$doc])* #[inline] pub fn $name(&$($mutable)? self, $($arg: $type),*) -> $out {
                match self {
                    Medium::Flash(ftl) => ftl.$($method).+($($arg),*),
                    Medium::InPlace(_) => $value,
                }
            })+
        }
    };
}

flash_only! {
    [mut] apply_map_updates() -> (), apply_map_updates, else ();
    /// Address of a unit, or [`UNMAPPED`]. Call [`Medium::apply_map_updates`] once before.
    [] locate(unit: u32) -> u32, map.get, else unit;
    [] has_table() -> bool, map.has_table, else false;
    [] touch(units: &[u32]) -> (), map.touch, else ();
    /// Address of a unit on a sequentially filled drive.
    [] sequential(unit: u32) -> u32, map.sequential, else unit;
    /// How many units from `unit` (at `physical`), at most `limit`, one access delivers.
    [] run(unit: u32, physical: u32, limit: u32) -> u32, run, else limit.min(1);
    /// As [`Medium::run`], of an access by [`Medium::read_ahead`].
    [] run_ahead(unit: u32, physical: u32, limit: u32) -> u32, run_ahead, else limit.min(1);
    /// Flash pages that `sectors` sectors of a run touch; one per unit of other media.
    [] pages_touched(physical: u32, units: u32, sectors: u32) -> u32,
        nand.pages_touched, else units;
    [mut] unmap(first: u32, end: u32) -> (), unmap, else ();
    /// See [`Ftl::purge`]; media written in place keep their content unmapped.
    [mut] purge(now_ns: u64) -> u64, purge, else now_ns;
    /// See [`Ftl::flush`]; media written in place acknowledge durable data only.
    [mut] flush(now_ns: u64) -> u64, flush, else now_ns;
    [mut] track_durability() -> (), buffer.track, else ();
    [] accepted_units() -> u64, accepted_units, else 0;
    /// Accepted units, from the first, that are on flash; in order of time. Without a buffer all
    /// are at once.
    [mut] durable_units(now_ns: u64) -> u64, buffer.durable_units, else u64::MAX;
    [mut] restart(now_ns: u64) -> (), pad, else ();
    /// See [`Ftl::background_after_ns`].
    [] background_after_ns() -> u64, background_after_ns, else u64::MAX;
    [] may_run_background(quiet_since_ns: u64, now_ns: u64) -> bool, may_run_background, else false;
    [mut] run_background(quiet_since_ns: u64, now_ns: u64) -> Option<(u64, u64)>,
        run_background, else None;
    [mut] take_firmware_ns() -> u64, take_firmware_ns, else 0;
    /// See [`Ftl::select_handle`].
    [mut] select_handle(now_ns: u64, handle: u16) -> (), select_handle, else ();
    /// See [`Ftl::reclaim_units`].
    [] reclaim_units() -> Vec<ReclaimUnit>, reclaim_units, else Vec::new();
    [] reclaim_unit_bytes() -> u64, reclaim_unit_bytes, else 0;
    /// See [`Ftl::free_percent`].
    [] free_percent() -> u8, free_percent, else 100;
    [] resident_bytes() -> u64, resident_bytes, else 0;
}

impl Medium {
    /// As [`Ftl::new`], or media written in place.
    pub fn new(
        profile: &Profile,
        user_units: u32,
        filled: bool,
        age: Age,
        seed: u64,
    ) -> Result<Medium, FlashError> {
        Ok(match &profile.in_place {
            None => {
                let mut ftl = Ftl::new(profile, user_units, filled, seed)?;
                // New flash has its tables of wear already.
                if age != Age::default() {
                    ftl.set_age(&profile.nand, age, seed);
                }
                Medium::Flash(ftl)
            }
            Some(media) => {
                let power = &profile.power;
                let unit_nj = [power.read_page_nj.value, power.program_page_nj.value];
                Medium::InPlace(InPlace::new(media, seed, unit_nj))
            }
        })
    }

    /// Read `(units, sectors)` of a run of one access; returns when its data is in the controller.
    #[inline(always)]
    pub fn read(&mut self, now_ns: u64, issue_ns: u64, physical: u32, extent: (u32, u32)) -> u64 {
        match self {
            Medium::Flash(ftl) => ftl.read(now_ns, issue_ns, physical, extent),
            Medium::InPlace(media) => media.read(now_ns, issue_ns, physical),
        }
    }

    /// As [`Medium::read`] for read-ahead, see [`Ftl::read_ahead`].
    #[inline]
    pub fn read_ahead(
        &mut self,
        now_ns: u64,
        issue_ns: u64,
        physical: u32,
        extent: (u32, u32),
    ) -> u64 {
        match self {
            Medium::Flash(ftl) => ftl.read_ahead(now_ns, issue_ns, physical, extent),
            Medium::InPlace(media) => media.read(now_ns, issue_ns, physical),
        }
    }

    /// As [`InPlace::write`]; returns the acknowledgement time, and whether flash was left for all.
    #[inline]
    pub fn write(
        &mut self,
        now_ns: u64,
        offset: u64,
        end: u64,
        arrival_ns: u64,
        unit_ns: u64,
    ) -> (u64, bool) {
        match self {
            Medium::Flash(ftl) => write_to_flash(ftl, now_ns, offset..end, arrival_ns),
            Medium::InPlace(media) => {
                let end_ns = media.write(now_ns, offset, end, arrival_ns, unit_ns);
                (end_ns, true)
            }
        }
    }

    #[inline]
    pub fn take_energy(&mut self) -> Energy {
        match self {
            Medium::Flash(ftl) => ftl.take_energy(),
            Medium::InPlace(media) => Energy { controller_nj: 0, flash_nj: media.take_energy_nj() },
        }
    }

    pub fn counters(&self) -> FtlCounters {
        match self {
            Medium::Flash(ftl) => ftl.counters(),
            Medium::InPlace(media) => FtlCounters {
                programmed_units: media.written_bytes / MAP_UNIT_BYTES,
                ..FtlCounters::default()
            },
        }
    }

    /// Wear of flash; that of media written in place is not modelled.
    pub fn wear(&self) -> Option<(WearCounters, bool)> {
        match self {
            Medium::Flash(ftl) => Some((ftl.nand.wear.counters(), ftl.is_read_only())),
            Medium::InPlace(_) => None,
        }
    }

    /// Bytes that may be programmed at the rated cycles of the multi-bit superblocks; `None` for
    /// media written in place.
    pub fn rated_bytes(&self) -> Option<u64> {
        match self {
            Medium::Flash(ftl) => {
                let rated_cycles = u64::from(ftl.nand.wear.law().rated_cycles());
                Some(ftl.multi_superblocks() * ftl.reclaim_unit_bytes() * rated_cycles)
            }
            Medium::InPlace(_) => None,
        }
    }

    pub fn tables(&self) -> Option<MapTables<'_>> {
        match self {
            Medium::Flash(ftl) => Some(ftl.tables()),
            Medium::InPlace(_) => None,
        }
    }
}

/// [`Medium::write`] to flash; only the first and last unit may be partial.
#[inline]
fn write_to_flash(ftl: &mut Ftl, now_ns: u64, bytes: Range<u64>, arrival_ns: u64) -> (u64, bool) {
    let Range { start: offset, end } = bytes;
    if ftl.unit.is_aligned(offset) && end - offset == ftl.unit.bytes() {
        let unit = ftl.unit.at(offset);
        return match ftl.write(now_ns, unit, arrival_ns, arrival_ns) {
            Some(slot_ns) => (arrival_ns.max(slot_ns), true),
            None => (arrival_ns, false),
        };
    }
    write_units(ftl, now_ns, offset..end, arrival_ns)
}

#[inline(never)]
fn write_units(ftl: &mut Ftl, now_ns: u64, bytes: Range<u64>, arrival_ns: u64) -> (u64, bool) {
    let (mut latest_ns, mut all) = (arrival_ns, true);
    let Range { start: mut at, end } = bytes;
    let map_unit = ftl.unit;
    while at < end {
        let unit = map_unit.at(at);
        let whole = map_unit.at(end - at);
        if map_unit.is_aligned(at) && whole > 0 {
            let (slot_ns, room) = ftl.write_run(now_ns, unit, whole, arrival_ns);
            latest_ns = latest_ns.max(slot_ns);
            all &= room;
            at += map_unit.start(whole);
            continue;
        }
        let unit_end = map_unit.start(unit + 1);
        match write_part(ftl, now_ns, unit, at..end.min(unit_end), arrival_ns) {
            Some(slot_ns) => latest_ns = latest_ns.max(slot_ns),
            None => all = false,
        }
        at = unit_end;
    }
    (latest_ns, all)
}

/// Write part of a unit: its other sectors are read first, unless it is still in the buffer as part
/// of the open group, where it is completed. So sequential small writes cost no read-modify-write.
/// Returns as [`Ftl::write`].
///
/// Units of one sector are not completed in the buffer.
fn write_part(
    ftl: &mut Ftl,
    now_ns: u64,
    unit: u32,
    bytes: Range<u64>,
    arrival_ns: u64,
) -> Option<u64> {
    ftl.apply_map_updates();
    let old = ftl.map.get(unit);
    if old == UNMAPPED {
        return ftl.write_part(now_ns, unit, arrival_ns, arrival_ns);
    }
    let sectors = if ftl.unit.is_sector() {
        1
    } else if ftl.complete_in_buffer(old, arrival_ns) {
        return Some(arrival_ns);
    } else {
        // Sectors written in part are read as well.
        let first_whole = bytes.start.div_ceil(MAP_UNIT_BYTES);
        let whole = (bytes.end / MAP_UNIT_BYTES).saturating_sub(first_whole);
        ftl.unit.sectors() - whole as u32
    };
    let read_ns = ftl.read(now_ns, now_ns, old, (1, sectors));
    ftl.write_part(now_ns, unit, arrival_ns, read_ns.max(arrival_ns))
}
