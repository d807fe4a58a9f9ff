//! Values of the ports of `nvs_core` in one clock cycle.
//!
//! Field names are port names without `_i` and `_o`. The number behind `=` is the width of the port
//! in bits (of one drive, for ports with a vector over drives); `data` is the width of the data
//! bus, `beat` the bytes of a bus word. From the lists in this file `build.rs` makes C++ structures
//! of the same layout and the code that copies them to and from the model.

/// Bytes of the widest data bus.
pub const MAX_BEAT_BYTES: usize = 64;

/// Drives of the largest core.
pub const MAX_DRIVES: usize = 4;

/// A word of a data bus; bytes beyond the bus are 0.
pub type BusWord = [u8; MAX_BEAT_BYTES];

/// Types of signals, and their value at reset.
trait Signal {
    const ZERO: Self;
}

macro_rules! unsigned {
    ($($type:ty),*) => {
        $(impl Signal for $type {
            const ZERO: $type = 0;
        })*
    };
}
unsigned!(u8, u32, u64);

impl Signal for BusWord {
    const ZERO: BusWord = [0; MAX_BEAT_BYTES];
}

macro_rules! signals {
    ($(#[$doc:meta])* $name:ident {
        $($port:ident: $type:ty = $bits:tt,)*
    } $(drives: $drive:ident)?) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name {
            $(
                #[doc = concat!("Port `", stringify!($port), "`, bits: ", stringify!($bits), ".")]
                pub $port: $type,
            )*
            $(
                /// Ports of each drive.
                pub drives: [$drive; MAX_DRIVES],
            )?
        }

        impl $name {
            /// All zero.
            pub const ZERO: $name = $name {
                $($port: <$type as Signal>::ZERO,)*
                $(drives: [$drive::ZERO; MAX_DRIVES],)?
            };
        }

        impl Default for $name {
            fn default() -> $name {
                $name::ZERO
            }
        }
    };
}

signals! {
    /// Inputs of the core.
    Inputs {
        tick: u8 = 1,
        trigger: u8 = 1,
        s_reg_aw_valid: u8 = 1,
        s_reg_aw_addr: u32 = 12,
        s_reg_w_valid: u8 = 1,
        s_reg_w_data: u32 = 32,
        s_reg_w_strb: u8 = 4,
        s_reg_b_ready: u8 = 1,
        s_reg_ar_valid: u8 = 1,
        s_reg_ar_addr: u32 = 12,
        s_reg_r_ready: u8 = 1,
        s_valid: u8 = 1,
        s_data: BusWord = data,
        s_keep: u64 = beat,
        s_last: u8 = 1,
        m_ready: u8 = 1,
        mem_aw_ready: u8 = 1,
        mem_w_ready: u8 = 1,
        mem_b_valid: u8 = 1,
        mem_b_id: u8 = 3,
        mem_b_resp: u8 = 2,
        mem_ar_ready: u8 = 1,
        mem_r_valid: u8 = 1,
        mem_r_id: u8 = 3,
        mem_r_data: BusWord = data,
        mem_r_resp: u8 = 2,
        mem_r_last: u8 = 1,
    }
    drives: DriveInputs
}

signals! {
    /// Inputs of the core's ports of one drive.
    DriveInputs {
        dev_aw_valid: u8 = 1,
        dev_aw_id: u8 = 4,
        dev_aw_addr: u64 = 40,
        dev_aw_len: u8 = 8,
        dev_aw_size: u8 = 3,
        dev_aw_burst: u8 = 2,
        dev_w_valid: u8 = 1,
        dev_w_data: BusWord = data,
        dev_w_strb: u64 = beat,
        dev_w_last: u8 = 1,
        dev_b_ready: u8 = 1,
        dev_ar_valid: u8 = 1,
        dev_ar_id: u8 = 4,
        dev_ar_addr: u64 = 40,
        dev_ar_len: u8 = 8,
        dev_ar_size: u8 = 3,
        dev_ar_burst: u8 = 2,
        dev_r_ready: u8 = 1,
        bar_aw_ready: u8 = 1,
        bar_w_ready: u8 = 1,
        bar_b_valid: u8 = 1,
        bar_b_resp: u8 = 2,
        bar_ar_ready: u8 = 1,
        bar_r_valid: u8 = 1,
        bar_r_data: u32 = 32,
        bar_r_resp: u8 = 2,
        link_up: u8 = 1,
        link_speed: u8 = 4,
        link_width: u8 = 8,
    }
}

signals! {
    /// Outputs of the core.
    Outputs {
        s_reg_aw_ready: u8 = 1,
        s_reg_w_ready: u8 = 1,
        s_reg_b_valid: u8 = 1,
        s_reg_b_resp: u8 = 2,
        s_reg_ar_ready: u8 = 1,
        s_reg_r_valid: u8 = 1,
        s_reg_r_data: u32 = 32,
        s_reg_r_resp: u8 = 2,
        s_ready: u8 = 1,
        m_valid: u8 = 1,
        m_data: BusWord = data,
        m_keep: u64 = beat,
        m_last: u8 = 1,
        m_user: u8 = 2,
        mem_aw_valid: u8 = 1,
        mem_aw_id: u8 = 3,
        mem_aw_addr: u64 = ring,
        mem_aw_len: u8 = 8,
        mem_w_valid: u8 = 1,
        mem_w_data: BusWord = data,
        mem_w_strb: u64 = beat,
        mem_w_last: u8 = 1,
        mem_b_ready: u8 = 1,
        mem_ar_valid: u8 = 1,
        mem_ar_id: u8 = 3,
        mem_ar_addr: u64 = ring,
        mem_ar_len: u8 = 8,
        mem_r_ready: u8 = 1,
        irq: u8 = 2,
        quiet: u8 = 1,
    }
    drives: DriveOutputs
}

signals! {
    /// Outputs of the core's ports of one drive.
    DriveOutputs {
        dev_aw_ready: u8 = 1,
        dev_w_ready: u8 = 1,
        dev_b_valid: u8 = 1,
        dev_b_id: u8 = 4,
        dev_b_resp: u8 = 2,
        dev_ar_ready: u8 = 1,
        dev_r_valid: u8 = 1,
        dev_r_id: u8 = 4,
        dev_r_data: BusWord = data,
        dev_r_resp: u8 = 2,
        dev_r_last: u8 = 1,
        bar_aw_valid: u8 = 1,
        bar_aw_addr: u32 = 32,
        bar_w_valid: u8 = 1,
        bar_w_data: u32 = 32,
        bar_w_strb: u8 = 4,
        bar_b_ready: u8 = 1,
        bar_ar_valid: u8 = 1,
        bar_ar_addr: u32 = 32,
        bar_r_ready: u8 = 1,
        perst: u8 = 1,
        irq_lost: u8 = 1,
    }
}
