//! Listening sockets: address syntax, remote-access check, socket files.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use assay_io::private_socket::listen_privately;
use assay_units::{Classified, ErrorClass};
use rustix::net::sockopt::{
    set_socket_keepalive, set_tcp_keepcnt, set_tcp_keepidle, set_tcp_keepintvl, set_tcp_nodelay,
};
use rustix::net::{SocketFlags, accept_with};

/// Proto, "Newstyle negotiation".
pub const NBD_PORT: u16 = 10809;
/// Silence after which a TCP client's host is asked whether it is there, and the interval of the
/// three questions (tcp(7), `TCP_KEEPIDLE`, `TCP_KEEPINTVL`).
const KEEPALIVE: Duration = Duration::from_secs(60);

#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error(
        "{0:?} is not an address; write unix:PATH or tcp:HOST:PORT, e.g. unix:/tmp/drive.sock or \
         tcp:127.0.0.1:10809"
    )]
    Malformed(String),
    #[error(
        "{0} can be reached from other machines, and there is no authentication: any client may \
         read and write the simulated drive; use tcp:127.0.0.1:PORT (or unix:PATH with NBD), or \
         allow it with --allow-remote"
    )]
    Remote(Address),
    #[error(
        "{}: another server listens on this socket; stop it, or choose another path",
        .0.display()
    )]
    Live(PathBuf),
    #[error(
        "{}: exists and is not a socket, so it is left alone; choose another path",
        .0.display()
    )]
    NotASocket(PathBuf),
    #[error("cannot listen on {address}: {source}")]
    System {
        address: String,
        /// Its error.
        source: io::Error,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Unix(PathBuf),
    /// Port 0 is any free port.
    Tcp(String, u16),
}

impl FromStr for Address {
    type Err = ListenError;

    fn from_str(text: &str) -> Result<Address, ListenError> {
        Address::parse(text, NBD_PORT)
    }
}

impl Address {
    /// `default_port` is that of a TCP address without one.
    pub fn parse(text: &str, default_port: u16) -> Result<Address, ListenError> {
        let malformed = || ListenError::Malformed(text.to_owned());
        let rest = match text.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => return Ok(Address::Unix(path.into())),
            Some(("tcp", rest)) => rest,
            _ => return Err(malformed()),
        };
        let (host, port) = match rest.rsplit_once(':') {
            // Colons within brackets belong to the host.
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| malformed())?)
            }
            _ => (rest, default_port),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(malformed());
        }
        Ok(Address::Tcp(host.to_owned(), port))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
            Address::Tcp(host, port) if host.contains(':') => write!(f, "tcp:[{host}]:{port}"),
            Address::Tcp(host, port) => write!(f, "tcp:{host}:{port}"),
        }
    }
}

/// Dropping the listener removes its socket file.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    bound: Bound,
}

#[derive(Debug)]
enum Bound {
    /// Identified by device and inode.
    Unix(PathBuf, Option<(u64, u64)>),
    Tcp(SocketAddr),
}

/// Device and inode.
fn file_of(path: &Path) -> Option<(u64, u64)> {
    let there = path.symlink_metadata().ok()?;
    Some((there.dev(), there.ino()))
}

impl Listener {
    /// Replaces a stale socket file. Fails when the address is in use, or reachable from other
    /// machines without `allow_remote`.
    pub fn bind(address: &Address, allow_remote: bool) -> Result<Listener, ListenError> {
        let system =
            |source: io::Error| ListenError::System { address: address.to_string(), source };
        let listener = match address {
            Address::Unix(path) => {
                remove_stale_socket(path)?;
                let listener = listen_privately(path).map_err(system)?;
                Listener {
                    socket: listener.into(),
                    bound: Bound::Unix(path.clone(), file_of(path)),
                }
            }
            Address::Tcp(host, port) => {
                let resolved = (host.as_str(), *port).to_socket_addrs();
                let resolved: Vec<SocketAddr> = resolved.map_err(system)?.collect();
                if !allow_remote && resolved.iter().any(|address| !address.ip().is_loopback()) {
                    return Err(ListenError::Remote(address.clone()));
                }
                let listener = TcpListener::bind(&resolved[..]).map_err(system)?;
                let bound = Bound::Tcp(listener.local_addr().map_err(system)?);
                let socket = listener.into();
                Listener { socket, bound }
            }
        };
        let nonblocking = rustix::io::ioctl_fionbio(&listener.socket, true);
        nonblocking.map_err(|error| system(error.into()))?;
        Ok(listener)
    }

