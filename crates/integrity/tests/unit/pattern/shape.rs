use super::*;

fn shape(length_bytes: u64, packet_beats: u64) -> StreamLength {
    StreamLength {
        length_bytes,
        packet_beats: NonZeroU64::new(packet_beats),
    }
}

fn lasts(shape: StreamLength) -> Vec<u64> {
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
