//! fio's random numbers: `lib/rand.c`, `lib/lfsr.c` and `hash.h` of fio 3.33.

/// The seed of random offsets where a job repeats (`FIO_RANDSEED`).
const OFFSET_SEED: u64 = 0xb189_9bed;
/// The default of `randseed`.
const DEFAULT_SEED: u64 = 0x89;
const SEED_FACTOR: u64 = 0x9e37_0001;
/// Place of the seed of random offsets among those of a thread (`FIO_RAND_BLOCK_OFF`).
const BLOCK_OFF: usize = 6;
/// That of the lengths of files (`FIO_RAND_FILE_SIZE_OFF`).
pub(super) const FILE_SIZE_OFF: usize = 7;
/// That of `sprandom` (`FIO_RAND_SPRANDOM_OFF` of fio 3.42).
pub(super) const SPRANDOM_OFF: usize = 22;
const SEEDS: usize = 23;

/// L'Ecuyer's combined Tausworthe generators, of 32 and of 64 bits.
#[derive(Clone, Debug)]
pub(super) enum Tausworthe {
    Bits32([u32; 3]),
    Bits64([u64; 5]),
}

impl Tausworthe {
    pub(super) fn new(seed: u64, wide: bool) -> Tausworthe {
        // 2^31, 2^17 and 2^7 of fio's source are exclusive ors in C: 29, 19 and 5.
        const FIRST: u64 = 29 + 19 + 5;
        let mut generator = if wide {
            let mut last = FIRST;
            Tausworthe::Bits64([1, 7, 15, 33, 49].map(|least| {
                let state = last.wrapping_mul(6_906_969_069) ^ seed;
                last = if state < least { state + least } else { state };
                last
            }))
        } else {
            let mut last = FIRST as u32;
            Tausworthe::Bits32([1, 7, 15].map(|least| {
                let state = last.wrapping_mul(69_069) ^ seed as u32;
                last = if state < least { state + least } else { state };
                last
            }))
        };
        for _ in 0..6 {
            generator.next();
        }
        generator
    }

    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        match self {
            Tausworthe::Bits32([a, b, c]) => {
                *a = ((*a & !1) << 12) ^ (((*a << 13) ^ *a) >> 19);
                *b = ((*b & !7) << 4) ^ (((*b << 2) ^ *b) >> 25);
                *c = ((*c & !15) << 17) ^ (((*c << 3) ^ *c) >> 11);
                u64::from(*a ^ *b ^ *c)
            }
            Tausworthe::Bits64(state) => {
                // Left shift of the feedback, its right shift, bits that are kept, their shift.
                const STEPS: [(u32, u32, u64, u32); 5] = [
                    (1, 53, !1, 10),
                    (24, 50, !511, 5),
                    (3, 23, !4095, 29),
                    (5, 24, !131_071, 23),
                    (3, 33, !8_388_607, 8),
                ];
                let mut sum = 0;
                for (word, (feed, back, kept, shift)) in state.iter_mut().zip(STEPS) {
                    *word = ((*word & kept) << shift) ^ (((*word << feed) ^ *word) >> back);
                    sum ^= *word;
                }
                sum
            }
        }
    }

    /// The largest number that it draws.
    pub(super) fn most(&self) -> u64 {
        match self {
            Tausworthe::Bits32(_) => u64::from(u32::MAX),
            Tausworthe::Bits64(_) => u64::MAX,
        }
    }

    /// A draw as a share, from 0 on and below 1 (of 64 bits rounding makes it 1 at times).
    #[inline]
    pub(super) fn share(&mut self) -> f64 {
        let most = self.most() as f64 + 1.0;
        self.next() as f64 / most
    }

    /// From 1 to 100.
    #[inline]
    pub(super) fn percent(&mut self) -> u32 {
        1 + (100.0 * self.share()) as u32
    }
}

/// What the random numbers of a thread begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// `randrepeat`: random offsets begin alike, whatever `randseed` is.
    pub fixed_offsets: bool,
    /// `allrandrepeat`.
    pub all_repeat: bool,
    /// `randseed`.
    pub seed: Option<u64>,
    /// From 1; the number of the thread among all of the job file.
    pub thread: u64,
}

impl Seeds {
    /// Those of a further thread, from those of the first one.
    pub(super) fn of_worker(self, worker: u32) -> Seeds {
        Seeds { thread: self.thread + u64::from(worker), ..self }
    }

    /// By place: block sizes of reads, writes and trims are 0 to 2, the mix is 4, random or
    /// sequential 10, zones 16, priorities 19.
    pub(super) fn of_thread(&self) -> [u64; SEEDS] {
        let mut seed = self.seed.unwrap_or(DEFAULT_SEED);
        for _ in 0..4 {
            seed = seed.wrapping_mul(SEED_FACTOR);
        }
        let mut seeds = [0; SEEDS];
        for (place, own) in seeds.iter_mut().enumerate() {
            *own = match self.all_repeat {
                true => OFFSET_SEED * self.thread + place as u64,
                false => seed.wrapping_mul(self.thread).wrapping_add(place as u64),
            };
            seed = seed.wrapping_mul(SEED_FACTOR);
        }
        if self.fixed_offsets {
            seeds[BLOCK_OFF] = OFFSET_SEED * self.thread;
        }
        seeds
    }

