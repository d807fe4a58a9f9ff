//! A controller's registers, read from its PCI memory.
//!
//! No command gives CAP, CC or CSTS; the kernel does not tell them either. They are read where they are: the first memory window of the PCI
//! device (NVMe over PCIe Transport 1.0c, 3.1.1), which root may map where the kernel does not forbid it (CONFIG_IO_STRICT_DEVMEM, lockdown).

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use assay_io::system_calls;
use assay_nvme_spec::register::{
    CAP, CC, CSTS, Capabilities, Configuration, ControllerStatus, VS, Version,
};

/// Registers of a controller, as they were when read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// Controller Capabilities.
    pub capabilities: Capabilities,
    /// Version.
    pub version: Version,
    /// Controller Configuration.
    pub configuration: Configuration,
    /// Controller Status.
    pub status: ControllerStatus,
}

/// Why they could not be read, and what can be done about it.
pub fn advice(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EINVAL) => {
            "the kernel keeps them to the drive's driver; booted with iomem=relaxed it does not"
                .to_owned()
        }
        Some(libc::EACCES | libc::EPERM) => {
            "that needs root, and a kernel that is not locked down".to_owned()
        }
        _ => error.to_string(),
    }
}

/// Read them; `sysfs` is the controller's directory there, whose `device` is the PCI device.
///
/// # Errors
/// When the window cannot be mapped, or the device answers with all ones (it is gone, or asleep).
pub fn read(sysfs: &Path) -> io::Result<Registers> {
    // O_SYNC: registers are not memory to be cached.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_SYNC | libc::O_CLOEXEC)
        .open(sysfs.join("device/resource0"))?;
    // Two reads of 32 bits: some machines cannot read 64 at once (Base 3.1.3: 64-bit registers may be accessed by halves).
    let [low, high, vs, cc, csts] =
        system_calls::read_registers(&file, [CAP, CAP + 4, VS, CC, CSTS])?;
    let capabilities = u64::from(low) | u64::from(high) << 32;
    let found = Registers {
        capabilities: Capabilities::from_raw(capabilities),
        version: Version::from_raw(vs),
        configuration: Configuration::from_raw(cc),
        status: ControllerStatus::from_raw(csts),
    };
    if found.status.raw() == u32::MAX {
        return Err(io::Error::other(
            "the device answers with all ones: it is gone or asleep",
        ));
    }
    Ok(found)
}
