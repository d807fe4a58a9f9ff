//! A resource that serves one thing at a time, reserved ahead by arithmetic instead of by events.
//!
//! The back end of the model computes a command's whole path when its firmware starts. Paths are computed in order of
//! start, but reach a shared bus in another order: a page behind a busy die needs its channel much later than a page
//! computed after it. A plain "next free" time would make the second wait for the first for nothing. [`Timeline`] keeps the
//! busy intervals that lie ahead and puts a reservation into the first gap that holds it.

/// Nanoseconds per byte as a fixed-point number, so that a duration costs one multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteTime {
    /// Nanoseconds per byte, times 2^20.
    scaled: u64,
}

impl ByteTime {
    /// For a rate in bytes per second (a rate of 0 reads as 1).
    pub fn of_rate(bytes_per_second: u64) -> ByteTime {
        ByteTime {
            scaled: (1_000_000_000_u64 << 20).div_ceil(bytes_per_second.max(1)),
        }
    }

    /// Duration of that many bytes in nanoseconds, rounded up.
    #[inline]
    pub fn duration_ns(self, bytes: u64) -> u64 {
        (bytes * self.scaled + ((1 << 20) - 1)) >> 20
    }
}

/// So many intervals are looked at from the far end before the search goes by halves. There are always as many, some of them of no
/// length or past.
const SEARCHED: usize = 16;
/// So few intervals are moved up rather than more than that moved down.
const FEW: usize = 8;
/// Room kept before the first interval, so that one can be put there without moving all others.
const SLACK: usize = 32;

/// So many intervals are past before the search for room skips them.
const FORGOTTEN_TOGETHER: usize = 16;

/// Busy intervals of one serial resource, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// Sorted, disjoint, not touching; those before `head` are past, and so may a few after it be.
    busy: Vec<(u64, u64)>,
    head: usize,
}

impl Default for Timeline {
    fn default() -> Timeline {
        Timeline::new()
    }
}

impl Timeline {
    /// Nothing reserved.
    pub fn new() -> Timeline {
        Timeline {
            busy: vec![(0, 0); SEARCHED],
            head: SEARCHED - 1,
        }
    }

    /// Reserve `duration_ns` in the first gap at or after `ready_ns`; returns the end.
    ///
    /// `floor_ns` is the model's present: no later call comes with an earlier `ready_ns`, so intervals before it are forgotten.
    #[inline(always)]
    pub fn reserve(&mut self, floor_ns: u64, ready_ns: u64, duration_ns: u64) -> u64 {
        if duration_ns > 0
            && let Some(last) = self.busy.last()
            && ready_ns < last.1
        {
            return self.reserve_piece(floor_ns, ready_ns, duration_ns);
        }
        self.reserve_train(floor_ns, ready_ns, duration_ns, 1)
    }

