use std::fs::{File, OpenOptions};
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use assay_io::private_socket::listen_privately;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    Standard,
    /// A path: a file, a named pipe, a device.
    File(PathBuf),
    /// `unix:PATH`: a Unix socket to connect to.
    Unix(PathBuf),
    /// `unix-listen:PATH`: a Unix socket to listen on, for one connection.
    UnixListen(PathBuf),
    /// `tcp:HOST:PORT`: to connect to.
    Tcp(String),
    /// `tcp-listen:HOST:PORT`: to listen on, for one connection.
    TcpListen(String),
}

#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    #[error(
        "{text:?} names no stream: use - (standard input or output), a path, unix:PATH, \
         unix-listen:PATH, tcp:HOST:PORT or tcp-listen:HOST:PORT"
    )]
    Name {
        /// As given.
        text: String,
    },
    #[error("cannot {what} {name}: {source}")]
    System { what: &'static str, name: String, source: io::Error },
    #[error("{name} exists and is not written over; remove it or choose another")]
    Exists {
        /// Its path.
        name: String,
    },
    #[error(
        "a stream is not written to a terminal; redirect it (assay replay DRIVE > stream) or give \
         a destination with --to"
    )]
    Terminal,
}

impl Endpoint {
    pub fn parse(text: &str) -> Result<Endpoint, EndpointError> {
        let is_host_port = |rest: &str| {
            let port = rest.rsplit_once(':').map(|(_, port)| port);
            port.is_some_and(|port| port.parse::<u16>().is_ok())
        };
        let (scheme, rest) = text.split_once(':').unwrap_or(("", text));
        match scheme {
            "unix" if !rest.is_empty() => Ok(Endpoint::Unix(rest.into())),
            "unix-listen" if !rest.is_empty() => Ok(Endpoint::UnixListen(rest.into())),
            "tcp" if is_host_port(rest) => Ok(Endpoint::Tcp(rest.to_owned())),
            "tcp-listen" if is_host_port(rest) => Ok(Endpoint::TcpListen(rest.to_owned())),
            _ if text == "-" => Ok(Endpoint::Standard),
            _ if text.is_empty()
                || ["unix", "unix-listen", "tcp", "tcp-listen"].contains(&scheme) =>
            {
                Err(EndpointError::Name { text: text.to_owned() })
            }
            _ => Ok(Endpoint::File(text.into())),
        }
    }

    pub fn name(&self, writes: bool) -> String {
        match self {
            Endpoint::Standard if writes => "standard output".to_owned(),
            Endpoint::Standard => "standard input".to_owned(),
            Endpoint::File(path) => path.display().to_string(),
            Endpoint::Unix(path) => format!("unix:{}", path.display()),
            Endpoint::UnixListen(path) => format!("unix-listen:{}", path.display()),
            Endpoint::Tcp(address) => format!("tcp:{address}"),
            Endpoint::TcpListen(address) => format!("tcp-listen:{address}"),
        }
    }

    pub fn open_source(&self) -> Result<OwnedFd, EndpointError> {
        self.open(false, |path| File::open(path))
    }

    /// Open for writing: a file must be new.
    pub fn open_sink(&self) -> Result<OwnedFd, EndpointError> {
        if *self == Endpoint::Standard && io::IsTerminal::is_terminal(&io::stdout()) {
            return Err(EndpointError::Terminal);
        }
        self.open(true, |path| {
            // Existing pipes and terminals are opened; existing files are refused. A block device
            // is not a stream: what is on it is under the interlock's protection.
            let there = std::fs::metadata(path).map(|m| m.file_type());
            match there.is_ok_and(|t| t.is_fifo() || t.is_char_device()) {
                true => OpenOptions::new().write(true).open(path),
                false => assay_output::create_new(path),
            }
        })
    }

    fn open(
        &self,
        writes: bool,
        file: impl Fn(&PathBuf) -> io::Result<File>,
    ) -> Result<OwnedFd, EndpointError> {
        let failed = |what: &'static str| {
            let name = self.name(writes);
            move |source: io::Error| match source.kind() {
                io::ErrorKind::AlreadyExists => EndpointError::Exists { name },
                _ => EndpointError::System { what, name, source },
            }
        };
        let connect = "connect to";
        Ok(match self {
            Endpoint::Standard => {
                let copy = if writes {
                    rustix::io::dup(io::stdout())
                } else {
                    rustix::io::dup(io::stdin())
                };
                copy.map_err(|e| failed("open")(e.into()))?
            }
            Endpoint::File(path) => file(path).map_err(failed("open"))?.into(),
            Endpoint::Unix(path) => UnixStream::connect(path).map_err(failed(connect))?.into(),
            Endpoint::Tcp(address) => TcpStream::connect(address).map_err(failed(connect))?.into(),
            Endpoint::UnixListen(path) => {
                let listener = bind(path).map_err(failed("listen at"))?;
                let accepted = listener.accept().map_err(failed("wait at"));
                // One connection per socket: the path is free again.
                let _ = std::fs::remove_file(path);
                accepted?.0.into()
            }
            Endpoint::TcpListen(address) => {
                let listener = TcpListener::bind(address).map_err(failed("listen at"))?;
                listener.accept().map_err(failed("wait at"))?.0.into()
            }
        })
    }
}

/// Only the owner can connect; a stale socket left by a killed process is replaced.
fn bind(path: &Path) -> io::Result<UnixListener> {
    let bound = listen_privately(path);
    let in_use = |e: &io::Error| e.kind() == io::ErrorKind::AddrInUse;
    let is_stale = |e: io::Error| e.kind() == io::ErrorKind::ConnectionRefused;
    // Connecting to a regular file is refused as well.
    let is_socket = || std::fs::symlink_metadata(path).is_ok_and(|m| m.file_type().is_socket());
    if bound.as_ref().is_err_and(in_use)
        && is_socket()
        && UnixStream::connect(path).is_err_and(is_stale)
    {
        std::fs::remove_file(path)?;
        return listen_privately(path);
    }
    bound
}

#[cfg(test)]
#[path = "../tests/unit/endpoint.rs"]
mod tests;
