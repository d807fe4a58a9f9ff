//! Zoned access distribution: shares of the I/Os by parts of the area (fio's `zoned`, JESD219).

use std::fmt;
use std::str::FromStr;

use assay_units::Rng;

use super::AccessError;

pub const MAX_ZONES: usize = 256;
/// Shares add up to 100 per cent within this.
pub(super) const TOLERANCE_PERCENT: f64 = 1e-9;

/// Text form (fio's `random_distribution=zoned:`, without that word): `50/5:30/15:20/80` sends half
/// of the I/Os to the first 5 % of the area, 30 % to the 15 % after that and the rest to the rest;
/// the zones of JESD219 (its client and enterprise workloads). A share that is left out (`20/`) is
/// what the others leave, evenly. Accesses and sizes must each add up to 100.
#[derive(Clone, Debug, PartialEq)]
pub struct ZoneShares {
    shares: Vec<(f64, f64)>,
}

impl ZoneShares {
    pub fn entries(&self) -> &[(f64, f64)] {
        &self.shares
    }
}

impl FromStr for ZoneShares {
    type Err = AccessError;

    fn from_str(text: &str) -> Result<ZoneShares, AccessError> {
        let bad = |reason: String| AccessError::BadText {
            what: "zones",
            text: text.to_owned(),
            reason,
            form: "ACCESS/SIZE in percent for each, such as zoned:50/5:30/15:20/80",
        };
        let share = |word: &str| {
            let wrong = |()| bad(format!("{word:?} is not a percentage from 0 to 100"));
            percent(word).map_err(wrong)
        };
        let (mut accesses, mut sizes) = (Vec::new(), Vec::new());
        for zone in text.split(':') {
            let (access, size) =
                zone.split_once('/').ok_or_else(|| bad(format!("{zone:?} is not ACCESS/SIZE")))?;
            accesses.push(share(access)?);
            sizes.push(share(size)?);
        }
        if accesses.len() > MAX_ZONES {
            return Err(bad(format!("there are more than {MAX_ZONES} zones")));
        }
        let whole = |column: &[Option<f64>], what| {
            completed(column).map_err(|sum| bad(format!("the {what} add up to {sum}, not 100")))
        };
        let (accesses, sizes) = (whole(&accesses, "accesses")?, whole(&sizes, "sizes")?);
        let shares: Vec<(f64, f64)> = accesses.into_iter().zip(sizes).collect();
        let is_pointless = |&(access, size): &(f64, f64)| access > 0.0 && size <= 0.0;
        match shares.iter().position(is_pointless) {
            Some(zone) => Err(bad(format!("zone {} has accesses and no size", zone + 1))),
            None => Ok(ZoneShares { shares }),
        }
    }
}

fn percent(word: &str) -> Result<Option<f64>, ()> {
    let word = word.trim().trim_end_matches('%');
    if word.is_empty() {
        return Ok(None);
    }
    let value: f64 = word.parse().map_err(|_| ())?;
    match (0.0..=100.0).contains(&value) {
        true => Ok(Some(value)),
        false => Err(()),
    }
}

/// What is left out shares what is left of 100 evenly; the sum, when that is not 100.
fn completed(column: &[Option<f64>]) -> Result<Vec<f64>, f64> {
    let given: f64 = column.iter().flatten().sum();
    let absent = column.iter().filter(|share| share.is_none()).count();
    let left = 100.0 - given;
    if left < -TOLERANCE_PERCENT || (absent == 0 && left > TOLERANCE_PERCENT) {
        return Err(given);
    }
    let each = left.max(0.0) / absent.max(1) as f64;
    Ok(column.iter().map(|share| share.unwrap_or(each)).collect())
}

impl fmt::Display for ZoneShares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (access, size)) in self.shares.iter().enumerate() {
            let colon = if index > 0 { ":" } else { "" };
            write!(f, "{colon}{access}/{size}")?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Zone {
    /// A draw below this and not below that of the zone before it is for this one.
    below: u64,
    first: u64,
    slots: u64,
}

#[derive(Clone, Debug)]
pub(super) struct ZoneSampler {
    zones: Vec<Zone>,
}

impl ZoneSampler {
    /// An I/O belongs to the zone that it starts in.
    pub(super) fn new(
        shares: &ZoneShares,
        area_bytes: u64,
        align_bytes: u64,
        slots: u64,
    ) -> Result<ZoneSampler, AccessError> {
        let (mut access_percent, mut size_percent, mut first) = (0.0, 0.0, 0);
        let mut zones = Vec::new();
        let count = shares.shares.len();
        for (index, &(access, size)) in shares.shares.iter().enumerate() {
            access_percent += access;
            size_percent += size;
            let is_last = index + 1 == count;
            let end_bytes = (area_bytes as f64 * (size_percent / 100.0)) as u64;
            let end = match is_last {
                true => slots,
                false => end_bytes.div_ceil(align_bytes).clamp(first, slots),
            };
            if access > 0.0 {
                if end == first {
                    return Err(AccessError::EmptyZone {
                        zone: index + 1,
                        area_bytes,
                        align_bytes,
                    });
                }
                zones.push(Zone {
                    // Saturates at the last zone.
                    below: (access_percent / 100.0 * 2.0_f64.powi(64)) as u64,
                    first,
                    slots: end - first,
                });
            }
            first = end;
        }
        if let Some(last) = zones.last_mut() {
            last.below = u64::MAX;
        }
        Ok(ZoneSampler { zones })
    }

    #[inline]
    pub(super) fn sample(&self, rng: &mut Rng) -> u64 {
        let draw = rng.next_u64();
        let last = self.zones.len() - 1;
        let index = self.zones[..last].iter().position(|zone| draw < zone.below).unwrap_or(last);
        let zone = self.zones[index];
        zone.first + rng.below(zone.slots)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/access/zoned.rs"]
mod tests;
