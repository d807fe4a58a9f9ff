//! Where the next block is: at random or in order.

use super::*;

impl FioAddresses {
    /// `get_next_block`: the offset in the area, and whether it is random.
    pub(super) fn place(&mut self, direction: usize) -> Option<(u64, bool)> {
        self.run_left = self.run_left.saturating_sub(1);
        let is_new = self.run_left == 0;
        if is_new {
            self.run_left = self.access.run;
        }
        let (random, align) = (self.access.random, self.access.align_bytes[direction]);
        if random && self.access.trims_and_writes() && direction == WRITE {
            self.is_unmarked = true;
            // As later versions; 3.33 adds the area's begin once more.
            let trimmed = self.file.last_start[TRIM]?.checked_sub(self.file.base_bytes)?;
            return Some((trimmed, true));
        }
        if is_new && !random {
            return Some((self.next_in_order(direction)?, false));
        }
        let percent = self.access.random_percent[direction];
        if is_new && (percent == 100 || self.draws.orders[direction].percent() <= percent) {
            return Some((self.random_block(direction)? * align, true));
        }
        self.is_unmarked = true;
        if !is_new && self.access.identical {
            let last = self.file.last_start[direction];
            let last = last.map_or(0, |last| last.wrapping_sub(self.file.base_bytes));
            return Some((last, false));
        }
        // A sequential job ends here at the end of its area. One in random order ends there in fio
        // only if its area is a part of the file; here it never does.
        let next = self.next_in_order(direction);
        match next.filter(|&next| next < self.file.part.area_bytes || !random) {
            Some(next) => Some((next, false)),
            None if !random => None,
            None => Some((self.random_block(direction)? * align, false)),
        }
    }

    /// `get_next_rand_block`: a job by time begins its map anew.
    fn random_block(&mut self, direction: usize) -> Option<u64> {
        let block = self.draw_block(direction);
        let restarts = self.access.time_based || self.access.files.service == Service::ByLaw;
        if block.is_some() || !restarts {
            return block;
        }
        self.restart();
        self.drops_cache = self.access.drops_cache;
        self.draw_block(direction)
    }

    fn draw_block(&mut self, direction: usize) -> Option<u64> {
        if let Some(hashed) = &mut self.file.hashed {
            return Some(hashed.next());
        }
        let blocks = self.blocks(direction);
        if blocks == 0 {
            return None;
        }
        let access = Arc::clone(&self.access);
        let align = access.align_bytes[direction];
        match &access.law {
            Law::Zoned(zones) if !zones[direction].is_empty() => {
                let (begin, length) = zone_of(&zones[direction], self.draws.zone.percent())?;
                let own = blocks * u64::from(length) / 100;
                Some(self.draw_uniform(own)? + u64::from(begin) * blocks / 100)
            }
            Law::ZonedBytes(zones) if !zones[direction].is_empty() => {
                let (begin, length) = zone_of(&zones[direction], self.draws.zone.percent())?;
                let (first, end) = (begin / align, begin.saturating_add(length) / align);
                (end <= blocks).then_some(())?;
                Some(self.draw_uniform(end - first)? + first)
            }
            _ => self.draw_uniform(blocks),
        }
    }

    /// `__get_next_rand_offset`.
    fn draw_uniform(&mut self, blocks: u64) -> Option<u64> {
        let block = match (&mut self.file.register, &mut self.regions) {
            (Some(register), Some(regions)) => return regions.next(register),
            (Some(register), None) => register.next()?,
            (None, _) => (blocks as f64 * self.draws.offsets.share()) as u64,
        };
        match &self.file.map {
            Some(map) if !map.is_free(block) => map.next_free(block),
            _ => Some(block),
        }
    }

    /// `last_block`.
    fn blocks(&self, direction: usize) -> u64 {
        let zone = self.access.zones.map(|zones| zones.range_bytes);
        let bytes = zone.unwrap_or(self.file.part.area_bytes.min(self.file.part.capacity_bytes));
        let align = self.access.align_bytes[direction];
        let least = self.access.sizes[direction].least_bytes;
        // In an area below a block fio counts on from the largest number, and draws none of it.
        bytes.wrapping_sub(least.saturating_sub(align)) / align.max(1)
    }

    /// `get_next_seq_offset`.
    fn next_in_order(&mut self, direction: usize) -> Option<u64> {
        let (capacity, area) = (self.file.part.capacity_bytes, self.file.part.area_bytes);
        // One of several files is done, and begins anew in the next pass.
        let rewinds = self.access.time_based && self.files() == 1;
        let last = &mut self.file.last_end[direction];
        if *last >= area.saturating_add(self.file.part.offset_bytes) && rewinds {
            *last = self.file.base_bytes;
            self.drops_cache = self.access.drops_cache;
        }
        if *last >= capacity {
            return None;
        }
        let gap = self.access.gap_bytes;
        let end = capacity.min(area);
        if *last == self.file.base_bytes && self.file.base_bytes > 0 && gap < 0 {
            *last = end;
        }
        let mut position = last.wrapping_sub(self.file.base_bytes);
        if position > 0 && gap != 0 {
            position = position.wrapping_add_signed(gap);
            if position >= capacity {
                position = match gap > 0 {
                    true => self.file.base_bytes,
                    false => end.wrapping_add_signed(gap),
                };
            }
        }
        Some(position)
    }
}
