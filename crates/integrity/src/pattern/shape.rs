//! How long a stream is, and where its packets end.

use std::num::NonZeroU64;

use super::{BEAT_BYTES, Diagnosis};

/// Length of a stream and of its packets.
///
/// The last beat of every packet carries the flag `last`. The stream's own last beat does too, whether or not a packet is full then, and
/// may be partial: of its 16 bytes the lower ones count ([`StreamLength::bytes_of`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLength {
    /// Bytes of the stream.
    pub length_bytes: u64,
    /// Beats of a packet; none: the stream is one packet.
    pub packet_beats: Option<NonZeroU64>,
}

impl StreamLength {
    /// Beats of the stream, the partial one included.
    pub fn beats(&self) -> u64 {
        self.length_bytes.div_ceil(BEAT_BYTES as u64)
    }

    /// Packets of the stream, the partial one included.
    pub fn packets(&self) -> u64 {
        match self.packet_beats {
            Some(beats) => self.beats().div_ceil(beats.get()),
            None => u64::from(self.length_bytes > 0),
        }
    }

    /// How many bytes of this beat belong to the stream: 16, fewer in a partial last beat, none beyond.
    pub fn bytes_of(&self, beat: u64) -> usize {
        let begin = beat.saturating_mul(BEAT_BYTES as u64);
        self.length_bytes
            .saturating_sub(begin)
            .min(BEAT_BYTES as u64) as usize
    }

    /// Does this beat carry `last`?
    pub fn is_last(&self, beat: u64) -> bool {
        let ends = |packet: NonZeroU64| (beat % packet) + 1 == packet.get();
        beat.checked_add(1) == Some(self.beats())
            || (beat < self.beats() && self.packet_beats.is_some_and(ends))
    }

    /// Is `last` where it should be? `last_seen` is what this beat carried.
    ///
    /// # Errors
    /// [`Diagnosis::Short`] when `last` came too early, [`Diagnosis::Long`] when it did not come, or the stream had ended before; counted
    /// in beats of the packet.
    pub fn check_last(&self, beat: u64, last_seen: bool) -> Result<(), Diagnosis> {
        if beat < self.beats() && last_seen == self.is_last(beat) {
            return Ok(());
        }
        let (begin, expected) = match self.packet_beats {
            Some(packet) if beat < self.beats() => {
                let begin = beat - beat % packet;
                (begin, packet.get().min(self.beats() - begin))
            }
            _ => (0, self.beats()),
        };
        let beats = beat.saturating_add(1) - begin;
        Err(if beats < expected {
            Diagnosis::Short { beats, expected }
        } else {
            // Without `last` there is more to come.
            let beats = beats.saturating_add(u64::from(!last_seen));
            Diagnosis::Long { beats, expected }
        })
    }

    /// Is a stream that ended after so many bytes as long as it should be?
    ///
    /// # Errors
    /// [`Diagnosis::Short`] or [`Diagnosis::Long`], in beats (a partial one counts as one), or [`Diagnosis::Partial`] when only the last
    /// beat has a wrong number of bytes.
    pub fn check_end(&self, length_bytes: u64) -> Result<(), Diagnosis> {
        let beats = length_bytes.div_ceil(BEAT_BYTES as u64);
        let expected = self.beats();
        match beats.cmp(&expected) {
            _ if length_bytes == self.length_bytes => Ok(()),
            std::cmp::Ordering::Less => Err(Diagnosis::Short { beats, expected }),
            std::cmp::Ordering::Greater => Err(Diagnosis::Long { beats, expected }),
            std::cmp::Ordering::Equal => Err(Diagnosis::Partial {
                bytes: StreamLength {
                    length_bytes,
                    ..*self
                }
                .bytes_of(beats - 1),
                expected: self.bytes_of(beats - 1),
            }),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/pattern/shape.rs"]
mod tests;
