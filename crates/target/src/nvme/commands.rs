//! Admin commands, by name.

use assay_spec::admin::{
    FormatNvm, GetFeatures, GetLogPage, IdentifyCommand, Sanitize, SanitizeAction, SecureErase,
    SetFeatures,
};
use assay_spec::feature::{FeatureId, PowerManagement};
use assay_spec::identify::{
    Cns, DATA_BYTES, IdentifyController, IdentifyNamespace, namespace_list,
};
use assay_spec::log::{FirmwareSlotLog, LogId, SanitizeLog, SmartLog};
use assay_spec::wire::Wire;
use assay_spec::{NSID_ALL, SubmissionEntry};

use super::{AdminPort, CommandError};

/// How long a command that only asks may take, milliseconds.
const ASK_MS: u32 = 10_000;
/// How long a Format may take, milliseconds: some drives erase every block before they answer.
const FORMAT_MS: u32 = 30 * 60 * 1000;

/// Admin commands to one controller.
pub struct Commands<'p> {
    port: &'p mut dyn AdminPort,
}

impl<'p> Commands<'p> {
    /// To this controller.
    pub fn to(port: &'p mut dyn AdminPort) -> Commands<'p> {
        Commands { port }
    }

    /// The controller, for messages.
    pub fn name(&self) -> &str {
        self.port.name()
    }

    fn ask(&mut self, command: SubmissionEntry, data: &mut [u8]) -> Result<u32, CommandError> {
        self.port.admin(&command, data, ASK_MS)
    }

    fn identify(&mut self, cns: Cns, nsid: u32) -> Result<Box<[u8; DATA_BYTES]>, CommandError> {
        let mut command = IdentifyCommand::new();
        command.set_cns(cns.0).set_nsid(nsid);
        let mut data = Box::new([0; DATA_BYTES]);
        self.ask(command.entry(), &mut data[..])?;
        Ok(data)
    }

    /// Identify Controller (Base 5.17.2.1).
    ///
    /// # Errors
    /// As [`AdminPort::admin`], here and below.
    pub fn identify_controller(&mut self) -> Result<IdentifyController, CommandError> {
        Ok(IdentifyController::from_bytes(
            *self.identify(Cns::CONTROLLER, 0)?,
        ))
    }

    /// Identify Namespace (NVM 4.1.5.1).
    ///
    /// # Errors
    /// As above.
    pub fn identify_namespace(&mut self, nsid: u32) -> Result<IdentifyNamespace, CommandError> {
        Ok(IdentifyNamespace::from_bytes(
            *self.identify(Cns::NAMESPACE, nsid)?,
        ))
    }

    /// Identifiers of the active namespaces (Base 5.17.2.2), at most 1024.
    ///
    /// # Errors
    /// As above.
    pub fn active_namespaces(&mut self) -> Result<Vec<u32>, CommandError> {
        let data = self.identify(Cns::ACTIVE_NAMESPACES, 0)?;
        Ok(namespace_list(&data[..]).collect())
    }

    /// Identifiers of all namespaces that exist (Base 5.17.2.11), at most 1024; those attached elsewhere too.
    ///
    /// # Errors
    /// As above; a controller without namespace management refuses.
    pub fn allocated_namespaces(&mut self) -> Result<Vec<u32>, CommandError> {
        let data = self.identify(Cns::ALLOCATED_NAMESPACES, 0)?;
        Ok(namespace_list(&data[..]).collect())
    }

    fn log<T: Wire>(&mut self, page: LogId) -> Result<T, CommandError> {
        let mut command = GetLogPage::of(page, 0, T::BYTES as u32);
        command.set_nsid(NSID_ALL);
        let mut data = vec![0; T::BYTES];
        self.ask(command.entry(), &mut data)?;
        Ok(T::load(&data))
    }

    /// SMART / Health Information of the whole controller (Base 5.16.1.3).
    ///
    /// # Errors
    /// As above.
    pub fn smart(&mut self) -> Result<SmartLog, CommandError> {
        self.log(LogId::SMART)
    }

    /// Firmware Slot Information (Base 5.16.1.4).
    ///
    /// # Errors
    /// As above.
    pub fn firmware_slots(&mut self) -> Result<FirmwareSlotLog, CommandError> {
        self.log(LogId::FIRMWARE_SLOT)
    }

    /// Sanitize Status (Base 5.16.1.25).
    ///
    /// # Errors
    /// As above.
    pub fn sanitize_status(&mut self) -> Result<SanitizeLog, CommandError> {
        self.log(LogId::SANITIZE)
    }

    /// A feature's current value, with its data where it has some (Base 5.15).
    ///
    /// # Errors
    /// As above; a feature that the controller does not have is refused.
    pub fn feature(
        &mut self,
        feature: FeatureId,
        value: u32,
        data: &mut [u8],
    ) -> Result<u32, CommandError> {
        let mut command = GetFeatures::new();
        command.set_fid(feature.0).set_value(value);
        self.ask(command.entry(), data)
    }

    /// Set a feature until the next reset (Base 5.27).
    ///
    /// # Errors
    /// As above.
    pub fn set_feature(&mut self, feature: FeatureId, value: u32) -> Result<u32, CommandError> {
        let mut command = SetFeatures::new();
        command.set_fid(feature.0).set_value(value);
        self.ask(command.entry(), &mut [])
    }

    /// The power state it is in (Base 5.27.1.2).
    ///
    /// # Errors
    /// As above.
    pub fn power_state(&mut self) -> Result<u8, CommandError> {
        let raw = self.feature(FeatureId::POWER_MANAGEMENT, 0, &mut [])?;
        Ok(PowerManagement::from_raw(raw).state())
    }

    /// Choose a power state (Base 5.27.1.2), and read back whether it was taken. Nothing is sent when it is in that state: controllers that know
    /// only one may refuse even that one.
    ///
    /// # Errors
    /// As above, or when the controller says yes and stays where it was.
    pub fn set_power_state(&mut self, state: u8) -> Result<(), CommandError> {
        if self.power_state()? == state {
            return Ok(());
        }
        let mut value = PowerManagement::default();
        value.set_state(state);
        self.set_feature(FeatureId::POWER_MANAGEMENT, value.raw())?;
        let now = self.power_state()?;
        if now == state {
            return Ok(());
        }
        Err(CommandError::Nonsense {
            controller: self.name().to_owned(),
            command: "set-feature".to_owned(),
            what: format!("it accepted power state {state} and is in power state {now}"),
        })
    }

    /// Format one namespace with the LBA format it has (Base 5.14). Everything on it is lost; whether on others too, is for the caller to know
    /// (Identify Controller, FNA).
    ///
    /// # Errors
    /// As above.
    pub fn format(
        &mut self,
        nsid: u32,
        lba_format: u8,
        erase: SecureErase,
    ) -> Result<(), CommandError> {
        let mut command = FormatNvm::new();
        command
            .set_lba_format(lba_format)
            .set_secure_erase(erase.0)
            .set_nsid(nsid);
        self.port.admin(&command.entry(), &mut [], FORMAT_MS)?;
        Ok(())
    }

    /// Start a sanitize operation of the whole subsystem (Base 5.24). It goes on after the command has ended: see
    /// [`Commands::sanitize_status`].
    ///
    /// # Errors
    /// As above.
    pub fn sanitize(&mut self, action: SanitizeAction) -> Result<(), CommandError> {
        let mut command = Sanitize::new();
        command.set_action(action.0).set_unrestricted_exit(true);
        self.ask(command.entry(), &mut [])?;
        Ok(())
    }
}
