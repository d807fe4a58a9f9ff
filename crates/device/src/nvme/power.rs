//! A power state for the length of a measurement: what it is in before, and how to go back.

use assay_nvme_spec::feature::PowerManagement;

use super::commands::Commands;
use super::{AdminPort, CommandError};

/// The power state that a controller was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// With the workload hint that somebody may have given it.
    power: PowerManagement,
    /// Where that one does no I/O (Base 8.15.1, non-operational): the first state that does.
    awake: Option<u8>,
}

impl Found {
    /// Find out; nothing is changed.
    ///
    /// # Errors
    /// As [`AdminPort::admin`].
    pub fn of(port: &mut dyn AdminPort) -> Result<Found, CommandError> {
        let mut commands = Commands::to(port);
        let power = commands.power()?;
        let controller = commands.identify_controller()?;
        let states: Vec<bool> = controller
            .power_state_descriptors()
            .map(|descriptor| !descriptor.non_operational())
            .collect();
        let state = usize::from(power.state());
        let works = states.get(state).copied().unwrap_or(true);
        let first = states.iter().position(|&works| works);
        let awake = first.and_then(|first| u8::try_from(first).ok());
        Ok(Found {
            power,
            awake: awake.filter(|_| !works),
        })
    }

    /// Go back to it. A drive that was found dozing (APST sends it there by itself) is first put into a state that works: the next I/O wakes it into
    /// the one of those that it was in last, and that must not be the one that a measurement chose.
    ///
    /// # Errors
    /// As [`Commands::set_power`].
    pub fn restore(&self, port: &mut dyn AdminPort) -> Result<(), CommandError> {
        let mut commands = Commands::to(port);
        let Some(awake) = self.awake else {
            return commands.set_power(self.power);
        };
        commands.set_power_state(awake)?;
        match commands.set_power(self.power) {
            // Something woke it at once: it is in a state that nobody chose, and goes back to sleep by itself.
            Err(CommandError::Nonsense { .. }) => Ok(()),
            other => other,
        }
    }
}
