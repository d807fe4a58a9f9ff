//! Host Memory Buffer (Base 8.9 of 1.4, 5.27.1.10 of 2.0c) for the map cache of drives with their
//! map on flash. The drive's times follow the size lent; the controller never accesses the memory.
//! A controller reset gives it back, as the host enables it anew.

use assay_nvme_spec::StatusCode;
use assay_nvme_spec::feature::{HostMemoryAttributes, HostMemoryBuffer, HostMemoryDescriptor};
use assay_units::Nanos;

use super::{AdminCommand, AdminOutcome, AdminResult};
use crate::controller::{Controller, PAGE_BYTES};
use crate::memory::HostMemory;

/// Most entries of a descriptor list (HMMAXD): bounds the work of a command. Assumed.
pub(crate) const MAX_DESCRIPTORS: u16 = 1024;

/// HMMIN and HMPRE in units of 4 KiB; `None` for drives that take no host memory, or cannot reach
/// it.
pub(crate) fn sizes_in_pages(controller: &Controller) -> Option<[u32; 2]> {
    let sizes = controller.drive.host_memory_bytes();
    let (least, preferred) = sizes.filter(|_| controller.options.fabrics.is_none())?;
    Some([least, preferred].map(|bytes| bytes.div_ceil(PAGE_BYTES) as u32))
}

impl Controller {
    pub(super) fn set_host_memory(&mut self, command: &AdminCommand<'_>) -> AdminResult {
        let entry = &command.entry;
        let wanted = HostMemoryBuffer::from_raw(entry.cdw11());
        let mut lent = None;
        if wanted.enabled() {
            StatusCode::COMMAND_SEQUENCE_ERROR.fail_if(self.features.host_memory.is_some())?;
            let mut attributes = HostMemoryAttributes::default();
            attributes
                .set_pages(entry.cdw12())
                .set_list_low(entry.cdw13())
                .set_list_high(entry.cdw14())
                .set_descriptors(entry.cdw15());
            self.check_host_memory(&attributes, command.memory)?;
            lent = Some(attributes);
        }
        let page_bytes = self.page_bytes;
        let bytes = lent.as_ref().map(|lent| u64::from(lent.pages()) * page_bytes);
        let done = self.drive.lend_host_memory(Nanos(command.now_ns), bytes);
        self.features.host_memory = lent.map(Box::new);
        Ok(AdminOutcome::DoneAt(done.0))
    }

    /// The memory is as large as stated and as needed, and mapped.
    fn check_host_memory(
        &self,
        attributes: &HostMemoryAttributes,
        memory: &dyn HostMemory,
    ) -> Result<(), StatusCode> {
        let (least, _) = (self.drive.host_memory_bytes()).ok_or(StatusCode::INVALID_FIELD)?;
        let bytes = u64::from(attributes.pages()) * self.page_bytes;
        let count = attributes.descriptors();
        let list = u64::from(attributes.list_high()) << 32 | u64::from(attributes.list_low());
        let is_valid = bytes >= least && (1..=u32::from(MAX_DESCRIPTORS)).contains(&count);
        StatusCode::INVALID_FIELD.fail_if(!is_valid || !list.is_multiple_of(16))?;
        let mut described = 0;
        for number in 0..u64::from(count) {
            let mut descriptor = HostMemoryDescriptor::default();
            let at = list.checked_add(number * 16).ok_or(StatusCode::INVALID_FIELD)?;
            memory.read(at, descriptor.as_bytes_mut())?;
            let (address, len) =
                (descriptor.address(), u64::from(descriptor.pages()) * self.page_bytes);
            let is_there =
                address.is_multiple_of(self.page_bytes) && memory.is_mapped(address, len);
            StatusCode::INVALID_FIELD.fail_if(!is_there)?;
            described += len;
        }
        StatusCode::INVALID_FIELD.fail_if(described < bytes)
    }
}
