//! A controller's answers, as a driver reads them; a driver's registers, memory and commands, as
//! the controller model reads them.

use assay_device::nvme::{AdminPort, CommandError, display, probe, saved};
use assay_nvme_ctrl::{Controller, ControllerOptions, FlatMemory, HostMemory};
use assay_nvme_spec::{StatusCode, SubmissionEntry, register};
use assay_ssd::profile::Profile;
use assay_ssd::{Drive, DriveOptions};
use assay_units::Nanos;

use crate::input::Input;

/// Answers each admin command with the next bytes of the input.
struct Answers<'a>(Input<'a>);

impl AdminPort for Answers<'_> {
    fn name(&self) -> &str {
        "/dev/nvme0"
    }

    fn admin(&mut self, _: &SubmissionEntry, data: &mut [u8], _: u32) -> Result<u32, CommandError> {
        // One of 16 commands fails.
        let head = self.0.u8();
        if head & 0xf == 0xf {
            return Err(CommandError::Status {
                controller: "/dev/nvme0".to_owned(),
                command: "a command".to_owned(),
                status: StatusCode(u16::from(head)),
            });
        }
        // The first bytes vary, the rest repeats: an input need not be as long as all log pages.
        let bytes = self.0.bytes(1 + usize::from(head >> 4) * 16);
        for (to, from) in data.iter_mut().zip(bytes.iter().cycle()) {
            *to = *from;
        }
        Ok(self.0.u64() as u32)
    }
}

/// A saved report: JSON, Identify data or a log, by itself and after a health log.
pub fn saved_drive(data: &[u8]) {
    let files = [
        vec![("a".to_owned(), data.to_vec())],
        vec![("a".to_owned(), vec![0; 512]), ("b".to_owned(), data.to_vec())],
    ];
    for files in files {
        let Ok(found) = saved::read_contents(files) else {
            continue;
        };
        if let Some(probe) = &found.nvme {
            display::facts(probe, &mut |_, name, _| assert!(!name.is_empty()));
        }
    }
}

/// Identify data, log pages and features of a controller that answers anything, and their text.
pub fn probe(data: &[u8]) {
    if let Ok(probe) = probe::read(&mut Answers(Input::new(data))) {
        let _ = probe.health.telemetry();
        display::facts(&probe, &mut |_, name, value| {
            assert!(!name.is_empty(), "{value:?} has a name");
        });
    }
}

const MEMORY_BYTES: usize = 256 << 10;
const MAX_STEPS: usize = 400;

/// A driver writes any register and any memory: the controller neither panics nor hangs, and time
/// passes.
pub fn controller(data: &[u8]) {
    let mut profile = Profile::builtin("samsung-951").expect("a profile");
    profile.nand.blocks_per_plane.value = 64;
    profile.identity.capacity_bytes.value = 4 << 30;
    let drive = Drive::new(profile, DriveOptions::default()).expect("a drive");
    let mut controller = Controller::new(drive, ControllerOptions::default());
    let mut memory = FlatMemory::new(0, MEMORY_BYTES);
    // Admin queues of 16 entries at fixed addresses, so that few bytes make commands.
    controller.write_register(Nanos::ZERO, register::AQA, 4, 0x000f_000f);
    controller.write_register(Nanos::ZERO, register::ASQ, 8, 0x1000);
    controller.write_register(Nanos::ZERO, register::ACQ, 8, 0x2000);
    controller.write_register(Nanos::ZERO, register::CC, 4, 0x0046_0001);
    let mut now = Nanos(2_000_000);
    controller.advance(now, &mut memory);
    let mut input = Input::new(data);
    for _ in 0..MAX_STEPS {
        if input.is_empty() {
            break;
        }
        match input.u8() % 4 {
            0 => {
                let (offset, value) = (u64::from(input.u16()), input.u64());
                controller.write_register(now, offset, 4 + 4 * (value & 1) as usize, value);
            }
            1 => {
                let at = u64::from(input.u16());
                let length = usize::from(input.u8() % 65);
                let _ = memory.write(at, input.bytes(length));
            }
            2 => {
                let offset = u64::from(input.u16());
                let _ = controller.read_register(offset, 8);
            }
            _ => {
                now = Nanos(now.0 + u64::from(input.u16()) * 1000);
                controller.advance(now, &mut memory);
            }
        }
    }
    controller.advance(Nanos(now.0 + 10_000_000), &mut memory);
}
