//! How long a stream is, and where its packets end.

use std::num::NonZeroU64;

use super::{BEAT_BYTES, Diagnosis};

/// Length of a stream and of its packets.
///
/// The last beat of every packet carries the flag `last`. The stream's own last beat does too, whether or not a packet is full then, and
/// may be partial: of its 16 bytes the lower ones count ([`Shape::bytes_of`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bytes of the stream.
    pub length_bytes: u64,
    /// Beats of a packet; none: the stream is one packet.
    pub packet_beats: Option<NonZeroU64>,
}

impl Shape {
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
                bytes: Shape {
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
mod tests {
    use super::*;

    fn shape(length_bytes: u64, packet_beats: u64) -> Shape {
        Shape {
            length_bytes,
            packet_beats: NonZeroU64::new(packet_beats),
        }
    }

    fn lasts(shape: Shape) -> Vec<u64> {
        (0..40).filter(|&beat| shape.is_last(beat)).collect()
    }

    #[test]
    fn packets_end_with_last_and_the_stream_ends_with_its_last_packet() {
        assert_eq!(lasts(shape(160, 4)), [3, 7, 9]);
        assert_eq!(lasts(shape(161, 4)), [3, 7, 10]);
        assert_eq!(lasts(shape(128, 4)), [3, 7]);
        assert_eq!(lasts(shape(161, 0)), [10]);
        assert_eq!(lasts(shape(48, 1)), [0, 1, 2]);
        assert_eq!(lasts(shape(0, 4)), [0; 0]);
        assert_eq!(shape(161, 4).packets(), 3);
        assert_eq!(shape(0, 0).packets(), 0);
        assert_eq!(shape(161, 0).packets(), 1);
        let bytes: Vec<usize> = (8..13).map(|beat| shape(163, 4).bytes_of(beat)).collect();
        assert_eq!(bytes, [16, 16, 3, 0, 0]);
        assert!(!shape(u64::MAX, 3).is_last(u64::MAX));
        assert_eq!(shape(u64::MAX, 3).bytes_of(u64::MAX), 0);
    }

    #[test]
    fn a_wrong_length_is_short_or_long() {
        let packets = shape(170, 4);
        for beat in 0..11 {
            assert_eq!(packets.check_last(beat, packets.is_last(beat)), Ok(()));
            assert!(packets.check_last(beat, !packets.is_last(beat)).is_err());
        }
        let short = |beats, expected| Err(Diagnosis::Short { beats, expected });
        let long = |beats, expected| Err(Diagnosis::Long { beats, expected });
        assert_eq!(packets.check_last(5, true), short(2, 4));
        assert_eq!(packets.check_last(7, false), long(5, 4));
        assert_eq!(packets.check_last(8, true), short(1, 3));
        assert_eq!(packets.check_last(10, false), long(4, 3));
        assert_eq!(packets.check_last(13, true), long(14, 11));
        assert_eq!(shape(160, 0).check_last(4, true), short(5, 10));
        assert_eq!(shape(160, 0).check_last(9, false), long(11, 10));
        assert_eq!(packets.check_end(170), Ok(()));
        assert_eq!(packets.check_end(160), short(10, 11));
        assert_eq!(packets.check_end(0), short(0, 11));
        assert_eq!(packets.check_end(177), long(12, 11));
        let partial = Diagnosis::Partial {
            bytes: 16,
            expected: 10,
        };
        assert_eq!(packets.check_end(176), Err(partial));
    }
}
