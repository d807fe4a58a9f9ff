//! Submission queues, arbitration and controller cores.
//!
//! A command waits in its queue until a core is free; a free core takes the head of the next non-empty queue in turn (round
//! robin with a burst of one: NVM Express Base Specification 1.4, section 4.13.1). Cores are identical and take any command.

/// No command.
const NONE: u32 = u32::MAX;

/// One submission queue.
#[derive(Clone, Copy, Debug)]
struct Queue {
    /// When its first command arrived: `u64::MAX` when it is empty.
    head_ns: u64,
    /// Its first and its last command.
    head: u32,
    tail: u32,
}

const EMPTY: Queue = Queue {
    head_ns: u64::MAX,
    head: NONE,
    tail: NONE,
};

/// Queues of command numbers in front of a number of cores. Times in nanoseconds.
#[derive(Clone, Debug)]
pub struct Frontend {
    queues: Vec<Queue>,
    /// Per command number, when it arrived and the command behind it.
    links: Vec<(u64, u32)>,
    /// One bit per queue that holds something: the first 64 queues, and the others.
    waiting: [u64; 2],
    /// Where the next turn starts.
    turn: u32,
    /// The first queue from the turn on, and then from 0, that holds something; any when none does.
    next_queue: u32,
    /// When each core is free.
    cores: Vec<u64>,
    /// The core that is free first, and when.
    free_core: usize,
    free_ns: u64,
    /// When the next command starts; `u64::MAX` when none waits.
    next_ns: u64,
}

