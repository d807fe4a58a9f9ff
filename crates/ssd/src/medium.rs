//! What a drive stores its units on: flash behind its translation layer, or media written in place.
//!
//! The rest of the drive asks where a unit is, reads a run of units that come together, and writes. Each question goes to one of
//! the two; flash is the first guess, so that it costs no more than without the choice.

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
    /// When the flash cannot hold them with room to work.
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

    /// See [`Ftl::settle`].
    #[inline]
    pub fn settle(&mut self) {
        if let Medium::Flash(ftl) = self {
            ftl.settle();
        }
    }

    /// Where a unit lies, or [`UNMAPPED`]. Call [`Medium::settle`] once before.
    #[inline]
    pub fn locate(&self, unit: u32) -> u32 {
        match self {
            Medium::Flash(ftl) => ftl.locate(unit),
            Medium::InPlace(_) => unit,
        }
    }

    /// Is there anything for [`Medium::touch`] to ask memory for?
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

    /// Where a unit would lie on a drive filled sequentially.
    pub fn sequential(&self, unit: u32) -> u32 {
        match self {
            Medium::Flash(ftl) => ftl.sequential(unit),
            Medium::InPlace(_) => unit,
        }
    }

    /// How many units from `unit` (which lies at `physical`), at most `limit`, come with the same access.
    #[inline]
    pub fn run(&self, unit: u32, physical: u32, limit: u32) -> u32 {
        match self {
            Medium::Flash(ftl) => ftl.run(unit, physical, limit),
            Medium::InPlace(_) => limit.min(1),
        }
    }

    /// Flash pages that a run touches; a unit of other media counts as one.
    #[inline]
    pub fn pages_touched(&self, physical: u32, units: u32) -> u32 {
        match self {
            Medium::Flash(ftl) => ftl.pages_touched(physical, units),
            Medium::InPlace(_) => units,
        }
    }

    /// Read a run of one access; returns when its data is in the controller.
    #[inline(always)]
    pub fn read(&mut self, floor_ns: u64, issue_ns: u64, physical: u32, units: u32) -> u64 {
        match self {
            Medium::Flash(ftl) => ftl.read(floor_ns, issue_ns, physical, units),
            Medium::InPlace(media) => media.read(floor_ns, issue_ns, physical),
        }
    }

    /// Write bytes `offset..end`, which arrive in order, the last of them at `arrival_ns` and each unit `unit_ns` before the one
    /// after it; returns when the drive may acknowledge them, and whether there was room for all.
    #[inline]
    pub fn write(
        &mut self,
        floor_ns: u64,
        offset: u64,
        end: u64,
        arrival_ns: u64,
        unit_ns: u64,
    ) -> (u64, bool) {
        match self {
            Medium::Flash(ftl) => write_to_flash(ftl, floor_ns, offset, end, arrival_ns),
            Medium::InPlace(media) => {
                let end_ns = media.write(floor_ns, offset, end, arrival_ns, unit_ns);
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

    /// See [`Ftl::purge`]; media written in place keep what they hold and no longer show it.
    pub fn purge(&mut self, now_ns: u64) -> u64 {
        match self {
            Medium::Flash(ftl) => ftl.purge(now_ns),
            Medium::InPlace(_) => now_ns,
        }
    }

    /// Make everything acknowledged durable; returns when it is.
    pub fn flush(&mut self, floor_ns: u64) -> u64 {
        match self {
            Medium::Flash(ftl) => ftl.flush(floor_ns),
            Medium::InPlace(media) => media.flush(floor_ns),
        }
    }

    /// See [`Ftl::track_safety`].
    pub fn track_safety(&mut self) {
        if let Medium::Flash(ftl) = self {
            ftl.track_safety();
        }
    }

    /// See [`Ftl::taken_units`].
    #[inline]
    pub fn taken_units(&self) -> u64 {
        match self {
            Medium::Flash(ftl) => ftl.taken_units(),
            Medium::InPlace(_) => 0,
        }
    }

    /// See [`Ftl::safe_units`]; what is written in place needs no buffer and is safe at once.
    pub fn safe_units(&mut self, now_ns: u64) -> u64 {
        match self {
            Medium::Flash(ftl) => ftl.safe_units(now_ns),
            Medium::InPlace(_) => u64::MAX,
        }
    }

    /// See [`Ftl::restart`].
    pub fn restart(&mut self, now_ns: u64) {
        if let Medium::Flash(ftl) = self {
            ftl.restart(now_ns);
        }
    }

    /// See [`Ftl::housekeeps`].
    pub fn housekeeps(&self) -> bool {
        match self {
            Medium::Flash(ftl) => ftl.housekeeps(),
            Medium::InPlace(_) => false,
        }
    }

    /// See [`Ftl::may_keep_house`].
    #[inline]
    pub fn may_keep_house(&self, quiet_since_ns: u64, now_ns: u64) -> bool {
        match self {
            Medium::Flash(ftl) => ftl.may_keep_house(quiet_since_ns, now_ns),
            Medium::InPlace(_) => false,
        }
    }

    /// See [`Ftl::keep_house`].
    pub fn keep_house(&mut self, quiet_since_ns: u64, now_ns: u64) -> Option<(u64, u64)> {
        match self {
            Medium::Flash(ftl) => ftl.keep_house(quiet_since_ns, now_ns),
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

    /// Counters since power-on, in units (begun ones not counted where less than a unit was written).
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

    /// Bytes of memory for map and owners.
    pub fn resident_bytes(&self) -> u64 {
        match self {
            Medium::Flash(ftl) => ftl.resident_bytes(),
            Medium::InPlace(_) => 0,
        }
    }
}

/// [`Medium::write`] to flash. Units covered in part are at the ends; those between go together.
#[inline]
fn write_to_flash(
    ftl: &mut Ftl,
    floor_ns: u64,
    offset: u64,
    end: u64,
    arrival_ns: u64,
) -> (u64, bool) {
    if offset.is_multiple_of(MAP_UNIT_BYTES) && end - offset == MAP_UNIT_BYTES {
        let unit = (offset / MAP_UNIT_BYTES) as u32;
        return match ftl.write(floor_ns, unit, arrival_ns, arrival_ns) {
            Some(slot_ns) => (arrival_ns.max(slot_ns), true),
            None => (arrival_ns, false),
        };
    }
    write_many_to_flash(ftl, floor_ns, offset, end, arrival_ns)
}

/// [`write_to_flash`] of anything but one whole unit.
#[inline(never)]
fn write_many_to_flash(
    ftl: &mut Ftl,
    floor_ns: u64,
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
            let (slot_ns, room) = ftl.write_run(floor_ns, unit, whole, arrival_ns);
            latest_ns = latest_ns.max(slot_ns);
            all &= room;
            at += u64::from(whole) * MAP_UNIT_BYTES;
            continue;
        }
        let ready_ns = merged_ns(ftl, floor_ns, unit, arrival_ns);
        match ftl.write(floor_ns, unit, arrival_ns, ready_ns) {
            Some(slot_ns) => latest_ns = latest_ns.max(slot_ns),
            None => all = false,
        }
        at = (u64::from(unit) + 1) * MAP_UNIT_BYTES;
    }
    (latest_ns, all)
}

/// Read the old content of a unit that is written in part; returns when both are there.
fn merged_ns(ftl: &mut Ftl, floor_ns: u64, unit: u32, arrival_ns: u64) -> u64 {
    ftl.settle();
    let old = ftl.locate(unit);
    if old == UNMAPPED {
        return arrival_ns;
    }
    ftl.read(floor_ns, floor_ns, old, 1).max(arrival_ns)
}
