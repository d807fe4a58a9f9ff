//! A limit of the events that one place in the code writes: a client or a drive that causes the
//! same event again and again fills no disk.

use std::sync::{Mutex, PoisonError};

use crate::Nanos;

/// Most events of one call site in a second.
pub const EVENTS_PER_SECOND: u64 = 10;

/// What becomes of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is written, after a line about those left out since the last one.
    Write {
        /// Their number.
        left_out: u64,
    },
    /// The first one that is left out: a line says that it and further ones are.
    Announce,
    /// It is left out.
    LeaveOut,
}

/// The limit of one call site; see [`limited_event`](crate::limited_event).
#[derive(Debug, Default)]
pub struct EventLimit(Mutex<Window>);

#[derive(Debug, Default)]
struct Window {
    until: Nanos,
    events: u64,
}

impl EventLimit {
    /// Nothing was written yet.
    pub const fn new() -> EventLimit {
        EventLimit(Mutex::new(Window { until: Nanos::ZERO, events: 0 }))
    }

    /// Counts an event that happens now.
    pub fn admit(&self, now: Nanos) -> Admission {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if now >= window.until {
            let left_out = window.events.saturating_sub(EVENTS_PER_SECOND);
            (window.until, window.events) = (now + Nanos::SECOND, 1);
            return Admission::Write { left_out };
        }
        window.events += 1;
        match window.events {
            ..=EVENTS_PER_SECOND => Admission::Write { left_out: 0 },
            events if events == EVENTS_PER_SECOND + 1 => Admission::Announce,
            _ => Admission::LeaveOut,
        }
    }
}

/// An event of `tracing` (level, then fields and message as in `tracing::event!`), at most
/// [`EVENTS_PER_SECOND`](crate::event_limit::EVENTS_PER_SECOND) of this call site. The time is read
/// only where the level is enabled.
#[macro_export]
macro_rules! limited_event {
    ($now:expr, $level:ident, $($event:tt)+) => {
        if ::tracing::enabled!(::tracing::Level::$level) {
            use $crate::event_limit::{Admission, EventLimit};
            static LIMIT: EventLimit = EventLimit::new();
            match LIMIT.admit($now) {
                Admission::Write { left_out } => {
                    if left_out > 0 {
                        ::tracing::event!(
                            ::tracing::Level::$level,
                            left_out,
                            "events like the next one were left out"
                        );
                    }
                    ::tracing::event!(::tracing::Level::$level, $($event)+);
                }
                Admission::Announce => ::tracing::event!(
                    ::tracing::Level::$level,
                    "events like the last one are left out for a second at most"
                ),
                Admission::LeaveOut => {}
            }
        }
    };
}

#[cfg(test)]
#[path = "../tests/unit/event_limit.rs"]
mod tests;
