//! What other programs saved of a controller, read as if the controller answered: binary dumps of
//! nvme-cli (`nvme id-ctrl --raw-binary`, `id-ns`, `smart-log`, the log C0h of the Open Compute
//! Project), its JSON (`-o json`), the JSON of smartctl and of `assay probe`.
//!
//! A file is recognised by its content. Numbers of JSON are stored into the structures of the
//! specification ([`json`]), so that everything has one meaning. Commands whose answer is in no
//! file fail, as those that a controller rejects.

use std::path::Path;

use assay_nvme_spec::admin::{GetLogPage, IdentifyCommand};
use assay_nvme_spec::identify::{Cns, DATA_BYTES, IdentifyController, IdentifyNamespace};
use assay_nvme_spec::log::{LogId, OcpSmartLog, SmartLog};
use assay_nvme_spec::opcode::AdminOpcode;
use assay_nvme_spec::wire::Wire;
use assay_nvme_spec::{StatusCode, SubmissionEntry};
use assay_output::read_named;
use serde::Serialize;

use super::probe::{self, Probe};
use super::{AdminPort, CommandError, command_name};

mod json;

/// Why a file tells nothing.
#[derive(Debug, thiserror::Error)]
pub enum SavedError {
    #[error("cannot read {path}: {source}")]
    Read { path: String, source: std::io::Error },
    #[error(
        "{path}: {reason}; expected is the JSON or the binary output of `nvme id-ctrl`, `id-ns` \
         or `smart-log`, of `smartctl --json -x`, or of `assay probe --json`"
    )]
    Unknown { path: String, reason: String },
    /// Another drive's file is among them.
    #[error("{path} is of the drive with the serial {found:?}, an earlier file of {serial:?}")]
    OtherDrive { path: String, found: String, serial: String },
    #[error(transparent)]
    Command(#[from] CommandError),
}

/// What the files say of one drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SavedDrive {
    pub model: String,
    pub serial: String,
    pub firmware: String,
    /// 0 where no file has it.
    pub capacity_bytes: u64,
    /// Parts that no file has are as of a controller that reports nothing.
    pub nvme: Option<Probe>,
    /// Of Identify Controller there is only what smartctl takes from it.
    pub is_extract: bool,
    /// Whether a file has Identify Controller, and the health log.
    pub has_identity: bool,
    pub has_health: bool,
}

/// The answers of a controller that the files have.
#[derive(Debug, Default)]
struct Saved {
    controller: Option<IdentifyController>,
    /// Their identifiers are 1, 2, ... in the order of the files, which do not have them.
    namespaces: Vec<IdentifyNamespace>,
    smart: Option<SmartLog>,
    ocp: Option<OcpSmartLog>,
    /// Of files that are no answer of a controller.
    drive: SavedDrive,
}

/// Reads files about one drive.
///
/// # Errors
/// [`SavedError`] of the first file that cannot be used.
pub fn read(paths: &[impl AsRef<Path>]) -> Result<SavedDrive, SavedError> {
    let mut files = Vec::new();
    for path in paths {
        let path = path.as_ref().display().to_string();
        match read_named(Path::new(&path)) {
            Ok(content) => files.push((path, content)),
            Err(source) => return Err(SavedError::Read { path, source }),
        }
    }
    read_contents(files)
}

/// Reads files by name and content.
///
/// # Errors
/// As [`read`].
pub fn read_contents(files: Vec<(String, Vec<u8>)>) -> Result<SavedDrive, SavedError> {
    let mut saved = Saved::default();
    for (name, content) in files {
        let before = saved.serial();
        let unknown = |reason: String| SavedError::Unknown { path: name.clone(), reason };
        saved.add(&content).map_err(unknown)?;
        let found = saved.serial();
        if !before.is_empty() && before != found {
            return Err(SavedError::OtherDrive { path: name, found, serial: before });
        }
    }
    saved.into_drive()
}

impl Saved {
    fn serial(&self) -> String {
        match &self.controller {
            Some(controller) => controller.serial(),
            None => self.drive.serial.clone(),
        }
    }

    fn set_controller(&mut self, controller: IdentifyController) {
        self.controller = Some(controller);
        self.drive.is_extract = false;
    }

