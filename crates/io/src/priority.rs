//! I/O priority of a thread (`ioprio_set(2)`), which the kernel gives each of its I/Os.

use std::fmt;
use std::str::FromStr;

use crate::TargetError;
use crate::system_calls::set_io_priority;

/// A class, and a level within it from 0, the most urgent, to 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoPriority {
    class: u16,
    level: u16,
}

/// By their numbers in include/uapi/linux/ioprio.h, from 1 on.
const CLASSES: [&str; 3] = ["rt", "be", "idle"];
/// Where a level is not given (`IOPRIO_NORM`).
const NORMAL_LEVEL: u16 = 4;
const CLASS_SHIFT: u32 = 13;

impl IoPriority {
    /// Of the calling thread.
    pub fn set(self) -> Result<(), TargetError> {
        set_io_priority(self.class << CLASS_SHIFT | self.level).map_err(|source| {
            TargetError::Priority {
                priority: self.to_string(),
                source,
            }
        })
    }
}

impl FromStr for IoPriority {
    type Err = ();

    fn from_str(text: &str) -> Result<IoPriority, ()> {
        let (class, level) = match text.split_once(':') {
            Some((class, level)) => (class, level.parse().map_err(|_| ())?),
            None => (text, if text == "idle" { 0 } else { NORMAL_LEVEL }),
        };
        let place = CLASSES.iter().position(|known| *known == class).ok_or(())?;
        match level <= 7 {
            true => Ok(IoPriority {
                class: place as u16 + 1,
                level,
            }),
            false => Err(()),
        }
    }
}

impl fmt::Display for IoPriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", CLASSES[usize::from(self.class - 1)], self.level)
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
        ] {
            let read: IoPriority = text.parse().unwrap();
            assert_eq!(read.to_string(), shown);
        }
        for wrong in ["", "rt:8", "best", "be:-1", "be:"] {
            assert_eq!(wrong.parse::<IoPriority>(), Err(()), "{wrong}");
        }
    }
}
