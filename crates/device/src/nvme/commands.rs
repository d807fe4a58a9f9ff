//! Each fails as [`AdminPort::admin`] does.

use assay_io::clock::Clock;
use assay_nvme_spec::admin::{
    FormatNvm, GetFeatures, GetLogPage, IdentifyCommand, Sanitize, SanitizeAction, SecureErase,
    SetFeatures,
};
use assay_nvme_spec::fdp::EnduranceGroupLog;
use assay_nvme_spec::feature::{FeatureId, PowerManagement};
use assay_nvme_spec::identify::{
    Cns, DATA_BYTES, IdentifyController, IdentifyNamespace, namespace_list,
};
use assay_nvme_spec::log::{FirmwareSlotLog, LogId, OcpSmartLog, SanitizeLog, SmartLog, VendorLog};
use assay_nvme_spec::wire::Wire;
use assay_nvme_spec::{NSID_ALL, SubmissionEntry};
use assay_units::limited_event;

use super::{AdminPort, CommandError, command_name};
use crate::identity::DriveInfo;

/// Timeout of commands that only read.
const ASK_MS: u32 = 10_000;
/// Some drives erase every block before they complete Format NVM.
const FORMAT_MS: u32 = 30 * 60 * 1000;

pub(crate) struct Commands<'p> {
    port: &'p mut dyn AdminPort,
}

