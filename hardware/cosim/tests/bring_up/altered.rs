//! A drive that describes itself otherwise than its model does: what the core reads of it, and what
//! it writes, is changed on the way.

use std::collections::VecDeque;

use assay_cosim::pcie_drive::{LinkOptions, PcieDrive, PcieDriveOptions, unlimited_profile};
use assay_cosim::signals::{DriveInputs, DriveOutputs};
use assay_cosim::world::DriveSide;
use assay_ssd::DriveOptions;

/// Doorbell registers, as the core's address of the drive.
pub const DOORBELLS: u32 = 0x1000_1000;

const BEAT_BYTES: u64 = 16;
const SLVERR: u8 = 2;

/// What is changed.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Bits of a register that the core reads: address, mask, value.
    pub registers: Vec<(u32, u32, u32)>,
    /// Addresses at which accesses of the core end with an error.
    pub errors: Vec<u32>,
    /// Bytes that the drive writes: address, value.
    pub bytes: Vec<(u64, u8)>,
    /// Doorbell stride (CAP.DSTRD) by which the core addresses doorbells; the model's is 0.
    pub stride: u32,
    /// Speed and width of the link.
    pub link: Option<(u8, u8)>,
}

/// The drive.
pub struct Altered {
    pub far: PcieDrive,
    pub changes: Changes,
    /// Addresses of the last accesses of the core.
    read: u32,
    written: u32,
    /// Writes of the drive whose address was shown, and whether the last of them is still shown;
    /// words taken of the first.
    writes: VecDeque<u64>,
    is_shown: bool,
    words: u64,
}

impl Altered {
    pub fn new(link: LinkOptions, namespace: u32) -> Altered {
        let drive = DriveOptions { keep_data: true, ..DriveOptions::default() };
        let mut options = PcieDriveOptions::new(link, 128);
        options.namespace = namespace;
        Altered {
            far: PcieDrive::from_profile(unlimited_profile(), drive, options).expect("a drive"),
            changes: Changes::default(),
            read: 0,
            written: 0,
            writes: VecDeque::new(),
            is_shown: false,
            words: 0,
        }
    }

    /// The core's outputs with the address of a doorbell as the model has it.
    fn seen(&self, outputs: &DriveOutputs) -> DriveOutputs {
        let mut seen = *outputs;
        let offset = outputs.bar_aw_addr.wrapping_sub(DOORBELLS);
        if outputs.bar_aw_valid != 0 && offset < 0x000f_f000 {
            let doorbell = offset >> (2 + self.changes.stride);
            let exact = doorbell << (2 + self.changes.stride);
            assert_eq!(exact, offset, "no doorbell, stride {}", self.changes.stride);
            seen.bar_aw_addr = DOORBELLS + 4 * doorbell;
        }
        seen
    }

    fn change_answers(&mut self, outputs: &DriveOutputs, inputs: &mut DriveInputs) {
        if inputs.bar_r_valid != 0 {
            for &(address, mask, value) in &self.changes.registers {
                if address == self.read {
                    inputs.bar_r_data = inputs.bar_r_data & !mask | value & mask;
                }
            }
            if self.changes.errors.contains(&self.read) {
                inputs.bar_r_resp = SLVERR;
            }
        }
        if inputs.bar_b_valid != 0 && self.changes.errors.contains(&self.written) {
            inputs.bar_b_resp = SLVERR;
        }
        if outputs.bar_ar_valid & inputs.bar_ar_ready != 0 {
            self.read = outputs.bar_ar_addr;
        }
        if outputs.bar_aw_valid & inputs.bar_aw_ready != 0 {
            self.written = outputs.bar_aw_addr;
        }
    }

    fn change_writes(&mut self, outputs: &DriveOutputs, inputs: &mut DriveInputs) {
        if inputs.dev_aw_valid != 0 && !self.is_shown {
            self.writes.push_back(inputs.dev_aw_addr & !(BEAT_BYTES - 1));
        }
        self.is_shown = inputs.dev_aw_valid != 0 && outputs.dev_aw_ready == 0;
        if inputs.dev_w_valid == 0 {
            return;
        }
        let first = self.writes.front().expect("data behind its address");
        let word = first + self.words * BEAT_BYTES;
        for &(address, value) in &self.changes.bytes {
            if (word..word + BEAT_BYTES).contains(&address) {
                inputs.dev_w_data[(address - word) as usize] = value;
            }
        }
        if outputs.dev_w_ready != 0 {
            self.words += 1;
            if inputs.dev_w_last != 0 {
                self.words = 0;
                self.writes.pop_front();
            }
        }
    }
}

impl DriveSide for Altered {
    fn step(&mut self, cycle: u64, outputs: &DriveOutputs, inputs: &mut DriveInputs) {
        self.far.step(cycle, &self.seen(outputs), inputs);
        self.change_answers(outputs, inputs);
        self.change_writes(outputs, inputs);
        if let Some((speed, width)) = self.changes.link {
            (inputs.link_speed, inputs.link_width) = (speed, width);
        }
    }

    fn next_event_cycle(&self) -> Option<u64> {
        self.far.next_event_cycle()
    }
}
