//! NVMe over Fabrics: commands (Base 6), the Discovery log page (Base 5.16.1.23), and the PDUs of
//! NVMe/TCP (NVMe over TCP Transport Specification 1.0c, section 3.6, cited as *TCP*).

use assay_units::constants;

use crate::StatusCode;
use crate::wire::{codes, wire};

/// Opcode of every Fabrics command (Base 6).
pub const OPCODE: u8 = 0x7f;
/// NQN of every discovery subsystem (Base 3.1.2.3).
pub const DISCOVERY_NQN: &str = "nqn.2014-08.org.nvmexpress.discovery";
/// Longest NQN in bytes, without the zero that ends it (Base 4.5).
pub const MAX_NQN_BYTES: usize = 223;
/// Most in-capsule data of a command on an admin queue, bytes (TCP 3.3.2).
pub const ADMIN_IN_CAPSULE_BYTES: usize = 8192;
/// Identifier of a controller that the subsystem chooses (Base 6.3).
pub const ANY_CONTROLLER: u16 = 0xffff;
/// Identifier of the Discovery log page.
pub const DISCOVERY_LOG: u8 = 0x70;
/// Bytes of each digest, a CRC32C (TCP 3.3.1).
pub const DIGEST_BYTES: usize = 4;

/// Statuses of Connect (Base 6.3), whose numbers have other names for other commands.
pub mod connect_status {
    use crate::StatusCode;

    /// Connect Incompatible Format.
    pub const INCOMPATIBLE_FORMAT: StatusCode = StatusCode(0x0180);
    /// Connect Controller Busy.
    pub const CONTROLLER_BUSY: StatusCode = StatusCode(0x0181);
    /// Connect Invalid Parameters; see [`super::ConnectError`].
    pub const INVALID_PARAMETERS: StatusCode = StatusCode(0x0182);
    /// Connect Invalid Host.
    pub const INVALID_HOST: StatusCode = StatusCode(0x0184);
}

codes! {
    /// Fabrics Command Type (FCTYPE; Base 6).
    pub struct FabricsType(u8) {
        PROPERTY_SET = 0x00, "Property Set";
        CONNECT = 0x01, "Connect";
        PROPERTY_GET = 0x04, "Property Get";
        DISCONNECT = 0x08, "Disconnect";
    }

    /// PDU-Type (TCP 3.6.1).
    pub struct PduType(u8) {
        IC_REQUEST = 0x00, "Initialize Connection Request";
        IC_RESPONSE = 0x01, "Initialize Connection Response";
        HOST_TERMINATE = 0x02, "Host to Controller Terminate Connection Request";
        CONTROLLER_TERMINATE = 0x03, "Controller to Host Terminate Connection Request";
        COMMAND = 0x04, "Command Capsule";
        RESPONSE = 0x05, "Response Capsule";
        HOST_DATA = 0x06, "Host to Controller Data Transfer";
        CONTROLLER_DATA = 0x07, "Controller to Host Data Transfer";
        READY_TO_TRANSFER = 0x09, "Ready to Transfer";
    }

    /// Fatal Error Status (FES; TCP 3.6.2.4).
    pub struct FatalError(u16) {
        INVALID_FIELD = 0x01, "Invalid PDU Header Field";
        SEQUENCE = 0x02, "PDU Sequence Error";
        HEADER_DIGEST = 0x03, "Header Digest Error";
        OUT_OF_RANGE = 0x04, "Data Transfer Out of Range";
        LIMIT_EXCEEDED = 0x05, "Data Transfer Limit Exceeded";
        UNSUPPORTED = 0x06, "Unsupported Parameter";
    }
}

constants! {
    /// Flags of a PDU (TCP 3.6.1).
    pub mod pdu_flag: u8 {
        HEADER_DIGEST = 1 << 0, "HDGSTF: a header digest follows the header.";
        DATA_DIGEST = 1 << 1, "DDGSTF: a data digest follows the data.";
        LAST = 1 << 2, "LAST_PDU: of a data transfer.";
        SUCCESS = 1 << 3, "SUCCESS: no response capsule follows the data.";
    }

    /// Digests, of both initialization PDUs (TCP 3.6.2.2).
    pub mod digest: u8 {
        HEADER = 1 << 0, "HDGST_ENABLE.";
        DATA = 1 << 1, "DDGST_ENABLE.";
    }
}