impl<'p> Commands<'p> {
    pub fn to(port: &'p mut dyn AdminPort) -> Commands<'p> {
        Commands { port }
    }

    pub fn name(&self) -> &str {
        self.port.name()
    }

    fn ask(&mut self, command: SubmissionEntry, data: &mut [u8]) -> Result<u32, CommandError> {
        self.send(&command, data, ASK_MS)
    }

    fn send(
        &mut self,
        command: &SubmissionEntry,
        data: &mut [u8],
        timeout_ms: u32,
    ) -> Result<u32, CommandError> {
        let done = self.port.admin(command, data, timeout_ms);
        let controller = self.port.name();
        let nsid = command.nsid();
        match &done {
            Ok(dw0) => {
                let command = command_name(command);
                tracing::debug!(controller, command, nsid, dw0, "admin command");
            }
            Err(error) => {
                let (now, why) = (|| Clock::monotonic().now(), error.to_string());
                limited_event!(now(), INFO, controller, nsid, why, "admin command failed");
            }
        }
        done
    }

    fn identify(&mut self, cns: Cns, nsid: u32) -> Result<Box<[u8; DATA_BYTES]>, CommandError> {
        let mut command = IdentifyCommand::new();
        command.set_cns(cns.0).set_nsid(nsid);
        let mut data = Box::new([0; DATA_BYTES]);
        self.ask(command.entry(), &mut data[..])?;
        Ok(data)
    }

    fn namespaces(&mut self, cns: Cns) -> Result<Vec<u32>, CommandError> {
        Ok(namespace_list(&self.identify(cns, 0)?[..]).collect())
    }

    /// Base 5.17.2.1.
    pub fn identify_controller(&mut self) -> Result<IdentifyController, CommandError> {
        let data = self.identify(Cns::CONTROLLER, 0)?;
        Ok(IdentifyController::from_bytes(*data))
    }

    /// Checks the serial, because device files are renumbered; call it before any change.
    pub fn expect_drive(&mut self, info: &DriveInfo) -> Result<(), CommandError> {
        let raw = self.identify_controller()?.serial_number();
        // As in sysfs: up to a zero byte, without blanks.
        let text = raw.split(|&byte| byte == 0).next().unwrap_or_default();
        let found = String::from_utf8_lossy(text).trim().to_owned();
        // A drive without a serial is identified by its name.
        let is_it = match found.as_str() {
            "" => info.serial == info.name,
            serial => info.serial == serial,
        };
        if is_it {
            return Ok(());
        }
        Err(CommandError::OtherDrive {
            controller: self.name().to_owned(),
            drive: info.spec.clone(),
            serial: info.serial.clone(),
            found,
        })
    }

    /// NVM 4.1.5.1.
    pub fn identify_namespace(&mut self, nsid: u32) -> Result<IdentifyNamespace, CommandError> {
        let data = self.identify(Cns::NAMESPACE, nsid)?;
        Ok(IdentifyNamespace::from_bytes(*data))
    }

    /// The list has at most 1024 identifiers (Base 5.17.2.2).
    pub fn active_namespaces(&mut self) -> Result<Vec<u32>, CommandError> {
        self.namespaces(Cns::ACTIVE_NAMESPACES)
    }

    /// At most 1024 identifiers, with namespaces attached elsewhere (Base 5.17.2.11). A controller
    /// without namespace management rejects it.
    pub fn allocated_namespaces(&mut self) -> Result<Vec<u32>, CommandError> {
        self.namespaces(Cns::ALLOCATED_NAMESPACES)
    }

    fn log<T: Wire>(&mut self, page: LogId) -> Result<T, CommandError> {
        let mut command = GetLogPage::for_log(page, 0, T::BYTES as u32);
        command.set_nsid(NSID_ALL);
        let mut data = vec![0; T::BYTES];
        self.ask(command.entry(), &mut data)?;
        Ok(T::load(&data))
    }

    /// The log is that of the whole controller (Base 5.16.1.3).
    pub fn smart(&mut self) -> Result<SmartLog, CommandError> {
        self.log(LogId::SMART)
    }

    /// Base 5.16.1.10.
    pub fn endurance_group(&mut self, group: u16) -> Result<EnduranceGroupLog, CommandError> {
        let data = self.group_log(LogId::ENDURANCE_GROUP, group, EnduranceGroupLog::SIZE)?;
        Ok(EnduranceGroupLog::load(&data))
    }

    /// A log page of an endurance group.
    pub fn group_log(
        &mut self,
        page: LogId,
        group: u16,
        len: usize,
    ) -> Result<Vec<u8>, CommandError> {
        let mut command = GetLogPage::for_log(page, 0, len as u32);
        command.set_nsid(NSID_ALL).set_endurance_group(group);
        let mut data = vec![0; len];
        self.ask(command.entry(), &mut data)?;
        Ok(data)
    }

    pub fn vendor_log(&mut self, log: VendorLog) -> Result<[u8; VendorLog::BYTES], CommandError> {
        self.log(log.id())
    }

    /// SMART / Health Information Extended of OCP data-centre drives; `None` where the drive
    /// rejects it or the page has not its GUID.
    pub fn ocp_smart(&mut self) -> Option<OcpSmartLog> {
        let log: OcpSmartLog = self.log(LogId::OCP_SMART).ok()?;
        log.is_ocp().then_some(log)
    }

    /// Base 5.16.1.4.
    pub fn firmware_slots(&mut self) -> Result<FirmwareSlotLog, CommandError> {
        self.log(LogId::FIRMWARE_SLOT)
    }

    /// Base 5.16.1.25.
    pub fn sanitize_status(&mut self) -> Result<SanitizeLog, CommandError> {
        self.log(LogId::SANITIZE)
    }

    /// Current value, with data where the feature has some (Base 5.15).
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

    /// The value holds until the next reset (Base 5.27).
    pub fn set_feature(&mut self, feature: FeatureId, value: u32) -> Result<u32, CommandError> {
        let mut command = SetFeatures::new();
        command.set_fid(feature.0).set_value(value);
        self.ask(command.entry(), &mut [])
    }

    /// The value has the workload hint too (Base 5.27.1.2).
    pub fn power(&mut self) -> Result<PowerManagement, CommandError> {
        let raw = self.feature(FeatureId::POWER_MANAGEMENT, 0, &mut [])?;
        Ok(PowerManagement::from_raw(raw))
    }

    pub fn power_state(&mut self) -> Result<u8, CommandError> {
        Ok(self.power()?.state())
    }

    /// Keeps the workload hint and reads the state back; fails when the controller stays in
    /// another. Sends nothing for the current state: controllers with one state may reject even
    /// that.
    pub fn set_power_state(&mut self, state: u8) -> Result<(), CommandError> {
        let now = self.power()?;
        let mut wanted = now;
        wanted.set_state(state);
        self.change_power(now, wanted)
    }

    /// Sends nothing when state and hint are the current ones.
    pub fn set_power(&mut self, wanted: PowerManagement) -> Result<(), CommandError> {
        let now = self.power()?;
        self.change_power(now, wanted)
    }

    fn change_power(
        &mut self,
        before: PowerManagement,
        wanted: PowerManagement,
    ) -> Result<(), CommandError> {
        if before == wanted {
            return Ok(());
        }
        let state = wanted.state();
        self.set_feature(FeatureId::POWER_MANAGEMENT, wanted.raw())?;
        // A controller need not keep the hint.
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

    /// Keeps the format: block size, metadata and protection (Base 5.14; NVM 4.1.5.1, FLBAS and
    /// DPS). The caller checks whether other namespaces are formatted too (Identify Controller,
    /// FNA).
    pub fn format(
        &mut self,
        nsid: u32,
        namespace: &IdentifyNamespace,
        erase: SecureErase,
    ) -> Result<(), CommandError> {
        let protection = namespace.protection_settings();
        let mut command = FormatNvm::new();
        command
            .set_lba_format(namespace.format_index())
            .set_extended_metadata(namespace.has_extended_blocks())
            .set_protection(namespace.protection_type())
            // DPS bit 3: first bytes of the metadata.
            .set_protection_first(protection & 8 != 0)
            .set_secure_erase(erase.0)
            .set_nsid(nsid);
        self.send(&command.entry(), &mut [], FORMAT_MS)?;
        Ok(())
    }

    /// Erases the whole subsystem (Base 5.24). Continues after the command completes: see
    /// [`Commands::sanitize_status`].
    pub fn sanitize(&mut self, action: SanitizeAction) -> Result<(), CommandError> {
        let mut command = Sanitize::new();
        command.set_action(action.0).set_unrestricted_exit(true);
        self.ask(command.entry(), &mut [])?;
        Ok(())
    }
}
