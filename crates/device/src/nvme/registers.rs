//! Controller registers, which no command and no sysfs attribute returns. They are read from the
//! first memory window of the PCI device (NVMe over PCIe Transport 1.0c, 3.1.1), which root may map
//! unless the kernel forbids it (CONFIG_IO_STRICT_DEVMEM, lockdown).

use std::io;
use std::path::Path;

use crate::identity::root::read_attribute;
use crate::open::open_file;
use assay_io::system_calls;
use assay_nvme_spec::register::{
    CAP, CC, CSTS, Capabilities, Configuration, ControllerStatus, VS, Version,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerRegisters {
    pub capabilities: Capabilities,
    pub version: Version,
    pub configuration: Configuration,
    pub status: ControllerStatus,
}

pub fn advice(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EINVAL) => {
            "the kernel reserves them for the driver unless booted with iomem=relaxed".to_owned()
        }
        Some(libc::EACCES | libc::EPERM) => {
            "that needs root, and a kernel that is not locked down".to_owned()
        }
        _ => error.to_string(),
    }
}

/// `sysfs` is the controller's directory, whose `device` is the PCI device. Over a network there is
/// none.
pub fn read(sysfs: &Path) -> io::Result<ControllerRegisters> {
    let transport = read_attribute(&sysfs.join("transport"));
    if let Some(network) = transport.filter(|transport| transport != "pcie") {
        let network = network.to_uppercase();
        return Err(io::Error::other(format!("no PCI device: NVMe over {network}")));
    }
    // O_SYNC: uncached mapping.
    let file = open_file(&sysfs.join("device/resource0"), false, libc::O_SYNC)?;
    // Some machines cannot read 64 bits at once (Base 3.1.3: 64-bit registers may be accessed by
    // halves).
    let [low, high, vs, cc, csts] =
        system_calls::read_registers(&file, [CAP, CAP + 4, VS, CC, CSTS])?;
    let capabilities = u64::from(low) | u64::from(high) << 32;
    let found = ControllerRegisters {
        capabilities: Capabilities::from_raw(capabilities),
        version: Version::from_raw(vs),
        configuration: Configuration::from_raw(cc),
        status: ControllerStatus::from_raw(csts),
    };
    if found.status.raw() == u32::MAX {
        return Err(io::Error::other(
            "the device returns all ones: it is removed or in a low-power state",
        ));
    }
    Ok(found)
}
