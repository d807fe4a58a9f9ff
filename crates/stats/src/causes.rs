//! Error causes of failed I/Os: a count per Linux error number.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Linux error numbers of I/Os (include/uapi/asm-generic/errno-base.h and errno.h; the mapping from
/// block layer status is in block/blk-core.c, `blk_errors`).
const KNOWN: [(i32, &str, &str); 24] = [
    (SHORT, "short", "came back short"),
    (5, "EIO", "I/O error"),
    (6, "ENXIO", "the device is gone"),
    (9, "EBADF", "the file is closed"),
    (11, "EAGAIN", "temporarily out of resources"),
    (12, "ENOMEM", "out of memory"),
    (16, "EBUSY", "busy"),
    (19, "ENODEV", "the device is gone"),
    (22, "EINVAL", "invalid request"),
    (27, "EFBIG", "larger than a file may be"),
    (28, "ENOSPC", "no space left"),
    (30, "EROFS", "read-only"),
    (52, "EBADE", "reservation conflict"),
    (61, "ENODATA", "unrecovered medium error"),
    (62, "ETIME", "time-out in the drive"),
    (67, "ENOLINK", "transport error"),
    (75, "EOVERFLOW", "more active zones than the drive allows"),
    (84, "EILSEQ", "protection error"),
    (95, "EOPNOTSUPP", "not supported"),
    (109, "ETOOMANYREFS", "more open zones than the drive allows"),
    (110, "ETIMEDOUT", "time-out"),
    (121, "EREMOTEIO", "rejected by the drive"),
    (122, "EDQUOT", "over quota"),
    (125, "ECANCELED", "cancelled"),
];

/// Of the file system that holds a file, or of this process.
const LIMITS: [i32; 3] = [27, 28, 122];

/// Completed without an error, but moved fewer bytes than requested.
const SHORT: i32 = 0;

/// In JSON an object of the numbers' names: `{"ENODATA": 3, "short": 1}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "BTreeMap<String, u64>", from = "BTreeMap<String, u64>")]
pub struct ErrorCauses(BTreeMap<i32, u64>);

impl ErrorCauses {
    /// `result` is a negated error number, or the bytes of a short I/O.
    pub fn count(&mut self, result: i32) {
        let number = if result < 0 {
            // i32::MIN has no positive counterpart.
            result.saturating_neg()
        } else {
            SHORT
        };
        *self.0.entry(number).or_default() += 1;
    }

    pub fn merge(&mut self, others: &ErrorCauses) {
        for (&number, count) in &others.0 {
            let mine = self.0.entry(number).or_default();
            // A damaged journal can hold any counts.
            *mine = mine.saturating_add(*count);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them limits of a file system or of this process (no space, quota, `ulimit -f`), which
    /// say nothing about the drive.
    pub fn are_limits(&self) -> bool {
        !self.0.is_empty() && self.0.keys().all(|number| LIMITS.contains(number))
    }

    /// The most frequent first: `3 unrecovered medium error (ENODATA), 1 came back short`.
    pub fn text(&self) -> String {
        let mut all: Vec<(i32, u64)> = self.0.iter().map(|(&n, &count)| (n, count)).collect();
        all.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let one = |&(number, count): &(i32, u64)| match known(number) {
            Some((SHORT, _, words)) => format!("{count} {words}"),
            Some((_, name, words)) => format!("{count} {words} ({name})"),
            None => format!("{count} of error number {number}"),
        };
        let words: Vec<String> = all.iter().map(one).collect();
        words.join(", ")
    }
}

fn known(number: i32) -> Option<(i32, &'static str, &'static str)> {
    KNOWN.into_iter().find(|(n, _, _)| *n == number)
}

impl From<ErrorCauses> for BTreeMap<String, u64> {
    fn from(causes: ErrorCauses) -> BTreeMap<String, u64> {
        let name = |number: i32| match known(number) {
            Some((_, name, _)) => name.to_owned(),
            None => number.to_string(),
        };
        let counts = causes.0.into_iter();
        counts.map(|(n, count)| (name(n), count)).collect()
    }
}

impl From<BTreeMap<String, u64>> for ErrorCauses {
    /// Unknown names are left out; the total of errors is recorded separately.
    fn from(names: BTreeMap<String, u64>) -> ErrorCauses {
        let number = |name: &str| match KNOWN.iter().find(|(_, known, _)| *known == name) {
            Some((number, _, _)) => Some(*number),
            None => name.parse().ok(),
        };
        let known = names.into_iter().filter_map(|(name, count)| Some((number(&name)?, count)));
        ErrorCauses(known.collect())
    }
}

#[cfg(test)]
#[path = "../tests/unit/causes.rs"]
mod tests;
