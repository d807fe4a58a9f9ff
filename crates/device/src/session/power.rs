//! Sets a power state for a run and restores the previous one. Each step first checks that the
//! controller is still that of the drive, because device files are renumbered when a drive is
//! removed.

use crate::identity::DriveInfo;
use crate::nvme::commands::Commands;
use crate::nvme::power::Found;
use crate::nvme::{AdminPort, CommandError};

#[derive(Debug)]
pub(super) struct Chosen<P> {
    port: P,
    info: DriveInfo,
    before: Found,
}

impl<P: AdminPort> Chosen<P> {
    pub(super) fn over(info: &DriveInfo, mut port: P) -> Result<Chosen<P>, CommandError> {
        Commands::to(&mut port).expect_drive(info)?;
        let before = Found::read(&mut port)?;
        Ok(Chosen { port, info: info.clone(), before })
    }

    pub(super) fn choose(&mut self, state: u8) -> Result<(), CommandError> {
        let mut commands = Commands::to(&mut self.port);
        commands.expect_drive(&self.info)?;
        commands.set_power_state(state)
    }

    pub(super) fn restore(&mut self) -> Result<(), CommandError> {
        Commands::to(&mut self.port).expect_drive(&self.info)?;
        self.before.restore(&mut self.port)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/session/power.rs"]
mod tests;
