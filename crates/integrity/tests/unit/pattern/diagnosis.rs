use super::*;

#[test]
fn diagnoses_are_one_line() {
    let seed = 0xabc;
    let pieces = vec![MismatchRun { granules: 3..4, origin: DataOrigin::Zero }; 2];
    let all = [
        (Diagnosis::WrongSeed(seed), "0xabc"),
        (Diagnosis::Whole(DataOrigin::Seed(seed)), "0xabc"),
        (Diagnosis::Whole(DataOrigin::SeedElsewhere { seed, beat: 7 }), "beat 7"),
        (Diagnosis::Whole(DataOrigin::Place(7)), "beat 7"),
        (Diagnosis::Whole(DataOrigin::Shifted(7)), "byte 7"),
        (
            Diagnosis::Torn(MismatchRun { granules: 4..9, origin: DataOrigin::Seed(seed) }),
            "beats 4 to 8 of the chunk are stale data of seed 0xabc",
        ),
        (
            Diagnosis::BitFlip { beat: 4, mask: 0x11, beats: 1 },
            "beat 4 is wrong in bits 0, 4 and nothing else",
        ),
        (Diagnosis::BitFlip { beat: 4, mask: 1 << 127, beats: 3 }, "bit 127, and 2 more"),
        (Diagnosis::Whole(DataOrigin::Zero), "never written"),
        (Diagnosis::Whole(DataOrigin::Ones), "erased"),
        (Diagnosis::Short { beats: 3, expected: 5 }, "after 3 beats instead of 5"),
        (Diagnosis::Long { beats: 6, expected: 5 }, "after 5 beats"),
        (Diagnosis::Partial { bytes: 3, expected: 16 }, "3 bytes instead of 16"),
        (Diagnosis::Patchwork(pieces), "beat 3: zeroes; beat 3: zeroes; the rest"),
        (Diagnosis::Corrupt { first_beat: 3, beats: 2 }, "2 beats are wrong"),
    ];
    for (diagnosis, words) in all {
        let line = diagnosis.to_string();
        assert!(line.contains(words) && !line.contains('\n'), "{line}");
    }
}

#[test]
fn a_wrong_length_is_short_long_or_partial() {
    let check = |bytes| Diagnosis::check_length(bytes, 170);
    let short = |beats| Err(Diagnosis::Short { beats, expected: 11 });
    assert_eq!(check(170), Ok(()));
    assert_eq!(check(160), short(10));
    assert_eq!(check(0), short(0));
    let long = Diagnosis::Long { beats: 12, expected: 11 };
    assert_eq!(check(177), Err(long));
    let partial = Diagnosis::Partial { bytes: 16, expected: 10 };
    assert_eq!(check(176), Err(partial));
    assert_eq!(Diagnosis::check_length(0, 0), Ok(()));
    assert!(Diagnosis::check_length(u64::MAX, 3).is_err());
}