wire! {
    /// Common header of PDUs (TCP 3.6.1).
    pub struct PduHeader[8] {
        kind / set_kind: u8 = 0, "PDU-Type, see [`PduType`].";
        flags / set_flags: u8 = 1, "FLAGS, see [`pdu_flag`].";
        header_bytes / set_header_bytes: u8 = 2, "Header Length (HLEN).";
        data_offset / set_data_offset: u8 = 3, "PDU Data Offset (PDO).";
        bytes / set_bytes: u32 = 4, "PDU Length (PLEN).";
    }

    /// ICReq and ICResp (TCP 3.6.2.2, 3.6.2.3).
    pub struct InitializePdu[128] {
        header / set_header: PduHeader = 0, "The common header.";
        version / set_version: u16 = 8, "PDU Format Version (PFV): 0.";
        /// PDU Data Alignment of the sender (HPDA, CPDA), in dwords less one.
        alignment / set_alignment: u8 = 10;
        digests / set_digests: u8 = 11, "Digests (DGST), see [`digest`].";
        /// Maximum Number of Outstanding R2T (MAXR2T) per command, less one, of ICReq; Maximum Host
        /// to Controller Data length (MAXH2CDATA) in bytes of ICResp.
        limit / set_limit: u32 = 12;
    }

    /// Terminate Connection Request of either side (TCP 3.6.2.4, 3.6.2.5); the header of the PDU in
    /// error may follow.
    pub struct TerminatePdu[24] {
        header / set_header: PduHeader = 0, "The common header.";
        status / set_status: u16 = 8, "Fatal Error Status (FES), see [`FatalError`].";
        information / set_information: u32 = 10, "Fatal Error Information (FEI).";
    }

    /// R2T, H2CData and C2HData (TCP 3.6.2.8 to 3.6.2.10).
    pub struct DataPdu[24] {
        header / set_header: PduHeader = 0, "The common header.";
        cid / set_cid: u16 = 8, "Command Capsule CID (CCCID).";
        tag / set_tag: u16 = 10, "Transfer Tag (TTAG) of R2T and H2CData.";
        offset / set_offset: u32 = 12, "Offset in the data of the command (R2TO, DATAO), bytes.";
        length / set_length: u32 = 16, "Length (R2TL, DATAL), bytes.";
    }

    /// Connect (Base 6.3). Its data is [`ConnectData`].
    pub struct Connect[64] {
        opcode / set_opcode: u8 = 0, "[`OPCODE`].";
        cid / set_cid: u16 = 2, "Command Identifier (CID).";
        kind / set_kind: u8 = 4, "Fabrics Command Type (FCTYPE), see [`FabricsType`].";
        format / set_format: u16 = 40, "Record Format (RECFMT): 0.";
        qid / set_qid: u16 = 42, "Queue ID (QID).";
        size / set_size: u16 = 44, "Submission Queue Size (SQSIZE), less one.";
        /// Connect Attributes (CATTR): bit 2 disables SQ flow control.
        attributes / set_attributes: u8 = 46;
        /// Keep Alive Timeout (KATO) in milliseconds, 0 for none.
        keep_alive_ms / set_keep_alive_ms: u32 = 48;
    }

    /// Data of Connect (Base 6.3).
    pub struct ConnectData[1024] {
        host_id / set_host_id: [u8; 16] = 0, "Host Identifier (HOSTID).";
        controller_id / set_controller_id: u16 = 16, "Controller ID (CNTLID).";
        subsystem_nqn / set_subsystem_nqn: [u8; 256] = 256, "NVM Subsystem NQN (SUBNQN).";
        host_nqn / set_host_nqn: [u8; 256] = 512, "Host NQN (HOSTNQN).";
    }

    /// Dword 0 of Connect that failed with [`connect_status::INVALID_PARAMETERS`] (Base 6.3).
    pub struct ConnectError[4] as u32 {
        offset / set_offset: u16 = 0, "Invalid Parameter Offset (IPO).";
        /// Invalid Attributes (IATTR): the parameter is in the data.
        in_data / set_in_data: bool = 2, u8[0..=0];
    }

    /// Property Get and Property Set (Base 6.5, 6.6).
    pub struct Property[64] {
        opcode / set_opcode: u8 = 0, "[`OPCODE`].";
        cid / set_cid: u16 = 2, "Command Identifier (CID).";
        kind / set_kind: u8 = 4, "Fabrics Command Type (FCTYPE), see [`FabricsType`].";
        /// Property Size (ATTRIB): 8 bytes instead of 4.
        is_wide / set_is_wide: bool = 40, u8[0..=0];
        offset / set_offset: u32 = 44, "Offset (OFST) of the register.";
        value / set_value: u64 = 48, "Value of Property Set.";
    }

    /// Head of the Discovery log page (Base 5.16.1.23); [`DiscoveryEntry`]s follow.
    pub struct DiscoveryHead[1024] {
        generation / set_generation: u64 = 0, "Generation Counter (GENCTR).";
        records / set_records: u64 = 8, "Number of Records (NUMREC).";
        format / set_format: u16 = 16, "Record Format (RECFMT): 0.";
    }

    /// Discovery Log Page Entry (Base 5.16.1.23).
    pub struct DiscoveryEntry[1024] {
        transport / set_transport: u8 = 0, "Transport Type (TRTYPE): 3 for TCP.";
        family / set_family: u8 = 1, "Address Family (ADRFAM): 1 for IPv4, 2 for IPv6.";
        /// Subsystem Type (SUBTYPE): 2 for an NVM subsystem with namespaces.
        subsystem / set_subsystem: u8 = 2;
        /// Transport Requirements (TREQ): bits 1:0 secure channel, 2 for not required.
        requirements / set_requirements: u8 = 3;
        port / set_port: u16 = 4, "Port ID (PORTID).";
        /// Controller ID (CNTLID), see [`ANY_CONTROLLER`].
        controller_id / set_controller_id: u16 = 6;
        admin_entries / set_admin_entries: u16 = 8, "Admin Max SQ Size (ASQSZ).";
        /// Transport Service Identifier (TRSVCID): the TCP port.
        service / set_service: [u8; 32] = 32;
        nqn / set_nqn: [u8; 256] = 256, "NVM Subsystem NQN (SUBNQN).";
        address / set_address: [u8; 256] = 512, "Transport Address (TRADDR).";
    }
}

