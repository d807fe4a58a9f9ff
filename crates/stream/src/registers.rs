//! Any thread may read them, and write [`ControlBits`], while a stream runs.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

pub mod map;

/// Bits of the `CONTROL` register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlBits(u32);

impl ControlBits {
    pub fn to_raw(self) -> u32 {
        self.0
    }
}

/// Bits of the `STATUS` register.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct StatusBits(u32);

impl StatusBits {
    pub fn has(self, bits: StatusBits) -> bool {
        self.0 & bits.0 == bits.0
    }

    #[must_use]
    pub fn with(self, bits: StatusBits) -> StatusBits {
        StatusBits(self.0 | bits.0)
    }

    #[must_use]
    pub fn with_if(self, condition: bool, bits: StatusBits) -> StatusBits {
        if condition { self.with(bits) } else { self }
    }

    pub fn is_refusal(self) -> bool {
        let refusals =
            [StatusBits::FIRST_AFTER_LAST, StatusBits::UNALIGNED, StatusBits::OUT_OF_RANGE];
        refusals.into_iter().any(|bit| self.has(bit))
    }

    pub fn from_raw(value: u32) -> StatusBits {
        StatusBits(value)
    }

    /// The end status after a failed command: `DEVICE_ERROR`, and not `FINISHED`.
    #[must_use]
    pub(crate) fn failed(self) -> StatusBits {
        StatusBits(self.0 & !StatusBits::FINISHED.0).with(StatusBits::DEVICE_ERROR)
    }

    pub fn names(self) -> Vec<&'static str> {
        let set = map::STATUS_NAMES.iter().filter(|(bit, _)| self.0 >> bit & 1 == 1);
        set.map(|(_, name)| *name).collect()
    }
}

impl std::fmt::Debug for StatusBits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StatusBits({})", self.names().join(" | "))
    }
}

impl serde::Serialize for StatusBits {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.names())
    }
}

/// Place of a register in its bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    offset: u32,
    bits: u32,
}

impl Register {
    const fn new(offset: u32, bits: u32) -> Register {
        assert!(matches!(bits, 32 | 64));
        Register { offset, bits }
    }

    /// Bytes from the begin of the bank.
    pub const fn offset(self) -> u32 {
        self.offset
    }

    /// 32, or 64: two words, low half first.
    pub const fn bits(self) -> u32 {
        self.bits
    }
}

/// Bits of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterField {
    low: u32,
    bits: u32,
}

impl RegisterField {
    const fn new(high: u32, low: u32) -> RegisterField {
        assert!(low <= high && high < 64);
        RegisterField { low, bits: high - low + 1 }
    }

    /// Its bits in the register.
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits) << self.low
    }

    /// Its value, from that of the register.
    pub const fn value_in(self, register: u64) -> u64 {
        register >> self.low & (u64::MAX >> (64 - self.bits))
    }
}

/// The registers of one streamer.
#[derive(Debug, Default)]
pub struct Registers {
    control: AtomicU32,
    status: AtomicU32,
    last_address_written: AtomicU64,
    bytes: AtomicU64,
    stalls: AtomicU64,
    stall_time_ns: AtomicU64,
    durable_bytes: AtomicU64,
}

/// Bytes of a beat: the 128-bit bus of the core.
pub const BEAT_BYTES: u64 = assay_integrity::pattern::BEAT_BYTES as u64;

impl Registers {
    /// Write to `CONTROL`: sets these bits.
    pub fn command(&self, control: ControlBits) {
        self.control.fetch_or(control.0, Ordering::SeqCst);
    }

    /// Any of these bits of `CONTROL` is set.
    pub fn commanded(&self, control: ControlBits) -> bool {
        self.control.load(Ordering::Relaxed) & control.0 != 0
    }

    /// `STOP` or `ABORT` is set.
    pub fn stop_requested(&self) -> bool {
        self.commanded(ControlBits(ControlBits::STOP.0 | ControlBits::ABORT.0))
    }

    /// The end status of a stop request: `ABORTED` or `STOPPED`.
    pub fn stop_status(&self) -> StatusBits {
        if self.commanded(ControlBits::ABORT) { StatusBits::ABORTED } else { StatusBits::STOPPED }
    }

    /// The streamer acts on a bit of `CONTROL`: clears it; true if it was set.
    pub fn acknowledge(&self, control: ControlBits) -> bool {
        self.control.fetch_and(!control.0, Ordering::SeqCst) & control.0 != 0
    }

    pub fn status(&self) -> StatusBits {
        StatusBits(self.status.load(Ordering::SeqCst))
    }

    /// Set `STATUS`, by the streamer.
    pub fn set_status(&self, status: StatusBits) {
        self.status.store(status.0, Ordering::SeqCst);
    }

    /// `LAST_ADDRESS_WRITTEN` (of a replay: read), bytes; `None` before the first completed chunk.
    pub fn last_address_written(&self) -> Option<u64> {
        let valid = self.status().has(StatusBits::LAST_VALID);
        valid.then(|| self.last_address_written.load(Ordering::SeqCst))
    }

    /// `BYTES`; `BEATS` is the same in beats of 16 bytes, rounded up.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub fn stalls(&self) -> u64 {
        self.stalls.load(Ordering::Relaxed)
    }

    pub fn stall_time_ns(&self) -> u64 {
        self.stall_time_ns.load(Ordering::Relaxed)
    }

    pub fn durable_bytes(&self) -> u64 {
        self.durable_bytes.load(Ordering::SeqCst)
    }

    pub fn durable(&self, bytes: u64) {
        self.durable_bytes.store(bytes, Ordering::SeqCst);
    }

    /// A stream begins: `RUNNING`, and counts of zero. `CONTROL` is kept.
    pub fn begin(&self) {
        for register in [&self.bytes, &self.stalls, &self.stall_time_ns] {
            register.store(0, Ordering::Relaxed);
        }
        self.durable(0);
        self.set_status(StatusBits::RUNNING);
    }

    pub fn progress(&self, address: u64, bytes: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
        self.last_address_written.store(address, Ordering::SeqCst);
        self.status.fetch_or(StatusBits::LAST_VALID.0, Ordering::SeqCst);
    }

    /// The stream waited for the drive.
    pub fn stalled(&self, duration_ns: u64) {
        self.stalls.fetch_add(1, Ordering::Relaxed);
        self.stall_time_ns.fetch_add(duration_ns, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[path = "../tests/unit/registers.rs"]
mod tests;
