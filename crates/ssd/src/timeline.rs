//! Serial resources reserved ahead by arithmetic instead of events. Paths are computed in order of
//! firmware start, but shared buses are reached in another order, so [`Timeline`] keeps the busy
//! intervals ahead and places a reservation into the first gap that holds it.

/// Fixed-point nanoseconds per byte: a duration costs one multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteTime {
    scaled: u64,
}

impl ByteTime {
    /// Rate in bytes per second (0 is taken as 1).
    pub fn of_rate(bytes_per_second: u64) -> ByteTime {
        ByteTime { scaled: (1_000_000_000_u64 << 20).div_ceil(bytes_per_second.max(1)) }
    }

    #[inline]
    pub fn duration_ns(self, bytes: u64) -> u64 {
        (bytes * self.scaled + ((1 << 20) - 1)) >> 20
    }
}

/// Intervals examined from the far end before binary search; at least as many always exist.
const SEARCHED: usize = 16;
/// Moving up to this many later intervals is preferred over moving more earlier ones.
const FEW: usize = 8;
/// Slots kept before the first interval, for insertion without moving all others.
const SLACK: usize = 32;

const DROP_BATCH: usize = 16;

#[derive(Clone, Debug)]
pub struct Timeline {
    /// Sorted, disjoint, not touching; those before `head` are past, as may be a few after it.
    busy: Vec<(u64, u64)>,
    head: usize,
}

impl Default for Timeline {
    fn default() -> Timeline {
        Timeline::new()
    }
}

impl Timeline {
    pub fn new() -> Timeline {
        Timeline { busy: vec![(0, 0); SEARCHED], head: SEARCHED - 1 }
    }

    /// Returns the end. No later call has a `ready_ns` before the model time `now_ns`.
    #[inline(always)]
    pub fn reserve(&mut self, now_ns: u64, ready_ns: u64, duration_ns: u64) -> u64 {
        if duration_ns > 0
            && let Some(last) = self.busy.last()
            && ready_ns < last.1
        {
            return self.reserve_piece(now_ns, ready_ns, duration_ns);
        }
        self.reserve_train(now_ns, ready_ns, duration_ns, 1)
    }

    /// [`Timeline::reserve`] before the last end, searched from the far end.
    #[inline(never)]
    fn reserve_piece(&mut self, now_ns: u64, ready_ns: u64, duration_ns: u64) -> u64 {
        self.drop_past_batches(now_ns);
        let mut at = self.near_end_ending_after(ready_ns);
        let busy = &mut self.busy[..];
        let mut gap_end = busy[at].0;
        let mut start = ready_ns;
        while start + duration_ns > gap_end {
            start = start.max(busy[at].1);
            at += 1;
            gap_end = busy.get(at).map_or(u64::MAX, |next| next.0);
        }
        let end = start + duration_ns;
        // Before the first interval ahead lie only past ones.
        if at > self.head && busy[at - 1].1 == start {
            if end == gap_end {
                busy[at - 1].1 = busy[at].1;
                self.remove(at);
            } else {
                busy[at - 1].1 = end;
            }
        } else if end == gap_end {
            busy[at].0 = start;
        } else {
            self.insert(at, (start, end));
        }
        end
    }

    /// [`Timeline::first_ending_after`], counted among the last without unpredictable branches.
    #[inline(always)]
    fn near_end_ending_after(&self, at_ns: u64) -> usize {
        if let Some(last) = self.busy.last_chunk::<SEARCHED>() {
            let is_later = |index: usize| usize::from(last[SEARCHED - 1 - index].1 > at_ns);
            let fours = is_later(4) + is_later(8) + is_later(12);
            let rest = (SEARCHED - 4 - 4 * fours) % SEARCHED;
            let is_later = |index: usize| usize::from(last[(rest + index) % SEARCHED].1 > at_ns);
            let later = 4 * fours + 1 + is_later(2) + is_later(1) + is_later(0);
            if later < SEARCHED {
                return self.busy.len() - later;
            }
        }
        self.first_ending_after(at_ns)
    }

