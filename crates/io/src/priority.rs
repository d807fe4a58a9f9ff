//! I/O priority of a thread (`ioprio_set(2)`), which the kernel gives each of its I/Os.

use std::fmt;
use std::str::FromStr;

use crate::TargetError;
use crate::system_calls::set_io_priority;

/// A class, a level within it from 0, the most urgent, to 7, and a hint (Linux 6.5; 1 to 7 are the
/// duration limits of a drive).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoPriority {
    class: u16,
    level: u16,
    hint: u16,
}

/// By their numbers in include/uapi/linux/ioprio.h, from 1 on.
const CLASSES: [&str; 3] = ["rt", "be", "idle"];
/// Where a level is not given (`IOPRIO_NORM`).
const NORMAL_LEVEL: u16 = 4;
const MAX_LEVEL: u16 = 7;
const CLASS_SHIFT: u32 = 13;
const HINT_SHIFT: u32 = 3;
/// Highest hint, 10 bits.
const MAX_HINT: u16 = 1023;

impl IoPriority {
    /// Of the calling thread.
    pub fn set(self) -> Result<(), TargetError> {
        set_io_priority(self.packed())
            .map_err(|source| TargetError::Priority { priority: self.to_string(), source })
    }

    /// As the kernel has it, of a thread and of an I/O.
    pub fn packed(self) -> u16 {
        self.class << CLASS_SHIFT | self.hint << HINT_SHIFT | self.level
    }
}

impl FromStr for IoPriority {
    type Err = ();

    fn from_str(text: &str) -> Result<IoPriority, ()> {
        let mut parts = text.split(':');
        let class = parts.next().unwrap_or_default();
        let mut number = |absent: u16, most: u16| match parts.next() {
            None => Some(absent),
            Some(part) => part.parse().ok().filter(|&number| number <= most),
        };
        let normal_level = if class == "idle" { 0 } else { NORMAL_LEVEL };
        let level = number(normal_level, MAX_LEVEL).ok_or(())?;
        let hint = number(0, MAX_HINT).ok_or(())?;
        let place = CLASSES.iter().position(|known| *known == class).ok_or(())?;
        match parts.next() {
            None => Ok(IoPriority { class: place as u16 + 1, level, hint }),
            Some(_) => Err(()),
        }
    }
}

impl fmt::Display for IoPriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", CLASSES[usize::from(self.class - 1)], self.level)?;
        match self.hint {
            0 => Ok(()),
            hint => write!(f, ":{hint}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::IoPriority;

    #[test]
    fn classes_and_levels_are_read_and_written() {
        for (text, shown) in [
            ("rt:0", "rt:0"),
            ("be", "be:4"),
            ("idle", "idle:0"),
            ("be:7", "be:7"),
            ("be:7:0", "be:7"),
            ("rt:1:1023", "rt:1:1023"),
        ] {
            let read: IoPriority = text.parse().unwrap();
            assert_eq!(read.to_string(), shown);
        }
        let read: IoPriority = "be:7:2".parse().unwrap();
        assert_eq!(read.packed(), 2 << 13 | 2 << 3 | 7);
        for wrong in ["", "rt:8", "best", "be:-1", "be:", "be:1:1024", "be:1:2:3"] {
            assert_eq!(wrong.parse::<IoPriority>(), Err(()), "{wrong}");
        }
    }
}
