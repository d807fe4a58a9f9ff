//! Admin commands by the kernel's passthrough ioctl (include/uapi/linux/nvme_ioctl.h).

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use assay_io::system_calls::{AdminCommandError, nvme_admin_command};
use assay_nvme_spec::SubmissionEntry;
use assay_nvme_spec::opcode::AdminOpcode;

use super::{AdminPort, CommandError};

/// An open controller (`/dev/nvme0`), or a namespace of it, which accepts the same admin commands.
#[derive(Debug)]
pub struct ControllerDevice {
    path: PathBuf,
    name: String,
    file: File,
}

impl ControllerDevice {
    /// Opens a controller's device file for admin commands.
    ///
    /// # Errors
    /// System error.
    pub fn open(path: &Path) -> io::Result<ControllerDevice> {
        Ok(ControllerDevice {
            file: File::open(path)?,
            name: path.display().to_string(),
            path: path.to_path_buf(),
        })
    }

    /// Path of the device file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl AdminPort for ControllerDevice {
    fn name(&self) -> &str {
        &self.name
    }

    fn admin(
        &mut self,
        command: &SubmissionEntry,
        data: &mut [u8],
        timeout_ms: u32,
    ) -> Result<u32, CommandError> {
        let opcode = AdminOpcode(command.opcode());
        let command_name = || match opcode.name() {
            Some(name) => name.to_owned(),
            None => format!("admin command {:#x}", opcode.0),
        };
        let failed = |source: io::Error| CommandError::System {
            controller: self.name.clone(),
            command: command_name(),
            advice: match source.kind() {
                io::ErrorKind::PermissionDenied => {
                    "; admin commands need root (CAP_SYS_ADMIN) on most drives"
                }
                _ => "",
            },
            source,
        };
        nvme_admin_command(&self.file, command, data, timeout_ms).map_err(|error| match error {
            AdminCommandError::Status(status) => CommandError::Status {
                controller: self.name.clone(),
                command: command_name(),
                status,
            },
            AdminCommandError::System(source) => failed(source),
        })
    }
}
