//! A device file whose controller changes during the selection of a power state.

use std::cell::RefCell;
use std::rc::Rc;

use crate::identity::DriveKind;
use assay_nvme_spec::SubmissionEntry;
use assay_nvme_spec::admin::SetFeatures;
use assay_nvme_spec::identify::IdentifyController;
use assay_nvme_spec::opcode::AdminOpcode;

use super::*;

/// The controller that the device file currently refers to.
struct World {
    serial: [u8; 20],
    power: u32,
}

struct Port(Rc<RefCell<World>>);

impl AdminPort for Port {
    fn name(&self) -> &str {
        "/dev/nvme0"
    }

    fn admin(
        &mut self,
        command: &SubmissionEntry,
        data: &mut [u8],
        _timeout_ms: u32,
    ) -> Result<u32, CommandError> {
        let mut world = self.0.borrow_mut();
        match AdminOpcode(command.opcode()) {
            AdminOpcode::IDENTIFY => {
                let mut controller = IdentifyController::default();
                controller.set_serial_number(world.serial);
                data.copy_from_slice(controller.as_bytes());
            }
            AdminOpcode::GET_FEATURES => {}
            AdminOpcode::SET_FEATURES => world.power = SetFeatures::from(*command).value(),
            other => panic!("{other:?}"),
        }
        Ok(world.power)
    }
}

const OWN: [u8; 20] = *b"S1                  ";
const OTHERS: [u8; 20] = *b"S2                  ";

#[test]
fn no_power_state_is_chosen_or_restored_on_another_drives_controller() {
    let mut info = DriveInfo::new(DriveKind::Block, "/dev/nvme0n1", "nvme0n1", 1 << 30);
    info.serial = "S1".to_owned();
    let world = Rc::new(RefCell::new(World { serial: OTHERS, power: 3 }));
    let port = || Port(Rc::clone(&world));
    let foreign = |answer: Result<(), CommandError>| {
        assert!(matches!(answer, Err(CommandError::OtherDrive { .. })), "{answer:?}");
    };
    foreign(Chosen::over(&info, port()).map(|_| ()));
    world.borrow_mut().serial = OWN;
    let mut chosen = Chosen::over(&info, port()).unwrap();
    chosen.choose(1).unwrap();
    assert_eq!(world.borrow().power, 1);
    world.borrow_mut().serial = OTHERS;
    foreign(chosen.choose(2));
    foreign(chosen.restore());
    assert_eq!(world.borrow().power, 1, "nothing was changed on it");
    world.borrow_mut().serial = OWN;
    chosen.restore().unwrap();
    assert_eq!(world.borrow().power, 3);
}
