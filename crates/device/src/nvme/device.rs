//! Admin commands by the kernel's passthrough ioctl (include/uapi/linux/nvme_ioctl.h).

use std::fs::File;
use std::io;
use std::path::Path;

use assay_io::system_calls::{NvmeCommandError, nvme_admin_command};
use assay_nvme_spec::SubmissionEntry;

use super::{AdminPort, CommandError, command_name};

/// A controller (`/dev/nvme0`), or a namespace of it, which accepts the same admin commands.
#[derive(Debug)]
pub(crate) struct ControllerDevice {
    name: String,
    file: File,
}

impl ControllerDevice {
    pub fn open(path: &Path) -> io::Result<ControllerDevice> {
        Ok(ControllerDevice::over(path, File::open(path)?))
    }

    /// `file` is the open device of this path.
    pub fn over(path: &Path, file: File) -> ControllerDevice {
        ControllerDevice { name: path.display().to_string(), file }
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
        let done = nvme_admin_command(&self.file, command, data, timeout_ms);
        let (controller, command) = (self.name.clone(), command_name(command));
        done.map_err(|error| match error {
            NvmeCommandError::Status(status) => {
                CommandError::Status { controller, command, status }
            }
            NvmeCommandError::System(source) => CommandError::System {
                controller,
                command,
                advice: match source.kind() {
                    io::ErrorKind::PermissionDenied => {
                        "; admin commands need CAP_SYS_ADMIN on most drives: root has it, but not \
                         in most containers (docker, podman: `--cap-add SYS_ADMIN`)"
                    }
                    _ => "",
                },
                source,
            },
        })
    }
}
