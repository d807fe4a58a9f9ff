use super::{Channel, Violation};
use crate::signals::MAX_BEAT_BYTES;

#[derive(Clone, Copy, Debug)]
pub struct StreamSample<'s> {
    pub valid: u8,
    pub ready: u8,
    pub data: &'s [u8],
    /// Bytes that count.
    pub keep: u64,
    /// The packet ends with this beat.
    pub last: u8,
}

#[derive(Debug)]
pub struct StreamMonitor {
    name: String,
    beat_bytes: usize,
    channel: Channel<(u64, u8, [u8; MAX_BEAT_BYTES])>,
}

impl StreamMonitor {
    pub fn new(name: String, beat_bytes: usize) -> StreamMonitor {
        StreamMonitor { name, beat_bytes, channel: Channel::default() }
    }

    /// Fails with the first broken rule of this cycle.
    pub fn observe(&mut self, cycle: u64, sample: &StreamSample<'_>) -> Result<(), Violation> {
        self.check(sample).map_err(|rule| Violation {
            cycle,
            interface: self.name.clone(),
            rule: rule.to_owned(),
        })
    }

    fn check(&mut self, sample: &StreamSample<'_>) -> Result<(), &'static str> {
        let mut word = [0; MAX_BEAT_BYTES];
        if sample.valid != 0 {
            let all = u64::MAX >> (64 - self.beat_bytes);
            if sample.keep & sample.keep.wrapping_add(1) != 0 {
                return Err("the bytes kept do not begin at byte 0 without gaps");
            }
            if sample.keep & !all != 0 {
                return Err("bytes kept beyond the bus");
            }
            if sample.last == 0 && sample.keep != all {
                return Err("a partial beat inside a packet");
            }
            word[..sample.data.len()].copy_from_slice(sample.data);
        }
        let payload = (sample.keep, sample.last, word);
        self.channel.observe(sample.valid, sample.ready, payload)?;
        Ok(())
    }
}
