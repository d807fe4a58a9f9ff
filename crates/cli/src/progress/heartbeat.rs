//! A line from time to time while nothing else is printed, so that a log shows that the run is
//! alive.

use std::io::Write;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

pub const PERIOD: Duration = Duration::from_secs(30);

/// Prints the latest status every period until it is dropped.
pub struct Heartbeat {
    status: Arc<Mutex<String>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Writes the status into `out` every `period`; [`Heartbeat::set`] begins a new period.
    pub fn start(period: Duration, mut out: impl Write + Send + 'static) -> Heartbeat {
        let status = Arc::new(Mutex::new(String::new()));
        let shown = Arc::clone(&status);
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            loop {
                match stopped.recv_timeout(period) {
                    Err(RecvTimeoutError::Timeout) => {
                        let text = shown.lock().unwrap_or_else(PoisonError::into_inner);
                        if !text.is_empty() {
                            // A closed stderr does not end the run.
                            let _ = writeln!(out, "{text}");
                        }
                    }
                    Ok(()) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
        });
        Heartbeat { status, stop: Some(stop), thread: Some(thread) }
    }

    pub fn set(&self, text: String) {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    /// A line was printed: the next one is due a period from now.
    pub fn postpone(&self) {
        if let Some(stop) = &self.stop {
            let _ = stop.send(());
        }
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/progress/heartbeat.rs"]
mod tests;