    #[inline]
    fn drop_past_batches(&mut self, now_ns: u64) {
        while let Some(&(_, end)) = self.busy.get(self.head + DROP_BATCH - 1)
            && end <= now_ns
        {
            self.head += DROP_BATCH;
        }
        if self.head > 2 * SLACK {
            self.busy.drain(..self.head - SLACK);
            self.head = SLACK;
        }
    }

    /// Reserve `count` (at least one) gaps, each the first after the last; returns the end.
    #[inline]
    pub fn reserve_train(
        &mut self,
        now_ns: u64,
        ready_ns: u64,
        duration_ns: u64,
        count: u64,
    ) -> u64 {
        if duration_ns == 0 {
            return ready_ns;
        }
        // Behind everything reserved, a train is one interval.
        let end_ns = ready_ns + duration_ns * count;
        match self.busy.last_mut() {
            Some(last) if ready_ns < last.1 => {
                self.reserve_within(now_ns, ready_ns, duration_ns, count)
            }
            Some(last) if ready_ns == last.1 => {
                last.1 = end_ns;
                end_ns
            }
            last => {
                if last.is_some_and(|last| last.1 <= now_ns) {
                    self.busy.truncate(SEARCHED);
                    self.head = self.busy.len();
                } else if self.busy.len() == self.busy.capacity() {
                    self.drop_past(now_ns);
                }
                self.busy.push((ready_ns, end_ns));
                end_ns
            }
        }
    }

    #[inline]
    fn is_past(&self, now_ns: u64) -> bool {
        self.busy.last().is_none_or(|&(_, end_ns)| end_ns <= now_ns)
    }

    fn reserve_within(&mut self, now_ns: u64, ready_ns: u64, duration_ns: u64, count: u64) -> u64 {
        self.drop_past_batches(now_ns);
        let mut index = self.near_end_ending_after(ready_ns);
        let mut start = ready_ns;
        let mut left = count;
        loop {
            while index < self.busy.len() {
                let (busy_start, busy_end) = self.busy[index];
                if start + duration_ns <= busy_start {
                    break;
                }
                start = start.max(busy_end);
                index += 1;
            }
            let gap_end = self.busy.get(index).map_or(u64::MAX, |&(start, _)| start);
            let pieces = if duration_ns * left <= gap_end - start { left } else { 1 };
            let end = start + duration_ns * pieces;
            let joins_previous = index > self.head && self.busy[index - 1].1 == start;
            let joins_next = gap_end == end;
            match (joins_previous, joins_next) {
                (true, true) => {
                    self.busy[index - 1].1 = self.busy[index].1;
                    self.remove(index);
                    // Removal may have moved either side.
                    index = self.first_ending_after(end);
                }
                (true, false) => self.busy[index - 1].1 = end,
                (false, true) => self.busy[index].0 = start,
                (false, false) => index = self.insert(index, (start, end)) + 1,
            }
            left -= pieces;
            if left == 0 {
                return end;
            }
            start = end;
        }
    }

    #[cold]
    fn drop_past(&mut self, now_ns: u64) {
        self.head = self.first_ending_after(now_ns);
        if self.head > SLACK {
            self.busy.drain(..self.head - SLACK);
            self.head = SLACK;
        }
    }

    #[inline]
    fn first_ending_after(&self, at_ns: u64) -> usize {
        self.head + self.busy[self.head..].partition_point(|&(_, end)| end <= at_ns)
    }

    #[inline(always)]
    fn insert(&mut self, index: usize, interval: (u64, u64)) -> usize {
        let (before, after) = (index - self.head, self.busy.len() - index);
        if after > before.max(FEW) {
            return self.insert_near_front(before, interval);
        }
        // A loop: cheaper than a memmove call for so few.
        self.busy.push(interval);
        let moved = &mut self.busy[index..];
        for hole in (1..moved.len()).rev() {
            moved[hole] = moved[hole - 1];
        }
        moved[0] = interval;
        index
    }

