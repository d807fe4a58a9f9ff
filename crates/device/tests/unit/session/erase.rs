//! A controller that records erase commands, and its namespaces in a synthetic sysfs.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::identity::{SystemRoot, list_drives_at};
use crate::interlock::RefusalReason;
use crate::nvme::CommandError;
use assay_nvme_spec::admin::{FormatNvm, GetLogPage, IdentifyCommand};
use assay_nvme_spec::identify::{Cns, IdentifyController, IdentifyNamespace, cmic, oacs, sanicap};
use assay_nvme_spec::log::{LogId, SanitizeLog, SanitizeState};
use assay_nvme_spec::opcode::AdminOpcode;
use assay_nvme_spec::{StatusCode, SubmissionEntry};
use tempfile::TempDir;

use super::*;

/// The namespaces, by the controller's list that has them.
struct Port {
    controller: IdentifyController,
    active: Vec<u32>,
    allocated: Vec<u32>,
    /// It supports Format without secure erase.
    no_secure_erase: bool,
    /// Received erase commands.
    erased: Vec<String>,
}

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
        let list = |data: &mut [u8], ids: &[u32]| {
            for (place, id) in data.chunks_exact_mut(4).zip(ids) {
                place.copy_from_slice(&id.to_le_bytes());
            }
        };
        match AdminOpcode(command.opcode()) {
            AdminOpcode::IDENTIFY => match Cns(IdentifyCommand::from(*command).cns()) {
                Cns::CONTROLLER => data.copy_from_slice(self.controller.as_bytes()),
                Cns::NAMESPACE => data.copy_from_slice(IdentifyNamespace::default().as_bytes()),
                Cns::ACTIVE_NAMESPACES => list(data, &self.active),
                Cns::ALLOCATED_NAMESPACES => list(data, &self.allocated),
                other => panic!("{other:?}"),
            },
            AdminOpcode::GET_LOG_PAGE => {
                assert_eq!(LogId(GetLogPage::from(*command).lid()), LogId::SANITIZE);
                let mut log = SanitizeLog::default();
                log.set_state(SanitizeState::COMPLETED.0);
                data.copy_from_slice(log.as_bytes());
            }
            AdminOpcode::FORMAT_NVM => {
                let asked = FormatNvm::from(*command);
                if self.no_secure_erase && asked.secure_erase() != 0 {
                    return Err(CommandError::Status {
                        controller: self.name().to_owned(),
                        command: "format".to_owned(),
                        status: StatusCode::INVALID_FIELD,
                    });
                }
                self.erased.push(format!("format {}", asked.nsid()));
            }
            AdminOpcode::SANITIZE => self.erased.push("sanitize".to_owned()),
            other => panic!("{other:?}"),
        }
        Ok(0)
    }
}

/// A controller that sanitizes and formats, with these namespaces in sysfs as `nvme0n1`, ...
struct Fixture {
    dir: TempDir,
    port: Port,
    /// Block devices checked by the interlock.
    asked: RefCell<Vec<String>>,
    /// One of them that is mounted.
    mounted: Option<&'static str>,
}