impl Frontend {
    /// Idle cores and empty queues; `queues` is held between 1 and 128, `cores` at least 1.
    pub fn new(queues: u16, cores: u8) -> Frontend {
        Frontend {
            queues: vec![EMPTY; usize::from(queues.clamp(1, 128))],
            links: Vec::new(),
            waiting: [0; 2],
            turn: 0,
            next_queue: 0,
            cores: vec![0; usize::from(cores.max(1))],
            free_core: 0,
            free_ns: 0,
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
        if self.free_ns > arrival_ns || self.holds_some() {
            return None;
        }
        self.turn = self.turn_after(self.granted(queue) as u32);
        Some(self.free_core)
    }

    /// Does anything wait? Told by the first start, which there is if anything does.
    #[inline]
    fn holds_some(&self) -> bool {
        self.next_ns != u64::MAX
    }

    /// The queue that a command of this queue goes to: modulo those granted.
    #[inline]
    fn granted(&self, queue: u16) -> usize {
        let queue = usize::from(queue);
        if queue < self.queues.len() {
            queue
        } else {
            // A division of 32 bits takes half the time of one of 64.
            (queue as u32 % self.queues.len() as u32) as usize
        }
    }

    #[inline]
    fn turn_after(&self, queue: u32) -> u32 {
        let next = queue + 1;
        if next as usize == self.queues.len() {
            0
        } else {
            next
        }
    }

    /// Put a command into a queue, by a number (small: memory is kept for all up to it) that no other waiting one has. Arrivals come
    /// in order of time.
    #[inline]
    pub fn push(&mut self, queue: u16, arrival_ns: u64, number: u32) {
        let index = self.granted(queue);
        if self.links.len() <= number as usize {
            self.links.resize(number as usize + 1, (0, NONE));
        }
        self.links[number as usize] = (arrival_ns, NONE);
        let queue = &mut self.queues[index];
        let behind = std::mem::replace(&mut queue.tail, number);
        if queue.head == NONE {
            queue.head = number;
            queue.head_ns = arrival_ns;
            self.waiting[index >> 6 & 1] |= 1 << (index & 63);
            self.find_queue();
        } else {
            self.links[behind as usize].1 = number;
        }
        if self.next_ns == u64::MAX {
            self.next_ns = arrival_ns.max(self.free_ns);
        }
    }

    /// The command that starts next if it does so by `until_ns`: its start, its core and its number.
    #[inline]
    pub fn take(&mut self, until_ns: u64) -> Option<(u64, usize, u32)> {
        if self.next_ns > until_ns {
            return None;
        }
        self.take_next()
    }

    fn take_next(&mut self) -> Option<(u64, usize, u32)> {
        let start = self.next_ns;
        // From the turn upward, then from 0: the first queue whose head has arrived by the start.
        let mut index = self.next_queue as usize;
        if self.queues[index].head_ns > start {
            index = self.arrived_queue(start)?;
        }
        let queue = &mut self.queues[index];
        let head = queue.head;
        let behind = self.links[head as usize].1;
        if behind == NONE {
            *queue = EMPTY;
            self.waiting[index >> 6 & 1] &= !(1 << (index & 63));
        } else {
            queue.head = behind;
            queue.head_ns = self.links[behind as usize].0;
        }
        self.turn = self.turn_after(index as u32);
        Some((start, self.free_core, head))
    }

    /// Note the first queue from the turn on, and then from 0, that holds something; any when none does.
    #[inline]
    fn find_queue(&mut self) {
        let first = if self.queues.len() <= 64 {
            let waiting = self.waiting[0];
            let from_turn = waiting >> self.turn << self.turn;
            let mask = if from_turn == 0 { waiting } else { from_turn };
            mask.trailing_zeros()
        } else {
            let waiting = u128::from(self.waiting[1]) << 64 | u128::from(self.waiting[0]);
            let from_turn = waiting >> self.turn << self.turn;
            let mask = if from_turn == 0 { waiting } else { from_turn };
            mask.trailing_zeros()
        };
        self.next_queue = first.min(self.queues.len() as u32 - 1);
    }

    /// The first queue from the turn on, and then from 0, whose head has arrived by `start_ns`.
    #[cold]
    fn arrived_queue(&self, start_ns: u64) -> Option<usize> {
        let (before, from_turn) = self.queues.split_at(self.turn as usize);
        let arrived = |queue: &Queue| queue.head_ns <= start_ns;
        let later = from_turn.iter().position(arrived);
        later
            .map(|queue| queue + before.len())
            .or_else(|| before.iter().position(arrived))
    }

    /// Keep a core busy until then. Call after each [`Frontend::take`].
    #[inline(always)]
    pub fn occupy(&mut self, core: usize, until_ns: u64) {
        self.cores[core] = until_ns;
        let (mut free_core, mut free_ns) = (0, u64::MAX);
        for (core, &core_ns) in self.cores.iter().enumerate() {
            let sooner = core_ns < free_ns;
            free_core = if sooner { core } else { free_core };
            free_ns = if sooner { core_ns } else { free_ns };
        }
        self.free_core = free_core;
        self.free_ns = free_ns;
        self.find_next();
    }

    #[inline]
    fn find_next(&mut self) {
        self.next_ns = u64::MAX;
        if self.waiting[0] | self.waiting[1] == 0 {
            return;
        }
        self.find_queue();
        self.next_ns = if self.queues[self.next_queue as usize].head_ns <= self.free_ns {
            self.free_ns
        } else {
            self.first_arrival().max(self.free_ns)
        };
    }

    #[cold]
    fn first_arrival(&self) -> u64 {
        let heads = self.queues.iter().map(|queue| queue.head_ns);
        heads.fold(u64::MAX, u64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Against queues and cores searched from end to end, for few queues and for more than a word has bits.
        #[test]
        fn agrees_with_plain_queues(
            queues in prop_oneof![1_u16..9, 60_u16..128],
            cores in 1_u8..5,
            steps in prop::collection::vec((0_u64..12, 0_u16..140, 0_u64..40, 1_u64..60), 1..200),
        ) {
            let mut front = Frontend::new(queues, cores);
            let mut plain: Vec<VecDeque<(u64, u32)>> = vec![VecDeque::new(); usize::from(queues)];
            let mut free = vec![0; usize::from(cores)];
            let (mut now, mut turn) = (0, 0);
            for (number, (wait, queue, look, busy)) in (0..).zip(steps) {
                now += wait;
                front.push(queue, now, number);
                plain[usize::from(queue % queues)].push_back((now, number));
                let until = now + look;
                loop {
                    let core = (0..free.len()).min_by_key(|&core| free[core]).unwrap();
                    let first = plain.iter().filter_map(|line| line.front()).map(|&(at, _)| at).min();
                    let next_ns = first.map_or(u64::MAX, |first| first.max(free[core]));
                    prop_assert_eq!(front.next_ns(), next_ns);
                    let taken = front.take(until);
                    if next_ns > until {
                        prop_assert_eq!(taken, None);
                        break;
                    }
                    let arrived = |queue: &usize| plain[*queue].front().is_some_and(|&(at, _)| at <= next_ns);
                    let queue = (turn..plain.len()).chain(0..turn).find(arrived).unwrap();
                    let (_, expected) = plain[queue].pop_front().unwrap();
                    prop_assert_eq!(taken, Some((next_ns, core, expected)));
                    turn = (queue + 1) % plain.len();
                    free[core] = next_ns + busy;
                    front.occupy(core, next_ns + busy);
                }
                // What comes later arrives later than anything looked at.
                now = until;
            }
        }
    }

    #[test]
    fn serves_queues_in_turn_and_in_order_within_one() {
        let mut front = Frontend::new(3, 1);
        for n in 0..3 {
            front.push(0, 0, n);
        }
        front.push(2, 0, 20);
        front.push(5, 0, 21);
        let mut order = Vec::new();
        while let Some((start, core, name)) = front.take(u64::MAX - 1) {
            front.occupy(core, start + 10);
            order.push((start, name));
        }
        assert_eq!(order, [(0, 0), (10, 20), (20, 1), (30, 21), (40, 2)]);
    }

    #[test]
    fn an_idle_core_takes_at_once_what_it_would_have_taken_from_the_queue() {
        let mut queued = Frontend::new(3, 2);
        let mut direct = Frontend::new(3, 2);
        for (queue, arrival) in [(4, 5), (0, 6), (1, 7), (2, 30), (2, 30), (7, 90)] {
            let at_once = direct.take_at_once(queue, arrival);
            queued.push(queue, arrival, 0);
            let taken = queued.take(arrival);
            assert_eq!(at_once, taken.map(|(_, core, _)| core));
            match taken {
                Some((start, core, _)) => {
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
        for (number, arrival) in (0..).zip([5, 5, 5, 100]) {
            front.push(0, arrival, number);
        }
        let mut starts = Vec::new();
        assert!(front.take(4).is_none());
        while let Some((start, core, _)) = front.take(1000) {
            front.occupy(core, start + 10);
            starts.push(start);
        }
        assert_eq!(starts, [5, 5, 15, 100]);
        assert_eq!(front.next_ns(), u64::MAX);
    }
}
