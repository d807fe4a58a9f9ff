//! Root directory of sysfs, procfs and devices: `/`, or a test tree.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The directory under which `sys`, `proc`, `dev` and `run` are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemRoot {
    root: PathBuf,
}

impl SystemRoot {
    /// The running system.
    pub fn host() -> Self {
        Self::at("/")
    }

    /// A test tree.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// A path below the root itself.
    pub fn path(&self, rest: impl AsRef<Path>) -> PathBuf {
        self.root.join(rest)
    }

    /// A path below `/sys`.
    pub fn sys(&self, rest: impl AsRef<Path>) -> PathBuf {
        self.root.join("sys").join(rest)
    }

    /// A path below `/proc`.
    pub fn proc(&self, rest: impl AsRef<Path>) -> PathBuf {
        self.root.join("proc").join(rest)
    }

    /// A path below `/run`.
    pub fn run(&self, rest: impl AsRef<Path>) -> PathBuf {
        self.root.join("run").join(rest)
    }

    /// A path below `/dev`.
    pub fn dev(&self, rest: impl AsRef<Path>) -> PathBuf {
        self.root.join("dev").join(rest)
    }
}

/// The text of a sysfs attribute without surrounding blanks; `None` when absent, unreadable or
/// empty.
pub(crate) fn read_attribute(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

/// Paths of the entries of a directory; none when it cannot be read.
pub(crate) fn entries(dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = std::fs::read_dir(dir).into_iter().flatten();
    entries.flatten().map(|entry| entry.path())
}

/// Whether a name is `prefix` and a decimal number: `nvme0`, `hwmon12`.
pub(crate) fn is_numbered(name: impl AsRef<OsStr>, prefix: &str) -> bool {
    let name = name.as_ref().to_str();
    name.and_then(|name| name.strip_prefix(prefix))
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}
