use crate::identity::DriveInfo;
use crate::signature::FoundSignature;

use super::{NearMiss, RefusalReason};

/// Within this edit distance of the serial a value counts as a typing error.
const NEAR_EDITS: usize = 2;

pub(super) fn missing(
    info: &DriveInfo,
    signatures: &[OnDevice],
    destroy: &[String],
) -> Vec<RefusalReason> {
    let mut reasons: Vec<RefusalReason> = not_named(info, destroy).into_iter().collect();
    // The serial consumes one value, so that one `ext4` does not confirm both a file of that name
    // and its filesystem.
    let mut left: Vec<&str> = destroy.iter().map(String::as_str).collect();
    if let Some(at) = left.iter().position(|word| *word == info.serial) {
        left.remove(at);
    }
    for OnDevice { device, signature } in signatures {
        // Types are compared without case.
        if !left.iter().any(|word| word.eq_ignore_ascii_case(&signature.word)) {
            reasons.push(RefusalReason::Signature {
                word: signature.word.clone(),
                what: signature.what.clone(),
                device: device.clone(),
                offset_bytes: signature.offset_bytes,
            });
        }
    }
    reasons
}

#[derive(Debug, Clone)]
pub(super) struct OnDevice {
    pub device: String,
    pub signature: FoundSignature,
}

pub(super) fn not_named(info: &DriveInfo, destroy: &[String]) -> Option<RefusalReason> {
    if destroy.contains(&info.serial) {
        return None;
    }
    let near = destroy.iter().filter_map(|given| near_miss(info, given)).collect();
    Some(RefusalReason::NotNamed { serial: info.serial.clone(), near })
}

fn near_miss(info: &DriveInfo, given: &str) -> Option<NearMiss> {
    let serial = info.serial.as_str();
    let path = info.path.as_ref().map(|p| p.display().to_string());
    let difference = if given.trim() == serial {
        "it has surrounding blanks".to_owned()
    } else if given.eq_ignore_ascii_case(serial) {
        "it differs in upper and lower case".to_owned()
    } else if given == info.name {
        "that is the drive's kernel name; give its serial".to_owned()
    } else if given == info.spec || Some(given) == path.as_deref() {
        "that is a path; give the drive's serial (or the file's name)".to_owned()
    } else if info.model.as_deref().is_some_and(|model| model.eq_ignore_ascii_case(given.trim())) {
        "that is the drive's model, which other drives share; give its serial".to_owned()
    } else if given.len() >= 4 && (serial.contains(given) || given.contains(serial)) {
        "it must be the whole serial and nothing else".to_owned()
    } else {
        // For a short serial most values are within two edits.
        let edits = edit_distance(serial, given);
        if edits > NEAR_EDITS || edits * 3 > serial.chars().count() {
            return None;
        }
        let characters =
            if edits == 1 { "one character".to_owned() } else { format!("{edits} characters") };
        format!("{characters} differ; check for a typing error or another drive")
    };
    Some(NearMiss { given: given.to_owned(), difference })
}

/// Levenshtein distance in characters, by the two-row method of Wagner and Fischer (1974).
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
#[path = "../../tests/unit/interlock/confirmation.rs"]
mod tests;
