//! Lengths of I/Os, by `bs`, `bsrange` or `bssplit`.

use std::sync::Arc;

use super::{FioAddresses, FioSizes, READ, TRIM, WRITE};

/// A size that fits is drawn far sooner, unless no size that fits has a share; fio then draws for
/// ever.
const MOST_DRAWS: u32 = 100_000;

impl FioAddresses {
    fn fits(&self, offset_bytes: u64, len_bytes: u64) -> bool {
        let end = self.file.part.area_bytes.saturating_add(self.file.part.offset_bytes);
        offset_bytes.saturating_add(len_bytes) <= end
    }

    /// `get_next_buflen`.
    pub(super) fn length(
        &mut self,
        direction: usize,
        offset_bytes: u64,
        random: bool,
    ) -> Option<u64> {
        let access = Arc::clone(&self.access);
        if access.random && access.trims_and_writes() && direction == WRITE {
            return Some(self.file.last_end[TRIM] - self.file.last_start[TRIM]?);
        }
        let direction = match (access.sizes_by_order, random) {
            (false, _) => direction,
            (true, true) => WRITE,
            (true, false) => READ,
        };
        let sizes = &access.sizes[direction];
        let (least, most) = (sizes.least_bytes, sizes.most_bytes);
        if least == most {
            return Some(least);
        }
        if !self.fits(offset_bytes, least) {
            return None;
        }
        for _ in 0..MOST_DRAWS {
            let bytes = self.draw_length(direction, sizes, offset_bytes);
            let bytes = match access.unaligned {
                true => bytes,
                false => bytes - bytes % least,
            };
            let bytes = bytes.min(most);
            if bytes > 0 && self.fits(offset_bytes, bytes) {
                return Some(bytes);
            }
        }
        None
    }

    fn draw_length(&mut self, direction: usize, sizes: &FioSizes, offset_bytes: u64) -> u64 {
        let draws = &mut self.draws.sizes[direction];
        if sizes.split.is_empty() {
            return sizes.least_bytes + (sizes.most_bytes as f64 * draws.share()) as u64;
        }
        let hundredth = draws.most() / 100;
        let drawn = draws.next();
        let (mut bytes, mut percent) = (0, 0);
        for &(own_bytes, own_percent) in sizes.split.iter().filter(|(_, percent)| *percent > 0) {
            bytes = own_bytes;
            percent += u64::from(own_percent);
            if drawn / percent <= hundredth && self.fits(offset_bytes, bytes) {
                break;
            }
        }
        bytes
    }
}
