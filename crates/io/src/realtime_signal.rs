//! Real-time signals to other processes.

use rustix::process::{Pid, Signal, kill_process};

/// C libraries keep the first ones from 32 on, glibc two and musl three (signal(7), sigaction(2)).
pub const SENDABLE: std::ops::RangeInclusive<i32> = 35..=64;

/// Sends a real-time signal; panics when it is not one of [`SENDABLE`].
pub fn send(process: Pid, signal: i32) -> std::io::Result<()> {
    assert!(SENDABLE.contains(&signal), "not a real-time signal: {signal}");
    // SAFETY: the number is a signal of the kernel that no C library uses; it is only sent, and no
    // handler is installed for it here.
    let signal = unsafe { Signal::from_raw_unchecked(signal) };
    Ok(kill_process(process, signal)?)
}
