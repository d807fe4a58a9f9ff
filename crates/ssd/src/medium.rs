//! Storage medium: flash behind its translation layer, or media written in place.

use crate::ftl::{FlashError, Ftl, FtlCounters, MapTables};
use crate::in_place::InPlace;
use crate::map::UNMAPPED;
use crate::options::Age;
use crate::profile::{MAP_UNIT_BYTES, Profile};

/// Flash or media written in place.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one per drive, and flash is asked several times per command"
)]
pub enum Medium {
    /// Flash and its translation layer.
    Flash(Ftl),
    /// Media without erase blocks.
    InPlace(InPlace),
}

impl Medium {
    /// The medium of a drive with that many user units, filled sequentially or fresh.
    ///
    /// # Errors
    /// When the flash cannot hold them with over-provisioning to work.
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
                ftl.set_age(&profile.nand, age, seed);
                Medium::Flash(ftl)
            }
            Some(media) => Medium::InPlace(InPlace::new(
                media,
                age,
                seed,
                profile.power.read_page_nj.value,
                profile.power.program_page_nj.value,
            )),
        })
    }

    /// See [`Ftl::apply_map_updates`].
    #[inline]
    pub fn apply_map_updates(&mut self) {
        if let Medium::Flash(ftl) = self {
            ftl.apply_map_updates();
        }
    }

    /// Address of a unit, or [`UNMAPPED`]. Call [`Medium::apply_map_updates`] once before.
    #[inline]
    pub fn locate(&self, unit: u32) -> u32 {
        match self {
            Medium::Flash(ftl) => ftl.locate(unit),
            Medium::InPlace(_) => unit,
        }
    }

    /// See [`Ftl::has_table`].
    #[inline]
    pub fn has_table(&self) -> bool {
        match self {
            Medium::Flash(ftl) => ftl.has_table(),
            Medium::InPlace(_) => false,
        }
    }

    /// See [`Ftl::touch`].
    #[inline]
    pub fn touch(&self, units: &[u32]) {
        if let Medium::Flash(ftl) = self {
            ftl.touch(units);
        }
    }

    /// Address of a unit on a sequentially filled drive.
    pub fn sequential(&self, unit: u32) -> u32 {
        match self {
            Medium::Flash(ftl) => ftl.sequential(unit),
            Medium::InPlace(_) => unit,
        }
    }

    /// How many units from `unit` (at `physical`), at most `limit`, one access delivers.
    #[inline]
    pub fn run(&self, unit: u32, physical: u32, limit: u32) -> u32 {
        match self {
            Medium::Flash(ftl) => ftl.run(unit, physical, limit),
            Medium::InPlace(_) => limit.min(1),
        }
    }

    /// Flash pages that a run touches; one per unit of other media.
    #[inline]
    pub fn pages_touched(&self, physical: u32, units: u32) -> u32 {
        match self {
            Medium::Flash(ftl) => ftl.pages_touched(physical, units),
            Medium::InPlace(_) => units,
        }
    }

    /// Read a run of one access; returns when its data is in the controller.
    #[inline(always)]
    pub fn read(&mut self, now_ns: u64, issue_ns: u64, physical: u32, units: u32) -> u64 {
        match self {
            Medium::Flash(ftl) => ftl.read(now_ns, issue_ns, physical, units),
            Medium::InPlace(media) => media.read(now_ns, issue_ns, physical),
        }
    }

    /// Write bytes `offset..end`, the last arriving at `arrival_ns` and each unit `unit_ns` before the next;
    /// returns the acknowledgement time, and whether flash was left for all.
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
            Medium::Flash(ftl) => write_to_flash(ftl, now_ns, offset, end, arrival_ns),
            Medium::InPlace(media) => {
                let end_ns = media.write(now_ns, offset, end, arrival_ns, unit_ns);
                (end_ns, true)
            }
        }
    }

    /// Unmap units `first..end`.
    pub fn unmap(&mut self, first: u32, end: u32) {
        if let Medium::Flash(ftl) = self {
            ftl.unmap(first, end);
        }
    }

    /// See [`Ftl::purge`]; media written in place keep their content unmapped.
    pub fn purge(&mut self, now_ns: u64) -> u64 {
        match self {
            Medium::Flash(ftl) => ftl.purge(now_ns),
            Medium::InPlace(_) => now_ns,
        }
    }

    /// Make everything acknowledged durable; returns when it is.
    pub fn flush(&mut self, now_ns: u64) -> u64 {
        match self {
            Medium::Flash(ftl) => ftl.flush(now_ns),
            Medium::InPlace(media) => media.flush(now_ns),
        }
    }

    /// See [`Ftl::track_durability`].
    pub fn track_durability(&mut self) {
        if let Medium::Flash(ftl) = self {
            ftl.track_durability();
        }
    }

    /// See [`Ftl::accepted_units`].
    #[inline]
    pub fn accepted_units(&self) -> u64 {
        match self {
            Medium::Flash(ftl) => ftl.accepted_units(),
            Medium::InPlace(_) => 0,
        }
    }

    /// See [`Ftl::durable_units`]; without a buffer everything is safe at once.
    pub fn durable_units(&mut self, now_ns: u64) -> u64 {
        match self {
            Medium::Flash(ftl) => ftl.durable_units(now_ns),
            Medium::InPlace(_) => u64::MAX,
        }
    }

    /// See [`Ftl::restart`].
    pub fn restart(&mut self, now_ns: u64) {
        if let Medium::Flash(ftl) = self {
            ftl.restart(now_ns);
        }
    }

    /// See [`Ftl::has_background_work`].
    pub fn has_background_work(&self) -> bool {
        match self {
            Medium::Flash(ftl) => ftl.has_background_work(),
            Medium::InPlace(_) => false,
        }
    }

    /// See [`Ftl::may_run_background`].
    #[inline]
    pub fn may_run_background(&self, quiet_since_ns: u64, now_ns: u64) -> bool {
        match self {
            Medium::Flash(ftl) => ftl.may_run_background(quiet_since_ns, now_ns),
            Medium::InPlace(_) => false,
        }
    }

    /// See [`Ftl::run_background`].
    pub fn run_background(&mut self, quiet_since_ns: u64, now_ns: u64) -> Option<(u64, u64)> {
        match self {
            Medium::Flash(ftl) => ftl.run_background(quiet_since_ns, now_ns),
            Medium::InPlace(_) => None,
        }
    }

    /// See [`Ftl::take_firmware_ns`].
    #[inline]
    pub fn take_firmware_ns(&mut self) -> u64 {
        match self {
            Medium::Flash(ftl) => ftl.take_firmware_ns(),
            Medium::InPlace(_) => 0,
        }
    }

    /// Energy used since the last call, in nanojoules.
    #[inline]
    pub fn take_energy_nj(&mut self) -> u64 {
        match self {
            Medium::Flash(ftl) => ftl.take_energy_nj(),
            Medium::InPlace(media) => media.take_energy_nj(),
        }
    }

    /// Counters since power-on, in whole units.
    pub fn counters(&self) -> FtlCounters {
        match self {
            Medium::Flash(ftl) => ftl.counters(),
            Medium::InPlace(media) => FtlCounters {
                programmed_units: media.written_bytes() / MAP_UNIT_BYTES,
                ..FtlCounters::default()
            },
        }
    }

    /// See [`Ftl::tables`]; media written in place have none.
    pub fn tables(&self) -> Option<MapTables<'_>> {
        match self {
            Medium::Flash(ftl) => Some(ftl.tables()),
            Medium::InPlace(_) => None,
        }
    }

    /// Bytes of memory of both maps.
    pub fn resident_bytes(&self) -> u64 {
        match self {
            Medium::Flash(ftl) => ftl.resident_bytes(),
            Medium::InPlace(_) => 0,
        }
    }
}

