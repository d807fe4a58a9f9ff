//! NVMe front end: submission queues, round-robin arbitration with a burst of one (NVM Express Base
//! Specification 1.4, section 4.13.1), and controller cores. Cores are identical, so only the
//! sorted times at which they become free are kept. Where the queues are in two banks, those of
//! even and those of odd number, arbitration is between the banks in turns, and in a bank between
//! its queues.

use crate::fastdiv::FastDiv;

/// No command; the entry of this link never arrives.
const NONE: u32 = 0;

#[derive(Clone, Copy, Debug)]
struct Queue {
    head_ns: u64,
    /// First and last command, by link; the last is undefined when empty.
    head: u32,
    tail: u32,
}

const EMPTY: Queue = Queue { head_ns: u64::MAX, head: NONE, tail: NONE };

/// Two banks of queues: the next of each, and the bank whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Banks {
    turns: [u32; 2],
    turn: usize,
}

impl Banks {
    fn mask(bank: usize) -> u128 {
        (u128::MAX / 3) << bank
    }

    /// The bank of this queue had its turn.
    fn served(&mut self, queue: u32, queues: u32) {
        let bank = queue & 1;
        let next = queue + 2;
        self.turns[bank as usize] = if next < queues { next } else { bank };
        self.turn = 1 - bank as usize;
    }

    /// Of the waiting queues, a bit each; not zero.
    fn first(&self, waiting: u128) -> u32 {
        let own = waiting & Banks::mask(self.turn);
        let (bank, waiting) = match own {
            0 => (1 - self.turn, waiting),
            own => (self.turn, own),
        };
        first_from(waiting, self.turns[bank])
    }
}

/// First bit from this one on, wrapping.
#[inline]
fn first_from(waiting: u128, turn: u32) -> u32 {
    let from_turn = waiting >> turn << turn;
    let mask = if from_turn == 0 { waiting } else { from_turn };
    mask.trailing_zeros()
}

#[derive(Clone, Debug)]
pub struct Frontend {
    queues: Vec<Queue>,
    queue_count: FastDiv,
    /// Per link (command number + 1): arrival time and next link.
    links: Vec<(u64, u32)>,
    /// Bit per non-empty queue: the first 64 queues, then the others.
    waiting: [u64; 2],
    turn: u32,
    /// In place of `turn`, where the queues are in banks.
    banks: Option<Banks>,
    /// First non-empty queue from the turn on, wrapping; undefined when all are empty.
    next_queue: u32,
    cores: Vec<u64>,
    free_ns: u64,
    /// Equal to `free_ns` while nothing waits, `u64::MAX` otherwise.
    at_once_ns: u64,
    pub next_ns: u64,
}

impl Frontend {
    /// `queues` is clamped to 1 to 128, `cores` to at least 1; queues are in two banks or in one.
    pub fn new(queues: u16, cores: u8, in_banks: bool) -> Frontend {
        let queues = queues.clamp(1, 128);
        Frontend {
            queues: vec![EMPTY; usize::from(queues)],
            queue_count: FastDiv::new(u32::from(queues)),
            links: vec![(u64::MAX, NONE)],
            waiting: [0; 2],
            turn: 0,
            banks: in_banks.then_some(Banks { turns: [0, 1], turn: 0 }),
            next_queue: 0,
            cores: vec![0; usize::from(cores.max(1))],
            free_ns: 0,
            at_once_ns: 0,
            next_ns: u64::MAX,
        }
    }

    /// Whether an idle core takes the command on arrival, so that it need not be queued.
    #[inline]
    pub fn take_at_once(&mut self, queue: u16, arrival_ns: u64) -> bool {
        if self.at_once_ns > arrival_ns {
            return false;
        }
        self.served(self.granted(queue) as u32);
        true
    }

    #[inline]
    fn granted(&self, queue: u16) -> usize {
        self.queue_count.div_rem(u32::from(queue)).1 as usize
    }