impl Fixture {
    fn new(nsids: &[u32]) -> Fixture {
        let dir = TempDir::new().unwrap();
        let at = |path: &str| dir.path().join(path);
        let file = |path: String, text: &str| {
            fs::create_dir_all(at(&path).parent().unwrap()).unwrap();
            fs::write(at(&path), text).unwrap();
        };
        let controller = "sys/devices/pci0/nvme/nvme0";
        file(format!("{controller}/serial"), "S1\n");
        for folder in ["sys/block", "sys/class/block", "sys/dev/block"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for nsid in nsids {
            let name = format!("nvme0n{nsid}");
            let node = format!("{controller}/{name}");
            file(format!("{node}/dev"), &format!("259:{nsid}\n"));
            file(format!("{node}/size"), "2048\n");
            file(format!("{node}/nsid"), &format!("{nsid}\n"));
            let link = |path: String, to: &Path| symlink(to, at(&path)).unwrap();
            link(format!("{node}/device"), &at(controller));
            link(format!("sys/block/{name}"), &at(&node));
            link(format!("sys/class/block/{name}"), &at(&node));
        }
        let mut controller = IdentifyController::default();
        controller
            .set_serial_number(*b"S1                  ")
            .set_oacs(oacs::FORMAT)
            .set_sanitize_capabilities(sanicap::BLOCK_ERASE);
        Fixture {
            dir,
            port: Port {
                controller,
                active: nsids.to_vec(),
                allocated: nsids.to_vec(),
                no_secure_erase: false,
                erased: Vec::new(),
            },
            asked: RefCell::default(),
            mounted: None,
        }
    }

    fn drive(&self, name: &str) -> Option<DriveInfo> {
        let drives = list_drives_at(&SystemRoot::at(self.dir.path()));
        drives.into_iter().find(|drive| drive.name == name)
    }

    /// Purges `nvme0n1` with these values of `--destroy`; returns the result as text.
    fn purge(&mut self, how: PurgeHow, words: &[&str]) -> Result<Option<Purged>, String> {
        let info = self.drive("nvme0n1").unwrap();
        let place = info.nvme.clone().unwrap();
        let words: Vec<String> = words.iter().map(|&w| w.to_owned()).collect();
        let mut port = std::mem::replace(
            &mut self.port,
            Port {
                controller: IdentifyController::default(),
                active: Vec::new(),
                allocated: Vec::new(),
                no_secure_erase: false,
                erased: Vec::new(),
            },
        );
        let permit = |other: &DriveInfo| {
            self.asked.borrow_mut().push(other.name.clone());
            if self.mounted != Some(other.name.as_str()) {
                return Ok(());
            }
            Err(Refusal {
                drive: other.spec.clone(),
                serial: other.serial.clone(),
                model: None,
                reasons: vec![RefusalReason::Mounted {
                    device: other.spec.clone(),
                    mount_point: "/data".to_owned(),
                    fs_type: "xfs".to_owned(),
                }],
            })
        };
        let context = EraseContext {
            destroy: &words,
            identify: &|name| self.drive(name),
            authorise: &permit,
        };
        let done = erase(&info, &place, &mut port, how, &context, &mut |_| true);
        self.port = port;
        done.map_err(|error| error.to_string())
    }

    /// Checks the texts of the refusal, and that nothing was erased.
    #[track_caller]
    fn refused(&mut self, how: PurgeHow, words: &[&str], message: &[&str]) {
        let error = self.purge(how, words).unwrap_err();
        for message in message {
            assert!(error.contains(message), "no {message:?} in {error:?}");
        }
        assert!(self.port.erased.is_empty(), "{:?}", self.port.erased);
    }

    /// Checks that exactly this command was sent.
    #[track_caller]
    fn done(&mut self, how: PurgeHow, words: &[&str], command: &str, scope: &str) {
        let purged = self.purge(how, words).unwrap().unwrap();
        assert_eq!((purged.scope, purged.complete), (scope, true));
        assert_eq!(std::mem::take(&mut self.port.erased), [command]);
    }
}

const ALONE: &str = "this namespace";
const ALL: &str = "all namespaces of the drive";

#[test]
fn a_single_namespace_is_sanitized() {
    let mut fixture = Fixture::new(&[1]);
    fixture.done(PurgeHow::Best, &[], "sanitize", ALONE);
    fixture.done(PurgeHow::Format, &[], "format 1", ALONE);
    assert!(fixture.asked.borrow().is_empty());
}

#[test]
fn the_performed_erase_is_reported() {
    let mut fixture = Fixture::new(&[1]);
    let purged = fixture.purge(PurgeHow::Format, &[]).unwrap().unwrap();
    assert_eq!((purged.how, purged.complete), ("formatted with user data erase", true));
    fixture.port.no_secure_erase = true;
    let purged = fixture.purge(PurgeHow::Format, &[]).unwrap().unwrap();
    assert_eq!(
        (purged.how, purged.scope, purged.complete),
        ("formatted without a secure erase", ALONE, false)
    );
    // Its secure erase affects all namespaces (FNA bit 1), which does not apply to the format used
    // instead.
    let mut fixture = Fixture::new(&[1, 2]);
    fixture.port.controller.set_format_attributes(0b10);
    fixture.port.no_secure_erase = true;
    let purged = fixture.purge(PurgeHow::Format, &["S1", "nvme0n2"]);
    let scope = purged.unwrap().unwrap().scope;
    assert_eq!(scope, "this namespace, possibly others of the drive");
}

#[test]
fn a_controller_of_another_drive_is_not_erased() {
    let mut fixture = Fixture::new(&[1]);
    let other = *b"S2                  ";
    fixture.port.controller.set_serial_number(other);
    for how in [PurgeHow::Best, PurgeHow::Sanitize, PurgeHow::Format] {
        let message = ["/dev/nvme0", "\"S1\"", "\"S2\"", "assay list"];
        fixture.refused(how, &["S1", "S2"], &message);
    }
}

#[test]
fn other_namespaces_are_erased_only_if_named_and_unused() {
    let mut fixture = Fixture::new(&[1, 2]);
    // The best method does not affect the other namespace.
    fixture.done(PurgeHow::Best, &["S1"], "format 1", ALONE);
    fixture.refused(PurgeHow::Sanitize, &["S1"], &["/dev/nvme0n1", "nvme0n2", "--destroy nvme0n2"]);
    // The name of another namespace does not confirm it.
    fixture.refused(PurgeHow::Sanitize, &["S1", "nvme0n3", "/dev/nvme0n2"], &["--destroy nvme0n2"]);
    assert!(fixture.asked.borrow().is_empty(), "not named by --destroy");
    fixture.mounted = Some("nvme0n2");
    fixture.refused(PurgeHow::Sanitize, &["S1", "nvme0n2"], &["/dev/nvme0n2", "mounted", "/data"]);
    fixture.mounted = None;
    fixture.done(PurgeHow::Sanitize, &["S1", "nvme0n2"], "sanitize", ALL);
    assert_eq!(*fixture.asked.borrow(), ["nvme0n2", "nvme0n2"]);
}

#[test]
fn a_format_of_all_namespaces_needs_the_permissions_of_a_sanitize() {
    for attributes in [0b01, 0b10, 0b11] {
        let mut fixture = Fixture::new(&[1, 2]);
        fixture.port.controller.set_format_attributes(attributes);
        // Only a discard affects this namespace alone.
        assert_eq!(fixture.purge(PurgeHow::Best, &["S1"]), Ok(None));
        assert!(fixture.port.erased.is_empty());
        fixture.refused(PurgeHow::Format, &["S1"], &["--destroy nvme0n2"]);
        fixture.done(PurgeHow::Format, &["S1", "nvme0n2"], "format 1", ALL);
    }
    // Cryptographic erase is not offered; its scope (bit 2) is irrelevant.
    let mut fixture = Fixture::new(&[1, 2]);
    fixture.port.controller.set_format_attributes(0b100);
    fixture.done(PurgeHow::Format, &["S1"], "format 1", ALONE);
}

#[test]
fn a_namespace_without_a_block_device_cannot_be_permitted() {
    // Attached elsewhere, or nowhere: in the controller's list and not in sysfs.
    let mut fixture = Fixture::new(&[1, 2]);
    fixture.port.controller.set_oacs(oacs::FORMAT | oacs::NAMESPACES);
    fixture.port.allocated = vec![1, 2, 7];
    for words in [&["S1"][..], &["S1", "nvme0n2"], &["S1", "nvme0n2", "nvme0n7"]] {
        fixture.refused(
            PurgeHow::Sanitize,
            words,
            &["namespace 7", "attached here", "nothing was erased", "--how discard"],
        );
    }
    fixture.done(PurgeHow::Best, &["S1"], "format 1", ALONE);
    // Attached here, and without a block device (a format that the kernel rejects).
    let mut fixture = Fixture::new(&[1]);
    fixture.port.active = vec![1, 4];
    fixture.refused(PurgeHow::Sanitize, &["S1"], &["namespace 4"]);
}

#[test]
fn namespaces_private_to_other_controllers_are_not_erased() {
    let mut fixture = Fixture::new(&[1]);
    fixture.port.controller.set_cmic(cmic::CONTROLLERS);
    fixture.refused(
        PurgeHow::Sanitize,
        &["S1"],
        &["/dev/nvme0n1", "other controllers", "--how format"],
    );
    fixture.done(PurgeHow::Best, &["S1"], "format 1", ALONE);
    // A format that affects all has the same result.
    fixture.port.controller.set_format_attributes(0b01);
    for how in [PurgeHow::Sanitize, PurgeHow::Format] {
        fixture.refused(how, &["S1"], &["other controllers", "--how discard"]);
    }
    assert_eq!(fixture.purge(PurgeHow::Best, &["S1"]), Ok(None));
    // A controller that lists all namespaces of the subsystem is sufficient.
    fixture.port.controller.set_oacs(oacs::FORMAT | oacs::NAMESPACES);
    fixture.done(PurgeHow::Sanitize, &["S1"], "sanitize", ALONE);
}

#[test]
fn an_unsupported_command_is_reported() {
    let mut fixture = Fixture::new(&[1]);
    fixture.port.controller.set_sanitize_capabilities(0).set_oacs(0);
    for how in [PurgeHow::Sanitize, PurgeHow::Format] {
        fixture.refused(how, &["S1"], &["does not support"]);
    }
    assert_eq!(fixture.purge(PurgeHow::Best, &["S1"]), Ok(None));
}
