//! Kinds of drives: what limits the random reads of one kind says little of another.
//!
//! | kind | what limits random reads |
//! |---|---|
//! | `Flash` | dies and firmware; the data sheet rates what is read |
//! | `Cached` | the same beside an SLC cache that the sheet rates ([`super::beside_cache`]) |
//! | `Sata` | the interface: 6 Gbit/s coded as 8 in 10 bits, frames of commands, 32 in flight |
//! | `XPoint` | bytes per second of the controller, from few in flight on: a read takes 10 us |
//!
//! 100,000 reads/s of 100 us keep ten dies busy, and SATA drives have more: so their interface is
//! the limit, also beside an SLC cache. 3D `XPoint` has no pages and no read-ahead, so random reads
//! are as fast as sequential ones, and data sheets rate them at 4 or 16 in flight, where some of
//! that is left. Drives of these two kinds are few: what is usual of them begins with these facts
//! and their widths, which count as [`WIDTHS_WEIGHT`] drives.

use super::{Cell, DriveReads, Population, Rated, START, Theta, WIDTHS, WIDTHS_WEIGHT, diagonal};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Of one or two bits per cell, behind NVMe.
    Flash,
    /// Of three or more bits per cell, behind NVMe.
    Cached,
    Sata,
    XPoint,
}

/// From so many bits per cell on a drive has an SLC cache, and its data sheet rates that.
const CACHED_CELL_BITS: u32 = 3;
/// No NVMe drive is rated for so few sequential MB/s, and no SATA drive can be for more.
pub const MOST_SATA_MB_S: f64 = 600.0;
/// Commands in flight of a SATA drive (native command queueing).
const SATA_QUEUE: f64 = 32.0;
/// Data sheets round to two digits, so a drive may give a little more than it is rated for.
const ROUNDED: f64 = 1.05;

/// Width of the most bytes per second of a link or controller, which the data sheet rates.
const OF_LINK: f64 = 0.1;

impl Kind {
    pub const ALL: [Kind; 4] = [Kind::Flash, Kind::Cached, Kind::Sata, Kind::XPoint];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Flash => "flash",
            Kind::Cached => "cached-flash",
            Kind::Sata => "sata",
            Kind::XPoint => "3d-xpoint",
        }
    }

    /// Of an NVMe drive with flash.
    pub fn of_flash(cell_bits: u32) -> Kind {
        match cell_bits {
            CACHED_CELL_BITS.. => Kind::Cached,
            _ => Kind::Flash,
        }
    }

    /// Usual numbers and their widths before any drive of the kind is known; `None` of those that
    /// this repository's published figures teach.
    fn usual(self) -> Option<(Theta, Theta)> {
        let [_, _, _, _, host] = START;
        let [wide, wider, of_rated, _, of_host] = WIDTHS;
        match self {
            Kind::Flash | Kind::Cached => None,
            // A read of flash, and its command and data on the link.
            Kind::Sata => {
                Some(([1.2e-4, 5e8, 1.0, 1.0, host], [wide, of_rated, of_rated, OF_LINK, of_host]))
            }
            // P4800X: 8.9 us with a host (reference/latency_percentiles.csv).
            Kind::XPoint => {
                Some(([9e-6, 2e9, 1.1, 1.0, host], [of_rated, wider, of_rated, OF_LINK, of_host]))
            }
        }
    }
}

impl Population {
    /// The numbers of a kind that the drives of the published figures do not teach, with the same
    /// shape of the curve.
    fn of_few(&self, kind: Kind, drives: &[DriveReads]) -> Option<Population> {
        let (usual, widths) = kind.usual()?;
        let is = |d: &&DriveReads| d.rated.is_some_and(|rated| rated.kind == kind);
        let drives: Vec<DriveReads> = drives.iter().filter(is).cloned().collect();
        let start = Population::start(&drives);
        let own = Population {
            shape: self.shape,
            mean: usual.map(f64::ln),
            covariance: diagonal(&widths.map(|w| w * w)),
            exceeded: start.exceeded.max(ROUNDED),
            freedom: drives.len() as f64 + WIDTHS_WEIGHT - 1.0,
            queue: if kind == Kind::Sata { SATA_QUEUE } else { f64::INFINITY },
            ..start
        };
        Some(own.taught(&drives).0)
    }

    /// With what drives in use say of their kinds.
    #[must_use]
    pub fn with_kinds(self, drives: &[DriveReads]) -> Population {
        let own = |&(kind, of_dies): &(Kind, bool)| match kind {
            Kind::Cached => self.beside_cache(drives, of_dies),
            _ => self.of_few(kind, drives),
        };
        let all = Kind::ALL.map(|kind| (kind, false)).into_iter().chain([(Kind::Cached, true)]);
        let kinds = all.filter_map(|key| Some((key, own(&key)?))).collect();
        Population { kinds, ..self }
    }

    /// What is known of drives with this [`Rated::key`].
    pub(super) fn of_kind(&self, key: (Kind, bool)) -> &Population {
        let own = self.kinds.iter().find(|(one, _)| *one == key);
        own.map_or(self, |(_, population)| population)
    }

    /// The most reads per second that are expected of a drive with these ratings: as much of them
    /// as any known drive gave.
    pub fn most(&self, rated: &Rated, cell: &Cell) -> f64 {
        self.of_kind(rated.key()).exceeded * rated.most(cell)
    }

    /// The most reads per second that are the likeliest: of its ratings as much as any known
    /// drive gave, this one included.
    pub fn likeliest(&self, drive: &DriveReads, cell: &Cell) -> f64 {
        let given = self.of_kind(drive.key()).given.max(share_given(drive));
        let most = drive.rated.map(|rated| given * rated.most(cell));
        most.unwrap_or(f64::INFINITY)
    }

    /// The drives that teach what is predicted of this one.
    pub fn teachers(&self, drive: &DriveReads) -> usize {
        let own = self.of_kind(drive.key());
        own.drives + own.share.map_or(0, |share| share.drives)
    }
}

/// The most that its known reads are of what its ratings allow.
pub(super) fn share_given(drive: &DriveReads) -> f64 {
    let known = drive.rated.iter().flat_map(|rated| drive.known.iter().map(move |k| (rated, k)));
    known.map(|(rated, (cell, rate))| rate / rated.most(cell)).fold(0.0, f64::max)
}
