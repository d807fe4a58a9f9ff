//! Magic numbers, flags, types and errors. All are sent in network byte order (proto, "Conventions").

/// First word of a server: "NBDMAGIC" (proto, "Newstyle negotiation").
pub const INIT_PASSWD: u64 = 0x4e42_444d_4147_4943;
/// Second word of a server, and the first of each option: "IHAVEOPT" (proto, "Newstyle negotiation").
pub const IHAVEOPT: u64 = 0x4948_4156_454f_5054;
/// First word of each answer to an option (proto, "Fixed newstyle negotiation").
pub const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
/// First word of a request (proto, "Request message").
pub const REQUEST_MAGIC: u32 = 0x2560_9513;
/// First word of a simple reply (proto, "Simple reply message").
pub const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
/// First word of a structured reply chunk (proto, "Structured reply chunk message").
pub const STRUCTURED_REPLY_MAGIC: u32 = 0x668e_33ef;

/// Length of a request without its payload, in bytes.
pub const REQUEST_BYTES: usize = 28;
/// Length of an option without its data, in bytes.
pub const OPTION_BYTES: usize = 16;

/// Largest read or write, in bytes: what a client may take for granted that asked for no sizes (proto, "Block size constraints").
pub const MAX_PAYLOAD_BYTES: u32 = 32 << 20;
/// Longest data of an option that is looked at, in bytes: the longest string (proto, "Conventions": 4096) and room for requests beside it.
pub const MAX_OPTION_BYTES: u32 = 16 << 10;

/// Handshake and client flags (proto, "Handshake flags", "Client flags"); both sides use the same bits.
pub mod handshake {
    /// `NBD_FLAG_FIXED_NEWSTYLE`.
    pub const FIXED_NEWSTYLE: u16 = 1 << 0;
    /// `NBD_FLAG_NO_ZEROES`.
    pub const NO_ZEROES: u16 = 1 << 1;
}

/// Transmission flags (proto, "Transmission flags").
pub mod transmission {
    /// `NBD_FLAG_HAS_FLAGS`.
    pub const HAS_FLAGS: u16 = 1 << 0;
    /// `NBD_FLAG_SEND_FLUSH`.
    pub const SEND_FLUSH: u16 = 1 << 2;
    /// `NBD_FLAG_SEND_FUA`.
    pub const SEND_FUA: u16 = 1 << 3;
    /// `NBD_FLAG_SEND_TRIM`.
    pub const SEND_TRIM: u16 = 1 << 5;
    /// `NBD_FLAG_SEND_WRITE_ZEROES`.
    pub const SEND_WRITE_ZEROES: u16 = 1 << 6;
    /// `NBD_FLAG_SEND_DF`: only where structured replies were agreed on.
    pub const SEND_DF: u16 = 1 << 7;
    /// `NBD_FLAG_CAN_MULTI_CONN`.
    pub const CAN_MULTI_CONN: u16 = 1 << 8;
    /// `NBD_FLAG_SEND_CACHE`.
    pub const SEND_CACHE: u16 = 1 << 10;
    /// `NBD_FLAG_SEND_FAST_ZERO`.
    pub const SEND_FAST_ZERO: u16 = 1 << 11;
}

/// Option types (proto, "Option types").
pub mod option {
    /// `NBD_OPT_EXPORT_NAME`.
    pub const EXPORT_NAME: u32 = 1;
    /// `NBD_OPT_ABORT`.
    pub const ABORT: u32 = 2;
    /// `NBD_OPT_LIST`.
    pub const LIST: u32 = 3;
    /// `NBD_OPT_STARTTLS`.
    pub const STARTTLS: u32 = 5;
    /// `NBD_OPT_INFO`.
    pub const INFO: u32 = 6;
    /// `NBD_OPT_GO`.
    pub const GO: u32 = 7;
    /// `NBD_OPT_STRUCTURED_REPLY`.
    pub const STRUCTURED_REPLY: u32 = 8;
    /// `NBD_OPT_LIST_META_CONTEXT`.
    pub const LIST_META_CONTEXT: u32 = 9;
    /// `NBD_OPT_SET_META_CONTEXT`.
    pub const SET_META_CONTEXT: u32 = 10;
}

