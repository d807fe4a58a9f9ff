//! Length of a stream and its packets.

use std::num::NonZeroU64;

use super::{BEAT_BYTES, Diagnosis};

/// Length of a stream and of its packets.
///
/// The last beat of every packet, and of the stream, carries the flag `last`. The last beat of the stream may be
/// partial: its lower bytes count ([`StreamLength::bytes_of`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLength {
    /// Bytes of the stream.
    pub length_bytes: u64,
    /// Beats of a packet; `None`: the stream is one packet.
    pub packet_beats: Option<NonZeroU64>,
}

impl StreamLength {
    /// Beats, a partial one counted.
    pub fn beats(&self) -> u64 {
        self.length_bytes.div_ceil(BEAT_BYTES as u64)
    }

    /// Packets, a partial one counted.
    pub fn packets(&self) -> u64 {
        match self.packet_beats {
            Some(beats) => self.beats().div_ceil(beats.get()),
            None => u64::from(self.length_bytes > 0),
        }
    }

    /// Bytes of this beat, which may have any number, that belong to the stream.
    pub fn bytes_of(&self, beat: u64) -> usize {
        let begin = beat.saturating_mul(BEAT_BYTES as u64);
        self.length_bytes
            .saturating_sub(begin)
            .min(BEAT_BYTES as u64) as usize
    }

    /// Whether this beat carries `last`.
    pub fn is_last(&self, beat: u64) -> bool {
        let ends = |packet: NonZeroU64| (beat % packet) + 1 == packet.get();
        beat.checked_add(1) == Some(self.beats())
            || (beat < self.beats() && self.packet_beats.is_some_and(ends))
    }

    /// Check the flag `last` of this beat.
    ///
    /// # Errors
    /// [`Diagnosis::Short`] when it came too early, [`Diagnosis::Long`] when it did not come or the stream had ended
    /// before, in beats of the packet.
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
            // Without `last`, more follows.
            let beats = beats.saturating_add(u64::from(!last_seen));
            Diagnosis::Long { beats, expected }
        })
    }

    /// Check the length of a stream that has ended.
    ///
    /// # Errors
    /// [`Diagnosis::Short`] or [`Diagnosis::Long`], in beats, or [`Diagnosis::Partial`] when only the last beat has a
    /// wrong number of bytes.
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