impl PduHeader {
    /// Header of a PDU with `data_bytes` after a header of `header_bytes`, without digests.
    pub fn new(kind: PduType, header_bytes: u8, data_bytes: u32) -> PduHeader {
        let mut header = PduHeader::default();
        header
            .set_kind(kind.0)
            .set_header_bytes(header_bytes)
            .set_data_offset(if data_bytes > 0 { header_bytes } else { 0 })
            .set_bytes(u32::from(header_bytes) + data_bytes);
        header
    }
}

impl ConnectError {
    /// Status and dword 0 for a parameter at `offset` in the command, or in its data.
    pub fn at(offset: u16, in_data: bool) -> (StatusCode, u32) {
        let mut error = ConnectError::default();
        error.set_offset(offset).set_in_data(in_data);
        (connect_status::INVALID_PARAMETERS, error.raw())
    }
}

/// Text of a zero-terminated field; empty if it is not UTF-8.
pub fn name(field: &[u8]) -> &str {
    let end = field.iter().position(|&byte| byte == 0);
    std::str::from_utf8(&field[..end.unwrap_or(field.len())]).unwrap_or_default()
}

/// A zero-terminated field; longer text is truncated.
pub fn named<const N: usize>(text: &str) -> [u8; N] {
    let mut field = [0; N];
    let bytes = text.len().min(N - 1);
    field[..bytes].copy_from_slice(&text.as_bytes()[..bytes]);
    field
}
