use assay_nvme_spec::feature::PowerManagement;
use assay_nvme_spec::identify::PowerStateDescriptor;

use super::commands::Commands;
use super::{AdminPort, CommandError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The power state with its workload hint.
    power: PowerManagement,
    /// The first operational state, if the saved one is non-operational (Base 8.15.1).
    awake: Option<u8>,
}

impl Found {
    pub fn read(port: &mut dyn AdminPort) -> Result<Found, CommandError> {
        let mut commands = Commands::to(port);
        let power = commands.power()?;
        let controller = commands.identify_controller()?;
        let works = |descriptor: PowerStateDescriptor| !descriptor.non_operational();
        let states = controller.power_state_descriptors().map(works);
        let states: Vec<(u8, bool)> = (0..).zip(states).collect();
        let asleep = states.contains(&(power.state(), false));
        let awake = states.iter().find(|(_, works)| *works && asleep);
        Ok(Found { power, awake: awake.map(|&(state, _)| state) })
    }

    /// A drive found in a non-operational state (entered by APST) is first put into an operational
    /// one: the next I/O returns the drive to the last operational state, which must not be the one
    /// that a measurement set.
    pub fn restore(&self, port: &mut dyn AdminPort) -> Result<(), CommandError> {
        let mut commands = Commands::to(port);
        let Some(awake) = self.awake else {
            return commands.set_power(self.power);
        };
        commands.set_power_state(awake)?;
        match commands.set_power(self.power) {
            // An I/O woke it meanwhile: APST returns it to the non-operational state.
            Err(CommandError::Nonsense { .. }) => Ok(()),
            other => other,
        }
    }
}
