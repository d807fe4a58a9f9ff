//! Features (Base 5.27.1; NVM 4.1.3): identifiers, values in dword 11 and completion dword 0, data.

use assay_units::constants;

use crate::wire::{codes, wire};

codes! {
    /// Feature Identifier (FID; Base 5.27.1).
    pub struct FeatureId(u8) {
        ARBITRATION = 0x01, "Arbitration";
        POWER_MANAGEMENT = 0x02, "Power Management";
        TEMPERATURE_THRESHOLD = 0x04, "Temperature Threshold";
        ERROR_RECOVERY = 0x05, "Error Recovery";
        VOLATILE_WRITE_CACHE = 0x06, "Volatile Write Cache";
        NUMBER_OF_QUEUES = 0x07, "Number of Queues";
        INTERRUPT_COALESCING = 0x08, "Interrupt Coalescing";
        INTERRUPT_VECTOR = 0x09, "Interrupt Vector Configuration";
        WRITE_ATOMICITY = 0x0a, "Write Atomicity Normal";
        ASYNC_EVENT = 0x0b, "Asynchronous Event Configuration";
        AUTONOMOUS_POWER = 0x0c, "Autonomous Power State Transition";
        HOST_MEMORY_BUFFER = 0x0d, "Host Memory Buffer";
        TIMESTAMP = 0x0e, "Timestamp";
        KEEP_ALIVE = 0x0f, "Keep Alive Timer";
        HOST_THERMAL = 0x10, "Host Controlled Thermal Management";
        NON_OPERATIONAL_POWER = 0x11, "Non-Operational Power State Config";
        FLEXIBLE_DATA_PLACEMENT = 0x1d, "Flexible Data Placement";
        FDP_EVENTS = 0x1e, "Flexible Data Placement Events";
        SOFTWARE_PROGRESS = 0x80, "Software Progress Marker";
        HOST_IDENTIFIER = 0x81, "Host Identifier";
    }

    /// Asynchronous Event Type (bits 2:0 of dword 0; Base 5.2.1).
    pub struct AsyncEventType(u8) {
        ERROR = 0x0, "Error status";
        SMART = 0x1, "SMART / Health status";
        NOTICE = 0x2, "Notice";
        IO_SPECIFIC = 0x6, "I/O Command specific status";
        VENDOR = 0x7, "Vendor specific";
    }
}

