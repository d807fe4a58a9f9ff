//! Another capacity of a drive's family (`capacity=SIZE`): the same controller and flash with as
//! many dies as the capacity needs.
//!
//! Families share controller, channels and die; sizes differ by the dies on each channel. So the
//! rates that dies set (programs, and random reads of small sizes) follow from their number, and
//! those of controller, channels and link stay. Dies are whole, and the rest is made up by blocks
//! per die, so that the share of spare area stays. SLC cache and pages of a map in DRAM follow the
//! capacity; write buffer and map cache do not.
//!
//! # Non-goals
//! Dies of another density or fewer channels, which makers use for some sizes and rarely publish;
//! a rating of the maker for a size.

use assay_units::text::decimal_size;

use super::{Profile, ProfileError};
use crate::sourced::Sourced;

impl Profile {
    /// The drive with this capacity, rounded down to whole mapping units.
    ///
    /// # Errors
    /// When the flash of the family cannot make it; the message names what can be made.
    pub fn of_capacity(self, bytes: u64) -> Result<Profile, ProfileError> {
        match self.try_capacity(bytes) {
            Some(profile) => Ok(profile),
            None => Err(ProfileError::Invalid {
                what: format!(
                    "capacity={} is less than the dies of this family make: {} is the least",
                    decimal_size(bytes as f64),
                    decimal_size(self.least_capacity_bytes() as f64)
                ),
                profile: self.name,
            }),
        }
    }

    fn dies(&self) -> u16 {
        match &self.in_place {
            Some(medium) => medium.dies.value,
            None => self.nand.dies.value,
        }
    }

    /// A capacity that can be made with the fewest dies.
    fn least_capacity_bytes(&self) -> u64 {
        let whole_bytes = self.identity.capacity_bytes.value;
        let of_dies = |dies: u64| (whole_bytes * dies).div_ceil(u64::from(self.dies().max(1)));
        let mut capacities = (1..=u64::from(self.dies())).map(of_dies);
        let made = capacities.find(|&bytes| self.try_capacity(bytes).is_some());
        made.unwrap_or(whole_bytes)
    }

    fn try_capacity(&self, bytes: u64) -> Option<Profile> {
        let unit = self.indirection_unit_bytes();
        let whole_bytes = self.identity.capacity_bytes.value;
        let bytes = bytes / unit * unit;
        let scaled = |number: u64| u128::from(number) * u128::from(bytes) / u128::from(whole_bytes);
        // A size by which drives are sold may lack the last tenth of a die.
        let tenths = scaled(u64::from(self.dies()) * 10);
        let dies = u16::try_from((tenths + 1) / 10).ok();
        let dies = dies.filter(|&dies| dies > 0)?;
        let mut other = self.clone();
        other.identity.capacity_bytes.value = bytes;
        other.capacity_chosen = (bytes != whole_bytes).then_some(bytes);
        if let Some(medium) = &mut other.in_place {
            medium.dies.value = dies;
            let is_whole = medium.stripe_dies.value <= dies;
            return is_whole.then_some(other)?.validated().ok();
        }
        let of_die = scaled(self.nand.blocks_per_plane.value.into()) * u128::from(self.dies());
        other.nand.dies.value = dies;
        other.nand.blocks_per_plane.value = u32::try_from(of_die.div_ceil(dies.into())).ok()?;
        let scale = |number: &mut Sourced<u64>| {
            number.value = u64::try_from(scaled(number.value)).unwrap_or(u64::MAX);
        };
        if let Some(slc) = &mut other.slc {
            scale(&mut slc.bytes);
            slc.borrowed_bytes.iter_mut().for_each(scale);
        }
        let other = other.validated().ok()?;
        crate::ftl::can_hold(&other).then_some(other)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/profile/capacity.rs"]
mod tests;
