//! What a server says when it has as many clients as it takes: further ones are refused, and the
//! operator of the server reads why.

use assay_units::{Nanos, limited_event};

/// Least time between two messages.
const QUIET: Nanos = Nanos::from_secs(10);

type Say = Box<dyn Fn(&str) + Send>;

/// Messages to the operator; none by default.
#[derive(Default)]
pub struct Crowd {
    say: Option<Say>,
    quiet_until: Option<Nanos>,
    /// Since the last message.
    refused: u64,
}

impl Crowd {
    pub fn new(say: impl Fn(&str) + Send + 'static) -> Crowd {
        Crowd { say: Some(Box::new(say)), ..Crowd::default() }
    }

    /// A client was disconnected because `most` others are connected, or wait, as `they` says.
    pub fn refused(&mut self, now: Nanos, most: usize, they: &str) {
        limited_event!(now, WARN, most, "connection refused: too many");
        self.refused += 1;
        if self.quiet_until.is_some_and(|until| now < until) {
            return;
        }
        let others = match self.refused {
            1 => "another one was refused".to_owned(),
            refused => format!("{refused} others were refused"),
        };
        if let Some(say) = &self.say {
            say(&format!(
                "{most} clients {they}, which is the most; {others} and can try again when one \
                 has ended"
            ));
        }
        (self.quiet_until, self.refused) = (Some(now + QUIET), 0);
    }
}

#[cfg(test)]
#[path = "../tests/unit/crowd.rs"]
mod tests;
