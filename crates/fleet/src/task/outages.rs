//! What a task says about a shared store that cannot be used: each cause once, and when it is over
//! how many tries failed. The drives of a task meet the same cause.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assay_units::text::format_size;

use super::claimed_drive::TakeError;
use crate::Serial;

/// Messages for a person.
pub type Note = Arc<dyn Fn(String) + Send + Sync>;

pub struct Outages {
    note: Note,
    causes: Mutex<BTreeMap<String, Outage>>,
}

#[derive(Default)]
struct Outage {
    tries: u64,
    drives: BTreeSet<Serial>,
    /// Bytes of drives that gave up.
    unshipped: BTreeMap<Serial, u64>,
}

impl Outages {
    pub fn new(note: Note) -> Outages {
        Outages { note, causes: Mutex::default() }
    }

    fn causes(&self) -> MutexGuard<'_, BTreeMap<String, Outage>> {
        self.causes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A try failed, and there will be another.
    pub fn failed(&self, serial: &Serial, error: &TakeError, waiting_bytes: u64) {
        let mut causes = self.causes();
        let outage = causes.entry(error.cause()).or_default();
        outage.tries += 1;
        outage.drives.insert(serial.clone());
        if outage.tries == 1 {
            (self.note)(format!(
                "{serial}: {error}; {} wait on this host to be shipped, which is tried again \
                 until it succeeds (no further message for each try)",
                format_size(waiting_bytes)
            ));
        }
    }

    /// A try failed, and there will be no other by this task.
    pub fn gave_up(&self, serial: &Serial, error: &TakeError, waiting_bytes: u64) {
        self.failed(serial, error, waiting_bytes);
        let mut causes = self.causes();
        let outage = causes.entry(error.cause()).or_default();
        outage.unshipped.insert(serial.clone(), waiting_bytes);
    }

    /// A document was written.
    pub fn over(&self) {
        let causes = std::mem::take(&mut *self.causes());
        for (cause, Outage { tries, drives, .. }) in causes {
            (self.note)(format!(
                "over after {tries} failed {} of {}: {cause}",
                if tries == 1 { "try" } else { "tries" },
                names(drives.iter())
            ));
        }
    }

    /// At the end of the task.
    pub fn conclude(&self) {
        for (cause, outage) in std::mem::take(&mut *self.causes()) {
            let Outage { tries, unshipped, .. } = outage;
            let bytes = format_size(unshipped.values().sum());
            (self.note)(match unshipped.is_empty() {
                true => format!("{tries} tries failed: {cause}"),
                false => format!(
                    "{tries} tries failed: {cause}; {bytes} of {} stay on this host, and the next \
                     task on it ships them (`assay fleet submit`)",
                    names(unshipped.keys())
                ),
            });
        }
    }
}

fn names<'s>(serials: impl Iterator<Item = &'s Serial>) -> String {
    let serials: Vec<&str> = serials.map(Serial::as_str).collect();
    serials.join(", ")
}