/// [`Medium::write`] to flash; only the first and last unit may be partial.
#[inline]
fn write_to_flash(
    ftl: &mut Ftl,
    now_ns: u64,
    offset: u64,
    end: u64,
    arrival_ns: u64,
) -> (u64, bool) {
    if offset.is_multiple_of(MAP_UNIT_BYTES) && end - offset == MAP_UNIT_BYTES {
        let unit = (offset / MAP_UNIT_BYTES) as u32;
        return match ftl.write(now_ns, unit, arrival_ns, arrival_ns) {
            Some(slot_ns) => (arrival_ns.max(slot_ns), true),
            None => (arrival_ns, false),
        };
    }
    write_many_to_flash(ftl, now_ns, offset, end, arrival_ns)
}

/// [`write_to_flash`] of anything but one whole unit.
#[inline(never)]
fn write_many_to_flash(
    ftl: &mut Ftl,
    now_ns: u64,
    offset: u64,
    end: u64,
    arrival_ns: u64,
) -> (u64, bool) {
    let (mut latest_ns, mut all) = (arrival_ns, true);
    let mut at = offset;
    while at < end {
        let unit = (at / MAP_UNIT_BYTES) as u32;
        let whole = ((end - at) / MAP_UNIT_BYTES) as u32;
        if at.is_multiple_of(MAP_UNIT_BYTES) && whole > 0 {
            let (slot_ns, room) = ftl.write_run(now_ns, unit, whole, arrival_ns);
            latest_ns = latest_ns.max(slot_ns);
            all &= room;
            at += u64::from(whole) * MAP_UNIT_BYTES;
            continue;
        }
        let ready_ns = merged_ns(ftl, now_ns, unit, arrival_ns);
        match ftl.write(now_ns, unit, arrival_ns, ready_ns) {
            Some(slot_ns) => latest_ns = latest_ns.max(slot_ns),
            None => all = false,
        }
        at = (u64::from(unit) + 1) * MAP_UNIT_BYTES;
    }
    (latest_ns, all)
}

/// Read part of a read-modify-write; returns when old and new data are present.
fn merged_ns(ftl: &mut Ftl, now_ns: u64, unit: u32, arrival_ns: u64) -> u64 {
    ftl.apply_map_updates();
    let old = ftl.locate(unit);
    if old == UNMAPPED {
        return arrival_ns;
    }
    ftl.read(now_ns, now_ns, old, 1).max(arrival_ns)
}