    #[inline(never)]
    fn insert_near_front(&mut self, before: usize, interval: (u64, u64)) -> usize {
        if self.head == 0 {
            self.busy.splice(0..0, [(0, 0); SLACK]);
            self.head = SLACK;
        }
        let index = self.head + before;
        self.busy.copy_within(self.head..index, self.head - 1);
        self.head -= 1;
        self.busy[index - 1] = interval;
        index - 1
    }

    #[inline]
    fn remove(&mut self, index: usize) {
        let (before, after) = (index - self.head, self.busy.len() - index);
        if after <= before.max(FEW) {
            self.busy.remove(index);
        } else {
            self.busy.copy_within(self.head..index, self.head + 1);
            // Cleared, or the search from the far end would find it.
            self.busy[self.head] = (0, 0);
            self.head += 1;
        }
    }
}

/// A [`Timeline`] that mostly serves the output of a slower or equal serial resource. While nothing
/// takes longer here than anything took there, each item is gone before the next arrives: such
/// items are only recorded, until another source reserves.
#[derive(Clone, Debug, Default)]
pub struct DownstreamTimeline {
    line: Timeline,
    /// Start and end of recorded items: a ring, empty or a power of two long, mostly past.
    recorded: Vec<(u64, u64)>,
    next: usize,
    /// No reservation in `line` is ahead.
    in_order: bool,
    /// While in order: longest duration here, shortest in the upstream resource.
    longest_ns: u64,
    shortest_ns: u64,
}

impl DownstreamTimeline {
    pub fn new() -> DownstreamTimeline {
        DownstreamTimeline::default()
    }

    /// `before_ns`: time that the item occupied the upstream resource, until `ready_ns`.
    #[inline(always)]
    pub fn reserve_downstream(
        &mut self,
        now_ns: u64,
        ready_ns: u64,
        duration_ns: u64,
        before_ns: u64,
    ) -> u64 {
        if !self.in_order && self.line.is_past(now_ns) {
            self.in_order = true;
            (self.longest_ns, self.shortest_ns) = (0, u64::MAX);
        }
        let longest_ns = self.longest_ns.max(duration_ns);
        let shortest_ns = self.shortest_ns.min(before_ns);
        if !self.in_order || longest_ns > shortest_ns {
            return self.reserve(now_ns, ready_ns, duration_ns);
        }
        self.longest_ns = longest_ns;
        self.shortest_ns = shortest_ns;
        let end_ns = ready_ns + duration_ns;
        self.record(now_ns, (ready_ns, end_ns));
        end_ns
    }

    #[inline]
    pub fn reserve(&mut self, now_ns: u64, ready_ns: u64, duration_ns: u64) -> u64 {
        if self.in_order {
            self.leave_in_order(now_ns);
        }
        self.line.reserve(now_ns, ready_ns, duration_ns)
    }

    #[cold]
    fn leave_in_order(&mut self, now_ns: u64) {
        self.in_order = false;
        for (start_ns, end_ns) in &mut self.recorded {
            if *end_ns > now_ns {
                self.line.reserve(0, *start_ns, *end_ns - *start_ns);
            }
            (*start_ns, *end_ns) = (0, 0);
        }
    }

    #[inline(always)]
    fn record(&mut self, now_ns: u64, recorded: (u64, u64)) {
        loop {
            let mask = self.recorded.len().wrapping_sub(1);
            for _ in 0..SLACK {
                self.next = self.next.wrapping_add(1);
                if let Some(oldest) = self.recorded.get_mut(self.next & mask)
                    && oldest.1 <= now_ns
                {
                    *oldest = recorded;
                    return;
                }
            }
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let length = (2 * self.recorded.len()).max(2 * SLACK);
        self.next = self.recorded.len().wrapping_sub(1);
        self.recorded.resize(length, (0, 0));
    }
}

#[cfg(test)]
#[path = "../tests/unit/timeline.rs"]
mod tests;
