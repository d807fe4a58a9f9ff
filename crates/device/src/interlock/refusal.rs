//! Refusal to overwrite a drive: its reasons as data and as text.

use std::fmt;

use serde::Serialize;

use crate::identity::DriveInfo;

/// A `--destroy` value that is close to the serial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NearMiss {
    /// The given value.
    pub given: String,
    /// The difference, e.g. "differs in upper and lower case".
    pub difference: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum RefusalReason {
    /// No `--destroy` names it.
    #[error("no --destroy names it; its serial is {serial}{}", near_misses(.near))]
    NotNamed {
        serial: String,
        /// Given values that are close to it.
        near: Vec<NearMiss>,
    },
    /// A filesystem, partition table or other signature that no `--destroy` names.
    #[error("{device} holds {what} (signature at byte {offset_bytes})")]
    Signature {
        /// Value for `--destroy`: the type in `wipefs` and `blkid`.
        word: String,
        /// Description.
        what: String,
        /// Drive or partition it was found on.
        device: String,
        /// Offset on that device, bytes.
        offset_bytes: u64,
    },
    /// Mounted.
    #[error(
        "in use: {device} is mounted at {mount_point} ({fs_type}); unmount it first (umount {})",
        quoted(.mount_point)
    )]
    Mounted {
        /// The device or file.
        device: String,
        mount_point: String,
        /// Filesystem type.
        fs_type: String,
    },
    /// Has a holder.
    #[error("in use: {device} is part of {holder} ({what}); remove that holder first")]
    Held {
        /// The device held.
        device: String,
        /// Kernel name of the holder.
        holder: String,
        /// Kind of holder.
        what: String,
    },
    /// Active swap.
    #[error("in use: {device} is active swap; run `swapoff {}` first", quoted(.device))]
    Swap {
        /// The device or file.
        device: String,
    },
    /// Backs a loop device.
    #[error(
        "in use: {device} is attached to /dev/{loop_device}; run `losetup -d /dev/{loop_device}` \
         first, or name that drive"
    )]
    BacksLoop {
        /// The device or file.
        device: String,
        /// The loop device, e.g. `loop3`.
        loop_device: String,
    },
    /// Claimed exclusively elsewhere.
    #[error(
        "in use: {device} is claimed by another program or by the kernel (EBUSY); `lsblk`, `fuser -v {}` may show by what",
        quoted(.device)
    )]
    ClaimedElsewhere { device: String },
    /// A program has locked (parts of) the file, as QEMU does with a disk image in use.
    #[error("in use: {}; end it first", lock_text(.device, *.pid))]
    Locked {
        /// The file.
        device: String,
        /// The process, where it has one.
        pid: Option<u32>,
    },
    /// Set read-only.
    #[error(
        "{drive} is set read-only; if that is not on purpose, undo it (`blockdev --setrw`, or \
         `chmod u+w` for a file)"
    )]
    ReadOnly { drive: String },
    /// The path is now another drive than the identified one.
    #[error("{drive} is not the identified drive any more: {what}; run again")]
    Changed {
        drive: String,
        /// Difference.
        what: String,
    },
    /// A check failed, which counts as a refusal.
    #[error("cannot check that it is not in use: {what}: {error}")]
    Unchecked {
        /// Failed check.
        what: String,
        error: String,
    },
}

impl RefusalReason {
    pub(super) fn unchecked(what: impl Into<String>, error: impl ToString) -> RefusalReason {
        RefusalReason::Unchecked {
            what: what.into(),
            error: error.to_string(),
        }
    }

    /// Whether a further `--destroy` value resolves it.
    pub fn can_be_overridden(&self) -> bool {
        matches!(self, Self::NotNamed { .. } | Self::Signature { .. })
    }

    /// Whether it ends when another process ends.
    fn ends_with_a_process(&self) -> bool {
        matches!(self, Self::ClaimedElsewhere { .. } | Self::Locked { .. })
    }
}

fn lock_text(device: &str, pid: Option<u32>) -> String {
    match pid {
        Some(pid) => format!("process {pid} has locked {device}"),
        None => format!("a program has locked {device}, as a virtual machine does with its disk"),
    }
}

/// The values that are close to the serial, one per line.
fn near_misses(near: &[NearMiss]) -> String {
    let line = |NearMiss { given, difference }: &NearMiss| {
        let given = quoted(given);
        format!("\n    (--destroy {given} does not count: {difference})")
    };
    near.iter().map(line).collect()
}

/// Refusal to overwrite a drive, with every reason. `Display` has several lines and ends with
/// advice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The drive as named on the command line.
    pub drive: String,
    pub serial: String,
    /// Model, where known.
    pub model: Option<String>,
    /// All reasons, those that cannot be resolved by `--destroy` first.
    pub reasons: Vec<RefusalReason>,
}

impl std::error::Error for Refusal {}

impl Refusal {
    pub(super) fn new(info: &DriveInfo, mut reasons: Vec<RefusalReason>) -> Self {
        reasons.sort_by_key(RefusalReason::can_be_overridden);
        Self {
            drive: info.spec.clone(),
            serial: info.serial.clone(),
            model: info.model.clone(),
            reasons,
        }
    }

    /// Whether more `--destroy` values would resolve it.
    pub fn can_be_overridden(&self) -> bool {
        self.reasons.iter().all(RefusalReason::can_be_overridden)
    }

    /// Whether another process that uses the drive is the only reason: the same command can succeed
    /// when that has ended.
    pub fn is_temporary(&self) -> bool {
        !self.reasons.is_empty() && self.reasons.iter().all(RefusalReason::ends_with_a_process)
    }

    /// The missing `--destroy` values, the serial first; empty when none would help.
    pub fn missing_words(&self) -> Vec<String> {
        if !self.can_be_overridden() {
            return Vec::new();
        }
        let mut words = Vec::new();
        for reason in &self.reasons {
            match reason {
                RefusalReason::NotNamed { serial, .. } => words.insert(0, serial.clone()),
                // A partition table has two copies, and several partitions one kind of filesystem:
                // one word covers them. The serial at the front may be the same word and does not.
                RefusalReason::Signature { word, .. } => {
                    let named = usize::from(matches!(
                        self.reasons.first(),
                        Some(RefusalReason::NotNamed { .. })
                    ));
                    if !words.iter().skip(named).any(|w| w == word) {
                        words.push(word.clone());
                    }
                }
                _ => {}
            }
        }
        words
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused: nothing was written to {}", self.drive)?;
        match &self.model {
            Some(model) => writeln!(f, " ({model}, serial {})", self.serial)?,
            None => writeln!(f, " (serial {})", self.serial)?,
        }
        for reason in &self.reasons {
            writeln!(f, "  - {reason}")?;
        }
        if self.is_temporary() {
            return f.write_str("Wait until that program has ended, or end it, and try again.");
        }
        if !self.can_be_overridden() {
            return f
                .write_str("A drive in this state is never written to; no option overrides that.");
        }
        f.write_str("If everything on it may be lost, add:")?;
        let words = self.missing_words();
        words
            .iter()
            .try_for_each(|word| write!(f, " --destroy {}", quoted(word)))
    }
}

/// A value quoted for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:+@%,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
