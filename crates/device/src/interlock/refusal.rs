use std::fmt;

use serde::Serialize;

use crate::identity::DriveInfo;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NearMiss {
    pub given: String,
    /// For example "differs in upper and lower case".
    pub difference: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum RefusalReason {
    #[error("no --destroy names it; its serial is {serial}{}", near_misses(.near))]
    NotNamed {
        serial: String,
        /// Given values that are close to it.
        near: Vec<NearMiss>,
    },
    /// No `--destroy` names the signature.
    #[error("{device} holds {what} (signature at byte {offset_bytes})")]
    Signature {
        /// Value for `--destroy`: the type in `wipefs` and `blkid`.
        word: String,
        what: String,
        device: String,
        offset_bytes: u64,
    },
    #[error(
        "in use: {device} is mounted at {mount_point} ({fs_type}); unmount it first (umount {})",
        quoted(.mount_point)
    )]
    Mounted { device: String, mount_point: String, fs_type: String },
    #[error("in use: {device} is part of {holder} ({what}); remove that holder first")]
    Held {
        device: String,
        /// Kernel name.
        holder: String,
        what: String,
    },
    #[error("in use: {device} is active swap; run `swapoff {}` first", quoted(.device))]
    Swap {
        /// The device or file.
        device: String,
    },
    #[error(
        "in use: {device} is attached to /dev/{loop_device}; run `losetup -d /dev/{loop_device}` \
         first, or name that drive"
    )]
    BacksLoop {
        device: String,
        /// E.g. `loop3`.
        loop_device: String,
    },
    #[error(
        "in use: {device} is claimed by another program or by the kernel (EBUSY); `lsblk`, `fuser \
         -v {}` may show by what",
        quoted(.device)
    )]
    ClaimedElsewhere { device: String },
    /// The kernel mounts such a file without a loop device, by any name and in any namespace.
    #[error(
        "in use: {device} holds {what}, and a mount or a program has it open: end it first \
         (umount, also in other mount namespaces; `fuser -v {}`)",
        quoted(.device)
    )]
    OpenElsewhere {
        /// The file.
        device: String,
        /// File system.
        what: String,
    },
    /// A program has locked (parts of) the file, as QEMU does with a disk image.
    #[error("in use: {}; end it first", lock_text(.device, *.pid))]
    Locked {
        /// The file.
        device: String,
        pid: Option<u32>,
    },
    #[error(
        "{drive} is set read-only; if that is not on purpose, undo it (`blockdev --setrw`, or \
         `chmod u+w` for a file)"
    )]
    ReadOnly { drive: String },
    #[error("{drive} is not the identified drive any more: {what}; run again")]
    Changed {
        drive: String,
        /// Difference.
        what: String,
    },
    /// A failed check counts as a refusal.
    #[error("cannot check that it is not in use: {what}: {error}")]
    Unchecked {
        /// Failed check.
        what: String,
        error: String,
    },
}

impl RefusalReason {
    pub(super) fn unchecked(what: impl Into<String>, error: impl ToString) -> RefusalReason {
        RefusalReason::Unchecked { what: what.into(), error: error.to_string() }
    }

    /// A further `--destroy` value resolves it.
    pub fn can_be_overridden(&self) -> bool {
        matches!(self, Self::NotNamed { .. } | Self::Signature { .. })
    }

    /// It ends when another process ends.
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

fn near_misses(near: &[NearMiss]) -> String {
    let line = |NearMiss { given, difference }: &NearMiss| {
        let given = quoted(given);
        format!("\n    (--destroy {given} does not count: {difference})")
    };
    near.iter().map(line).collect()
}

/// `Display` has several lines and ends with advice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    pub drive: String,
    pub serial: String,
    pub model: Option<String>,
    /// Those that `--destroy` cannot resolve come first.
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

    pub fn can_be_overridden(&self) -> bool {
        self.reasons.iter().all(RefusalReason::can_be_overridden)
    }

    /// The same command can succeed when the process that uses the drive has ended.
    pub fn is_temporary(&self) -> bool {
        !self.reasons.is_empty() && self.reasons.iter().all(RefusalReason::ends_with_a_process)
    }

    /// The serial comes first; empty when no value would help.
    pub fn missing_words(&self) -> Vec<String> {
        if !self.can_be_overridden() {
            return Vec::new();
        }
        let mut words = Vec::new();
        for reason in &self.reasons {
            match reason {
                RefusalReason::NotNamed { serial, .. } => words.insert(0, serial.clone()),
                // One word covers both copies of a partition table and several filesystems of a
                // kind, but not an equal serial at the front.
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
        words.iter().try_for_each(|word| write!(f, " --destroy {}", quoted(word)))
    }
}

/// Quotes for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:+@%,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