/// Option reply types (proto, "Option reply types").
pub mod option_reply {
    /// `NBD_REP_ACK`.
    pub const ACK: u32 = 1;
    /// `NBD_REP_SERVER`.
    pub const SERVER: u32 = 2;
    /// `NBD_REP_INFO`.
    pub const INFO: u32 = 3;
    /// `NBD_REP_META_CONTEXT`.
    pub const META_CONTEXT: u32 = 4;
    /// `NBD_REP_ERR_UNSUP`.
    pub const ERR_UNSUP: u32 = 0x8000_0001;
    /// `NBD_REP_ERR_INVALID`.
    pub const ERR_INVALID: u32 = 0x8000_0003;
    /// `NBD_REP_ERR_UNKNOWN`: no such export.
    pub const ERR_UNKNOWN: u32 = 0x8000_0006;
    /// `NBD_REP_ERR_TOO_BIG`.
    pub const ERR_TOO_BIG: u32 = 0x8000_0009;
}

/// Information types of `NBD_OPT_INFO` and `NBD_OPT_GO` (proto, "Option types", `NBD_INFO_*`).
pub mod info {
    /// `NBD_INFO_EXPORT`.
    pub const EXPORT: u16 = 0;
    /// `NBD_INFO_NAME`.
    pub const NAME: u16 = 1;
    /// `NBD_INFO_DESCRIPTION`.
    pub const DESCRIPTION: u16 = 2;
    /// `NBD_INFO_BLOCK_SIZE`.
    pub const BLOCK_SIZE: u16 = 3;
}

/// Request types (proto, "Request types").
pub mod command {
    /// `NBD_CMD_READ`.
    pub const READ: u16 = 0;
    /// `NBD_CMD_WRITE`.
    pub const WRITE: u16 = 1;
    /// `NBD_CMD_DISC`.
    pub const DISC: u16 = 2;
    /// `NBD_CMD_FLUSH`.
    pub const FLUSH: u16 = 3;
    /// `NBD_CMD_TRIM`.
    pub const TRIM: u16 = 4;
    /// `NBD_CMD_CACHE`.
    pub const CACHE: u16 = 5;
    /// `NBD_CMD_WRITE_ZEROES`.
    pub const WRITE_ZEROES: u16 = 6;
    /// `NBD_CMD_BLOCK_STATUS`.
    pub const BLOCK_STATUS: u16 = 7;
}

/// Command flags (proto, "Command flags").
pub mod command_flag {
    /// `NBD_CMD_FLAG_FUA`.
    pub const FUA: u16 = 1 << 0;
    /// `NBD_CMD_FLAG_NO_HOLE`.
    pub const NO_HOLE: u16 = 1 << 1;
    /// `NBD_CMD_FLAG_DF`.
    pub const DF: u16 = 1 << 2;
    /// `NBD_CMD_FLAG_REQ_ONE`.
    pub const REQ_ONE: u16 = 1 << 3;
    /// `NBD_CMD_FLAG_FAST_ZERO`.
    pub const FAST_ZERO: u16 = 1 << 4;
}

/// Structured reply types and their flag (proto, "Structured reply types", "Structured reply flags").
pub mod chunk {
    /// `NBD_REPLY_FLAG_DONE`.
    pub const DONE: u16 = 1;
    /// `NBD_REPLY_TYPE_NONE`.
    pub const NONE: u16 = 0;
    /// `NBD_REPLY_TYPE_OFFSET_DATA`.
    pub const OFFSET_DATA: u16 = 1;
    /// `NBD_REPLY_TYPE_BLOCK_STATUS`.
    pub const BLOCK_STATUS: u16 = 5;
    /// `NBD_REPLY_TYPE_ERROR`.
    pub const ERROR: u16 = 0x8001;
}

/// States of the context `base:allocation` (proto, "Metadata contexts").
pub mod state {
    /// `NBD_STATE_HOLE`.
    pub const HOLE: u32 = 1 << 0;
    /// `NBD_STATE_ZERO`.
    pub const ZERO: u32 = 1 << 1;
}

/// The metadata context served (proto, "Metadata contexts").
pub const BASE_ALLOCATION: &str = "base:allocation";
/// Its number, chosen here.
pub const BASE_ALLOCATION_ID: u32 = 1;
