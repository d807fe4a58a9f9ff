//! Serials, host names and plan ids are parts of keys in the shared store, of file names, and of
//! arguments of the queue's programs, so they are checked here.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Longest serial, bytes. NVMe serial numbers have 20 (Base Specification 2.0, figure 275); those
/// of files and simulated drives more.
pub const MAX_SERIAL_BYTES: usize = 96;
/// Longest host name, bytes (RFC 1035, section 2.3.4).
pub const MAX_HOST_BYTES: usize = 255;
/// Longest name of a plan, bytes.
pub const MAX_PLAN_NAME_BYTES: usize = 64;
/// Hexadecimal digits of the hash in a plan id.
pub const PLAN_HASH_DIGITS: usize = 12;

/// A name that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} {text:?} {why}")]
pub struct NameError {
    /// `serial`, `host name` or `plan id`.
    pub what: &'static str,
    /// The given text.
    pub text: String,
    /// What is wrong, and what to write.
    pub why: String,
}

macro_rules! name {
    ($(#[$meta:meta])* $name:ident, $check:ident) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Checks a text.
            ///
            /// # Errors
            /// When it is empty, too long, or has characters that are not allowed.
            pub fn parse(text: &str) -> Result<Self, NameError> {
                $check(text)?;
                Ok(Self(text.to_owned()))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;
            fn try_from(text: String) -> Result<Self, NameError> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = NameError;
            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::parse(text)
            }
        }
    };
}

name!(
    /// The serial of a drive: what `--destroy` must name.
    Serial,
    check_serial
);
name!(
    /// The name of a host: letters, digits, `.`, `_` and `-`.
    HostName,
    check_host
);
name!(
    /// `NAME-` and the first [`PLAN_HASH_DIGITS`] hexadecimal digits of the SHA-256 of the plan's
    /// canonical text.
    PlanId,
    check_plan_id
);

impl Serial {
    /// The serial as a part of keys and file names: letters, digits, `.`, `_` and `-` as they are,
    /// other bytes as `%XX`. Injective.
    pub fn key(&self) -> String {
        escaped(&self.0, '%', |first, byte| {
            byte.is_ascii_alphanumeric() || b"_-".contains(&byte) || (byte == b'.' && !first)
        })
    }

    /// The serial as a GRES type of Slurm (gres.conf(5)), which takes letters, digits, `.` and `-`
    /// as they are; other bytes as `_XX`. Injective.
    pub fn gres_type(&self) -> String {
        escaped(&self.0, '_', |_, byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte))
    }
}

/// `text` with each byte that is not `plain` (given whether it is the first) as `mark` and two
/// hexadecimal digits.
fn escaped(text: &str, mark: char, plain: impl Fn(bool, u8) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for (index, byte) in text.bytes().enumerate() {
        match plain(index == 0, byte) {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("{mark}{byte:02X}")),
        }
    }
    out
}

fn check_serial(text: &str) -> Result<(), NameError> {
    let error = |why: String| NameError { what: "serial", text: text.to_owned(), why };
    if text.is_empty() || text.len() > MAX_SERIAL_BYTES {
        return Err(error(format!(
            "has {} bytes; write 1 to {MAX_SERIAL_BYTES}, as `assay fleet inventory` shows them",
            text.len()
        )));
    }
    if text.trim() != text || text.chars().any(char::is_control) {
        return Err(error(
            "begins or ends with a blank, or has control characters; write it as `assay fleet \
             inventory` shows it"
                .to_owned(),
        ));
    }
    // A list of serials has columns and comments.
    if text.contains([',', '#']) {
        return Err(error(
            "has a comma or `#`, which a list of serials cannot hold; such a drive cannot be in a \
             plan"
                .to_owned(),
        ));
    }
    // It is an argument of `--destroy`.
    if text.starts_with('-') {
        return Err(error(
            "begins with `-` and would be read as an option; such a drive cannot be in a plan"
                .to_owned(),
        ));
    }
    Ok(())
}

/// Error unless the text has 1 to `max` letters, digits, `.`, `_`, `-`, the first of them a letter
/// or digit.
pub(crate) fn check_word(what: &'static str, text: &str, max: usize) -> Result<(), NameError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let begins = |byte: &u8| byte.is_ascii_alphanumeric();
    if text.bytes().all(allowed) && text.as_bytes().first().is_some_and(begins) && text.len() <= max
    {
        return Ok(());
    }
    Err(NameError {
        what,
        text: text.to_owned(),
        why: format!(
            "cannot be used; write 1 to {max} letters, digits, `.`, `_` or `-`, the first of them \
             a letter or digit"
        ),
    })
}

fn check_host(text: &str) -> Result<(), NameError> {
    check_word("host name", text, MAX_HOST_BYTES)
}

fn check_plan_id(text: &str) -> Result<(), NameError> {
    let hash = text.rsplit_once('-').filter(|(name, hash)| {
        let is_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        hash.len() == PLAN_HASH_DIGITS
            && hash.bytes().all(is_hex)
            && check_word("plan name", name, MAX_PLAN_NAME_BYTES).is_ok()
    });
    hash.map(|_| ()).ok_or_else(|| NameError {
        what: "plan id",
        text: text.to_owned(),
        why: format!(
            "is none; it is the plan's name, `-` and {PLAN_HASH_DIGITS} hexadecimal digits, as \
             `assay fleet plan FILE` shows it"
        ),
    })
}

impl HostName {
    /// The name of this host, of the kernel.
    ///
    /// # Errors
    /// When the kernel's host name has characters that are not allowed.
    pub fn of_this_host() -> Result<HostName, NameError> {
        let name = rustix::system::uname();
        HostName::parse(&name.nodename().to_string_lossy())
    }
}

#[cfg(test)]
#[path = "../tests/unit/name.rs"]
mod tests;
