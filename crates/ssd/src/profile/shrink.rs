//! A small copy of a drive (`shrink=N`): an Nth of the capacity, filled and worn in an Nth of the
//! writes, at the rates of the whole drive.
//!
//! Rates in steady state follow from dies, channels, timing and the spare share, none of which
//! change, and from the number of superblocks, in which spare area and the marks of garbage
//! collection are counted. So a superblock becomes smaller before there are fewer: it has an Nth of
//! the pages, down to [`LEAST_ROWS`] rows of programs and [`LEAST_UNITS`] mapping units. What is
//! left of N divides the superblocks, without those that are free or open at a time. A superblock
//! is then a slice of one of the whole drive, and its blocks are erased, all at once and for as
//! long, with the last slice only: erases are as rare among writes and hold reads up for as long.
//!
//! What takes its time from the capacity takes an Nth: SLC cache and map cache have an Nth of the
//! bytes, heat spreads N times as fast, and idle times before background work are an Nth. Write
//! buffer, read-ahead and every time of a command stay as they are.

use super::{Profile, ProfileError};
use crate::sourced::Sourced;

/// Fewest rows of a superblock, one program of every die each.
const LEAST_ROWS: u32 = 2;
/// Fewest mapping units of a superblock: the share of valid units of victims, which chance spreads,
/// stays within some per cent.
const LEAST_UNITS: u64 = 512;
/// Fewest superblocks beside the free and open ones; with fewer, write amplification depends on
/// their number.
const LEAST_SUPERBLOCKS: u32 = 128;
/// Superblocks being filled or emptied.
const OPEN_SUPERBLOCKS: u32 = 3;
/// Smallest capacity that a profile may have.
const LEAST_BYTES: u64 = 64 << 20;
/// No profile is divided further: its capacity is 8 TiB of 4 KiB units or 128 TiB of 64 KiB ones.
pub const MOST_SHRINK: u32 = 1 << 17;

struct Geometry {
    pages_per_block: u32,
    blocks_per_plane: u32,
    /// Superblocks that are erased together.
    slices: u32,
}

impl Profile {
    /// The drive with an Nth of its capacity; see the module's head.
    ///
    /// # Errors
    /// When N is 0, or too little would be left.
    pub fn shrunk(self, n: u32) -> Result<Profile, ProfileError> {
        if n == 1 {
            return Ok(self);
        }
        let Some(shrunk) = self.try_shrunk(n) else {
            let most = (2..=MOST_SHRINK).rev().find(|&n| self.try_shrunk(n).is_some());
            let advice = match most {
                Some(most) => format!("shrink={most} is the most for this drive"),
                None => "this drive cannot be shrunk".to_owned(),
            };
            return Err(ProfileError::Invalid {
                what: format!(
                    "shrink={n} leaves too few flash blocks, or less than 64 MiB, for the steady \
                     state of the whole drive; {advice}"
                ),
                profile: self.name,
            });
        };
        Ok(shrunk)
    }

    fn try_shrunk(&self, n: u32) -> Option<Profile> {
        let unit = self.indirection_unit_bytes();
        let whole_bytes = self.identity.capacity_bytes.value;
        let bytes = whole_bytes.checked_div(n.into())? / unit * unit;
        if bytes < LEAST_BYTES {
            return None;
        }
        let mut small = self.clone();
        small.shrink = Some(n);
        small.title = format!("{}, 1/{n} of its flash", self.title);
        small.identity.capacity_bytes.value = bytes;
        if self.in_place.is_none() {
            let geometry = self.geometry(n)?;
            small.nand.pages_per_block.value = geometry.pages_per_block;
            small.nand.blocks_per_plane.value = geometry.blocks_per_plane;
            small.nand.slices = Some(geometry.slices);
        }
        let divide = |number: &mut Sourced<u64>| number.value = number.value.div_ceil(n.into());
        if let Some(slc) = &mut small.slc {
            divide(&mut slc.bytes);
            slc.borrowed_bytes.iter_mut().for_each(divide);
            divide(&mut slc.idle_fold_after_ns);
        }
        let idle_after = small.gc.as_mut().and_then(|gc| gc.idle_after_ns.as_mut());
        idle_after.into_iter().for_each(divide);
        if let Some(cache) = &mut small.map_cache {
            let pages = cache.capacity_bytes.value / cache.page_bytes.value / u64::from(n);
            cache.capacity_bytes.value = pages.max(1) * cache.page_bytes.value;
        }
        small.thermal.times_faster = Some(n);
        crate::ftl::can_hold(&small).then_some(small)
    }

    fn geometry(&self, n: u32) -> Option<Geometry> {
        let nand = &self.nand;
        let program_pages = u32::from(nand.program_pages.value);
        let rows = nand.pages_per_block.value / program_pages;
        let row_units =
            nand.group_bytes() * u64::from(nand.dies.value) / self.indirection_unit_bytes();
        // Rows of page types that alternate stay whole sets of them.
        let types = match program_pages {
            1 => nand.read_ns.value.len().max(nand.program_ns.value.len()) as u32,
            _ => 1,
        };
        let least = LEAST_UNITS.div_ceil(row_units.max(1)) as u32;
        let least = rows.div_ceil(n).max(LEAST_ROWS).max(least);
        let fewer_rows = least.next_multiple_of(types.max(1)).min(rows);
        let blocks_factor = f64::from(n) * f64::from(fewer_rows) / f64::from(rows);
        // Those that are free or open at a time do not become fewer.
        let apart = self.ftl.gc_low_superblocks.value + OPEN_SUPERBLOCKS;
        let full = nand.blocks_per_plane.value.checked_sub(apart)?;
        let full = (f64::from(full) / blocks_factor.max(1.0)).round() as u32;
        (full >= LEAST_SUPERBLOCKS).then(|| Geometry {
            pages_per_block: fewer_rows * program_pages,
            blocks_per_plane: full + apart,
            slices: (rows + fewer_rows / 2) / fewer_rows,
        })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/profile/shrink.rs"]
mod tests;
