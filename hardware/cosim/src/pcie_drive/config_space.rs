//! Configuration space of root port and endpoint (PCI Express Base Specification 3.0, section 7.5).

use super::link::{DEFAULT_TAGS, LinkOptions};

const COMMAND: usize = 0x04;
const BAR0: usize = 0x10;
const BUS_NUMBERS: usize = 0x18;
const MEMORY_WINDOW: usize = 0x20;
const CAPABILITIES: usize = 0x34;
/// Interrupt line, interrupt pin, Bridge Control.
const BRIDGE_CONTROL: usize = 0x3c;
const SECONDARY_BUS_RESET: u32 = 1 << 22;
/// Bits of the Command register.
const MEMORY_SPACE: u32 = 1 << 1;
const BUS_MASTER: u32 = 1 << 2;
/// Bit of the Status register.
const HAS_CAPABILITIES: u32 = 1 << 20;

/// Capability identifiers.
const POWER_MANAGEMENT: u32 = 0x01;
const MSI: u32 = 0x05;
const PCI_EXPRESS: u32 = 0x10;
const MSI_X: u32 = 0x11;

/// Offset of the PCI Express capability.
const ROOT_EXPRESS: usize = 0x80;
const ENDPOINT_EXPRESS: usize = 0xa0;
const DEVICE_CONTROL: usize = 0x08;
/// Max_Read_Request_Size 512, Max_Payload_Size 128, relaxed ordering, no snoop.
const DEVICE_CONTROL_RESET: u32 = 0x2810;
/// Extended Tag Field in Device Capabilities and Device Control.
const EXTENDED_TAGS_SUPPORTED: u32 = 1 << 5;
const EXTENDED_TAGS_ENABLED: u32 = 1 << 8;

pub(super) const BAR_BYTES: u64 = 16 << 10;
/// 64-bit memory.
const BAR_TYPE: u32 = 4;

/// Values of one function, and which bits can be written.
#[derive(Clone, Debug)]
struct Function {
    values: [u32; 64],
    writable: [u32; 64],
}

impl Function {
    fn new() -> Function {
        Function { values: [0; 64], writable: [0; 64] }
    }

    fn set(&mut self, offset: usize, value: u32, writable: u32) {
        self.values[offset / 4] = value;
        self.writable[offset / 4] = writable;
    }

    /// The last capability of the list.
    fn set_express(
        &mut self,
        at: usize,
        port_type: u32,
        max_payload_bytes: u32,
        link: &LinkOptions,
    ) {
        let speed_and_width = u32::from(link.generation) | u32::from(link.lanes) << 4;
        self.set(at, PCI_EXPRESS | (2 | port_type << 4) << 16, 0);
        let (supported, enabled) = match link.tags > DEFAULT_TAGS {
            true => (EXTENDED_TAGS_SUPPORTED, EXTENDED_TAGS_ENABLED),
            false => (0, 0),
        };
        self.set(at + 0x04, (max_payload_bytes.ilog2() - 7) | supported, 0);
        let writable = 0x7fff & !EXTENDED_TAGS_ENABLED | enabled;
        self.set(at + DEVICE_CONTROL, DEVICE_CONTROL_RESET, writable);
        self.set(at + 0x0c, speed_and_width, 0);
        self.set(at + 0x10, speed_and_width << 16, 0x0fff);
    }

    fn read(&self, offset: usize) -> u32 {
        self.values.get(offset / 4).copied().unwrap_or(0)
    }

    fn write(&mut self, offset: usize, value: u32, strobes: u8) {
        let at = offset / 4;
        let Some(old) = self.values.get(at).copied() else {
            return;
        };
        let bytes = (0..4).filter(|byte| strobes >> byte & 1 != 0);
        let mask = bytes.fold(0, |mask, byte| mask | 0xff_u32 << (8 * byte)) & self.writable[at];
        self.values[at] = old & !mask | value & mask;
    }

