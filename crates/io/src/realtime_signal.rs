//! Real-time signals to other processes.

use rustix::process::{Pid, Signal, kill_process};

/// First and last signal that can be sent: C libraries keep those from 32 on for themselves, glibc
/// two and musl three (signal(7), sigaction(2)).
pub const SENDABLE: std::ops::RangeInclusive<i32> = 35..=64;

/// Send a real-time signal.
///
/// # Errors
/// The kernel's: no such process, or no permission.
///
/// # Panics
/// When the signal is not one of [`SENDABLE`].
pub fn send(process: Pid, signal: i32) -> std::io::Result<()> {
    assert!(
        SENDABLE.contains(&signal),
        "not a real-time signal: {signal}"
    );
    // SAFETY: the number is a signal of the kernel that no C library uses; it is only sent, and no
    // handler is installed for it here.
    let signal = unsafe { Signal::from_raw_unchecked(signal) };
    Ok(kill_process(process, signal)?)
}
