//! The driver of `assay_nvme_ctrl::driver` on controllers in this process, and after surprise
//! removal.

use assay_nvme_ctrl::driver::{DATA_BYTES, Driver, DriverError, InProcessTransport};
use assay_nvme_ctrl::{Controller, ControllerOptions};
use assay_nvme_spec::StatusCode;
use assay_nvme_spec::admin::{GetLogPage, IdentifyCommand};
use assay_nvme_spec::identify::{Cns, IdentifyController};
use assay_nvme_spec::log::{LogId, SmartLog};
use assay_nvme_spec::nvm::{Read, Write};

use crate::support;

fn driver(settings: &[(&str, &str)]) -> Driver<InProcessTransport> {
    let drive = support::drive("samsung-951", settings);
    let controller = Controller::new(drive, ControllerOptions::default());
    Driver::new(InProcessTransport::new(controller)).expect("a controller that becomes ready")
}

fn identify(driver: &mut Driver<InProcessTransport>) -> IdentifyController {
    let mut command = IdentifyCommand::new();
    command.set_cns(Cns::CONTROLLER.0);
    let mut data = [0; 4096];
    let done = driver.admin(command.entry(), &mut data).expect("an answer");
    assert_eq!(done.status(), StatusCode::SUCCESS);
    IdentifyController::from_bytes(data)
}

#[test]
fn commands_transfer_their_data() {
    let mut driver = driver(&[("data", "keep"), ("seed", "3")]);
    assert_eq!(identify(&mut driver).serial(), "SIM-SAMSUNG-951-3");
    // More commands than queue entries: the queues wrap and the phase tag inverts.
    for n in 0..50_u64 {
        for len in [512, 4096, 8192, 12_288, DATA_BYTES] {
            let blocks = (len / 512) as u32;
            // All pages differ, so that a swap is detected.
            let mut bytes: Vec<u8> = (0..len).map(|at| (at / 512) as u8 ^ n as u8).collect();
            let written = driver.io(Write::for_blocks(1, n * 128, blocks).entry(), &mut bytes);
            assert!(written.expect("an answer").status().is_success());
            let mut back = vec![0; len];
            let read = driver.io(Read::for_blocks(1, n * 128, blocks).entry(), &mut back);
            assert!(read.expect("an answer").status().is_success());
            assert_eq!(back, bytes);
        }
    }
    // The health log counts them.
    let mut command = GetLogPage::for_log(LogId::SMART, 0, 512);
    command.set_nsid(u32::MAX);
    let mut data = [0; 512];
    driver.admin(command.entry(), &mut data).expect("an answer");
    let log = SmartLog::from_bytes(data);
    assert_eq!((log.host_writes(), log.host_reads()), (250, 250));
}

#[test]
fn failures_are_reported() {
    let mut driver = driver(&[("data", "keep")]);
    // A failed command completes and leaves the data unchanged.
    let mut data = [7; 512];
    let beyond = driver.io(Read::for_blocks(1, u64::MAX >> 12, 1).entry(), &mut data);
    assert_eq!(beyond.expect("an answer").status(), StatusCode::LBA_OUT_OF_RANGE);
    assert_eq!(data, [7; 512]);
    let mut much = vec![0; DATA_BYTES + 1];
    let refused = driver.io(Read::for_blocks(1, 0, 129).entry(), &mut much);
    assert!(matches!(refused, Err(DriverError::TransferTooLarge(bytes)) if bytes == much.len()));
    assert!(matches!(driver.create_io_queue(), Err(DriverError::QueueRefused(_))), "a second one");
}

#[test]
fn a_removed_drive_completes_no_command() {
    let mut driver = driver(&[("fault", "surprise-removal@2")]);
    let mut data = [0; 512];
    assert!(driver.io(Read::for_blocks(1, 0, 1).entry(), &mut data).is_ok());
    let gone = driver.io(Read::for_blocks(1, 8, 1).entry(), &mut data);
    assert!(matches!(gone, Err(DriverError::NoCompletion(2))), "{gone:?}");
}
