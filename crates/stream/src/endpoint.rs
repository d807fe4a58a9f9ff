//! Names of what streams come from and go to.

use std::fs::{File, OpenOptions};
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// A name taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// `-`: standard input or output.
    Standard,
    /// A path: a file, a named pipe, a device.
    File(PathBuf),
    /// `unix:PATH`: a Unix socket to connect to.
    Unix(PathBuf),
    /// `unix-listen:PATH`: a Unix socket to make, for one who connects.
    UnixListen(PathBuf),
    /// `tcp:HOST:PORT`: to connect to.
    Tcp(String),
    /// `tcp-listen:HOST:PORT`: to wait at for one who connects.
    TcpListen(String),
}

/// Why a stream has no beginning or end.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// A name that says nothing.
    #[error(
        "{text:?} names no stream: give - (standard input or output), a path, unix:PATH, unix-listen:PATH, tcp:HOST:PORT or tcp-listen:HOST:PORT"
    )]
    Name {
        /// As typed.
        text: String,
    },
    /// The system refuses.
    #[error("cannot {what} {name}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// On what.
        name: String,
        /// The system's answer.
        source: io::Error,
    },
    /// A file is there already.
    #[error("{name} exists and is not written over; remove it or name another")]
    Exists {
        /// Which.
        name: String,
    },
    /// Bytes of a stream on a terminal.
    #[error(
        "a stream is not written to a terminal; redirect it (assay replay DRIVE > stream) or name where it goes with --to"
    )]
    Terminal,
}

impl Endpoint {
    /// Take a name apart.
    ///
    /// # Errors
    /// When it says nothing.
    pub fn parse(text: &str) -> Result<Endpoint, EndpointError> {
        let name = || EndpointError::Name {
            text: text.to_owned(),
        };
        let known = ["unix-listen", "tcp-listen", "unix", "tcp"];
        let split = text
            .split_once(':')
            .filter(|(scheme, _)| known.contains(scheme));
        let host_port = |rest: &str| {
            let port = rest.rsplit_once(':').map(|(_, port)| port);
            port.is_some_and(|port| port.parse::<u16>().is_ok())
        };
        match split {
            None if text == "-" => Ok(Endpoint::Standard),
            None if text.is_empty() => Err(name()),
            None => Ok(Endpoint::File(text.into())),
            Some((_, "")) => Err(name()),
            Some(("unix", path)) => Ok(Endpoint::Unix(path.into())),
            Some(("unix-listen", path)) => Ok(Endpoint::UnixListen(path.into())),
            Some((_, rest)) if !host_port(rest) => Err(name()),
            Some(("tcp", rest)) => Ok(Endpoint::Tcp(rest.to_owned())),
            Some((_, rest)) => Ok(Endpoint::TcpListen(rest.to_owned())),
        }
    }

    /// What to call it in messages.
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

    /// Open it to read from, waiting for whoever connects.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn open_source(&self) -> Result<OwnedFd, EndpointError> {
        let open = |path: &PathBuf| File::open(path);
        self.open(false, open)
    }

    /// Open it to write to: a file must be new.
    ///
    /// # Errors
    /// When the system refuses, a file is there already, or standard output is a terminal.
    pub fn open_sink(&self) -> Result<OwnedFd, EndpointError> {
        if *self == Endpoint::Standard && io::IsTerminal::is_terminal(&io::stdout()) {
            return Err(EndpointError::Terminal);
        }
        let open = |path: &PathBuf| {
            // A pipe or device is written to; a file that is there is somebody's.
            let special = std::fs::metadata(path).is_ok_and(|m| !m.is_file());
            OpenOptions::new()
                .write(true)
                .create_new(!special)
                .open(path)
        };
        self.open(true, open)
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
        Ok(match self {
            Endpoint::Standard if writes => {
                rustix::io::dup(io::stdout()).map_err(|e| failed("open")(e.into()))?
            }
            Endpoint::Standard => {
                rustix::io::dup(io::stdin()).map_err(|e| failed("open")(e.into()))?
            }
            Endpoint::File(path) => file(path).map_err(failed("open"))?.into(),
            Endpoint::Unix(path) => UnixStream::connect(path)
                .map_err(failed("connect to"))?
                .into(),
            Endpoint::Tcp(address) => TcpStream::connect(address)
                .map_err(failed("connect to"))?
                .into(),
            Endpoint::UnixListen(path) => {
                let listener = bind(path).map_err(failed("listen at"))?;
                let accepted = listener.accept().map_err(failed("wait at"));
                // One stream, one visitor: the name is free again.
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

/// A socket of this name. One that a program left when it was killed is in nobody's use, and makes way.
fn bind(path: &Path) -> io::Result<UnixListener> {
    let bound = UnixListener::bind(path);
    let in_use = |e: &io::Error| e.kind() == io::ErrorKind::AddrInUse;
    let nobody = |e: io::Error| e.kind() == io::ErrorKind::ConnectionRefused;
    // A file refuses connections as well, and is somebody's.
    let is_socket = || std::fs::symlink_metadata(path).is_ok_and(|m| m.file_type().is_socket());
    if bound.as_ref().is_err_and(in_use)
        && is_socket()
        && UnixStream::connect(path).is_err_and(nobody)
    {
        std::fs::remove_file(path)?;
        return UnixListener::bind(path);
    }
    bound
}

#[cfg(test)]
#[path = "../tests/unit/endpoint.rs"]
mod tests;