    pub(super) fn of_offsets(&self) -> u64 {
        self.of_thread()[BLOCK_OFF]
    }
}

pub(super) fn hash_u64(value: u64) -> u64 {
    value.wrapping_mul(0x61c8_8646_80b5_83eb)
}

/// Bob Jenkins' hash, with fio's slips: words of one byte each until the last twelve.
pub(super) fn jenkins_hash(key: &[u8]) -> u32 {
    let first = 0x61c8_8647_u32.wrapping_add(key.len() as u32);
    let [mut a, mut b, mut c] = [first; 3];
    let mut rest = key;
    while rest.len() > 12 {
        a = a.wrapping_add(rest[0].into());
        b = b.wrapping_add(rest[4].into());
        c = c.wrapping_add(rest[8].into());
        for rotations in [[4, 6, 8], [16, 19, 4]] {
            a = a.wrapping_sub(c) ^ c.rotate_left(rotations[0]);
            c = c.wrapping_add(b);
            b = b.wrapping_sub(a) ^ a.rotate_left(rotations[1]);
            a = a.wrapping_add(c);
            c = c.wrapping_sub(b) ^ b.rotate_left(rotations[2]);
            b = b.wrapping_add(a);
        }
        rest = &rest[12..];
    }
    if rest.is_empty() {
        return c;
    }
    let word = |from: usize| {
        let bytes = rest.iter().skip(from).take(4).enumerate();
        bytes.fold(0_u32, |word, (at, &byte)| word | u32::from(byte) << (8 * at))
    };
    a = a.wrapping_add(word(0));
    b = b.wrapping_add(word(4));
    c = c.wrapping_add(word(8));
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

/// Taps of maximal shift registers of 3 bits and more, as in fio's `lfsr_taps`.
const TAPS: [&[u8]; 61] = [
    &[3, 2],
    &[4, 3],
    &[5, 3],
    &[6, 5],
    &[7, 6],
    &[8, 6, 5, 4],
    &[9, 5],
    &[10, 7],
    &[11, 9],
    &[12, 6, 4, 1],
    &[13, 4, 3, 1],
    &[14, 5, 3, 1],
    &[15, 14],
    &[16, 15, 13, 4],
    &[17, 14],
    &[18, 11],
    &[19, 6, 2, 1],
    &[20, 17],
    &[21, 19],
    &[22, 21],
    &[23, 18],
    &[24, 23, 22, 17],
    &[25, 22],
    &[26, 6, 2, 1],
    &[27, 5, 2, 1],
    &[28, 25],
    &[29, 27],
    &[30, 6, 4, 1],
    &[31, 28],
    &[32, 31, 29, 1],
    &[33, 20],
    &[34, 27, 2, 1],
    &[35, 33],
    &[36, 25],
    &[37, 5, 4, 3, 2, 1],
    &[38, 6, 5, 1],
    &[39, 35],
    &[40, 38, 21, 19],
    &[41, 38],
    &[42, 41, 20, 19],
    &[43, 42, 38, 37],
    &[44, 43, 18, 17],
    &[45, 44, 42, 41],
    &[46, 45, 26, 25],
    &[47, 42],
    &[48, 47, 21, 20],
    &[49, 40],
    &[50, 49, 24, 23],
    &[51, 50, 36, 35],
    &[52, 49],
    &[53, 52, 38, 37],
    &[54, 53, 18, 17],
    &[55, 31],
    &[56, 55, 35, 34],
    &[57, 50],
    &[58, 39],
    &[59, 58, 38, 37],
    &[60, 59],
    &[61, 60, 46, 45],
    &[62, 61, 6, 5],
    &[63, 62],
];

/// A linear feedback shift register: each block once, without a map.
#[derive(Clone, Debug)]
pub(super) struct ShiftRegister {
    blocks: u64,
    mask: u64,
    top: u64,
    last: u64,
    drawn: u64,
    /// fio's count of a cycle, which it does not need here, makes the first draw two steps.
    is_new: bool,
}

impl ShiftRegister {
    pub(super) fn new(blocks: u64, seed: u64) -> ShiftRegister {
        let bits = (3..63).find(|bits| 1_u64 << bits > blocks).unwrap_or(63);
        let taps = TAPS[bits - 3];
        let mut register = ShiftRegister {
            blocks,
            mask: taps.iter().fold(0, |mask, tap| mask | 1 << (tap - 1)),
            top: 1 << (bits - 1),
            last: 0,
            drawn: 0,
            is_new: true,
        };
        register.reset(seed);
        register
    }

    pub(super) fn reset(&mut self, seed: u64) {
        let ones = (self.top << 1) - 1;
        self.drawn = 0;
        // The register never leaves a state of ones. fio 3.33 ends such a job without an I/O.
        self.last = match seed & ones {
            last if last == ones => 0,
            last => last,
        };
    }

    pub(super) fn next(&mut self) -> Option<u64> {
        self.drawn += 1;
        if self.drawn > self.blocks {
            return None;
        }
        let mut steps_left = 1 + u32::from(std::mem::take(&mut self.is_new));
        loop {
            steps_left = steps_left.saturating_sub(1);
            let keeps = (self.last & 1).wrapping_sub(1);
            self.last = ((self.last >> 1) | self.top) ^ (keeps & self.mask);
            if steps_left == 0 && self.last < self.blocks {
                return Some(self.last);
            }
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/access/fio/random.rs"]
mod tests;