wire! {
    /// Features of one enable bit: Volatile Write Cache (WCE; Base 5.27.1.4), Autonomous Power
    /// State Transition (APSTE; 5.27.1.9) and Non-Operational Power State Config (NOPPME;
    /// 5.27.1.14).
    pub struct FeatureSwitch[4] as u32 {
        enabled / set_enabled: bool = 0, u32[0..=0], "Whether the feature is enabled.";
    }

    /// Host Memory Buffer (Base 5.27.1.10).
    pub struct HostMemoryBuffer[4] as u32 {
        enabled / set_enabled: bool = 0, u32[0..=0], "Enable Host Memory (EHM).";
        returned / set_returned: bool = 0, u32[1..=1],
            "Memory Return (MR): memory of before, with its content.";
    }

    /// Host Memory Buffer Descriptor Entry.
    pub struct HostMemoryDescriptor[16] {
        address / set_address: u64 = 0, "Buffer Address (BADD), aligned to a memory page.";
        pages / set_pages: u32 = 8, "Buffer Size (BSIZE) in memory pages.";
    }

    /// Host Memory Buffer Attributes, data of Get Features.
    pub struct HostMemoryAttributes[4096] {
        pages / set_pages: u32 = 0, "Host Memory Buffer Size (HSIZE) in memory pages.";
        list_low / set_list_low: u32 = 4, "Host Memory Descriptor List Address Lower (HMDLAL).";
        list_high / set_list_high: u32 = 8, "Host Memory Descriptor List Address Upper (HMDLAU).";
        descriptors / set_descriptors: u32 = 12,
            "Host Memory Descriptor List Entry Count (HMDLEC).";
    }

    /// Power Management (Base 5.27.1.2).
    pub struct PowerManagement[4] as u32 {
        state / set_state: u8 = 0, u32[0..=4], "Power State (PS).";
        workload / set_workload: u8 = 0, u32[5..=7], "Workload Hint (WH).";
    }

    /// Temperature Threshold (Base 5.27.1.3).
    pub struct TemperatureThreshold[4] as u32 {
        kelvin / set_kelvin: u16 = 0, "Temperature Threshold (TMPTH) in kelvin.";
        sensor / set_sensor: u8 = 0, u32[16..=19],
            "Threshold Temperature Select (TMPSEL): 0 composite, 1 to 8 sensors, 15 \
             all (of Set Features).";
        threshold_type / set_threshold_type: u8 = 0, u32[20..=21],
            "Threshold Type Select (THSEL): 0 over, 1 under.";
    }

    /// Error Recovery (NVM 4.1.3.2).
    pub struct ErrorRecovery[4] as u32 {
        deallocated_errors / set_deallocated_errors: bool = 0, u32[16..=16],
            "Deallocated or Unwritten Logical Block Error Enable (DULBE).";
    }

    /// Number of Queues (Base 5.27.1.5): requested in the command, granted in the completion.
    pub struct NumberOfQueues[4] as u32 {
        submission / set_submission: u16 = 0, "I/O Submission Queues, less one (NSQR, NSQA).";
        completion / set_completion: u16 = 2, "I/O Completion Queues, less one (NCQR, NCQA).";
    }

    /// Interrupt Coalescing (Base 5.27.1.6).
    pub struct InterruptCoalescing[4] as u32 {
        threshold / set_threshold: u8 = 0,
            "Aggregation Threshold (THR) in completion entries, less one.";
        time_100us / set_time_100us: u8 = 1,
            "Aggregation Time (TIME) in units of 100 us, 0 for none.";
    }

    /// Interrupt Vector Configuration (Base 5.27.1.7).
    pub struct InterruptVector[4] as u32 {
        vector / set_vector: u16 = 0, "Interrupt Vector (IV).";
        coalescing_disabled / set_coalescing_disabled: bool = 0, u32[16..=16],
            "Coalescing Disable (CD).";
    }

    /// Asynchronous Event Configuration (Base 5.27.1.8).
    pub struct AsyncEventConfig[4] as u32 {
        /// SMART / Health Critical Warnings: bits of [`crate::log::CriticalWarning`] that raise
        /// events.
        critical_warnings / set_critical_warnings: u8 = 0;
        /// Namespace Attribute Notices.
        namespace_attributes / set_namespace_attributes: bool = 0, u32[8..=8];
    }

    /// Dword 0 of the completion of an Asynchronous Event Request (Base 5.2.1).
    pub struct AsyncEvent[4] as u32 {
        event_type / set_event_type: u8 = 0, u32[0..=2],
            "Asynchronous Event Type, see [`AsyncEventType`].";
        information / set_information: u8 = 1,
            "Asynchronous Event Information, by type: see [`event`].";
        lid / set_lid: u8 = 2, "Log Page Identifier: reading the page unmasks the event type.";
    }

    /// One entry of Autonomous Power State Transition data (Base 5.27.1.9), of 32.
    pub struct AutonomousTransition[8] {
        state / set_state: u8 = 0, u64[3..=7], "Idle Transition Power State (ITPS).";
        idle_ms / set_idle_ms: u32 = 0, u64[8..=31],
            "Idle Time Prior to Transition (ITPT) in milliseconds, 0 for no transition.";
    }

    /// Autonomous Power State Transition data (Base 5.27.1.9).
    pub struct AutonomousTable[256] {
        transitions / set_transitions: [AutonomousTransition; 32] = 0, "By power state.";
    }

    /// Timestamp data (Base 5.27.1.11).
    pub struct Timestamp[8] {
        milliseconds / set_milliseconds: u64 = 0, u64[0..=47], "Milliseconds since 1970.";
        stopped / set_stopped: bool = 6, u8[0..=0],
            "Synch: the controller may have stopped counting.";
        origin / set_origin: u8 = 6, u8[1..=3], "Timestamp Origin: 0 since reset, 1 set by a host.";
    }

    /// Host Controlled Thermal Management (Base 5.27.1.13).
    pub struct HostThermal[4] as u32 {
        heavy_kelvin / set_heavy_kelvin: u16 = 0,
            "Thermal Management Temperature 2 (TMT2) in kelvin: throttle as hard as \
             needed; 0 for off.";
        light_kelvin / set_light_kelvin: u16 = 2,
            "Thermal Management Temperature 1 (TMT1) in kelvin: throttle lightly; 0 for off.";
    }
}

constants! {
    /// Asynchronous Event Information (Base 5.2.1).
    pub mod event: u8 {
        INVALID_DOORBELL_REGISTER = 0x00, "Error status: write to an invalid doorbell register.";
        INVALID_DOORBELL_VALUE = 0x01, "Error status: invalid doorbell write value.";
        RELIABILITY = 0x00, "SMART / Health status: reliability degraded.";
        TEMPERATURE = 0x01, "SMART / Health status: temperature threshold.";
        SPARE = 0x02, "SMART / Health status: spare below threshold.";
        NAMESPACE_ATTRIBUTE = 0x00, "Notice: namespace attribute changed.";
        SANITIZE_COMPLETED = 0x01, "I/O Command specific status: sanitize operation completed.";
    }
}
