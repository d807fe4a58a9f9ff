//! OpenMetrics of runs and fleets: for watching, not for results.
//!
//! # Architecture
//! [`encode`] writes the text. [`families`] is the table of metrics of a run, from which the text
//! and docs/metrics.md follow; [`Prepared`] puts them into a file for node_exporter's textfile
//! collector, or serves them over HTTP. [`fleet`] has those of plans and of tasks. A thread writes
//! or answers, and what is measured does not wait for it; the last figures stay in the file.
//!
//! # Non-goals
//! Results: they are in run folders. Serving other hosts: only a loopback address is bound.
//!
//! # Key constants
//! None that others depend on.
#![forbid(unsafe_code)]

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use assay_execute::live::Live;
use assay_store::replace::{check_replaceable, write_unflushed};

pub mod encode;
mod error;
pub mod families;
pub mod fleet;
mod http;

pub use error::MetricsError;
pub use families::RunIdentity;

/// Time between two versions of the file.
const PERIOD: Duration = Duration::from_secs(1);
/// Another file is not replaced.
const HEAD: &str = "# HELP assay_";

/// `127.0.0.1:9100`, `[::1]:9100` and `localhost:9100` are addresses; so is whatever else ends like
/// a port, unless it has a slash.
fn destination(text: &str) -> Result<Destination, MetricsError> {
    if text.is_empty() {
        return Err(MetricsError::NoDestination);
    }
    let port = text.rsplit_once(':').map(|(_, port)| port);
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    if text.contains('/') || !port.is_some_and(is_port) {
        return Ok(Destination::File(text.into()));
    }
    let local = text.replacen("localhost:", "127.0.0.1:", 1);
    match local.parse::<SocketAddr>() {
        Ok(address) if address.ip().is_loopback() => Ok(Destination::Http(address)),
        Ok(_) => Err(MetricsError::NotLoopback(text.to_owned())),
        Err(_) => Err(MetricsError::NoAddress(text.to_owned())),
    }
}

/// The thread that exports; its drop writes the last figures and ends the thread.
pub struct Exporter {
    close: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Exporter {
    fn start(export: impl FnOnce(&AtomicBool) + Send + 'static) -> Result<Exporter, MetricsError> {
        let close = Arc::new(AtomicBool::new(false));
        let closed = Arc::clone(&close);
        let builder = thread::Builder::new().name("metrics".to_owned());
        let thread = builder.spawn(move || export(&closed));
        let thread = Some(thread.map_err(MetricsError::Thread)?);
        Ok(Exporter { close, thread })
    }

    /// An error of the first writing is returned; later ones, such as a full disk, are not.
    fn of_file(
        path: PathBuf,
        period: Duration,
        mut text: impl FnMut() -> String + Send + 'static,
    ) -> Result<Exporter, MetricsError> {
        write_unflushed(&path, &text())?;
        Exporter::start(move |close| {
            let mut is_last = false;
            while !is_last {
                thread::park_timeout(period);
                is_last = close.load(Ordering::SeqCst);
                let _ = write_unflushed(&path, &text());
            }
        })
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        self.close.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Destination {
    File(PathBuf),
    Http(SocketAddr),
}

/// Checked and, if it is an address, bound before anything is measured.
pub enum Prepared {
    File(PathBuf),
    /// With names of this server besides addresses and `localhost`.
    Http(TcpListener, Vec<String>),
}

impl Prepared {
    pub fn new(text: &str, hosts: &[String]) -> Result<Prepared, MetricsError> {
        match destination(text)? {
            Destination::File(_) if !hosts.is_empty() => Err(MetricsError::HostOfFile),
            Destination::File(path) => {
                check_replaceable(&path, HEAD)?;
                let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
                if folder.is_some_and(|folder| !folder.is_dir()) {
                    return Err(MetricsError::NoFolder(text.to_owned()));
                }
                Ok(Prepared::File(path))
            }
            Destination::Http(address) => {
                let listener = TcpListener::bind(address);
                let failed = |source| MetricsError::Bind { address, source };
                Ok(Prepared::Http(listener.map_err(failed)?, hosts.to_vec()))
            }
        }
    }

    pub fn start(self, live: Arc<Live>, run: RunIdentity) -> Result<Exporter, MetricsError> {
        let text = move || families::text(&live.snapshot(), &run);
        match self {
            Prepared::File(path) => Exporter::of_file(path, PERIOD, text),
            Prepared::Http(listener, hosts) => Exporter::start(move |close| {
                let page = http::Page { text: &text, hosts: &hosts };
                // Its socket was made by this process: it can be made non-blocking.
                let _ = http::serve(&listener, close, &page);
            }),
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/lib.rs"]
mod tests;