    fn add(&mut self, content: &[u8]) -> Result<(), String> {
        let start = content.iter().find(|byte| !byte.is_ascii_whitespace());
        match (start, content.len()) {
            (Some(b'{'), _) => {
                let value = serde_json::from_slice(content).map_err(|error| error.to_string())?;
                json::add(self, &value)
            }
            (_, DATA_BYTES) => {
                let data: [u8; DATA_BYTES] = std::array::from_fn(|at| content[at]);
                let controller = IdentifyController::from_bytes(data);
                let model = controller.model_number();
                match model.iter().all(|byte| matches!(byte, b' '..=b'~')) {
                    true => self.set_controller(controller),
                    false => self.namespaces.push(IdentifyNamespace::from_bytes(data)),
                }
                Ok(())
            }
            (_, SmartLog::BYTES) => {
                let ocp = OcpSmartLog::load(content);
                match ocp.is_ocp() {
                    true => self.ocp = Some(ocp),
                    false => self.smart = Some(SmartLog::load(content)),
                }
                Ok(())
            }
            (_, bytes) => Err(format!(
                "it is no JSON, and {bytes} bytes are neither Identify data (4096) nor a health \
                 log (512)"
            )),
        }
    }

    fn into_drive(mut self) -> Result<SavedDrive, SavedError> {
        let mut drive = std::mem::take(&mut self.drive);
        drive.has_identity |= self.controller.is_some();
        drive.has_health |= self.smart.is_some();
        let has_answers = drive.has_identity || drive.has_health || !self.namespaces.is_empty();
        if drive.nvme.is_none() && has_answers {
            drive.nvme = Some(probe::read(&mut self)?);
        }
        if let Some(probe) = &drive.nvme {
            let over = [
                (&mut drive.model, &probe.model),
                (&mut drive.serial, &probe.serial),
                (&mut drive.firmware, &probe.firmware),
            ];
            for (place, own) in over {
                if !own.is_empty() {
                    place.clone_from(own);
                }
            }
            let namespaces = probe.namespaces.iter().map(|of| of.size_bytes).sum::<u64>();
            let total = probe.total_capacity_bytes.unwrap_or(namespaces);
            if drive.capacity_bytes == 0 {
                drive.capacity_bytes = total;
            }
        }
        Ok(drive)
    }
}

impl AdminPort for Saved {
    fn name(&self) -> &str {
        "the saved files"
    }

    fn admin(
        &mut self,
        command: &SubmissionEntry,
        data: &mut [u8],
        _timeout_ms: u32,
    ) -> Result<u32, CommandError> {
        let missing = || CommandError::Status {
            controller: "the saved files".to_owned(),
            command: command_name(command),
            status: StatusCode::INVALID_FIELD,
        };
        let mut answer = |bytes: &[u8]| {
            for (place, byte) in data.iter_mut().zip(bytes) {
                *place = *byte;
            }
        };
        match AdminOpcode(command.opcode()) {
            AdminOpcode::IDENTIFY => {
                let asked = IdentifyCommand::from(*command);
                let index = (asked.nsid() as usize).wrapping_sub(1);
                match Cns(asked.cns()) {
                    Cns::CONTROLLER => answer(self.controller.unwrap_or_default().as_bytes()),
                    Cns::NAMESPACE => {
                        answer(self.namespaces.get(index).ok_or_else(missing)?.as_bytes());
                    }
                    Cns::ACTIVE_NAMESPACES => {
                        let ids = (1..=self.namespaces.len() as u32).flat_map(u32::to_le_bytes);
                        answer(&ids.collect::<Vec<u8>>());
                    }
                    _ => return Err(missing()),
                }
            }
            AdminOpcode::GET_LOG_PAGE => match LogId(GetLogPage::from(*command).lid()) {
                LogId::SMART => answer(self.smart.unwrap_or_default().as_bytes()),
                LogId::OCP_SMART => answer(self.ocp.ok_or_else(missing)?.as_bytes()),
                _ => return Err(missing()),
            },
            _ => return Err(missing()),
        }
        Ok(0)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/nvme/saved.rs"]
mod tests;
