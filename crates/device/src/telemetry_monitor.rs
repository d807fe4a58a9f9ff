//! Telemetry of a real drive during a run. A separate thread reads, so that a slow drive does not
//! delay the run. Sources in order of preference: the health log of an NVMe drive
//! ([`crate::nvme::health`]), else the kernel's temperature sensor; for power an external meter
//! ([`power_meter`]), else the drive's power sensor.

use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::identity::{
    DriveInfo, SystemRoot, block_cache_at, power_milliwatts_at, temperature_celsius_at,
};
use crate::nvme::health::{self, Health};
use assay_io::Telemetry;

pub mod power_meter;

use power_meter::PowerMeter;

/// The health log takes less than a millisecond on most drives, up to about ten on others.
const READING_TIMEOUT: Duration = Duration::from_millis(15);

/// While nothing is measured.
const REST_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct TelemetryMonitor {
    requests: Mutex<RequestChannel>,
    meter: Option<Arc<PowerMeter>>,
}

#[derive(Debug)]
struct RequestChannel {
    request: SyncSender<()>,
    replies: Receiver<Option<Telemetry>>,
}

impl TelemetryMonitor {
    /// A drive without any source gives no readings.
    pub fn start(info: &DriveInfo, meter: Option<Arc<PowerMeter>>) -> TelemetryMonitor {
        let (request, requests) = mpsc::sync_channel(1);
        let (reply, replies) = mpsc::sync_channel(2);
        let info = info.clone();
        let work = move || {
            // Opened in this thread: opening may hang on a removed drive.
            let mut device = health::open(&info);
            while requests.recv().is_ok() {
                let opened = device.as_mut();
                let health = opened.and_then(|(port, logs)| health::read(port, logs).ok());
                let _ = reply.try_send(reading(&SystemRoot::host(), &info, health));
            }
        };
        // Without the thread there are no readings; the measurement is not affected. The thread
        // ends when the request channel closes.
        let _ =
            std::thread::Builder::new().name("health".to_owned()).stack_size(256 << 10).spawn(work);
        TelemetryMonitor { requests: Mutex::new(RequestChannel { request, replies }), meter }
    }

    /// `None` without a source or after a timeout that is too short to delay a measurement.
    pub fn telemetry(&self) -> Option<Telemetry> {
        self.telemetry_within(READING_TIMEOUT)
    }

    /// Allows a longer timeout, before or after a measurement.
    pub fn telemetry_at_rest(&self) -> Option<Telemetry> {
        self.telemetry_within(REST_TIMEOUT)
    }

    fn telemetry_within(&self, timeout: Duration) -> Option<Telemetry> {
        let channel = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        // Discard late replies.
        while channel.replies.try_recv().is_ok() {}
        let reply = match channel.request.try_send(()) {
            // Timeout, or the thread has ended.
            Ok(()) => channel.replies.recv_timeout(timeout).ok().flatten(),
            Err(_) => None,
        };
        match self.meter.as_ref().and_then(|meter| meter.mean_mw()) {
            Some(power_mw) => {
                Some(Telemetry { power_mw: Some(power_mw), ..reply.unwrap_or_default() })
            }
            None => reply,
        }
    }
}

fn reading(root: &SystemRoot, info: &DriveInfo, health: Option<Health>) -> Option<Telemetry> {
    let of_drive = reading_of_drive(root, info, health);
    match block_cache_at(root, info) {
        Some(cache) => Some(Telemetry {
            cache_reads: Some(cache.reads),
            cache_read_hits: Some(cache.read_hits),
            cache_dirty_bytes: cache.dirty_bytes,
            ..of_drive.unwrap_or_default()
        }),
        None => of_drive,
    }
}

fn reading_of_drive(
    root: &SystemRoot,
    info: &DriveInfo,
    health: Option<Health>,
) -> Option<Telemetry> {
    let power_mw = power_milliwatts_at(root, info);
    match health {
        Some(health) => Some(Telemetry { power_mw, ..health.telemetry() }),
        None => {
            let temperature_c = temperature_celsius_at(root, info);
            (temperature_c.is_some() || power_mw.is_some()).then(|| Telemetry {
                temperature_c,
                power_mw,
                ..Telemetry::default()
            })
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/telemetry_monitor.rs"]
mod tests;
