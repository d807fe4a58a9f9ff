//! Root directory of sysfs, procfs and devices: `/`, or a test tree.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemRoot {
    root: PathBuf,
}

impl SystemRoot {
    pub fn host() -> Self {
        Self::at("/")
    }

    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub fn path(&self, rest: impl AsRef<Path>) -> PathBuf {
        self.root.join(rest)
    }

    pub fn sys(&self, rest: impl AsRef<Path>) -> PathBuf {
        self.root.join("sys").join(rest)
    }

    pub fn proc(&self, rest: impl AsRef<Path>) -> PathBuf {
        self.root.join("proc").join(rest)
    }

    pub fn run(&self, rest: impl AsRef<Path>) -> PathBuf {
        self.root.join("run").join(rest)
    }

    pub fn dev(&self, rest: impl AsRef<Path>) -> PathBuf {
        self.root.join("dev").join(rest)
    }
}

/// Strips surrounding blanks; `None` when absent, unreadable or empty.
pub(crate) fn read_attribute(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

pub(crate) fn entries(dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = std::fs::read_dir(dir).into_iter().flatten();
    entries.flatten().map(|entry| entry.path())
}

/// A prefix and a decimal number: `nvme0`, `hwmon12`.
pub(crate) fn is_numbered(name: impl AsRef<OsStr>, prefix: &str) -> bool {
    let name = name.as_ref().to_str();
    name.and_then(|name| name.strip_prefix(prefix))
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}
