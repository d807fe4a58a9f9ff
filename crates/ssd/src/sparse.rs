use std::collections::BTreeMap;

const CHUNK: u64 = 256;

#[derive(Clone, Debug, Default)]
pub struct SparseTable {
    /// By page / [`CHUNK`]: the numbers, and how many of them are not 0 (at least one).
    chunks: BTreeMap<u64, (Box<[u32; CHUNK as usize]>, u32)>,
}

impl SparseTable {
    pub fn get(&self, page: u64) -> u32 {
        let chunk = self.chunks.get(&(page / CHUNK));
        chunk.map_or(0, |(numbers, _)| numbers[(page % CHUNK) as usize])
    }

    pub fn set(&mut self, page: u64, number: u32) -> u32 {
        if number == 0 && !self.chunks.contains_key(&(page / CHUNK)) {
            return 0;
        }
        let empty = || (Box::new([0; CHUNK as usize]), 0);
        let (numbers, used) = self.chunks.entry(page / CHUNK).or_insert_with(empty);
        let old = std::mem::replace(&mut numbers[(page % CHUNK) as usize], number);
        *used += u32::from(number != 0);
        *used -= u32::from(old != 0);
        if *used == 0 {
            self.chunks.remove(&(page / CHUNK));
        }
        old
    }

    /// Only pages whose number is not 0, in order.
    pub fn range(&self, first: u64, end: u64) -> impl Iterator<Item = (u64, u32)> {
        let chunks = self.chunks.range(first / CHUNK..end.div_ceil(CHUNK));
        let entries = chunks.flat_map(move |(&chunk, (numbers, _))| {
            let from = first.saturating_sub(chunk * CHUNK);
            (chunk * CHUNK + from..end).zip(numbers[from as usize..].iter().copied())
        });
        entries.filter(|&(_, number)| number != 0)
    }

    pub fn resident_bytes(&self) -> u64 {
        self.chunks.len() as u64 * CHUNK * 4
    }
}
