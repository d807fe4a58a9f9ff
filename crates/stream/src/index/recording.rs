use super::{IndexError, RecordingHeader, RecordingPart};
use crate::queue::StreamQueue;

#[derive(Debug)]
pub struct Recording {
    pub parts: Vec<RecordingPart>,
    /// First chunk of the stream.
    pub from: u64,
    /// End of the chunks.
    pub to: u64,
    /// All chunks before it were reported durable, whether or not the index still has them.
    pub durable: u64,
    /// Chunks that must exist (durable, or of an ended recording) and are not indexed: both copies
    /// of an index block are damaged, or the recorder was stopped and unflushed data are lost.
    pub missing: u64,
}

impl Recording {
    /// The second result is the order in which the queues must be used.
    pub fn assemble(
        mut found: Vec<(String, RecordingPart)>,
    ) -> Result<(Recording, Vec<usize>), IndexError> {
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by_key(|&at| found[at].1.header.drive);
        let first = found.first().map(|(_, part)| part.header.clone());
        for (expected, &at) in order.iter().enumerate() {
            let (name, part) = &found[at];
            let header = &part.header;
            let chunk_bytes = header.layout.chunk_bytes;
            let unlike = |differs: fn(&RecordingHeader, &RecordingHeader) -> bool| {
                first.as_ref().is_some_and(|first| differs(first, header))
            };
            let what = if unlike(|a, b| a.stream != b.stream) {
                format!("it holds another recording ({})", header.stream)
            } else if header.drives as usize != found.len() || header.drive as usize != expected {
                format!(
                    "it is drive {} of {} of its recording, and {} {} named",
                    header.drive + 1,
                    header.drives,
                    found.len(),
                    if found.len() == 1 { "was" } else { "were" }
                )
            } else if unlike(|a, b| a.layout.chunk_bytes != b.layout.chunk_bytes) {
                format!("its chunks have {chunk_bytes} bytes, unlike the others")
            } else {
                continue;
            };
            let drive = name.clone();
            return Err(IndexError::Mixed { drive, what });
        }
        found.sort_by_key(|(_, part)| part.header.drive);
        let parts: Vec<RecordingPart> = found.into_iter().map(|(_, part)| part).collect();
        let drives = parts.len() as u64;
        let numbered = || (0_u64..).zip(&parts);
        // Chunk s of the stream is chunk s / drives of drive s % drives.
        let first_of = |local: fn(&RecordingPart) -> u64| {
            let first = |(drive, part)| match u64::checked_sub(local(part), 1) {
                Some(before) => before.saturating_mul(drives).saturating_add(drive + 1),
                None => 0,
            };
            numbered().map(first).max().unwrap_or(0)
        };
        let to = numbered().map(|(drive, part)| part.to * drives + drive).min();
        // Header values may be arbitrary: no overflow.
        let durable = numbered()
            .map(|(drive, part)| {
                let chunks = part.header.durable_chunks;
                chunks.saturating_mul(drives).saturating_add(drive)
            })
            .min();
        let (to, durable) = (to.unwrap_or(0), durable.unwrap_or(0));
        let from = first_of(|part| part.from).min(to);
        let ended = parts.iter().map(|part| part.header.ended_chunks()).min();
        let end = durable.max(ended.flatten().unwrap_or(0)).max(to);
        let begin = first_of(|part| part.begins).min(end);
        let missing = (end - begin) - (to - from.max(begin).min(to));
        let recording = Recording { from, to, durable, missing, parts };
        Ok((recording, order))
    }

    pub fn header(&self) -> Option<&RecordingHeader> {
        self.parts.first().map(|part| &part.header)
    }

    pub fn is_ended(&self) -> bool {
        !self.parts.is_empty() && self.parts.iter().all(|part| part.header.ended)
    }

    /// Ended, and completely indexed.
    pub fn is_whole(&self) -> bool {
        let length = self.header().and_then(RecordingHeader::ended_chunks);
        self.is_ended() && self.missing == 0 && length == Some(self.to)
    }

    /// In a ring whose recorder was interrupted, chunks at the old end may have been overwritten by
    /// unindexed chunks. Drops all up to the last one that is unreadable or has a wrong checksum;
    /// returns their number.
    pub fn trim(&mut self, queues: &mut [StreamQueue<'_>]) -> Result<u64, IndexError> {
        let cut_off = self.parts.iter().filter(|part| part.header.ring && !part.header.ended);
        // The window counts chunks of the whole stream; drives may differ by one chunk. Chunks that
        // are not known to be durable belong to the new end and are not dropped here.
        let window = cut_off.map(|part| part.header.window_chunks).max();
        let suspects = window
            .map_or(0, |window| window.saturating_add(self.parts.len() as u64))
            .min(self.durable.min(self.to).saturating_sub(self.from));
        let mut chunk_bytes = Vec::new();
        let mut trimmed = 0;
        for chunk in self.from..self.from + suspects {
            let (drive, local, address) = self.locate(chunk);
            let part = &mut self.parts[drive];
            chunk_bytes.resize(part.header.layout.chunk_bytes as usize, 0);
            let others = &mut Vec::new();
            let read = queues[drive].read_now(address, &mut chunk_bytes, others)?;
            let entry = part.entry(&mut queues[drive], local, others)?;
            if read.is_err() || !entry.is_some_and(|entry| entry.is_of(&chunk_bytes)) {
                trimmed = chunk - self.from + 1;
            }
        }
        self.from += trimmed;
        Ok(trimmed)
    }

    pub fn first_byte(&self) -> u64 {
        let chunk_bytes = self.header().map_or(0, |header| header.layout.chunk_bytes);
        self.from.saturating_mul(u64::from(chunk_bytes))
    }

    /// Part, number on its drive and address of a chunk.
    pub(crate) fn locate(&self, chunk: u64) -> (usize, u64, u64) {
        let drives = self.parts.len().max(1) as u64;
        let (drive, local) = ((chunk % drives) as usize, chunk / drives);
        (drive, local, self.parts[drive].header.layout.chunk_address(local))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/index/recording.rs"]
mod tests;
