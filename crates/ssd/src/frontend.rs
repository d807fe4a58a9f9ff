//! Submission queues, arbitration and controller cores.
//!
//! A command waits in its queue until a core is free; a free core takes the head of the next non-empty queue in turn (round
//! robin with a burst of one: NVM Express Base Specification 1.4, section 4.13.1). Cores are identical and take any command.

use std::collections::VecDeque;

/// Queues of `T` in front of a number of cores. Times in nanoseconds.
#[derive(Clone, Debug)]
pub struct Frontend<T> {
    queues: Vec<VecDeque<(u64, T)>>,
    /// One bit per queue that holds something.
    waiting: u128,
    /// Where the next turn starts.
    turn: u32,
    /// When each core is free.
    cores: Vec<u64>,
    /// When the next command starts; `u64::MAX` when none waits.
    next_ns: u64,
}

impl<T> Frontend<T> {
    /// Idle cores and empty queues; `queues` is held between 1 and 128, `cores` at least 1.
    pub fn new(queues: u16, cores: u8) -> Frontend<T> {
        Frontend {
            queues: (0..queues.clamp(1, 128)).map(|_| VecDeque::new()).collect(),
            waiting: 0,
            turn: 0,
            cores: vec![0; usize::from(cores.max(1))],
            next_ns: u64::MAX,
        }
    }

    /// When the next waiting command starts, `u64::MAX` when none waits.
    #[inline]
    pub fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// The core that takes a command at its arrival, if nothing waits and one is free by then: what [`Frontend::push`] and
    /// [`Frontend::take`] would come to. Call [`Frontend::occupy`] after it.
    #[inline]
    pub fn take_at_once(&mut self, queue: u16, arrival_ns: u64) -> Option<usize> {
        if self.waiting != 0 {
            return None;
        }
        let core = self.free_core();
        if self.cores[core] > arrival_ns {
            return None;
        }
        self.turn = self.turn_after(self.granted(queue) as u32);
        Some(core)
    }

    /// The queue that a command of this queue goes to: modulo those granted.
    #[inline]
    fn granted(&self, queue: u16) -> usize {
        let queue = usize::from(queue);
        if queue < self.queues.len() {
            queue
        } else {
            queue % self.queues.len()
        }
    }

    #[inline]
    fn turn_after(&self, queue: u32) -> u32 {
        if queue as usize + 1 == self.queues.len() {
            0
        } else {
            queue + 1
        }
    }

    /// Put a command into a queue. Arrivals come in order of time.
    #[inline]
    pub fn push(&mut self, queue: u16, arrival_ns: u64, command: T) {
        let queue = self.granted(queue);
        self.queues[queue].push_back((arrival_ns, command));
        self.waiting |= 1 << queue;
        if self.next_ns == u64::MAX {
            self.next_ns = arrival_ns.max(self.cores[self.free_core()]);
        }
    }

    /// The command that starts next if it does so by `until_ns`: its start, its core and itself.
    #[inline]
    pub fn take(&mut self, until_ns: u64) -> Option<(u64, usize, T)> {
        if self.next_ns > until_ns {
            return None;
        }
        let start = self.next_ns;
        let core = self.free_core();
        // From the turn upward, then from 0: the first queue whose head has arrived by the start.
        let from_turn = self.waiting & (u128::MAX << self.turn);
        for mut mask in [from_turn, self.waiting & !from_turn] {
            while mask != 0 {
                let queue = mask.trailing_zeros();
                mask &= mask - 1;
                let line = &mut self.queues[queue as usize];
                if line.front().is_none_or(|&(arrival, _)| arrival > start) {
                    continue;
                }
                let Some((_, command)) = line.pop_front() else {
                    continue;
                };
                if line.is_empty() {
                    self.waiting &= !(1 << queue);
                }
                self.turn = self.turn_after(queue);
                return Some((start, core, command));
            }
        }
        None
    }

    /// Keep a core busy until then. Call after each [`Frontend::take`].
    #[inline]
    pub fn occupy(&mut self, core: usize, until_ns: u64) {
        self.cores[core] = until_ns;
        self.next_ns = self.find_next();
    }

    #[inline]
    fn free_core(&self) -> usize {
        let mut best = 0;
        for core in 1..self.cores.len() {
            if self.cores[core] < self.cores[best] {
                best = core;
            }
        }
        best
    }

    #[inline]
    fn find_next(&self) -> u64 {
        if self.waiting == 0 {
            return u64::MAX;
        }
        let free = self.cores[self.free_core()];
        let mut earliest = u64::MAX;
        let mut mask = self.waiting;
        while mask != 0 {
            let queue = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            if let Some(&(arrival, _)) = self.queues[queue].front() {
                if arrival <= free {
                    return free;
                }
                earliest = earliest.min(arrival);
            }
        }
        earliest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serves_queues_in_turn_and_in_order_within_one() {
        let mut front = Frontend::new(3, 1);
        for n in 0..3 {
            front.push(0, 0, format!("a{n}"));
        }
        front.push(2, 0, "c0".to_owned());
        front.push(5, 0, "c1".to_owned());
        let mut order = Vec::new();
        while let Some((start, core, name)) = front.take(u64::MAX - 1) {
            front.occupy(core, start + 10);
            order.push((start, name));
        }
        let expected = [(0, "a0"), (10, "c0"), (20, "a1"), (30, "c1"), (40, "a2")];
        assert_eq!(
            order,
            expected.map(|(start, name)| (start, name.to_owned()))
        );
    }

    #[test]
    fn an_idle_core_takes_at_once_what_it_would_have_taken_from_the_queue() {
        let mut queued = Frontend::new(3, 2);
        let mut direct: Frontend<()> = Frontend::new(3, 2);
        for (queue, arrival) in [(4, 5), (0, 6), (1, 7), (2, 30), (2, 30), (7, 90)] {
            let at_once = direct.take_at_once(queue, arrival);
            queued.push(queue, arrival, ());
            let taken = queued.take(arrival);
            assert_eq!(at_once, taken.map(|(_, core, ())| core));
            match taken {
                Some((start, core, ())) => {
                    assert_eq!(start, arrival);
                    queued.occupy(core, start + 10);
                    direct.occupy(core, start + 10);
                }
                None => {
                    queued.take(u64::MAX - 1);
                    queued.occupy(0, 20);
                    direct.occupy(0, 20);
                    direct.turn = queued.turn;
                }
            }
            assert_eq!((queued.turn, queued.next_ns), (direct.turn, direct.next_ns));
        }
    }

    #[test]
    fn cores_work_side_by_side_and_nothing_starts_before_it_arrived() {
        let mut front = Frontend::new(1, 2);
        for arrival in [5, 5, 5, 100] {
            front.push(0, arrival, ());
        }
        let mut starts = Vec::new();
        assert!(front.take(4).is_none());
        while let Some((start, core, ())) = front.take(1000) {
            front.occupy(core, start + 10);
            starts.push(start);
        }
        assert_eq!(starts, [5, 5, 15, 100]);
        assert_eq!(front.next_ns(), u64::MAX);
    }
}
