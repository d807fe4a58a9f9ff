//! `--metrics FILE|ADDRESS`: the live figures of a run as OpenMetrics, in a file for
//! node_exporter's textfile collector or over HTTP. A thread writes the file once per second, or
//! answers requests; the run does not wait for it. The last figures stay in the file.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context;
use assay_execute::live::Live;

use crate::commands::{check_replaceable, write_unflushed};
use crate::exit::bail_usage;

pub mod encode;
mod families;
mod http;

pub use families::RunIdentity;

/// Time between two versions of the file.
const PERIOD: Duration = Duration::from_secs(1);
/// Another file is not replaced.
const HEAD: &str = "# HELP assay_";

#[derive(Clone, Debug, PartialEq, Eq)]
enum Destination {
    File(PathBuf),
    Http(SocketAddr),
}

/// `127.0.0.1:9100`, `[::1]:9100` and `localhost:9100` are addresses; so is whatever else ends like
/// a port, unless it has a slash.
fn destination(text: &str) -> anyhow::Result<Destination> {
    if text.is_empty() {
        bail_usage!("--metrics: name a file, or an address like 127.0.0.1:9100");
    }
    let port = text.rsplit_once(':').map(|(_, port)| port);
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    if text.contains('/') || !port.is_some_and(is_port) {
        return Ok(Destination::File(text.into()));
    }
    let local = text.replacen("localhost:", "127.0.0.1:", 1);
    match local.parse::<SocketAddr>() {
        Ok(address) if is_loopback(address.ip()) => Ok(Destination::Http(address)),
        Ok(_) => bail_usage!(
            "--metrics {text}: only a loopback address is served (127.0.0.1:PORT, [::1]:PORT), \
             because the figures are sent to anyone who asks, without a password; for another \
             host, use a file and node_exporter, or a proxy"
        ),
        Err(_) => bail_usage!(
            "--metrics {text}: this is no loopback address with a port (127.0.0.1:9100); write \
             ./{text} for a file of that name"
        ),
    }
}

fn is_loopback(address: IpAddr) -> bool {
    address.is_loopback()
}

#[derive(Clone)]
struct Source {
    live: Arc<Live>,
    run: Arc<RunIdentity>,
}

impl Source {
    fn text(&self) -> String {
        families::text(&self.live.snapshot(), &self.run)
    }
}

/// Its drop writes the last figures and ends the thread.
pub struct Exporter {
    source: Source,
    close: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    file: Option<PathBuf>,
}

/// Checked and, if it is an address, bound before anything is measured.
pub struct Prepared {
    destination: Destination,
    listener: Option<TcpListener>,
}

impl Prepared {
    pub fn new(text: &str) -> anyhow::Result<Prepared> {
        let destination = destination(text)?;
        let listener = match &destination {
            Destination::File(path) => {
                check_replaceable(path, HEAD)?;
                let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
                if folder.is_some_and(|folder| !folder.is_dir()) {
                    bail_usage!("--metrics {text}: there is no such folder");
                }
                None
            }
            Destination::Http(address) => {
                let listener = TcpListener::bind(address);
                Some(listener.with_context(|| {
                    format!("cannot serve metrics on {address}: choose another port")
                })?)
            }
        };
        Ok(Prepared {
            destination,
            listener,
        })
    }

    pub fn start(self, live: Arc<Live>, run: RunIdentity) -> anyhow::Result<Exporter> {
        let source = Source {
            live,
            run: Arc::new(run),
        };
        let close = Arc::new(AtomicBool::new(false));
        let file = match self.destination {
            Destination::File(path) => Some(path),
            Destination::Http(_) => None,
        };
        if let Some(path) = &file {
            // The first time with an error; later ones, such as a full disk, do not end the run.
            write_unflushed(path, &source.text())?;
        }
        let builder = thread::Builder::new().name("metrics".to_owned());
        let (thread_source, closed, path) = (source.clone(), Arc::clone(&close), file.clone());
        let body = move || match (self.listener, path) {
            (Some(listener), _) => http::serve(&listener, &closed, &|| thread_source.text()),
            (None, Some(path)) => {
                while !closed.load(Ordering::SeqCst) {
                    thread::park_timeout(PERIOD);
                    let _ = write_unflushed(&path, &thread_source.text());
                }
            }
            (None, None) => {}
        };
        Ok(Exporter {
            source,
            close,
            thread: Some(builder.spawn(body).context("cannot start a thread")?),
            file,
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
        if let Some(path) = &self.file {
            let _ = write_unflushed(path, &self.source.text());
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/metrics.rs"]
mod tests;
