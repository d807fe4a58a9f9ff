//! Which words of `--destroy` a drive needs, which are there, and which come near.

use crate::identity::DriveInfo;
use crate::signature::FoundSignature;

use super::{NearMiss, Reason};

/// A word at most this many edits away from the serial is taken for a slip of the pen.
const NEAR_EDITS: usize = 2;

/// The reasons that remain once the words given are counted off against those needed.
pub(super) fn missing(
    info: &DriveInfo,
    signatures: &[OnDevice],
    destroy: &[String],
) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = not_named(info, destroy).into_iter().collect();
    // The serial uses up one word, so that a file called `ext4` is not named and stripped of its filesystem by the same word.
    let mut left: Vec<&str> = destroy.iter().map(String::as_str).collect();
    if let Some(at) = left.iter().position(|word| *word == info.serial) {
        left.remove(at);
    }
    for OnDevice { device, signature } in signatures {
        // Types are fixed words and carry no secret: upper and lower case do not matter.
        if !left
            .iter()
            .any(|word| word.eq_ignore_ascii_case(&signature.word))
        {
            reasons.push(Reason::Signature {
                word: signature.word.clone(),
                what: signature.what.clone(),
                device: device.clone(),
                offset_bytes: signature.offset_bytes,
            });
        }
    }
    reasons
}

/// A signature and the device it was found on.
#[derive(Debug, Clone)]
pub(super) struct OnDevice {
    pub device: String,
    pub signature: FoundSignature,
}

/// The refusal for a drive that is not named, if it is not.
pub(super) fn not_named(info: &DriveInfo, destroy: &[String]) -> Option<Reason> {
    if destroy.contains(&info.serial) {
        return None;
    }
    let near = destroy
        .iter()
        .filter_map(|given| near_miss(info, given))
        .collect();
    Some(Reason::NotNamed {
        serial: info.serial.clone(),
        near,
    })
}

fn near_miss(info: &DriveInfo, given: &str) -> Option<NearMiss> {
    let serial = info.serial.as_str();
    let path = info.path.as_ref().map(|p| p.display().to_string());
    let difference = if given.trim() == serial {
        "it has blanks around it".to_owned()
    } else if given.eq_ignore_ascii_case(serial) {
        "it differs in upper and lower case".to_owned()
    } else if given == info.name {
        "that is the drive's kernel name; its serial is asked for".to_owned()
    } else if given == info.spec || Some(given) == path.as_deref() {
        "that is a path; the drive's serial (or a file's name) is asked for".to_owned()
    } else if info
        .model
        .as_deref()
        .is_some_and(|model| model.eq_ignore_ascii_case(given.trim()))
    {
        "that is the drive's model, which other drives share; its serial is asked for".to_owned()
    } else if given.len() >= 4 && (serial.contains(given) || given.contains(serial)) {
        "it must be the whole serial and nothing else".to_owned()
    } else {
        // Of a short name nearly everything is two edits away.
        let edits = edit_distance(serial, given);
        if edits > NEAR_EDITS || edits * 3 > serial.chars().count() {
            return None;
        }
        let characters = if edits == 1 {
            "one character".to_owned()
        } else {
            format!("{edits} characters")
        };
        format!("{characters} differ; is it another drive, or mistyped?")
    };
    Some(NearMiss {
        given: given.to_owned(),
        difference,
    })
}

/// Levenshtein distance in characters (insertions, deletions, substitutions), by the two-row method of Wagner and Fischer (1974).
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
        for (j, to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::DriveKind;
    use crate::interlock::Refusal;

    fn drive(serial: &str) -> DriveInfo {
        let mut info = DriveInfo::new(DriveKind::Block, "/dev/nvme0n1", "nvme0n1", 1 << 30);
        info.serial = serial.into();
        info.model = Some("Acme 9".into());
        info
    }

    fn found(word: &str) -> OnDevice {
        let signature = FoundSignature {
            word: word.into(),
            what: format!("an {word} filesystem"),
            offset_bytes: 1080,
        };
        OnDevice {
            device: "/dev/nvme0n1".into(),
            signature,
        }
    }

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|w| (*w).to_owned()).collect()
    }

    #[test]
    fn only_the_exact_serial_names_a_drive() {
        let info = drive("S5H9NX0R123");
        assert_eq!(missing(&info, &[], &strings(&["S5H9NX0R123"])), []);
        for (given, says) in [
            ("s5h9nx0r123", "upper and lower"),
            (" S5H9NX0R123", "blanks"),
            ("S5H9NX0R12", "whole serial"),
            ("S5H9NX0R128", "one character"),
            ("nvme0n1", "kernel name"),
            ("/dev/nvme0n1", "path"),
            ("acme 9", "model"),
        ] {
            let Some(Reason::NotNamed { near, .. }) = not_named(&info, &strings(&[given])) else {
                panic!("{given} counted")
            };
            assert!(
                near.len() == 1 && near[0].difference.contains(says),
                "{given}: {near:?}"
            );
        }
        let Some(Reason::NotNamed { near, .. }) = not_named(&info, &strings(&["WD-OTHER", "ext4"]))
        else {
            panic!("counted")
        };
        assert_eq!(near, []);
    }

    #[test]
    fn every_signature_must_be_named() {
        let info = drive("S1");
        let signatures = [found("gpt"), found("ext4"), found("ext4")];
        assert_eq!(
            missing(&info, &signatures, &strings(&["S1", "GPT", "ext4"])),
            []
        );
        let refusal = Refusal::new(&info, missing(&info, &signatures, &strings(&["gpt"])));
        assert_eq!(refusal.missing_words(), ["S1", "ext4"]);
        assert!(
            refusal
                .to_string()
                .ends_with("add: --destroy S1 --destroy ext4"),
            "{refusal}"
        );
    }

    #[test]
    fn a_drive_called_like_its_filesystem_needs_the_word_twice() {
        let info = drive("ext4");
        let refusal = Refusal::new(&info, missing(&info, &[found("ext4")], &strings(&["ext4"])));
        assert_eq!(refusal.missing_words(), ["ext4"]);
        assert_eq!(
            missing(&info, &[found("ext4")], &strings(&["ext4", "ext4"])),
            []
        );
        let refusal = Refusal::new(&info, missing(&info, &[found("ext4")], &[]));
        assert_eq!(refusal.missing_words(), ["ext4", "ext4"]);
    }

    #[test]
    fn words_are_printed_as_a_shell_needs_them() {
        let refusal = Refusal::new(&drive("AB 12'3"), missing(&drive("AB 12'3"), &[], &[]));
        assert!(
            refusal.to_string().ends_with("--destroy 'AB 12'\\''3'"),
            "{refusal}"
        );
    }

    #[test]
    fn nothing_is_offered_for_a_drive_in_use() {
        let info = drive("S1");
        let mut reasons = missing(&info, &[found("ext4")], &[]);
        reasons.push(Reason::Swap {
            device: "/dev/nvme0n1".into(),
        });
        let refusal = Refusal::new(&info, reasons);
        assert!(matches!(refusal.reasons[0], Reason::Swap { .. }));
        assert_eq!(refusal.missing_words(), Vec::<String>::new());
        assert!(!refusal.to_string().contains("add:"), "{refusal}");
    }

    #[test]
    fn edit_distances() {
        for (a, b, edits) in [
            ("", "", 0),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("abc", "abc", 0),
            ("ab", "ba", 2),
            ("é", "e", 1),
        ] {
            assert_eq!(edit_distance(a, b), edits, "{a} {b}");
            assert_eq!(edit_distance(b, a), edits, "{b} {a}");
        }
    }
}
