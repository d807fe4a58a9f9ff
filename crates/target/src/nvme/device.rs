//! A controller of this machine, by way of the kernel's passthrough ioctl (include/uapi/linux/nvme_ioctl.h).

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use assay_nvme_spec::SubmissionEntry;
use assay_nvme_spec::opcode::AdminOpcode;

use super::kernel::{KernelCommand, status_of};
use super::{AdminPort, CommandError};

/// `NVME_IOCTL_ADMIN_CMD`, `_IOWR('N', 0x41, struct nvme_admin_cmd)`.
const NVME_IOCTL_ADMIN_CMD: libc::c_ulong = 0xc048_4e41;

/// A controller, opened: `/dev/nvme0`, or a namespace of it, which takes the same admin commands.
#[derive(Debug)]
pub struct ControllerDevice {
    path: PathBuf,
    name: String,
    file: File,
}

impl ControllerDevice {
    /// Open a controller's device file for admin commands.
    ///
    /// # Errors
    /// The system's.
    pub fn open(path: &Path) -> io::Result<ControllerDevice> {
        Ok(ControllerDevice {
            file: File::open(path)?,
            name: path.display().to_string(),
            path: path.to_path_buf(),
        })
    }

    /// Its device file.
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
        let words = || match opcode.name() {
            Some(name) => name.to_owned(),
            None => format!("admin command {:#x}", opcode.0),
        };
        let failed = |source: io::Error| CommandError::System {
            controller: self.name.clone(),
            command: words(),
            advice: match source.kind() {
                io::ErrorKind::PermissionDenied => {
                    "; admin commands need root (CAP_SYS_ADMIN) on most drives"
                }
                _ => "",
            },
            source,
        };
        let Ok(data_len) = u32::try_from(data.len()) else {
            return Err(failed(io::ErrorKind::InvalidInput.into()));
        };
        let address = if data.is_empty() {
            0
        } else {
            data.as_mut_ptr() as u64
        };
        let mut raw = KernelCommand::of(command, address, data_len);
        raw.timeout_ms = timeout_ms;
        // SAFETY: `raw` is the structure this request is defined with and outlives the call; `address` and `data_len` are those of `data`, which
        // is borrowed exclusively for the call, and the kernel copies no more than that to or from it.
        let answer = unsafe {
            libc::ioctl(
                self.file.as_raw_fd(),
                NVME_IOCTL_ADMIN_CMD as _,
                &raw mut raw,
            )
        };
        match answer {
            0 => Ok(raw.result),
            status if status > 0 => Err(CommandError::Status {
                controller: self.name.clone(),
                command: words(),
                status: status_of(status),
            }),
            _ => Err(failed(io::Error::last_os_error())),
        }
    }
}
