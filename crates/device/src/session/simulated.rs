//! Probe of a simulated drive through its NVMe controller model.

use crate::identity::PcieLink;
use crate::nvme::probe::{self, ControllerContext, Probe};
use crate::nvme::registers::ControllerRegisters;
use crate::nvme::{AdminPort, CommandError, command_name};
use assay_io::TargetError;
use assay_nvme_ctrl::driver::{Driver, DriverError, InProcessTransport};
use assay_nvme_ctrl::{Controller, ControllerOptions, Unmapped};
use assay_nvme_spec::SubmissionEntry;
use assay_nvme_spec::register::{
    CAP, CC, CSTS, Capabilities, Configuration, ControllerStatus, VS, Version,
};
use assay_ssd::profile::LinkProfile;
use assay_ssd::{Drive, DriveOptions, Profile};

use super::SessionError;

/// Probes the controller of a second instance of a simulated drive; `None` for Serial ATA drives, which have no NVMe controller.
pub(super) fn probe(
    spec: &str,
    profile: &Profile,
    options: &DriveOptions,
) -> Option<Result<Box<Probe>, SessionError>> {
    let on_nvme = profile.link.sata.is_none();
    on_nvme.then(|| ask(spec, profile.clone(), options.clone()).map(Box::new))
}

/// The link of a simulated drive as sysfs shows that of a real one; none for Serial ATA.
pub(super) fn pcie_link(link: &LinkProfile) -> Option<PcieLink> {
    if link.sata.is_some() {
        return None;
    }
    // PCI Express Base Specification 6.0, section 1.2: transfer rates of the generations.
    let gt_per_s = match link.generation.value {
        0 | 1 => "2.5",
        2 => "5.0",
        3 => "8.0",
        4 => "16.0",
        _ => "32.0",
    };
    let speed = Some(format!("{gt_per_s} GT/s PCIe"));
    let width = Some(u32::from(link.lanes.value));
    Some(PcieLink {
        address: "simulated".to_owned(),
        speed: speed.clone(),
        width,
        max_speed: speed,
        max_width: width,
    })
}

fn ask(spec: &str, profile: Profile, options: DriveOptions) -> Result<Probe, SessionError> {
    super::SIMULATED_DRIVES.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let drive = Drive::new(profile, options).map_err(|e| TargetError::Simulation {
        drive: spec.to_owned(),
        message: e.to_string(),
    })?;
    let controller = Controller::new(drive, ControllerOptions::default());
    let vectors = controller.vectors();
    let driver = Driver::new(InProcessTransport::new(controller));
    let mut port = Port {
        driver: driver.map_err(|error| unreachable(spec, "enable".to_owned(), &error))?,
        spec,
    };
    let context = ControllerContext {
        registers: Some(Ok(port.registers())),
        interrupt_vectors: Some(u32::from(vectors)),
    };
    Ok(probe::probe(&mut port, context)?)
}

/// Admin port of a simulated controller.
struct Port<'s> {
    spec: &'s str,
    driver: Driver<InProcessTransport>,
}

impl Port<'_> {
    fn registers(&mut self) -> ControllerRegisters {
        let controller = &self.driver.transport.controller;
        let dword = |offset: u64| controller.read_register(offset, 4) as u32;
        ControllerRegisters {
            capabilities: Capabilities::from_raw(controller.read_register(CAP, 8)),
            version: Version::from_raw(dword(VS)),
            configuration: Configuration::from_raw(dword(CC)),
            status: ControllerStatus::from_raw(dword(CSTS)),
        }
    }
}

fn unreachable(spec: &str, command: String, error: &DriverError<Unmapped>) -> CommandError {
    CommandError::System {
        controller: spec.to_owned(),
        command,
        source: std::io::Error::other(error.to_string()),
        advice: "",
    }
}

impl AdminPort for Port<'_> {
    fn name(&self) -> &str {
        self.spec
    }

    fn admin(
        &mut self,
        command: &SubmissionEntry,
        data: &mut [u8],
        _timeout_ms: u32,
    ) -> Result<u32, CommandError> {
        let done = self.driver.admin(*command, data);
        let done = done.map_err(|error| unreachable(self.spec, command_name(command), &error))?;
        match done.status() {
            status if status.is_success() => Ok(done.dw0()),
            status => Err(CommandError::Status {
                controller: self.spec.to_owned(),
                command: command_name(command),
                status,
            }),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/session/simulated.rs"]
mod tests;
