//! A power state that was chosen for a drive over the one it was found in, and the way back.
//!
//! Each step asks first whether the controller is still the drive's own: a device file is a number, and numbers change hands when a drive goes away.

use crate::identity::DriveInfo;
use crate::nvme::commands::Commands;
use crate::nvme::power::Found;
use crate::nvme::{AdminPort, CommandError};

/// A controller, and the power state that it was found in.
#[derive(Debug)]
pub(super) struct Chosen<P> {
    port: P,
    info: DriveInfo,
    before: Found,
}

impl<P: AdminPort> Chosen<P> {
    /// Find out in which state it is; nothing is changed.
    pub(super) fn over(info: &DriveInfo, mut port: P) -> Result<Chosen<P>, CommandError> {
        Commands::to(&mut port).expect_drive(info)?;
        let before = Found::of(&mut port)?;
        Ok(Chosen {
            port,
            info: info.clone(),
            before,
        })
    }

    pub(super) fn choose(&mut self, state: u8) -> Result<(), CommandError> {
        let mut commands = Commands::to(&mut self.port);
        commands.expect_drive(&self.info)?;
        commands.set_power_state(state)
    }

    /// Go back to the state it was found in.
    pub(super) fn restore(&mut self) -> Result<(), CommandError> {
        Commands::to(&mut self.port).expect_drive(&self.info)?;
        self.before.restore(&mut self.port)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/session/power.rs"]
mod tests;
