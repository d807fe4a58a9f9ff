//! The test bench's planned faults ([`assay_integrity::planned_faults`]) on commands of a far end.

use std::collections::BTreeSet;
use std::convert::Infallible;

use assay_integrity::planned_faults::{Command, Execution, FaultMedia, Faults};
use assay_nvme_spec::nvm::Read;
use assay_nvme_spec::opcode::NvmOpcode;
use assay_nvme_spec::{StatusCode, SubmissionEntry};
use assay_ssd::Drive;
use assay_units::Op;

use super::faults::{CommandHook, Disposition};

/// The drive must keep its data.
#[derive(Clone, Debug)]
pub struct PlannedFaults {
    faults: Faults,
    /// Reads that get stale data: queue and command identifier.
    stale: BTreeSet<(u16, u16)>,
    block_bytes: u64,
}

impl PlannedFaults {
    /// The caller may arm the faults and ask for their counts.
    pub fn new(faults: Faults) -> PlannedFaults {
        PlannedFaults { faults, stale: BTreeSet::new(), block_bytes: 0 }
    }
}

struct Media<'a> {
    drive: &'a mut Drive,
    data: &'a mut [u8],
}

impl FaultMedia for Media<'_> {
    type Error = Infallible;

    fn data(&mut self) -> &mut [u8] {
        self.data
    }

    /// What is beyond the drive reads as zeroes.
    fn read(&mut self, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), Infallible> {
        if !self.drive.read_kept(offset_bytes, bytes) {
            bytes.fill(0);
        }
        Ok(())
    }

    /// What is beyond the drive is lost.
    fn write(&mut self, offset_bytes: u64, bytes: &[u8]) -> Result<(), Infallible> {
        self.drive.write_kept(offset_bytes, bytes);
        Ok(())
    }
}

impl CommandHook for PlannedFaults {
    fn submitted(
        &mut self,
        drive: &mut Drive,
        queue: u16,
        entry: &mut SubmissionEntry,
        data: &mut [u8],
    ) -> Disposition {
        let block_bytes = drive.identity().logical_block_bytes;
        self.block_bytes = block_bytes;
        let op = match NvmOpcode(entry.opcode()) {
            NvmOpcode::READ => Op::Read,
            NvmOpcode::WRITE => Op::Write,
            NvmOpcode::FLUSH => Op::Flush,
            _ => return Disposition::Execute,
        };
        let (mut offset_bytes, mut len_bytes) = (0, 0);
        if op != Op::Flush {
            let range = Read::from(*entry);
            // The controller reports a range beyond the drive.
            offset_bytes = range.slba().saturating_mul(block_bytes);
            len_bytes = range.blocks().saturating_mul(block_bytes as u32);
        }
        let command = Command { op, offset_bytes, len_bytes };
        let Ok(execution) = self.faults.begin(command, &mut Media { drive, data });
        match execution {
            Execution::Omit => return Disposition::Answer(StatusCode::SUCCESS),
            Execution::ExecuteStale => {
                self.stale.insert((queue, entry.cid()));
            }
            Execution::Execute { offset_bytes: at, len_bytes: len } if op != Op::Flush => {
                if (at, len) != (offset_bytes, len_bytes) {
                    let lba = at / block_bytes;
                    let less_one = u64::from(len) / block_bytes - 1;
                    let other_bits = entry.cdw12() & !0xffff;
                    entry
                        .set_cdw10(lba as u32)
                        .set_cdw11((lba >> 32) as u32)
                        .set_cdw12(other_bits | less_one as u32);
                }
            }
            Execution::Execute { .. } => {}
        }
        Disposition::Execute
    }

    fn completed(
        &mut self,
        queue: u16,
        entry: &SubmissionEntry,
        data: &mut [Vec<u8>],
        _: &mut StatusCode,
    ) -> u64 {
        if self.stale.remove(&(queue, entry.cid())) {
            let mut offset_bytes = Read::from(*entry).slba() * self.block_bytes;
            for page in data {
                self.faults.make_stale(offset_bytes, page);
                offset_bytes += page.len() as u64;
            }
        }
        0
    }
}
