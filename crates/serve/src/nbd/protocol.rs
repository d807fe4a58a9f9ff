//! Constants of the NBD protocol, in network byte order on the wire (proto, "Conventions").

/// First word of a server: "NBDMAGIC" (proto, "Newstyle negotiation").
pub const INIT_PASSWD: u64 = 0x4e42_444d_4147_4943;
/// "IHAVEOPT": second word of a server, first of each option (proto, "Newstyle negotiation").
pub const IHAVEOPT: u64 = 0x4948_4156_454f_5054;
/// First word of each option reply (proto, "Fixed newstyle negotiation").
pub const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
/// First word of a request (proto, "Request message").
pub const REQUEST_MAGIC: u32 = 0x2560_9513;
/// First word of a simple reply (proto, "Simple reply message").
pub const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
/// First word of a structured reply chunk (proto, "Structured reply chunk message").
pub const STRUCTURED_REPLY_MAGIC: u32 = 0x668e_33ef;

/// Length without the payload.
pub const REQUEST_BYTES: usize = 28;
/// Length without the data.
pub const OPTION_BYTES: usize = 16;

/// Largest read or write: what a client may assume without `NBD_INFO_BLOCK_SIZE` (proto, "Block
/// size constraints").
pub const MAX_PAYLOAD_BYTES: u32 = 32 << 20;
/// Longest option data that is decoded: the longest string (4096; proto, "Conventions") and queries
/// beside it.
pub const MAX_OPTION_BYTES: u32 = 16 << 10;

assay_units::constants! {
    /// Handshake and client flags (proto, "Handshake flags", "Client flags"); both sides use the
    /// same bits.
    pub mod handshake: u16 {
        FIXED_NEWSTYLE = 1 << 0, "`NBD_FLAG_FIXED_NEWSTYLE`.";
        NO_ZEROES = 1 << 1, "`NBD_FLAG_NO_ZEROES`.";
    }

    /// Transmission flags (proto, "Transmission flags").
    pub mod transmission: u16 {
        HAS_FLAGS = 1 << 0, "`NBD_FLAG_HAS_FLAGS`.";
        SEND_FLUSH = 1 << 2, "`NBD_FLAG_SEND_FLUSH`.";
        SEND_FUA = 1 << 3, "`NBD_FLAG_SEND_FUA`.";
        SEND_TRIM = 1 << 5, "`NBD_FLAG_SEND_TRIM`.";
        SEND_WRITE_ZEROES = 1 << 6, "`NBD_FLAG_SEND_WRITE_ZEROES`.";
        SEND_DF = 1 << 7, "`NBD_FLAG_SEND_DF`: only with structured replies.";
        CAN_MULTI_CONN = 1 << 8, "`NBD_FLAG_CAN_MULTI_CONN`.";
        SEND_CACHE = 1 << 10, "`NBD_FLAG_SEND_CACHE`.";
        SEND_FAST_ZERO = 1 << 11, "`NBD_FLAG_SEND_FAST_ZERO`.";
    }

    /// Option types (proto, "Option types").
    pub mod option: u32 {
        EXPORT_NAME = 1, "`NBD_OPT_EXPORT_NAME`.";
        ABORT = 2, "`NBD_OPT_ABORT`.";
        LIST = 3, "`NBD_OPT_LIST`.";
        STARTTLS = 5, "`NBD_OPT_STARTTLS`.";
        INFO = 6, "`NBD_OPT_INFO`.";
        GO = 7, "`NBD_OPT_GO`.";
        STRUCTURED_REPLY = 8, "`NBD_OPT_STRUCTURED_REPLY`.";
        LIST_META_CONTEXT = 9, "`NBD_OPT_LIST_META_CONTEXT`.";
        SET_META_CONTEXT = 10, "`NBD_OPT_SET_META_CONTEXT`.";
    }

    /// Option reply types (proto, "Option reply types").
    pub mod option_reply: u32 {
        ACK = 1, "`NBD_REP_ACK`.";
        SERVER = 2, "`NBD_REP_SERVER`.";
        INFO = 3, "`NBD_REP_INFO`.";
        META_CONTEXT = 4, "`NBD_REP_META_CONTEXT`.";
        ERR_UNSUP = 0x8000_0001, "`NBD_REP_ERR_UNSUP`.";
        ERR_INVALID = 0x8000_0003, "`NBD_REP_ERR_INVALID`.";
        ERR_UNKNOWN = 0x8000_0006, "`NBD_REP_ERR_UNKNOWN`: unknown export.";
        ERR_TOO_BIG = 0x8000_0009, "`NBD_REP_ERR_TOO_BIG`.";
    }

    /// Information types of `NBD_OPT_INFO` and `NBD_OPT_GO` (proto, "Option types", `NBD_INFO_*`).
    pub mod info: u16 {
        EXPORT = 0, "`NBD_INFO_EXPORT`.";
        NAME = 1, "`NBD_INFO_NAME`.";
        DESCRIPTION = 2, "`NBD_INFO_DESCRIPTION`.";
        BLOCK_SIZE = 3, "`NBD_INFO_BLOCK_SIZE`.";
    }

    /// Request types (proto, "Request types").
    pub mod command: u16 {
        READ = 0, "`NBD_CMD_READ`.";
        WRITE = 1, "`NBD_CMD_WRITE`.";
        DISC = 2, "`NBD_CMD_DISC`.";
        FLUSH = 3, "`NBD_CMD_FLUSH`.";
        TRIM = 4, "`NBD_CMD_TRIM`.";
        CACHE = 5, "`NBD_CMD_CACHE`.";
        WRITE_ZEROES = 6, "`NBD_CMD_WRITE_ZEROES`.";
        BLOCK_STATUS = 7, "`NBD_CMD_BLOCK_STATUS`.";
    }

    /// Command flags (proto, "Command flags").
    pub mod command_flag: u16 {
        FUA = 1 << 0, "`NBD_CMD_FLAG_FUA`.";
        NO_HOLE = 1 << 1, "`NBD_CMD_FLAG_NO_HOLE`.";
        DF = 1 << 2, "`NBD_CMD_FLAG_DF`.";
        REQ_ONE = 1 << 3, "`NBD_CMD_FLAG_REQ_ONE`.";
        FAST_ZERO = 1 << 4, "`NBD_CMD_FLAG_FAST_ZERO`.";
    }

    /// Structured reply types and their flag (proto, "Structured reply types", "Structured reply
    /// flags").
    pub mod chunk: u16 {
        DONE = 1, "`NBD_REPLY_FLAG_DONE`.";
        NONE = 0, "`NBD_REPLY_TYPE_NONE`.";
        OFFSET_DATA = 1, "`NBD_REPLY_TYPE_OFFSET_DATA`.";
        BLOCK_STATUS = 5, "`NBD_REPLY_TYPE_BLOCK_STATUS`.";
        ERROR = 0x8001, "`NBD_REPLY_TYPE_ERROR`.";
    }

    /// States of the context `base:allocation` (proto, "Metadata contexts").
    pub mod state: u32 {
        HOLE = 1 << 0, "`NBD_STATE_HOLE`.";
        ZERO = 1 << 1, "`NBD_STATE_ZERO`.";
    }
}

/// Proto, "Metadata contexts".
pub const BASE_ALLOCATION: &str = "base:allocation";
/// Chosen by the server.
pub const BASE_ALLOCATION_ID: u32 = 1;
