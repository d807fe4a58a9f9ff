//! Status codes (Base 3.3.3.2.1; NVM 3.1.2).

use crate::wire::codes;

codes! {
    /// Status of a command: status code type in the high byte, status code in the low byte.
    pub struct StatusCode(u16) {
        SUCCESS = 0x0000, "Successful Completion";
        INVALID_OPCODE = 0x0001, "Invalid Command Opcode";
        INVALID_FIELD = 0x0002, "Invalid Field in Command";
        CID_CONFLICT = 0x0003, "Command ID Conflict";
        DATA_TRANSFER_ERROR = 0x0004, "Data Transfer Error";
        POWER_LOSS = 0x0005, "Commands Aborted due to Power Loss Notification";
        INTERNAL_ERROR = 0x0006, "Internal Error";
        ABORT_REQUESTED = 0x0007, "Command Abort Requested";
        ABORTED_SQ_DELETION = 0x0008, "Command Aborted due to SQ Deletion";
        ABORTED_FAILED_FUSED = 0x0009, "Command Aborted due to Failed Fused Command";
        ABORTED_MISSING_FUSED = 0x000a, "Command Aborted due to Missing Fused Command";
        INVALID_NAMESPACE = 0x000b, "Invalid Namespace or Format";
        COMMAND_SEQUENCE_ERROR = 0x000c, "Command Sequence Error";
        INVALID_SGL_SEGMENT = 0x000d, "Invalid SGL Segment Descriptor";
        INVALID_SGL_COUNT = 0x000e, "Invalid Number of SGL Descriptors";
        INVALID_SGL_DATA_LENGTH = 0x000f, "Data SGL Length Invalid";
        INVALID_SGL_METADATA_LENGTH = 0x0010, "Metadata SGL Length Invalid";
        INVALID_SGL_TYPE = 0x0011, "SGL Descriptor Type Invalid";
        INVALID_CMB_USE = 0x0012, "Invalid Use of Controller Memory Buffer";
        INVALID_PRP_OFFSET = 0x0013, "PRP Offset Invalid";
        ATOMIC_WRITE_UNIT_EXCEEDED = 0x0014, "Atomic Write Unit Exceeded";
        OPERATION_DENIED = 0x0015, "Operation Denied";
        INVALID_SGL_OFFSET = 0x0016, "SGL Offset Invalid";
        HOST_ID_INCONSISTENT = 0x0018, "Host Identifier Inconsistent Format";
        KEEP_ALIVE_EXPIRED = 0x0019, "Keep Alive Timer Expired";
        KEEP_ALIVE_INVALID = 0x001a, "Keep Alive Timeout Invalid";
        PREEMPT_ABORT = 0x001b, "Command Aborted due to Preempt and Abort";
        SANITIZE_FAILED = 0x001c, "Sanitize Failed";
        SANITIZE_IN_PROGRESS = 0x001d, "Sanitize In Progress";
        INVALID_SGL_GRANULARITY = 0x001e, "SGL Data Block Granularity Invalid";
        NOT_SUPPORTED_IN_CMB = 0x001f, "Command Not Supported for Queue in CMB";
        WRITE_PROTECTED = 0x0020, "Namespace is Write Protected";
        INTERRUPTED = 0x0021, "Command Interrupted";
        TRANSIENT_TRANSPORT = 0x0022, "Transient Transport Error";
        LOCKDOWN_PROHIBITED = 0x0023, "Command Prohibited by Command and Feature Lockdown";
        ADMIN_MEDIA_NOT_READY = 0x0024, "Admin Command Media Not Ready";
        LBA_OUT_OF_RANGE = 0x0080, "LBA Out of Range";
        CAPACITY_EXCEEDED = 0x0081, "Capacity Exceeded";
        NAMESPACE_NOT_READY = 0x0082, "Namespace Not Ready";
        RESERVATION_CONFLICT = 0x0083, "Reservation Conflict";
        FORMAT_IN_PROGRESS = 0x0084, "Format In Progress";
        COMPLETION_QUEUE_INVALID = 0x0100, "Completion Queue Invalid";
        INVALID_QUEUE_ID = 0x0101, "Invalid Queue Identifier";
        INVALID_QUEUE_SIZE = 0x0102, "Invalid Queue Size";
        ABORT_LIMIT_EXCEEDED = 0x0103, "Abort Command Limit Exceeded";
        AER_LIMIT_EXCEEDED = 0x0105, "Asynchronous Event Request Limit Exceeded";
        INVALID_FIRMWARE_SLOT = 0x0106, "Invalid Firmware Slot";
        INVALID_FIRMWARE_IMAGE = 0x0107, "Invalid Firmware Image";
        INVALID_INTERRUPT_VECTOR = 0x0108, "Invalid Interrupt Vector";
        INVALID_LOG_PAGE = 0x0109, "Invalid Log Page";
        INVALID_FORMAT = 0x010a, "Invalid Format";
        FIRMWARE_NEEDS_RESET = 0x010b, "Firmware Activation Requires Conventional Reset";
        INVALID_QUEUE_DELETION = 0x010c, "Invalid Queue Deletion";
        FEATURE_NOT_SAVEABLE = 0x010d, "Feature Identifier Not Saveable";
        FEATURE_NOT_CHANGEABLE = 0x010e, "Feature Not Changeable";
        FEATURE_NOT_NAMESPACE_SPECIFIC = 0x010f, "Feature Not Namespace Specific";
        FIRMWARE_NEEDS_SUBSYSTEM_RESET = 0x0110, "Firmware Activation Requires NVM Subsystem Reset";
        NAMESPACE_ALREADY_ATTACHED = 0x0118, "Namespace Already Attached";
        NAMESPACE_NOT_ATTACHED = 0x011a, "Namespace Not Attached";
        THIN_PROVISIONING_UNSUPPORTED = 0x011b, "Thin Provisioning Not Supported";
        INVALID_CONTROLLER_LIST = 0x011c, "Controller List Invalid";
        SELF_TEST_IN_PROGRESS = 0x011d, "Device Self-test In Progress";
        BOOT_PARTITION_WRITE_PROHIBITED = 0x011e, "Boot Partition Write Prohibited";
        INVALID_CONTROLLER_ID = 0x011f, "Invalid Controller Identifier";
        SANITIZE_PROHIBITED_WITH_PMR = 0x0123,
            "Sanitize Prohibited While Persistent Memory Region is Enabled";
        COMMAND_SET_UNSUPPORTED = 0x0129, "I/O Command Set Not Supported";
        CONFLICTING_ATTRIBUTES = 0x0180, "Conflicting Attributes";
        INVALID_PROTECTION_INFORMATION = 0x0181, "Invalid Protection Information";
        READ_ONLY_RANGE = 0x0182, "Attempted Write to Read Only Range";
        COMMAND_SIZE_LIMIT_EXCEEDED = 0x0183, "Command Size Limit Exceeded";
        WRITE_FAULT = 0x0280, "Write Fault";
        UNRECOVERED_READ_ERROR = 0x0281, "Unrecovered Read Error";
        GUARD_CHECK_ERROR = 0x0282, "End-to-end Guard Check Error";
        APPLICATION_TAG_CHECK_ERROR = 0x0283, "End-to-end Application Tag Check Error";
        REFERENCE_TAG_CHECK_ERROR = 0x0284, "End-to-end Reference Tag Check Error";
        COMPARE_FAILURE = 0x0285, "Compare Failure";
        ACCESS_DENIED = 0x0286, "Access Denied";
        DEALLOCATED_BLOCK = 0x0287, "Deallocated or Unwritten Logical Block";
        STORAGE_TAG_CHECK_ERROR = 0x0288, "End-to-End Storage Tag Check Error";
        INTERNAL_PATH_ERROR = 0x0300, "Internal Path Error";
        ANA_PERSISTENT_LOSS = 0x0301, "Asymmetric Access Persistent Loss";
        ANA_INACCESSIBLE = 0x0302, "Asymmetric Access Inaccessible";
        ANA_TRANSITION = 0x0303, "Asymmetric Access Transition";
        CONTROLLER_PATHING_ERROR = 0x0360, "Controller Pathing Error";
        HOST_PATHING_ERROR = 0x0370, "Host Pathing Error";
        ABORTED_BY_HOST = 0x0371, "Command Aborted By Host";
    }
}

impl StatusCode {
    /// From status code type (3 bits) and status code.
    #[inline]
    pub const fn new(sct: u8, sc: u8) -> StatusCode {
        StatusCode(((sct & 7) as u16) << 8 | sc as u16)
    }

    /// Status code type.
    #[inline]
    pub const fn sct(self) -> u8 {
        (self.0 >> 8 & 7) as u8
    }

    /// Status code.
    #[inline]
    pub const fn sc(self) -> u8 {
        self.0 as u8
    }

    /// Whether the command succeeded.
    #[inline]
    pub const fn is_success(self) -> bool {
        self.0 & 0x7ff == 0
    }

    /// Fails with this status if the condition holds.
    #[inline]
    pub fn fail_if(self, condition: bool) -> Result<(), StatusCode> {
        if condition { Err(self) } else { Ok(()) }
    }
}
