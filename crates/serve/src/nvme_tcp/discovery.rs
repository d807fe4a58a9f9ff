//! A discovery controller (Base 3.1.2.3): its log page names the one subsystem of the server.

use std::net::SocketAddr;

use assay_nvme_spec::admin::{GetLogPage, IdentifyCommand};
use assay_nvme_spec::fabrics::{
    self, ANY_CONTROLLER, DISCOVERY_LOG, DISCOVERY_NQN, DiscoveryEntry, DiscoveryHead, FabricsType,
    Property, named,
};
use assay_nvme_spec::identify::{Cns, DATA_BYTES, IdentifyController, lpa, sgls};
use assay_nvme_spec::opcode::AdminOpcode;
use assay_nvme_spec::register::{self, Capabilities, Configuration, ControllerStatus, Version};
use assay_nvme_spec::wire::padded;
use assay_nvme_spec::{StatusCode, SubmissionEntry};

use super::MAX_ENTRIES;

const VERSION: &str = "1.4";

/// State of one discovery connection.
#[derive(Clone, Debug)]
pub struct Discovery {
    /// NQN of the subsystem.
    pub nqn: String,
    /// Where the host reached this server.
    pub address: Option<SocketAddr>,
    pub controller_id: u16,
    cc: Configuration,
}

/// Dwords 0 and 1 of the completion, and data to the host.
pub type Answer = (u64, Vec<u8>);

impl Discovery {
    pub fn new(nqn: String, address: Option<SocketAddr>, controller_id: u16) -> Discovery {
        Discovery { nqn, address, controller_id, cc: Configuration::default() }
    }

    /// `None` for a command that is not completed: an Asynchronous Event Request.
    pub fn answer(&mut self, entry: &SubmissionEntry) -> Option<Result<Answer, StatusCode>> {
        Some(match AdminOpcode(entry.opcode()) {
            AdminOpcode::ASYNC_EVENT_REQUEST => return None,
            AdminOpcode(fabrics::OPCODE) => self.property(&Property::from_bytes(*entry.as_bytes())),
            AdminOpcode::KEEP_ALIVE | AdminOpcode::SET_FEATURES => Ok((0, Vec::new())),
            AdminOpcode::IDENTIFY => self.identify(entry),
            AdminOpcode::GET_LOG_PAGE => self.log(entry),
            _ => Err(StatusCode::INVALID_OPCODE),
        })
    }

    fn property(&mut self, property: &Property) -> Result<Answer, StatusCode> {
        let kind = FabricsType(property.kind());
        if kind == FabricsType::PROPERTY_SET && u64::from(property.offset()) == register::CC {
            self.cc = Configuration::from_raw(property.value() as u32);
            return Ok((0, Vec::new()));
        }
        StatusCode::INVALID_FIELD.fail_if(kind != FabricsType::PROPERTY_GET)?;
        let value = match u64::from(property.offset()) {
            register::CAP => {
                let mut capabilities = Capabilities::default();
                capabilities
                    .set_mqes(MAX_ENTRIES - 1)
                    .set_contiguous_queues(true)
                    .set_timeout(1)
                    .set_css(1);
                capabilities.raw()
            }
            register::VS => u64::from(version()),
            register::CC => u64::from(self.cc.raw()),
            register::CSTS => {
                let mut status = ControllerStatus::default();
                status.set_ready(self.cc.enable());
                if self.cc.shutdown() != 0 {
                    status.set_shutdown(register::shutdown_status::COMPLETE);
                }
                u64::from(status.raw())
            }
            _ => return Err(StatusCode::INVALID_FIELD),
        };
        Ok((value, Vec::new()))
    }

    fn identify(&self, entry: &SubmissionEntry) -> Result<Answer, StatusCode> {
        let cns = Cns(IdentifyCommand::from(*entry).cns());
        StatusCode::INVALID_FIELD.fail_if(cns != Cns::CONTROLLER)?;
        const DISCOVERY: u8 = 2;
        let mut data = IdentifyController::default();
        data.set_serial_number(padded("assay"))
            .set_model_number(padded("assay discovery"))
            .set_firmware_revision(padded(env!("CARGO_PKG_VERSION")))
            .set_controller_id(self.controller_id)
            .set_version(version())
            .set_controller_type(DISCOVERY)
            .set_log_page_attributes(lpa::EXTENDED_DATA)
            .set_keep_alive_100ms(10)
            .set_max_commands(MAX_ENTRIES)
            .set_sgls(sgls::SUPPORTED | sgls::OFFSET | sgls::TRANSPORT)
            .set_command_capsule(4)
            .set_response_capsule(1)
            .set_subsystem_nqn(named(DISCOVERY_NQN));
        let len = (entry.sgl1().length() as usize).min(DATA_BYTES);
        Ok((0, data.as_bytes()[..len].to_vec()))
    }

    fn log(&self, entry: &SubmissionEntry) -> Result<Answer, StatusCode> {
        let get = GetLogPage::from(*entry);
        StatusCode::INVALID_LOG_PAGE.fail_if(get.lid() != DISCOVERY_LOG)?;
        let mut page = self.page();
        StatusCode::INVALID_FIELD.fail_if(get.offset() > page.len() as u64)?;
        page.drain(..get.offset() as usize);
        let len = (get.dwords() * 4).min(u64::from(entry.sgl1().length()));
        // Beyond the page there are zeroes; Linux and nvme-cli ask for no more.
        page.resize((len as usize).min(page.len().max(DATA_BYTES)), 0);
        Ok((0, page))
    }

    fn page(&self) -> Vec<u8> {
        const TCP: u8 = 3;
        const NVM_SUBSYSTEM: u8 = 2;
        const SECURE_CHANNEL_NOT_REQUIRED: u8 = 2;
        let mut head = DiscoveryHead::default();
        head.set_generation(1);
        let Some(address) = self.address else {
            return head.as_bytes().to_vec();
        };
        head.set_records(1);
        let mut entry = DiscoveryEntry::default();
        entry
            .set_transport(TCP)
            .set_family(if address.is_ipv4() { 1 } else { 2 })
            .set_subsystem(NVM_SUBSYSTEM)
            .set_requirements(SECURE_CHANNEL_NOT_REQUIRED)
            .set_port(1)
            .set_controller_id(ANY_CONTROLLER)
            .set_admin_entries(MAX_ENTRIES)
            .set_service(padded(&address.port().to_string()))
            .set_nqn(named(&self.nqn))
            .set_address(padded(&address.ip().to_string()));
        [&head.as_bytes()[..], entry.as_bytes()].concat()
    }
}

fn version() -> u32 {
    Version::parse(VERSION).unwrap_or_default().raw()
}
