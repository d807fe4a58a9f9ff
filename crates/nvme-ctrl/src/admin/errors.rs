//! Error Information log (Base 5.16.1.2).

use std::collections::VecDeque;

use assay_nvme_spec::CompletionEntry;
use assay_nvme_spec::log::ErrorEntry;

pub(crate) const ERROR_ENTRIES: usize = 64;

#[derive(Clone, Debug, Default)]
pub(crate) struct ErrorLog {
    entries: VecDeque<ErrorEntry>,
    pub(crate) count: u64,
}

impl ErrorLog {
    pub(crate) fn add(&mut self, completion: &CompletionEntry, opcode: u8, nsid: u32, lba: u64) {
        self.count += 1;
        let mut entry = ErrorEntry::default();
        entry
            .set_error_count(self.count)
            .set_sqid(completion.sqid())
            .set_cid(completion.cid())
            .set_status_field(completion.status_field())
            // No single parameter is in error.
            .set_parameter_byte(0xff)
            .set_parameter_bit(7)
            .set_lba(lba)
            .set_nsid(nsid)
            .set_opcode(opcode);
        self.entries.truncate(ERROR_ENTRIES - 1);
        self.entries.push_front(entry);
    }

    pub(crate) fn page(&self) -> Vec<u8> {
        let entries = self.entries.iter();
        let mut page: Vec<u8> = entries.flat_map(|entry| *entry.as_bytes()).collect();
        page.resize(ERROR_ENTRIES * ErrorEntry::SIZE, 0);
        page
    }
}
