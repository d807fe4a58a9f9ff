use std::net::SocketAddr;
use std::path::PathBuf;

use assay_store::StoreError;
use assay_units::{Classified, ErrorClass};

#[derive(Debug, thiserror::Error)]
pub enum MetricsError {
    #[error("--metrics: name a file, or an address like 127.0.0.1:9100")]
    NoDestination,
    #[error(
        "--metrics {0}: only a loopback address is served (127.0.0.1:PORT, [::1]:PORT), because \
         the figures are sent to anyone who asks, without a password; for another host, use a \
         file and node_exporter, or a proxy"
    )]
    NotLoopback(String),
    #[error(
        "--metrics {0}: this is no loopback address with a port (127.0.0.1:9100); write ./{0} for \
         a file of that name"
    )]
    NoAddress(String),
    #[error("--metrics-host is for --metrics with an address: a file has no clients")]
    HostOfFile,
    #[error("--metrics {0}: there is no such folder")]
    NoFolder(String),
    #[error(
        "{path}: there is no such folder on this host; create it, or take `metrics` out of the \
         plan",
        path = .0.display()
    )]
    NoTaskFolder(PathBuf),
    #[error("cannot serve metrics on {address}: choose another port")]
    Bind { address: SocketAddr, source: std::io::Error },
    #[error("cannot start a thread")]
    Thread(#[source] std::io::Error),
    #[error(transparent)]
    File(#[from] StoreError),
}

impl Classified for MetricsError {
    fn class(&self) -> ErrorClass {
        match self {
            MetricsError::NoDestination
            | MetricsError::HostOfFile
            | MetricsError::NotLoopback(_)
            | MetricsError::NoAddress(_)
            | MetricsError::NoFolder(_)
            | MetricsError::NoTaskFolder(_) => ErrorClass::Usage,
            MetricsError::Bind { .. } | MetricsError::Thread(_) => ErrorClass::Io,
            MetricsError::File(error) => error.class(),
        }
    }
}