    /// [`Timeline::reserve`] before the end of what is reserved. Most of what lies ahead ends before a new piece is ready, so the search
    /// begins at the far end.
    #[inline(never)]
    fn reserve_piece(&mut self, floor_ns: u64, ready_ns: u64, duration_ns: u64) -> u64 {
        self.forget_some(floor_ns);
        let mut at = self.near_end_ending_after(ready_ns);
        let busy = &mut self.busy[..];
        // The gap before `at`, or the next one that is long enough.
        let mut gap_end = busy[at].0;
        let mut start = ready_ns;
        while start + duration_ns > gap_end {
            start = start.max(busy[at].1);
            at += 1;
            gap_end = busy.get(at).map_or(u64::MAX, |next| next.0);
        }
        let end = start + duration_ns;
        // Before the first one ahead lie only such as end sooner, or nothing at all.
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

    /// [`Timeline::first_ending_after`] where the last interval does: most likely one of the last. These are counted, fours and then
    /// ones, without a branch that nobody could foretell; what is past ends sooner and does no harm.
    #[inline(always)]
    fn near_end_ending_after(&self, at_ns: u64) -> usize {
        if let Some(last) = self.busy.last_chunk::<SEARCHED>() {
            // Counted from the far end.
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

    /// Let go of what is past: many intervals at a time, so that it is seldom anything but "not yet".
    #[inline]
    fn forget_some(&mut self, floor_ns: u64) {
        while let Some(&(_, end)) = self.busy.get(self.head + FORGOTTEN_TOGETHER - 1)
            && end <= floor_ns
        {
            self.head += FORGOTTEN_TOGETHER;
        }
        if self.head > 2 * SLACK {
            self.busy.drain(..self.head - SLACK);
            self.head = SLACK;
        }
    }

    /// Reserve `duration_ns` `count` times (at least once), each in the first gap after the one before; returns the last end.
    #[inline]
    pub fn reserve_train(
        &mut self,
        floor_ns: u64,
        ready_ns: u64,
        duration_ns: u64,
        count: u64,
    ) -> u64 {
        if duration_ns == 0 {
            return ready_ns;
        }
        // After everything reserved, a train is one piece.
        let end_ns = ready_ns + duration_ns * count;
        match self.busy.last_mut() {
            Some(last) if ready_ns < last.1 => {
                self.reserve_within(floor_ns, ready_ns, duration_ns, count)
            }
            Some(last) if ready_ns == last.1 => {
                last.1 = end_ns;
                end_ns
            }
            last => {
                if last.is_some_and(|last| last.1 <= floor_ns) {
                    // Everything is past: start over in the same memory.
                    self.busy.truncate(SEARCHED);
                    self.head = self.busy.len();
                } else if self.busy.len() == self.busy.capacity() {
                    self.forget(floor_ns);
                }
                self.busy.push((ready_ns, end_ns));
                end_ns
            }
        }
    }

    /// Is everything reserved past?
    #[inline]
    fn is_past(&self, floor_ns: u64) -> bool {
        self.busy
            .last()
            .is_none_or(|&(_, end_ns)| end_ns <= floor_ns)
    }

    /// The slow half of [`Timeline::reserve_train`]: it starts before the last interval ends.
    fn reserve_within(
        &mut self,
        floor_ns: u64,
        ready_ns: u64,
        duration_ns: u64,
        count: u64,
    ) -> u64 {
        self.forget_some(floor_ns);
        let mut index = self.near_end_ending_after(ready_ns);
        let mut start = ready_ns;
        let mut left = count;
        loop {
            // The gap before `index`, or the next one that is long enough.
            while index < self.busy.len() {
                let (busy_start, busy_end) = self.busy[index];
                if start + duration_ns <= busy_start {
                    break;
                }
                start = start.max(busy_end);
                index += 1;
            }
            let gap_end = self.busy.get(index).map_or(u64::MAX, |&(start, _)| start);
            let pieces = if duration_ns * left <= gap_end - start {
                left
            } else {
                1
            };
            let end = start + duration_ns * pieces;
            let joins_previous = index > self.head && self.busy[index - 1].1 == start;
            let joins_next = gap_end == end;
            match (joins_previous, joins_next) {
                (true, true) => {
                    self.busy[index - 1].1 = self.busy[index].1;
                    self.remove(index);
                    // Where `index` pointed now lies one before it, however the rest moved.
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

    /// Forget what is past, before more memory is taken.
    #[cold]
    fn forget(&mut self, floor_ns: u64) {
        self.head = self.first_ending_after(floor_ns);
        if self.head > SLACK {
            self.busy.drain(..self.head - SLACK);
            self.head = SLACK;
        }
    }

    /// Index of the first interval ahead that ends after `at_ns`.
    #[inline]
    fn first_ending_after(&self, at_ns: u64) -> usize {
        self.head + self.busy[self.head..].partition_point(|&(_, end)| end <= at_ns)
    }

    /// Put an interval before `index`, moving the shorter side; returns where it is.
    #[inline(always)]
    fn insert(&mut self, index: usize, interval: (u64, u64)) -> usize {
        let (before, after) = (index - self.head, self.busy.len() - index);
        if after > before.max(FEW) {
            return self.insert_near_front(before, interval);
        }
        // One by one: they are too few for the price of a call.
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

    /// Take the interval at `index` out, moving the shorter side.
    #[inline]
    fn remove(&mut self, index: usize) {
        let (before, after) = (index - self.head, self.busy.len() - index);
        if after <= before.max(FEW) {
            self.busy.remove(index);
        } else {
            self.busy.copy_within(self.head..index, self.head + 1);
            // What is left there must not be taken for something ahead by a search from the far end.
            self.busy[self.head] = (0, 0);
            self.head += 1;
        }
    }
}

/// A [`Timeline`] that mostly serves what comes out of another serial resource.
///
/// What leaves a serial resource comes no faster than it serves. As long as nothing takes longer here than anything took there,
/// each is gone before the next comes, whatever the order of reservation, and there is nothing to search. Then it is enough to
/// remember them; they become busy intervals only when something else wants in.
#[derive(Clone, Debug, Default)]
pub struct Follower {
    line: Timeline,
    /// Start and end of what was served so: a ring, nothing or a power of two long, of which most of the oldest are past.
    served: Vec<(u64, u64)>,
    /// Where the latest is, but for whole rounds.
    next: usize,
    /// Is nothing in `line` that is not past?
    follows: bool,
    /// While it follows: the longest here, the shortest in the resource before.
    longest_ns: u64,
    shortest_ns: u64,
}

impl Follower {
    /// Nothing reserved.
    pub fn new() -> Follower {
        Follower::default()
    }

    /// Reserve `duration_ns` for what leaves the resource before it at `ready_ns`, having occupied it for the `before_ns` until then.
    /// All else is as in [`Timeline::reserve`].
    #[inline(always)]
    pub fn follow(
        &mut self,
        floor_ns: u64,
        ready_ns: u64,
        duration_ns: u64,
        before_ns: u64,
    ) -> u64 {
        if !self.follows && self.line.is_past(floor_ns) {
            self.follows = true;
            (self.longest_ns, self.shortest_ns) = (0, u64::MAX);
        }
        let longest_ns = self.longest_ns.max(duration_ns);
        let shortest_ns = self.shortest_ns.min(before_ns);
        if !self.follows || longest_ns > shortest_ns {
            return self.reserve(floor_ns, ready_ns, duration_ns);
        }
        self.longest_ns = longest_ns;
        self.shortest_ns = shortest_ns;
        let end_ns = ready_ns + duration_ns;
        self.remember(floor_ns, (ready_ns, end_ns));
        end_ns
    }

    /// Reserve as in [`Timeline::reserve`], wherever it comes from.
    #[inline]
    pub fn reserve(&mut self, floor_ns: u64, ready_ns: u64, duration_ns: u64) -> u64 {
        if self.follows {
            self.become_busy(floor_ns);
        }
        self.line.reserve(floor_ns, ready_ns, duration_ns)
    }

    /// Something else wants in: what was served becomes busy intervals.
    #[cold]
    fn become_busy(&mut self, floor_ns: u64) {
        self.follows = false;
        for (start_ns, end_ns) in &mut self.served {
            if *end_ns > floor_ns {
                self.line.reserve(0, *start_ns, *end_ns - *start_ns);
            }
            (*start_ns, *end_ns) = (0, 0);
        }
    }

    /// Keep what was served, in the place of something that is past: there is some a little further on, or in a longer ring.
    #[inline(always)]
    fn remember(&mut self, floor_ns: u64, served: (u64, u64)) {
        loop {
            let mask = self.served.len().wrapping_sub(1);
            for _ in 0..SLACK {
                self.next = self.next.wrapping_add(1);
                if let Some(oldest) = self.served.get_mut(self.next & mask)
                    && oldest.1 <= floor_ns
                {
                    *oldest = served;
                    return;
                }
            }
            self.lengthen();
        }
    }

    #[cold]
    fn lengthen(&mut self) {
        let length = (2 * self.served.len()).max(2 * SLACK);
        self.next = self.served.len().wrapping_sub(1);
        self.served.resize(length, (0, 0));
    }
}

#[cfg(test)]
#[path = "../tests/unit/timeline.rs"]
mod tests;
