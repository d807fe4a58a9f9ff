//! What a real drive says of itself while it is measured: health, temperature, power.
//!
//! A thread of its own asks, so that a drive that answers slowly, or never, holds up nobody: who wants a reading asks for one and takes what
//! is there a moment later. The sources, best first: the health log of an NVMe drive ([`crate::nvme::health`]), else the kernel's temperature
//! sensor ([`crate::identity::temperature_celsius`]); for power a meter of the user's ([`meter`]), else the drive's own power sensor.

use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::identity::{DriveInfo, SystemRoot, power_milliwatts_at, temperature_celsius_at};
use crate::nvme::health::{Health, Monitor};
use assay_io::Telemetry;

pub mod meter;

use meter::PowerMeter;

/// How long a reading is waited for: a health log takes well under a millisecond on most drives, and up to some ten on others.
const PATIENCE: Duration = Duration::from_millis(15);

/// Watches one real drive.
#[derive(Debug)]
pub struct Watch {
    asker: Mutex<Asker>,
    meter: Option<Arc<PowerMeter>>,
}

#[derive(Debug)]
struct Asker {
    ask: SyncSender<()>,
    answers: Receiver<Option<Telemetry>>,
}

impl Watch {
    /// Begin to watch a drive. Where it tells nothing, no reading ever comes.
    pub fn start(info: &DriveInfo, meter: Option<Arc<PowerMeter>>) -> Watch {
        let (ask, asked) = mpsc::sync_channel(1);
        let (answer, answers) = mpsc::sync_channel(2);
        let info = info.clone();
        let work = move || {
            // Opened here: even that may hang on a drive that is gone.
            let mut monitor = Monitor::open(&info);
            while asked.recv().is_ok() {
                let health = monitor.as_mut().and_then(|monitor| monitor.read().ok());
                let _ = answer.try_send(reading(&SystemRoot::host(), &info, health));
            }
        };
        // Without a thread there are no readings, and the measurement is none the worse. It ends when nobody can ask any more.
        let _ = std::thread::Builder::new()
            .name("health".to_owned())
            .stack_size(256 << 10)
            .spawn(work);
        Watch {
            asker: Mutex::new(Asker { ask, answers }),
            meter,
        }
    }

    /// A reading now: `None` where the drive tells nothing, or not soon enough.
    pub fn telemetry(&self) -> Option<Telemetry> {
        let asker = self.asker.lock().unwrap_or_else(PoisonError::into_inner);
        // A late answer to an earlier question is not one to this.
        while asker.answers.try_recv().is_ok() {}
        let answer = match asker.ask.try_send(()) {
            // Too late, or nobody there any more: no reading.
            Ok(()) => asker.answers.recv_timeout(PATIENCE).unwrap_or_default(),
            Err(TrySendError::Full(()) | TrySendError::Disconnected(())) => None,
        };
        match self.meter.as_ref().and_then(|meter| meter.mean_mw()) {
            Some(power_mw) => Some(Telemetry {
                power_mw: Some(power_mw),
                ..answer.unwrap_or_default()
            }),
            None => answer,
        }
    }
}

/// A reading from the health log, if there is one, and the kernel's sensors.
fn reading(root: &SystemRoot, info: &DriveInfo, health: Option<Health>) -> Option<Telemetry> {
    let power_mw = power_milliwatts_at(root, info);
    match health {
        Some(health) => Some(Telemetry {
            power_mw,
            ..health.telemetry()
        }),
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
#[path = "../tests/unit/watch.rs"]
mod tests;
