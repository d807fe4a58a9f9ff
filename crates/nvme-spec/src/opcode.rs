//! Opcodes (Base 5 and 7, NVM 3.2). Bits 1:0 are the data transfer direction (Base 3.3.3.1): bit 0
//! from host memory, bit 1 to it.

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
        FIRMWARE_COMMIT = 0x10, "Firmware Commit";
        DEVICE_SELF_TEST = 0x14, "Device Self-test";
        KEEP_ALIVE = 0x18, "Keep Alive";
        FORMAT_NVM = 0x80, "Format NVM";
        SANITIZE = 0x84, "Sanitize";
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
        IO_MANAGEMENT_RECEIVE = 0x12, "I/O Management Receive";
        COPY = 0x19, "Copy";
        IO_MANAGEMENT_SEND = 0x1d, "I/O Management Send";
        ZONE_APPEND = 0x7d, "Zone Append (ZNS 3.4.1)";
    }
}