    /// NetworkBlockDevice/nbd, `doc/uri.md`.
    pub fn uri(&self) -> String {
        match &self.bound {
            Bound::Unix(path, _) => {
                let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                let path = percent_encoded(&path.to_string_lossy());
                format!("nbd+unix:///?socket={path}")
            }
            Bound::Tcp(at) => format!("nbd://{at}"),
        }
    }

    /// `None` for a Unix socket.
    pub fn tcp_address(&self) -> Option<SocketAddr> {
        match self.bound {
            Bound::Tcp(at) => Some(at),
            Bound::Unix(..) => None,
        }
    }

    /// A blocking duplicate; the socket file stays with this value.
    pub fn shared(&self) -> Result<OwnedFd, ListenError> {
        // O_NONBLOCK belongs to the open file description, which the duplicate shares.
        let blocking = self.socket.try_clone().and_then(|socket| {
            rustix::io::ioctl_fionbio(&socket, false)?;
            Ok(socket)
        });
        blocking.map_err(|source| ListenError::System { address: self.uri(), source })
    }

    /// Other machines can reach the address.
    pub fn is_remote(&self) -> bool {
        self.tcp_address().is_some_and(|at| !at.ip().is_loopback())
    }

    pub(crate) fn accept(&self) -> rustix::io::Result<OwnedFd> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let stream = accept_with(&self.socket, flags)?;
        if matches!(self.bound, Bound::Tcp(_)) {
            set_tcp_nodelay(&stream, true)?;
            // A host that vanishes sends no end of its connections.
            set_socket_keepalive(&stream, true)?;
            set_tcp_keepidle(&stream, KEEPALIVE)?;
            set_tcp_keepintvl(&stream, KEEPALIVE)?;
            set_tcp_keepcnt(&stream, 3)?;
        }
        Ok(stream)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Bound::Unix(path, file) = &self.bound
            && file.is_some()
            && file_of(path) == *file
        {
            // On failure the next server replaces the stale file.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Removes a socket file without a server.
fn remove_stale_socket(path: &Path) -> Result<(), ListenError> {
    let Ok(there) = path.symlink_metadata() else {
        return Ok(());
    };
    if !there.file_type().is_socket() {
        return Err(ListenError::NotASocket(path.to_owned()));
    }
    match UnixStream::connect(path) {
        Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => {
            // On failure `bind` reports the reason.
            let _ = std::fs::remove_file(path);
            Ok(())
        }
        _ => Err(ListenError::Live(path.to_owned())),
    }
}

/// Encodes for the query of a URI (RFC 3986, section 3.4).
fn percent_encoded(path: &str) -> String {
    let encode = |byte: u8| match char::from(byte) {
        kept if kept.is_ascii_alphanumeric() || "/-._~".contains(kept) => kept.to_string(),
        _ => format!("%{byte:02X}"),
    };
    path.bytes().map(encode).collect()
}

impl Classified for ListenError {
    fn class(&self) -> ErrorClass {
        match self {
            ListenError::Malformed(_) | ListenError::NotASocket(_) => ErrorClass::Usage,
            ListenError::Remote(_) => ErrorClass::Refused,
            ListenError::Live(_) | ListenError::System { .. } => ErrorClass::Io,
        }
    }
}
