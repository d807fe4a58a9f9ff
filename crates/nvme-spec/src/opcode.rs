//! Opcodes (Base 5 and 7, NVM 3.2). Bits 1:0 are the data transfer direction: [`direction`].

use crate::wire::codes;

codes! {
    /// Opcodes of admin commands (Base 5).
    pub struct AdminOpcode(u8) {
        DELETE_SUBMISSION_QUEUE = 0x00, "Delete I/O Submission Queue";
        CREATE_SUBMISSION_QUEUE = 0x01, "Create I/O Submission Queue";
        GET_LOG_PAGE = 0x02, "Get Log Page";
        DELETE_COMPLETION_QUEUE = 0x04, "Delete I/O Completion Queue";
        CREATE_COMPLETION_QUEUE = 0x05, "Create I/O Completion Queue";
        IDENTIFY = 0x06, "Identify";
        ABORT = 0x08, "Abort";
        SET_FEATURES = 0x09, "Set Features";
        GET_FEATURES = 0x0a, "Get Features";
        ASYNC_EVENT_REQUEST = 0x0c, "Asynchronous Event Request";
        NAMESPACE_MANAGEMENT = 0x0d, "Namespace Management";
        FIRMWARE_COMMIT = 0x10, "Firmware Commit";
        FIRMWARE_DOWNLOAD = 0x11, "Firmware Image Download";
        DEVICE_SELF_TEST = 0x14, "Device Self-test";
        NAMESPACE_ATTACHMENT = 0x15, "Namespace Attachment";
        KEEP_ALIVE = 0x18, "Keep Alive";
        DIRECTIVE_SEND = 0x19, "Directive Send";
        DIRECTIVE_RECEIVE = 0x1a, "Directive Receive";
        VIRTUALIZATION_MANAGEMENT = 0x1c, "Virtualization Management";
        MI_SEND = 0x1d, "NVMe-MI Send";
        MI_RECEIVE = 0x1e, "NVMe-MI Receive";
        CAPACITY_MANAGEMENT = 0x20, "Capacity Management";
        LOCKDOWN = 0x24, "Lockdown";
        DOORBELL_BUFFER_CONFIG = 0x7c, "Doorbell Buffer Config";
        FABRICS = 0x7f, "Fabrics Commands";
        FORMAT_NVM = 0x80, "Format NVM";
        SECURITY_SEND = 0x81, "Security Send";
        SECURITY_RECEIVE = 0x82, "Security Receive";
        SANITIZE = 0x84, "Sanitize";
        GET_LBA_STATUS = 0x86, "Get LBA Status";
    }

    /// Opcodes of the NVM command set (Base 7, NVM 3.2).
    pub struct NvmOpcode(u8) {
        FLUSH = 0x00, "Flush";
        WRITE = 0x01, "Write";
        READ = 0x02, "Read";
        WRITE_UNCORRECTABLE = 0x04, "Write Uncorrectable";
        COMPARE = 0x05, "Compare";
        WRITE_ZEROES = 0x08, "Write Zeroes";
        DATASET_MANAGEMENT = 0x09, "Dataset Management";
        VERIFY = 0x0c, "Verify";
        RESERVATION_REGISTER = 0x0d, "Reservation Register";
        RESERVATION_REPORT = 0x0e, "Reservation Report";
        RESERVATION_ACQUIRE = 0x11, "Reservation Acquire";
        RESERVATION_RELEASE = 0x15, "Reservation Release";
        COPY = 0x19, "Copy";
    }
}

/// DataDirection of the data transfer of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataDirection {
    /// No data transfer.
    None,
    /// From host memory to the controller.
    ToController,
    /// From the controller to host memory.
    ToHost,
    /// Both directions.
    Both,
}

/// Data transfer direction in bits 1:0 of an opcode (Base 3.3.3.1). Some admin commands without data, such as Create I/O Completion
/// Queue, have other values.
pub const fn direction(opcode: u8) -> DataDirection {
    match opcode & 3 {
        0 => DataDirection::None,
        1 => DataDirection::ToController,
        2 => DataDirection::ToHost,
        _ => DataDirection::Both,
    }
}
