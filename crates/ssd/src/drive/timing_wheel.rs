//! Timing wheel for completions of the next half millisecond (G. Varghese and T. Lauck, "Hashed and
//! hierarchical timing wheels", SOSP 1987). Most buckets hold one entry; the next one is found by a
//! bit per bucket.

const NONE: u32 = u32::MAX;
/// A bucket is 2^9 ns: at a million completions per second every second bucket has one.
const BUCKET_SHIFT: u32 = 9;
/// Buckets per turn: half a millisecond, longer than nearly all reads.
const BUCKETS: usize = 1024;
const WORDS: usize = BUCKETS / 64;
const REACH: usize = 8;

#[derive(Clone, Copy, Debug)]
struct Node {
    at_ns: u64,
    seq: u32,
    next: u32,
}

const NOTHING: Node = Node { at_ns: u64::MAX, seq: 0, next: NONE };

#[derive(Clone, Debug)]
pub(super) struct TimingWheel {
    /// First of each bucket; undefined where its bit is clear.
    heads: Box<[u32; BUCKETS]>,
    /// Bit per non-empty bucket, and bit per non-zero word of them.
    filled: [u64; WORDS],
    filled_words: u32,
    nodes: Vec<Node>,
    base: u64,
    pub(super) next_ns: u64,
    next_number: u32,
}

impl TimingWheel {
    pub(super) fn new() -> TimingWheel {
        TimingWheel {
            heads: Box::new([NONE; BUCKETS]),
            filled: [0; WORDS],
            filled_words: 0,
            nodes: Vec::new(),
            base: 0,
            next_ns: u64::MAX,
            next_number: 0,
        }
    }

    pub(super) fn next_seq(&self) -> u32 {
        let first = self.nodes.get(self.next_number as usize);
        first.map_or(0, |node| node.seq)
    }

    /// Later entries due before `at_ns` are refused.
    #[inline]
    pub(super) fn turn_to(&mut self, at_ns: u64) {
        self.base = self.base.max(at_ns >> BUCKET_SHIFT);
    }

    /// `false` when the time is beyond the turn or its bucket is crowded.
    #[inline(always)]
    pub(super) fn push(&mut self, at_ns: u64, seq: u32, number: u32) -> bool {
        let bucket = at_ns >> BUCKET_SHIFT;
        if bucket.wrapping_sub(self.base) >= BUCKETS as u64 {
            return false;
        }
        if self.nodes.len() <= number as usize {
            self.nodes.resize(number as usize + 1, NOTHING);
        }
        let bucket = bucket as usize % BUCKETS;
        let (word, bit) = (bucket / 64, 1 << (bucket % 64));
        if self.filled[word] & bit != 0 {
            return self.push_behind(bucket, at_ns, seq, number);
        }
        self.filled[word] |= bit;
        self.filled_words |= 1 << word;
        self.heads[bucket] = number;
        self.nodes[number as usize] = Node { at_ns, seq, next: NONE };
        // Alone in its bucket: no other has its time.
        if at_ns < self.next_ns {
            (self.next_ns, self.next_number) = (at_ns, number);
        }
        true
    }

    #[inline(never)]
    fn push_behind(&mut self, bucket: usize, at_ns: u64, seq: u32, number: u32) -> bool {
        let mut before = NONE;
        let mut behind = self.heads[bucket];
        for _ in 0..REACH {
            let is_place = behind == NONE || {
                let other = &self.nodes[behind as usize];
                at_ns < other.at_ns
                    || (at_ns == other.at_ns && (seq.wrapping_sub(other.seq) as i32) < 0)
            };
            if !is_place {
                before = behind;
                behind = self.nodes[behind as usize].next;
                continue;
            }
            self.nodes[number as usize] = Node { at_ns, seq, next: behind };
            if before != NONE {
                self.nodes[before as usize].next = number;
                return true;
            }
            self.heads[bucket] = number;
            if behind == self.next_number || at_ns < self.next_ns {
                (self.next_ns, self.next_number) = (at_ns, number);
            }
            return true;
        }
        false
    }

    /// Remove the first entry, which must exist; returns its time and number.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> (u64, u32) {
        let first = (self.next_ns, self.next_number);
        let bucket = (self.next_ns >> BUCKET_SHIFT) as usize % BUCKETS;
        let word = bucket / 64;
        let mut next = self.nodes[self.next_number as usize].next;
        if next == NONE {
            let others = self.filled[word] & !(1 << (bucket % 64));
            self.filled[word] = others;
            // Earlier buckets of this word belong to the next turn.
            let after = others >> (bucket % 64) << (bucket % 64);
            let bucket = if after != 0 {
                word * 64 + after.trailing_zeros() as usize
            } else {
                self.first_after(word)
            };
            next = self.heads[bucket % BUCKETS];
        } else {
            self.heads[bucket] = next;
        }
        let at_ns = self.nodes.get(next as usize).map_or(u64::MAX, |node| node.at_ns);
        (self.next_ns, self.next_number) = (at_ns, next);
        first
    }

    /// First non-empty bucket after this word, wrapping; if none, one with an empty list.
    #[inline]
    fn first_after(&mut self, word: usize) -> usize {
        let emptied = u32::from(self.filled[word] == 0) << word;
        self.filled_words &= !emptied;
        if self.filled_words == 0 {
            self.heads[word * 64] = NONE;
            return word * 64;
        }
        let two_turns = self.filled_words | self.filled_words << WORDS;
        let found = (two_turns >> (word + 1)).trailing_zeros() as usize;
        let word = (word + 1 + found) % WORDS;
        word * 64 + self.filled[word].trailing_zeros() as usize
    }
}