    fn max_payload_bytes(&self, express: usize) -> u32 {
        128 << (self.read(express + DEVICE_CONTROL) >> 5 & 7)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConfigTarget {
    Root,
    Endpoint,
    Nothing,
}

#[derive(Clone, Debug)]
pub(super) struct ConfigSpace {
    link: LinkOptions,
    root: Function,
    endpoint: Function,
}

impl ConfigSpace {
    pub(super) fn new(link: &LinkOptions) -> ConfigSpace {
        let mut space =
            ConfigSpace { link: *link, root: Function::new(), endpoint: Function::new() };
        let root = &mut space.root;
        root.set(0x00, 0x000c_1b36, 0);
        root.set(COMMAND, HAS_CAPABILITIES, 0x0547);
        root.set(0x08, 0x0604_0000, 0);
        root.set(0x0c, 0x0001_0000, 0xff);
        root.set(BUS_NUMBERS, 0, 0x00ff_ffff);
        root.set(MEMORY_WINDOW, 0, 0xfff0_fff0);
        root.set(CAPABILITIES, 0x40, 0);
        root.set(BRIDGE_CONTROL, 0, 0x0043_00ff);
        root.set(0x40, POWER_MANAGEMENT | 0x60 << 8 | 3 << 16, 0);
        root.set(0x60, MSI | (ROOT_EXPRESS as u32) << 8, 0x0071_0000);
        // Port type 4: root port of a root complex.
        root.set_express(ROOT_EXPRESS, 4, link.root_max_payload_bytes, link);
        space.reset_endpoint();
        space
    }

    pub(super) fn reset_endpoint(&mut self) {
        let mut endpoint = Function::new();
        endpoint.set(0x00, 0x0010_1b36, 0);
        endpoint.set(COMMAND, HAS_CAPABILITIES, 0x0546);
        // Non-volatile memory, NVMe.
        endpoint.set(0x08, 0x0108_0200, 0);
        endpoint.set(0x0c, 0, 0xff);
        endpoint.set(BAR0, BAR_TYPE, !(BAR_BYTES as u32 - 1));
        endpoint.set(BAR0 + 4, 0, u32::MAX);
        endpoint.set(CAPABILITIES, 0x48, 0);
        endpoint.set(0x48, POWER_MANAGEMENT | 0x70 << 8 | 3 << 16, 0);
        let table = MSI_X | (ENDPOINT_EXPRESS as u32) << 8 | 8 << 16;
        endpoint.set(0x70, table, 0xc000_0000);
        endpoint.set_express(ENDPOINT_EXPRESS, 0, self.link.endpoint_max_payload_bytes, &self.link);
        self.endpoint = endpoint;
    }

    /// `address` is an ECAM address: bus, device, function.
    pub(super) fn target(&self, address: u32) -> ConfigTarget {
        let function = address >> 12 & 0xffff;
        let bus = function >> 8;
        let secondary = self.root.read(BUS_NUMBERS) >> 8 & 0xff;
        match function {
            0 => ConfigTarget::Root,
            // Device 0, function 0 behind the root port, once it has bus numbers.
            _ if function & 0xff == 0 && bus == secondary && self.is_secondary_valid() => {
                ConfigTarget::Endpoint
            }
            _ => ConfigTarget::Nothing,
        }
    }

    fn is_secondary_valid(&self) -> bool {
        let numbers = self.root.read(BUS_NUMBERS);
        let (secondary, subordinate) = (numbers >> 8 & 0xff, numbers >> 16 & 0xff);
        secondary > 0 && secondary <= subordinate
    }

    pub(super) fn read_root(&self, address: u32) -> u32 {
        self.root.read(address as usize & 0xfff)
    }

    pub(super) fn write_root(&mut self, address: u32, value: u32, strobes: u8) {
        self.root.write(address as usize & 0xfff, value, strobes);
    }

    pub(super) fn read_endpoint(&self, address: u32) -> u32 {
        self.endpoint.read(address as usize & 0xfff)
    }

    pub(super) fn write_endpoint(&mut self, address: u32, value: u32, strobes: u8) {
        self.endpoint.write(address as usize & 0xfff, value, strobes);
    }

    /// The root port holds the link in hot reset.
    pub(super) fn is_in_hot_reset(&self) -> bool {
        self.root.read(BRIDGE_CONTROL) & SECONDARY_BUS_RESET != 0
    }

    pub(super) fn is_in_window(&self, address: u32) -> bool {
        let window = self.root.read(MEMORY_WINDOW);
        let (base, limit) = ((window & 0xfff0) << 16, window & 0xfff0_0000 | 0xf_ffff);
        self.root.read(COMMAND) & MEMORY_SPACE != 0 && (base..=limit).contains(&address)
    }

    /// `None` if the endpoint does not claim the access.
    pub(super) fn bar_offset(&self, address: u32) -> Option<u64> {
        let low = u64::from(self.endpoint.read(BAR0) & !0xf);
        let base = u64::from(self.endpoint.read(BAR0 + 4)) << 32 | low;
        let is_enabled = self.endpoint.read(COMMAND) & MEMORY_SPACE != 0;
        let offset = u64::from(address).checked_sub(base)?;
        (is_enabled && base > 0 && offset < BAR_BYTES).then_some(offset)
    }

    pub(super) fn is_bus_master(&self) -> bool {
        self.endpoint.read(COMMAND) & BUS_MASTER != 0
    }

    /// Whether the root port forwards the endpoint's memory accesses.
    pub(super) fn forwards_upstream(&self) -> bool {
        self.root.read(COMMAND) & BUS_MASTER != 0
    }

    pub(super) fn root_payload_bytes(&self) -> u32 {
        self.root.max_payload_bytes(ROOT_EXPRESS)
    }

    pub(super) fn endpoint_payload_bytes(&self) -> u32 {
        self.endpoint.max_payload_bytes(ENDPOINT_EXPRESS)
    }

    /// Reads that the endpoint may have outstanding.
    pub(super) fn read_tags(&self) -> u16 {
        let control = self.endpoint.read(ENDPOINT_EXPRESS + DEVICE_CONTROL);
        match control & EXTENDED_TAGS_ENABLED != 0 {
            true => self.link.tags,
            false => self.link.tags.min(DEFAULT_TAGS),
        }
    }

    pub(super) fn read_request_bytes(&self) -> u32 {
        128 << (self.endpoint.read(ENDPOINT_EXPRESS + DEVICE_CONTROL) >> 12 & 7)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/pcie_drive/config_space.rs"]
mod tests;