    /// The turn goes on behind this queue.
    #[inline]
    fn served(&mut self, queue: u32) {
        let next = queue + 1;
        self.turn = match next == self.queue_count.divisor {
            true => 0,
            false => next,
        };
        if let Some(banks) = &mut self.banks {
            banks.served(queue, self.queue_count.divisor);
        }
    }

    /// Arrivals come in order of time. Memory is kept up to the largest `number`.
    #[inline]
    pub fn push(&mut self, queue: u16, arrival_ns: u64, number: u32) {
        let index = self.granted(queue);
        let link = number as usize + 1;
        if self.links.len() <= link {
            self.links.resize(link + 1, (u64::MAX, NONE));
        }
        self.links[link] = (arrival_ns, NONE);
        let queue = &mut self.queues[index];
        let behind = std::mem::replace(&mut queue.tail, link as u32);
        if queue.head == NONE {
            queue.head = link as u32;
            queue.head_ns = arrival_ns;
            self.waiting[index >> 6 & 1] |= 1 << (index & 63);
            self.find_queue();
            if self.next_ns == u64::MAX {
                self.next_ns = arrival_ns.max(self.free_ns);
                self.at_once_ns = u64::MAX;
            }
        } else {
            self.links[behind as usize].1 = link as u32;
        }
    }

    #[inline(always)]
    pub fn take(&mut self, until_ns: u64) -> Option<(u64, u32)> {
        if self.next_ns > until_ns {
            return None;
        }
        let start = self.next_ns;
        let mut index = self.next_queue as usize;
        if self.queues[index].head_ns > start {
            index = self.arrived_queue(start)?;
        }
        let queue = &mut self.queues[index];
        let head = queue.head;
        // Behind the last command is the link that never arrives.
        let behind = self.links[head as usize].1;
        queue.head = behind;
        queue.head_ns = self.links[behind as usize].0;
        self.waiting[index >> 6 & 1] &= !(u64::from(behind == NONE) << (index & 63));
        self.served(index as u32);
        Some((start, head - 1))
    }

    #[inline]
    fn find_queue(&mut self) {
        let wide = || u128::from(self.waiting[1]) << 64 | u128::from(self.waiting[0]);
        let first = if let Some(banks) = &self.banks {
            banks.first(wide())
        } else if self.queues.len() <= 64 {
            let waiting = self.waiting[0];
            let from_turn = waiting >> self.turn << self.turn;
            let mask = if from_turn == 0 { waiting } else { from_turn };
            mask.trailing_zeros()
        } else {
            first_from(wide(), self.turn)
        };
        self.next_queue = first.min(self.queue_count.divisor - 1);
    }

    #[cold]
    fn arrived_queue(&self, start_ns: u64) -> Option<usize> {
        let queues = self.queues.iter().enumerate();
        let arrived = queues.filter(|(_, queue)| queue.head_ns <= start_ns);
        let arrived = arrived.fold(0_u128, |mask, (queue, _)| mask | 1 << queue);
        let first = match &self.banks {
            _ if arrived == 0 => return None,
            Some(banks) => banks.first(arrived),
            None => first_from(arrived, self.turn),
        };
        Some(first as usize)
    }

    /// Keep the core that is free first busy until then; call after each [`Frontend::take`].
    #[inline(always)]
    pub fn occupy(&mut self, until_ns: u64) {
        let mut carried_ns = until_ns;
        let cores = &mut self.cores[..];
        for at in 1..cores.len() {
            let later_ns = cores[at].max(carried_ns);
            cores[at - 1] = cores[at].min(carried_ns);
            carried_ns = later_ns;
        }
        let last = cores.len() - 1;
        cores[last] = carried_ns;
        self.free_ns = cores[0];
        self.find_next();
    }

    #[inline(always)]
    fn find_next(&mut self) {
        if self.waiting[0] | self.waiting[1] == 0 {
            self.next_ns = u64::MAX;
            self.at_once_ns = self.free_ns;
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
#[path = "../tests/unit/frontend.rs"]
mod tests;
